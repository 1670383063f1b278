/* Streams: making, destroying, taking turns, host functions.
 *
 * A turn on a stream holds its mutex and, for the null stream, the context's order lock
 * for writing, for others that are not NON_BLOCKING the same for reading. They are
 * taken without the API lock. Threads take turns in no set order, as on a GPU. */
#define _GNU_SOURCE
#include "device/api/stream.h"

#include <pthread.h>
#include <stdlib.h>

#include "device/api/entry.h"
#include "device/api/capture.h"
#include "device/api/context.h"
#include "device/api/faults.h"
#include "device/api/deferred_release.h"
#include "device/machine/wait.h"

typedef struct emu_order {
    pthread_rwlock_t lock;
} emu_order;

struct CUstream_st {
    emu_object object;
    uint64_t id;
    unsigned int flags;
    int priority;
    bool null;
    pthread_mutex_t turn;
    emu_capture_place place;
    emu_late late;
    uint64_t ticket; /* of the work that is running, 0: none */
    struct CUstream_st *next_busy;
};

enum { NON_BLOCKING = 1 };

static uint64_t last_id; /* guarded by the API lock, as the next */
static struct {
    emu_stream *first;    /* that run work now */
    uint64_t last_ticket; /* work gets them in the order in which it begins */
} busy;
static _Thread_local uint64_t given_up; /* this thread settles for later work only */

static void
destroy(emu_object *object)
{
    emu_stream *stream = (emu_stream *)object;

    emu_capture_stream_gone(stream);
    pthread_mutex_destroy(&stream->turn);
    emu_object_free(object);
}

static emu_stream *
make(emu_context *context, unsigned int flags, int priority)
{
    emu_stream *stream = emu_object_new(EMU_STREAM, sizeof(*stream), context, destroy);

    if (stream) {
        stream->id = ++last_id;
        stream->flags = flags;
        stream->priority = priority < -5 ? -5 : priority > 0 ? 0 : priority;
        stream->place.stream = stream;
        pthread_mutex_init(&stream->turn, NULL);
    }
    return stream;
}

CUresult
emu_stream_open(emu_context *context)
{
    emu_stream *stream = calloc(1, sizeof(*stream));

    context->order = calloc(1, sizeof(*context->order));
    if (!stream || !context->order) {
        free(stream);
        free(context->order);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    /* Not in the registry: it has no handle of its own and is not counted. */
    stream->object.kind = EMU_STREAM;
    stream->object.context = context;
    stream->null = true;
    stream->place.stream = stream;
    stream->id = ++last_id;
    pthread_mutex_init(&stream->turn, NULL);
    pthread_rwlock_init(&context->order->lock, NULL);
    context->null_stream = stream;
    return CUDA_SUCCESS;
}

void
emu_stream_close(emu_context *context)
{
    pthread_mutex_destroy(&context->null_stream->turn);
    free(context->null_stream);
    context->null_stream = NULL;
    pthread_rwlock_destroy(&context->order->lock);
    free(context->order);
    context->order = NULL;
}

emu_stream *
emu_stream_get(emu_context *context, CUstream handle)
{
    emu_stream *stream;

    if ((uintptr_t)handle <= 2) { /* none, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD */
        return context->null_stream;
    }
    stream = emu_object_get(handle, EMU_STREAM);
    return stream && stream->object.context == context ? stream : NULL;
}

emu_context *
emu_stream_context(const emu_stream *stream)
{
    return stream->object.context;
}

uint64_t
emu_stream_serial(const emu_stream *stream)
{
    return stream->object.serial;
}

emu_capture_place *
emu_stream_place(emu_stream *stream)
{
    return &stream->place;
}

bool
emu_stream_is_null(const emu_stream *stream)
{
    return stream->null;
}

bool
emu_stream_is_blocking(const emu_stream *stream)
{
    return !(stream->flags & NON_BLOCKING);
}

emu_late *
emu_stream_late(emu_stream *stream)
{
    return &stream->late;
}

/* Its turn has come: work runs. */
static void
mark_busy(emu_stream *stream)
{
    emu_lock();
    stream->ticket = ++busy.last_ticket;
    stream->next_busy = busy.first;
    busy.first = stream;
    emu_unlock();
}

static void
mark_idle(emu_stream *stream)
{
    emu_stream **link = &busy.first;

    emu_lock();
    while (*link != stream) {
        link = &(*link)->next_busy;
    }
    *link = stream->next_busy;
    stream->ticket = 0;
    emu_keep_end();
    emu_wake();
    emu_unlock();
}

/* Whether work of the context is running that began by that ticket, but after the
 * other one. */
static bool
runs_since(const emu_context *context, uint64_t ticket, uint64_t before)
{
    const emu_stream *stream = busy.first;

    while (stream && (stream->object.context != context || stream->ticket > ticket ||
                      stream->ticket <= before)) {
        stream = stream->next_busy;
    }
    return stream;
}

bool
emu_stream_runs(const emu_context *context, uint64_t ticket)
{
    return runs_since(context, ticket, 0);
}

/* The same without what this thread has given up. */
static bool
is_busy(const emu_context *context, uint64_t ticket)
{
    return runs_since(context, ticket, given_up);
}

bool
emu_stream_cannot_settle(const emu_context *context, uint64_t *ticket)
{
    *ticket = busy.last_ticket;
    return emu_wait_is_nested() && is_busy(context, *ticket);
}

void
emu_stream_give_up(void)
{
    given_up = busy.last_ticket;
}

void
emu_stream_settle(const emu_context *context)
{
    uint64_t ticket = busy.last_ticket;
    bool ends = emu_wait_is_nested() || !is_busy(context, ticket);

    if (ends) {
        return;
    }
    emu_wait_set_stuck(true);
    while (!ends && is_busy(context, ticket)) {
        ends = emu_wait();
    }
    emu_wait_set_stuck(false);
}

int
emu_stream_begin(emu_stream *stream)
{
    if (emu_late_on) {
        emu_late_before(stream);
        if (emu_wait_interrupted()) {
            return -1;
        }
    }
    return emu_stream_turn(stream);
}

/* Waits for the order lock, if the stream takes it. False: a signal ended the wait. */
static inline bool
order_take(const emu_stream *stream)
{
    emu_order *order = stream->object.context->order;

    if (stream->null) {
        return emu_wait_write(&order->lock);
    }
    return stream->flags & NON_BLOCKING || emu_wait_read(&order->lock);
}

static inline void
order_give(const emu_stream *stream)
{
    if (stream->null || !(stream->flags & NON_BLOCKING)) {
        pthread_rwlock_unlock(&stream->object.context->order->lock);
    }
}

static inline void
turn_over(emu_stream *stream, int token)
{
    emu_resume((emu_call)token);
    emu_done(&stream->object);
    emu_done(&stream->object.context->object);
}

int
emu_stream_turn(emu_stream *stream)
{
    int token;

    emu_use(&stream->object);
    emu_use(&stream->object.context->object);
    token = (int)emu_pause();
    if (order_take(stream)) {
        if (emu_wait_mutex(&stream->turn)) {
            mark_busy(stream);
            return token;
        }
        order_give(stream);
    }
    turn_over(stream, token);
    return -1;
}

void
emu_stream_end(emu_stream *stream, int token)
{
    mark_idle(stream);
    pthread_mutex_unlock(&stream->turn);
    order_give(stream);
    turn_over(stream, token);
}

/* -- entry points ------------------------------------------------------------------ */

static CUresult
create(emu_context *context, CUstream *out, unsigned int flags, int priority)
{
    emu_stream *stream;

    if (!out || flags > NON_BLOCKING) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    stream = make(context, flags, priority);
    if (!stream) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = stream;
    return CUDA_SUCCESS;
}

CUresult
emu_cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(StreamCreate, &context);

    if (status == CUDA_SUCCESS) {
        status = create(context, phStream, Flags, 0);
    }
    return emu_leave(status);
}

CUresult
emu_cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(StreamCreateWithPriority, &context);

    if (status == CUDA_SUCCESS) {
        status = create(context, phStream, flags, priority);
    }
    return emu_leave(status);
}

/* A stream handle where any context will do: a query, a destruction. */
static CUresult
find_any(emu_context *context, CUstream handle, emu_stream **stream)
{
    *stream = emu_stream_get(context, handle);
    if (!*stream) {
        *stream = emu_object_get(handle, EMU_STREAM);
    }
    return *stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult
emu_cuStreamDestroy(CUstream hStream)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(StreamDestroy, hStream, &context);

    if (status == CUDA_SUCCESS) {
        emu_stream *stream = emu_object_get(hStream, EMU_STREAM);

        if (!stream) {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
        else if (!emu_can_wait_unused(&stream->object)) {
            status = CUDA_ERROR_NOT_PERMITTED;
        }
        else {
            emu_count_free(stream->object.context);
            emu_object_unlist(&stream->object); /* no new work */
            emu_wait_unused(&stream->object);
            destroy(&stream->object);
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuStreamGetPriority(CUstream hStream, int *priority)
{
    emu_context *context;
    emu_stream *stream;
    CUresult status = EMU_ENTER_STREAM(StreamGetPriority, hStream, &context);

    if (status == CUDA_SUCCESS) {
        status = find_any(context, hStream, &stream);
    }
    if (status == CUDA_SUCCESS && !priority) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *priority = stream->priority;
    }
    return emu_leave(status);
}

CUresult
emu_cuStreamGetFlags(CUstream hStream, unsigned int *flags)
{
    emu_context *context;
    emu_stream *stream;
    CUresult status = EMU_ENTER_STREAM(StreamGetFlags, hStream, &context);

    if (status == CUDA_SUCCESS) {
        status = find_any(context, hStream, &stream);
    }
    if (status == CUDA_SUCCESS && !flags) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *flags = stream->flags;
    }
    return emu_leave(status);
}

CUresult
emu_cuStreamGetCtx(CUstream hStream, CUcontext *pctx)
{
    emu_context *context;
    emu_stream *stream;
    CUresult status = EMU_ENTER_STREAM(StreamGetCtx, hStream, &context);

    if (status == CUDA_SUCCESS) {
        status = find_any(context, hStream, &stream);
    }
    if (status == CUDA_SUCCESS && !pctx) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *pctx = stream->object.context;
    }
    return emu_leave(status);
}

CUresult
emu_cuStreamGetId(CUstream hStream, unsigned long long *streamId)
{
    emu_context *context;
    emu_stream *stream;
    CUresult status = EMU_ENTER_STREAM(StreamGetId, hStream, &context);

    if (status == CUDA_SUCCESS) {
        status = find_any(context, hStream, &stream);
    }
    if (status == CUDA_SUCCESS && !streamId) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *streamId = stream->id;
    }
    return emu_leave(status);
}

CUresult
emu_cuStreamQuery(CUstream hStream)
{
    emu_context *context;
    emu_stream *stream = NULL;
    CUresult status = EMU_ENTER_STREAM(StreamQuery, hStream, &context);

    if (status == CUDA_SUCCESS) {
        status = find_any(context, hStream, &stream);
    }
    if (status == CUDA_SUCCESS) {
        status = emu_capture_refuse(stream);
    }
    if (status == CUDA_SUCCESS && stream->late.done < stream->late.kept) {
        (void)emu_late_run(stream,
                           stream->late.done + 1); /* who asks on and on gets there */
        if (stream->late.done < stream->late.kept) {
            status = CUDA_ERROR_NOT_READY;
        }
    }
    if (status == CUDA_SUCCESS && stream->object.users > 0) {
        status = CUDA_ERROR_NOT_READY; /* another thread's work is under way */
    }
    return emu_leave(status);
}

CUresult
emu_cuStreamSynchronize(CUstream hStream)
{
    emu_context *context;
    emu_stream *stream;
    CUresult status = EMU_ENTER_STREAM(StreamSynchronize, hStream, &context);

    if (status == CUDA_SUCCESS) {
        status = find_any(context, hStream, &stream);
    }
    if (status == CUDA_SUCCESS) {
        status = emu_capture_refuse(stream);
    }
    if (status == CUDA_SUCCESS) {
        emu_context *owner = stream->object.context;
        int token = emu_stream_begin(stream);

        if (token < 0) {
            status = emu_wait_status();
        }
        else {
            emu_context_flush(owner);
            emu_stream_end(stream, token);
            status = (CUresult)atomic_load(&context->sticky);
        }
    }
    return emu_leave(status);
}

typedef struct {
    CUhostFn function;
    void *data;
} host_call;

/* In the stream's turn; the function may not call the driver. */
static CUresult
run_host_call(const void *payload, emu_context *context, emu_report *report)
{
    const host_call *call = payload;

    (void)context;
    (void)report;
    emu_set_in_callback(true);
    call->function(call->data);
    emu_set_in_callback(false);
    return CUDA_SUCCESS;
}

static const emu_work host_work = {.type = EMU_NODE_HOST, .run = run_host_call};

CUresult
emu_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    emu_context *context;
    emu_stream *stream = NULL;
    host_call call = {fn, userData};
    bool taken = false;
    CUresult status = EMU_ENTER_STREAM(LaunchHostFunc, hStream, &context);

    if (status == CUDA_SUCCESS && !fn) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        stream = emu_stream_get(context, hStream);
        status = stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    }
    if (status == CUDA_SUCCESS) {
        status = emu_capture_take(stream, &host_work, &call, sizeof(call), &taken);
    }
    if (status == CUDA_SUCCESS && !taken) {
        int token = emu_stream_begin(stream);

        if (token < 0) {
            status = emu_wait_status();
        }
        else {
            (void)run_host_call(&call, context, NULL); /* always succeeds */
            emu_stream_end(stream, token);
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData,
                        unsigned int flags)
{
    emu_context *context;
    emu_stream *stream = NULL;
    CUresult status = EMU_ENTER_STREAM(StreamAddCallback, hStream, &context);

    if (status == CUDA_SUCCESS && (!callback || flags != 0)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        stream = emu_stream_get(context, hStream);
        status = stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    }
    if (status == CUDA_SUCCESS) {
        status = emu_capture_refuse(stream);
    }
    if (status == CUDA_SUCCESS) {
        int token = emu_stream_begin(stream);

        if (token < 0) {
            status = emu_wait_status();
        }
        else {
            emu_set_in_callback(true);
            callback(hStream, (CUresult)atomic_load(&context->sticky), userData);
            emu_set_in_callback(false);
            emu_stream_end(stream, token);
        }
    }
    return emu_leave(status);
}
