/* The API lock and what every entry point does first and last. */
#define _GNU_SOURCE
#include "device/api/entry.h"

#include <errno.h>
#include <pthread.h>

#include "device/api/capture.h"
#include "device/api/context.h"
#include "device/api/faults.h"
#include "device/api/deferred.h"
#include "device/api/stream.h"
#include "device/machine/wait.h"

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t unused; /* some object's users fell to 0 */
    _Atomic bool initialised;
    _Atomic bool forked;
} api = {.mutex = PTHREAD_MUTEX_INITIALIZER, .unused = PTHREAD_COND_INITIALIZER};

static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static _Thread_local emu_call current_call;
static _Thread_local bool in_callback;
/* Of wait.h; here since looking at them costs least beside the others. */
static _Thread_local bool has_begun; /* emu_wait_thread_begins */
static _Thread_local bool has_polled;

/* In the child of a fork: another thread may have held the lock, and the handles are
 * the parent's. A device that was not yet initialised may still be. */
static void
after_fork(void)
{
    pthread_mutex_init(&api.mutex, NULL);
    pthread_cond_init(&api.unused, NULL);
    if (atomic_load(&api.initialised)) {
        atomic_store(&api.forked, true);
    }
}

static void
prepare(void)
{
    (void)pthread_atfork(NULL, NULL, after_fork); /* fails for want of memory alone */
    emu_fault_open();
}

CUresult
emu_enter_early(emu_call call)
{
    CUresult status = CUDA_SUCCESS;

    pthread_once(&prepared, prepare);
    pthread_mutex_lock(&api.mutex);
    current_call = call;
    if (!has_begun) {
        has_begun = true;
        emu_wait_thread_begins();
    }
    if (atomic_load(&api.forked)) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    status = emu_fault_check(call);
    if (status == CUDA_SUCCESS && in_callback) {
        status = CUDA_ERROR_NOT_PERMITTED;
    }
    return status;
}

CUresult
emu_enter(emu_call call)
{
    CUresult status = emu_enter_early(call);

    if (status == CUDA_SUCCESS && !atomic_load(&api.initialised)) {
        status = CUDA_ERROR_NOT_INITIALIZED;
    }
    if (status == CUDA_SUCCESS) {
        status = emu_capture_permit(call);
    }
    if (status == CUDA_SUCCESS && emu_late_call(call) && emu_wait_interrupted()) {
        status = EMU_INTERRUPTED;
    }
    return status;
}

/* The last step of entering: the context must be sound. */
static CUresult
enter_context(CUresult status, emu_context *context)
{
    return status == CUDA_SUCCESS ? (CUresult)atomic_load(&context->sticky) : status;
}

CUresult
emu_enter_context(emu_call call, emu_context **context)
{
    CUresult status = emu_enter(call);

    *context = NULL;
    if (status == CUDA_SUCCESS) {
        status = emu_context_current(context);
    }
    return enter_context(status, *context);
}

CUresult
emu_enter_object(emu_call call, const void *handle, emu_kind kind,
                 emu_context **context)
{
    CUresult status = emu_enter(call);

    *context = NULL;
    if (status == CUDA_SUCCESS) {
        const emu_object *object = emu_object_get(handle, kind);

        if (object) {
            *context = object->context;
        }
        else {
            status = emu_context_current(context);
        }
    }
    return enter_context(status, *context);
}

CUresult
emu_enter_memory(emu_call call, uint64_t address, emu_context **context)
{
    CUresult status = emu_enter(call);

    *context = NULL;
    if (status == CUDA_SUCCESS) {
        const emu_allocation *found = emu_memory_check(address, 1);

        if (found && found->context) {
            *context = found->context;
        }
        else {
            status = emu_context_current(context);
        }
    }
    return enter_context(status, *context);
}

CUresult
emu_leave(CUresult status)
{
    emu_fault_log(current_call, status);
    if (has_polled && emu_wait_interrupted()) {
        emu_stream_give_up();
    }
    pthread_mutex_unlock(&api.mutex);
    if (has_polled) {
        has_polled = false;
        emu_wait_leave();
    }
    return status;
}

emu_call
emu_pause(void)
{
    emu_call call = current_call;

    pthread_mutex_unlock(&api.mutex);
    return call;
}

void
emu_resume(emu_call call)
{
    pthread_mutex_lock(&api.mutex);
    current_call = call;
}

void
emu_lock(void)
{
    pthread_once(&prepared, prepare);
    pthread_mutex_lock(&api.mutex);
}

void
emu_unlock(void)
{
    pthread_mutex_unlock(&api.mutex);
}

void
emu_use(emu_object *object)
{
    object->users++;
}

void
emu_done(emu_object *object)
{
    object->users--;
    if (object->users == 0) {
        pthread_cond_broadcast(&api.unused);
    }
}

bool
emu_can_wait_unused(const emu_object *object)
{
    return object->users == 0 || !emu_wait_is_nested();
}

bool
emu_wait(void)
{
    const struct timespec deadline = emu_wait_deadline();
    bool ends = false;

    if (pthread_cond_timedwait(&api.unused, &api.mutex, &deadline) == ETIMEDOUT) {
        const emu_call call = emu_pause();

        ends = emu_wait_poll();
        emu_resume(call);
    }
    return ends;
}

void
emu_wait_unused(emu_object *object)
{
    emu_context *context =
        object->kind == EMU_CONTEXT ? (emu_context *)object : object->context;
    bool cancels = false;

    emu_wait_set_stuck(object->users > 0);
    while (object->users > 0) {
        if (emu_wait() && context && !cancels) {
            cancels = true;
            atomic_fetch_add(&context->cancels, 1);
        }
    }
    emu_wait_set_stuck(false);
    if (cancels) {
        atomic_fetch_sub(&context->cancels, 1);
    }
}

void
emu_mark_polled(void)
{
    has_polled = true;
}

void
emu_wake(void)
{
    pthread_cond_broadcast(&api.unused);
}

void
emu_mark_initialised(void)
{
    atomic_store(&api.initialised, true);
}

bool
emu_is_initialised(void)
{
    return atomic_load(&api.initialised);
}

bool
emu_is_forked(void)
{
    return atomic_load(&api.forked);
}

void
emu_set_in_callback(bool on)
{
    in_callback = on;
}
