/* The first and last steps of every entry point. See entry.h. */
#define _GNU_SOURCE
#include "device/api/entry/entry.h"

#include <pthread.h>

#include "device/base/report_log.h"
#include "device/check/stream_check.h"
#include "device/check/stream_finding.h"
#include "device/memory/memory.h"
#include "device/machine/warp/wait.h"
#include "device/api/entry/call_log.h"
#include "device/api/entry/capture.h"
#include "device/api/entry/context_stack.h"
#include "device/api/entry/deferred.h"
#include "device/api/entry/error_log.h"
#include "device/api/entry/fault_injection.h"
#include "device/api/entry/lock.h"
#include "device/api/entry/message.h"
#include "device/api/entry/user_object.h"

static pthread_once_t opened = PTHREAD_ONCE_INIT;
static _Thread_local bool in_callback;
static _Thread_local bool has_begun; /* emu_wait_thread_begins was called */

static void
entry_open(void)
{
    emu_fault_open();
    emu_call_log_open();
}

/* Let the message be that of a finding that the program has not been told of. */
static void
entry_publish_finding(void)
{
    if (emu_stream_check_on) {
        const char *text = emu_finding_take();

        if (text != NULL) {
            emu_message_set("%s", text);
            (void)emu_report_log("sync", text);
        }
    }
}

CUresult
emu_enter_early(emu_call call)
{
    CUresult status = CUDA_SUCCESS;

    pthread_once(&opened, entry_open);
    emu_stream_check_enter();
    emu_lock_for(call);
    entry_publish_finding();
    if (!has_begun) {
        has_begun = true;
        emu_wait_thread_begins();
    }
    if (emu_is_forked()) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    emu_call_log_begin(call);
    status = emu_fault_check(call);
    if (status == CUDA_SUCCESS && in_callback) {
        emu_error_log_say("A host function cannot call the driver.");
        status = CUDA_ERROR_NOT_PERMITTED;
    }
    return status;
}

CUresult
emu_enter(emu_call call)
{
    CUresult status = emu_enter_early(call);

    if (status == CUDA_SUCCESS && !emu_is_initialised()) {
        status = CUDA_ERROR_NOT_INITIALIZED;
    }
    if (status == CUDA_SUCCESS) {
        status = emu_capture_permit(call);
        if (status != CUDA_SUCCESS) {
            emu_error_log_say("A stream is being captured, which forbids this call.");
        }
    }
    if (status == CUDA_SUCCESS && emu_deferred_enter(call) && emu_wait_interrupted()) {
        status = EMU_INTERRUPTED;
    }
    return status;
}

/* Get the current context. */
static CUresult
entry_current(emu_context **context)
{
    const CUresult status = emu_context_current(context);

    if (status != CUDA_SUCCESS) {
        emu_error_log_say("No context is current in this thread.");
    }
    return status;
}

/* The last step of entering: the context must not have failed. */
static CUresult
entry_check_sound(CUresult status, emu_context *context)
{
    if (status != CUDA_SUCCESS) {
        return status;
    }
    return (CUresult)atomic_load(&context->sticky);
}

CUresult
emu_enter_context(emu_call call, emu_context **context)
{
    CUresult status = emu_enter(call);

    *context = NULL;
    if (status == CUDA_SUCCESS) {
        status = entry_current(context);
    }
    return entry_check_sound(status, *context);
}

CUresult
emu_enter_object(emu_call call, const void *handle, emu_kind kind,
                 emu_context **context)
{
    CUresult status = emu_enter(call);

    *context = NULL;
    if (status == CUDA_SUCCESS) {
        const emu_object *object = emu_object_get(handle, kind);

        if (object != NULL) {
            *context = object->context;
        }
        else {
            status = entry_current(context);
        }
    }
    return entry_check_sound(status, *context);
}

CUresult
emu_enter_memory(emu_call call, uint64_t address, emu_context **context)
{
    CUresult status = emu_enter(call);

    *context = NULL;
    if (status == CUDA_SUCCESS) {
        const emu_allocation *found = emu_memory_check(address, 1);

        if (found != NULL && found->context != NULL) {
            *context = found->context;
        }
        else {
            status = entry_current(context);
        }
    }
    return entry_check_sound(status, *context);
}

CUresult
emu_leave(CUresult status)
{
    emu_user_object *dead = emu_user_objects_take();
    const emu_call call = emu_lock_call();

    emu_call_log_end(call, status);
    if (emu_wait_has_polled && emu_wait_interrupted()) {
        emu_running_give_up();
    }
    entry_publish_finding();
    emu_unlock();
    emu_stream_check_leave();
    emu_error_log_end(call, status);
    if (emu_wait_has_polled) {
        emu_wait_leave();
    }
    if (dead != NULL) {
        emu_set_in_callback(true);
        emu_user_objects_destroy(dead);
        emu_set_in_callback(false);
    }
    return status;
}

void
emu_set_in_callback(bool on)
{
    in_callback = on;
}
