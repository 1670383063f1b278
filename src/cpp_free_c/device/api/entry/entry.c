/* The doors. See entry.h. */
#define _GNU_SOURCE
#include "device/api/entry/entry.h"

#include <pthread.h>

#include "device/base/checks.h"
#include "device/base/site.h"
#include "device/sync_check/stream_check.h"
#include "device/memory/memory.h"
#include "device/machine/warp/wait.h"
#include "device/api/entry/call_log.h"
#include "device/api/entry/injection.h"
#include "device/api/entry/capture.h"
#include "device/api/entry/context_stack.h"
#include "device/api/entry/queue.h"
#include "device/api/entry/message.h"
#include "device/api/entry/lock.h"
#include "device/api/entry/graph.h"

static pthread_once_t opened = PTHREAD_ONCE_INIT;
static _Thread_local bool in_callback;
static _Thread_local bool has_begun; /* emu_wait_thread_begins was called */

static void
entry_open(void)
{
    emu_injection_open();
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
    pthread_once(&opened, entry_open);
    emu_stream_check_enter();
    emu_site_enter();
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
    CUresult status = emu_injection_check(call);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (in_callback) {
        emu_error_log_say("A host function cannot call the driver.");
        return CUDA_ERROR_NOT_PERMITTED;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_enter(emu_call call)
{
    CUresult status = emu_enter_early(call);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (!emu_is_initialised()) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    status = emu_capture_permit(call);
    if (status != CUDA_SUCCESS) {
        emu_error_log_say("A stream is being captured, which forbids this call.");
        return status;
    }
    if (emu_queue_enter(call) && emu_wait_interrupted()) {
        return EMU_INTERRUPTED;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_enter_device(emu_call call, CUdevice ordinal)
{
    CUresult status = emu_enter(call);

    if (status == CUDA_SUCCESS && emu_device_get(ordinal) == NULL) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    return status;
}

/* -- contexts ---------------------------------------------------------------------- */

/* Get the current context, which may have failed. */
static CUresult
entry_current(emu_context **context)
{
    CUresult status = emu_context_current(context);

    if (status != CUDA_SUCCESS) {
        emu_error_log_say("No context is current in this thread.");
    }
    return status;
}

CUresult
emu_entered_current(emu_context **context)
{
    CUresult status = entry_current(context);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    return emu_context_status(*context);
}

CUresult
emu_enter_context(emu_call call, emu_context **context)
{
    CUresult status = emu_enter(call);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    return emu_entered_current(context);
}

CUresult
emu_enter_context_even_failed(emu_call call, emu_context **context)
{
    CUresult status = emu_enter(call);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    return entry_current(context);
}

CUresult
emu_enter_current(emu_call call)
{
    emu_context *context;

    return emu_enter_context(call, &context);
}

CUresult
emu_enter_given_context(emu_call call, CUcontext *context)
{
    CUresult status = emu_enter(call);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (*context == NULL) {
        return entry_current(context);
    }
    *context = emu_context_get(*context);
    if (*context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return CUDA_SUCCESS;
}

/* -- objects and memory ------------------------------------------------------------ */

/* The context that a call on an object of a kind needs, and what it returns if there is
 * no such object. */
static const struct {
    enum { OWN, CURRENT, NONE } context;
    bool is_value; /* INVALID_VALUE instead of INVALID_HANDLE */
} kind_rules[EMU_KINDS] = {
    [EMU_ARRAY] = {CURRENT, false},     [EMU_MIPMAP] = {CURRENT, false},
    [EMU_TEXREF] = {CURRENT, false},    [EMU_SURFREF] = {CURRENT, false},
    [EMU_LINK] = {CURRENT, false},      [EMU_POOL] = {NONE, true},
    [EMU_GRAPH] = {CURRENT, true},      [EMU_GRAPH_NODE] = {CURRENT, true},
    [EMU_GRAPH_EXEC] = {CURRENT, true}, [EMU_USER_OBJECT] = {NONE, true},
    [EMU_GRAPHICS] = {CURRENT, false},  [EMU_LIBRARY] = {NONE, false},
    [EMU_KERNEL] = {NONE, false},       [EMU_GREEN_CONTEXT] = {NONE, false},
};

CUresult
emu_enter_object(emu_call call, emu_kind kind, const void *handle)
{
    CUresult status = emu_enter(call);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    const emu_object *object = emu_object_get(handle, kind);

    if (object != NULL && kind_rules[kind].context == OWN) {
        return emu_context_status(object->context);
    }
    if (kind_rules[kind].context != NONE) {
        emu_context *context;

        status = emu_entered_current(&context);
        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    if (object != NULL) {
        return CUDA_SUCCESS;
    }
    if (kind_rules[kind].is_value) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_ERROR_INVALID_HANDLE;
}

CUresult
emu_enter_memory(emu_call call, uint64_t address)
{
    CUresult status = emu_enter(call);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    const emu_allocation *found = emu_memory_holding(address, 1);
    emu_context *context;

    if (found != NULL && found->context != NULL) {
        return emu_context_status(found->context);
    }
    return emu_entered_current(&context);
}

CUresult
emu_leave(CUresult status)
{
    emu_user_object *dead = emu_user_objects_take();
    const emu_call call = emu_lock_call();

    emu_call_log_end(call, status);
    if (emu_wait_has_polled && emu_wait_interrupted()) {
        emu_queue_give_up();
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
