/* The exported functions, made of the rows of abi/functions.h: each enters by the door
 * of its row, runs its body and leaves (entry.h). A function that is not built returns
 * NOT_SUPPORTED; the call log and the last message have its name. */
#define _GNU_SOURCE
#include "device/api/exports/exports.h"

#include "abi/software_device.h"
#include "device/base/counts.h"
#include "device/base/site.h"
#include "device/base/warnings.h"
#include "device/machine/warp/wait.h"
#include "device/api/context/leak.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/message.h"
#include "device/api/memory/allocation.h"
#include "device/api/module/launch_work.h"
#include "device/api/module/module.h"
#include "device/api/stream/stream.h"

static CUresult
export_not_built(emu_call call)
{
    emu_message_set("The software device does not have %s.", emu_call_name(call));
    emu_error_log_say("The software device does not have %s.", emu_call_name(call));
    return CUDA_ERROR_NOT_SUPPORTED;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter" /* of what is not built */
/* clang-format off */

/* -- the doors of the rows --------------------------------------------------------- */

/* Their functions are in entry/entry.c; those that find a stream are in
 * stream/stream.c, and emu_enter_function is in module/function.c. */

/* NO_DOOR: the body is the whole call; it may run in any state of the library. */
#define NO_DOOR_NO_DOOR ()
#define ENTER_NO_DOOR CUDA_SUCCESS
/* NOT_BUILT: there is no body. */
#define NOT_BUILT_NOT_BUILT ()
#define ENTER_NOT_BUILT emu_enter_early(call)
/* EARLY: before cuInit too. INITIALISED: in any thread, with or without a context. */
#define ENTER_EARLY emu_enter_early(call)
#define ENTER_INITIALISED emu_enter(call)
/* DEVICE: the device exists. */
#define ENTER_DEVICE(ordinal) emu_enter_device(call, ordinal)
/* CURRENT, CONTEXT: a sound context is current; CONTEXT hands it to the body.
 * CONTEXT_EVEN_FAILED: so does this, and it may have failed. */
#define ENTER_CURRENT emu_enter_current(call)
#define ENTER_CONTEXT emu_enter_context(call, &context)
#define ENTER_CONTEXT_EVEN_FAILED emu_enter_context_even_failed(call, &context)
/* CONTEXT_OR_CURRENT: NULL becomes the current context. */
#define ENTER_CONTEXT_OR_CURRENT(context) emu_enter_given_context(call, &context)
/* STREAM: the handle becomes the stream. DEFAULT_STREAM: hands the stream of a call
 * that names none. STREAM_CONTEXT: hands the context of a stream that the body looks
 * up, or the current one. */
#define ENTER_STREAM(stream) emu_enter_stream(call, &stream)
#define ENTER_DEFAULT_STREAM emu_enter_default_stream(call, &stream)
#define ENTER_STREAM_CONTEXT(stream) emu_enter_stream_context(call, stream, &context)
/* OBJECT: an object of the kind exists. FUNCTION: the handle of a function, or of a
 * kernel of a library, becomes the function. MEMORY: the context of the memory, or the
 * current one, is sound. */
#define ENTER_OBJECT(kind, handle) emu_enter_object(call, EMU_##kind, handle)
#define ENTER_FUNCTION(function) emu_enter_function(call, &function)
#define ENTER_MEMORY(address) emu_enter_memory(call, (uint64_t)(address))

/* -- the functions ----------------------------------------------------------------- */

#define RUN(door) PCU_JOIN(RUN_, PCU_IN_PARENTHESES(NOT_BUILT_##door))
#define RUN_0(name, hands, ...) emu_cu##name(ARGUMENTS(hands, __VA_ARGS__))
#define RUN_1(name, hands, ...) export_not_built(call)
#define LEAVE(door) PCU_JOIN(LEAVE_, PCU_IN_PARENTHESES(NO_DOOR_##door))
#define LEAVE_0(status) emu_leave(status)
#define LEAVE_1(status) status
#define ARGUMENTS(hands, ...) \
    PCU_JOIN(ARGUMENTS_, PCU_IN_PARENTHESES(hands))(hands, __VA_ARGS__)
#define ARGUMENTS_0(hands, ...) PCU_ARGUMENTS(__VA_ARGS__)
#define ARGUMENTS_1(hands, ...) PCU_ARGUMENTS_AFTER(PCU_NAME hands, __VA_ARGS__)
/* The default stream is that of the thread for the time of the call. */
#define EXPORT(export, thread, parameters, work)                                    \
    CUresult export parameters                                                      \
    {                                                                               \
        return work;                                                                \
    }                                                                               \
    PCU_IF_THREAD_##thread(                                                         \
        CUresult PCU_THREAD_NAME_##thread(export) parameters                        \
        {                                                                           \
            CUresult status;                                                        \
                                                                                    \
            emu_stream_is_per_thread = true;                                        \
            status = work;                                                          \
            emu_stream_is_per_thread = false;                                       \
            return status;                                                          \
        })
#define EXPORTS(name, export, version, thread, caller, door, traits, span, ...)     \
    static CUresult call_##name(PCU_PARAMETERS(__VA_ARGS__))                        \
    {                                                                               \
        const emu_call call = EMU_CALL_##name;                                      \
        EMU_IF_HANDS(EMU_HANDS_##door)(PCU_DECLARE EMU_HANDS_##door = NULL;)        \
        CUresult status = ENTER_##door;                                             \
                                                                                    \
        (void)call;                                                                 \
        if (status == CUDA_SUCCESS) {                                               \
            status = RUN(door)(name, EMU_HANDS_##door, __VA_ARGS__);                \
        }                                                                           \
        return LEAVE(door)(status);                                                 \
    }                                                                               \
    EXPORT(PCU_EXPORT(export), thread, (PCU_PARAMETERS(__VA_ARGS__)),               \
           call_##name(PCU_ARGUMENTS(__VA_ARGS__)))                                 \
    PCU_IF_OTHER(export)(                                                           \
        EXPORT(PCU_OTHER_NAME(export), thread, (PCU_PARAMETERS(__VA_ARGS__)),       \
               call_##name(PCU_ARGUMENTS(__VA_ARGS__))))
/* clang-format on */
PCU_FUNCTIONS(EXPORTS)
#undef EXPORT
#undef EXPORTS
#pragma GCC diagnostic pop

const pcu_software_device emu_software_device = {
    .size = sizeof(emu_software_device),
    .last_message = emu_last_message,
    .set_host = emu_set_host,
    .set_caller = emu_set_caller,
    .use_rest = emu_memory_use_rest,
    .lend = emu_allocation_lend,
    .hold = emu_allocation_hold,
    .set_asked = emu_set_asked,
    .set_warned = emu_set_warned,
    .take_warning = emu_warning_take,
    .take_notice = emu_notice_take,
    .before_collection = emu_leak_before_collection,
    .after_collection = emu_leak_after_collection,
    .ended_fault = emu_ended_fault,
    .recover = emu_recover,
    .last_ptx = emu_last_ptx,
    .clear_message = emu_message_clear,
    .set_inputs = emu_set_inputs,
    .write_counts = emu_counts_write,
    .clear_counts = emu_counts_clear};
