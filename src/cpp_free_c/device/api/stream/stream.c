/* Streams: making, destroying, asking, host functions. See stream.h. */
#define _GNU_SOURCE
#include "device/api/stream/stream.h"

#include <stdlib.h>

#include "device/check/stream_check.h"
#include "device/machine/services/services.h"
#include "device/machine/warp/wait.h"
#include "device/api/entry/capture.h"
#include "device/api/entry/deferred.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/lock.h"
#include "device/api/entry/release_count.h"
#include "device/api/entry/users.h"

enum { LOWEST_PRIORITY = 0, HIGHEST_PRIORITY = -5 };

static uint64_t last_id; /* guarded by the API lock */
static atomic_uint_fast64_t last_thread;
static _Thread_local uint64_t thread_number; /* 0: not asked for yet */

_Thread_local bool emu_stream_is_per_thread;

static void
stream_destroy(emu_object *object)
{
    emu_stream *stream = (emu_stream *)object;

    emu_capture_stream_gone(stream);
    emu_deferred_drop(stream);
    emu_lane_free(stream->lane);
    pthread_mutex_destroy(&stream->turn);
    emu_object_free(object);
}

int
emu_stream_clamp_priority(int priority)
{
    if (priority < HIGHEST_PRIORITY) {
        return HIGHEST_PRIORITY;
    }
    if (priority > LOWEST_PRIORITY) {
        return LOWEST_PRIORITY;
    }
    return priority;
}

static emu_stream *
stream_new(emu_context *context, unsigned int flags, int priority)
{
    emu_stream *stream =
        emu_object_new(EMU_STREAM, sizeof(*stream), context, stream_destroy);

    if (stream != NULL) {
        stream->id = ++last_id;
        stream->flags = flags;
        stream->priority = emu_stream_clamp_priority(priority);
        stream->place.stream = stream;
        pthread_mutex_init(&stream->turn, NULL);
        stream->lane = emu_lane_new(context, (flags & EMU_STREAM_NON_BLOCKING) != 0
                                                 ? EMU_LANE_FREE
                                                 : EMU_LANE_BLOCKING);
    }
    return stream;
}

CUresult
emu_stream_open(emu_context *context)
{
    emu_stream *stream = calloc(1, sizeof(*stream));

    if (stream == NULL || !emu_stream_order_open(context)) {
        free(stream);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    /* Not in the registry: it has no handle of its own and is not counted. */
    stream->object.kind = EMU_STREAM;
    stream->object.context = context;
    stream->is_null = true;
    stream->place.stream = stream;
    stream->id = ++last_id;
    pthread_mutex_init(&stream->turn, NULL);
    stream->lane = emu_lane_new(context, EMU_LANE_NULL);
    context->null_stream = stream;
    return CUDA_SUCCESS;
}

void
emu_stream_close(emu_context *context)
{
    emu_lane_free(context->null_stream->lane);
    pthread_mutex_destroy(&context->null_stream->turn);
    free(context->null_stream);
    context->null_stream = NULL;
    emu_stream_order_close(context);
}

/* The default stream of this thread in a context. It exists from its first use until
 * the context ends. The null stream, which waits for more, if there is no memory. */
static emu_stream *
stream_of_thread(emu_context *context)
{
    emu_stream *stream;

    if (thread_number == 0) {
        thread_number = atomic_fetch_add(&last_thread, 1) + 1;
    }
    for (stream = context->thread_streams; stream != NULL; stream = stream->next) {
        if (stream->thread == thread_number) {
            return stream;
        }
    }
    stream = stream_new(context, 0, 0);
    if (stream == NULL) {
        return context->null_stream;
    }
    emu_object_make_part(&stream->object);
    stream->thread = thread_number;
    stream->next = context->thread_streams;
    context->thread_streams = stream;
    return stream;
}

emu_stream *
emu_stream_default(emu_context *context)
{
    if (emu_stream_is_per_thread) {
        return stream_of_thread(context);
    }
    return context->null_stream;
}

emu_stream *
emu_stream_get(emu_context *context, CUstream handle)
{
    emu_stream *stream;

    if (handle == NULL) {
        return emu_stream_default(context);
    }
    if (handle == CU_STREAM_LEGACY) {
        return context->null_stream;
    }
    if (handle == CU_STREAM_PER_THREAD) {
        return stream_of_thread(context);
    }
    stream = emu_object_get(handle, EMU_STREAM);
    if (stream == NULL || stream->object.context != context) {
        return NULL;
    }
    return stream;
}

CUresult
emu_stream_find(emu_context *context, CUstream handle, emu_stream **stream)
{
    *stream = emu_stream_get(context, handle);
    if (*stream == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return CUDA_SUCCESS;
}

int
emu_stream_begin(emu_stream *stream)
{
    emu_operation *operation;
    int token;

    if (emu_deferred_any()) {
        emu_deferred_run_before(stream);
        if (emu_wait_interrupted()) {
            return -1;
        }
    }
    operation = emu_operation_new(stream->lane, emu_call_name(emu_lock_call()));
    token = emu_stream_turn(stream);
    if (token < 0) {
        emu_operation_drop(operation);
    }
    else {
        emu_operation_begin(operation);
    }
    return token;
}

CUresult
emu_stream_synchronize(emu_stream *stream)
{
    emu_context *context = stream->object.context;
    int token = emu_stream_begin(stream);

    if (token < 0) {
        return emu_wait_status();
    }
    emu_services_flush(context);
    emu_stream_end(stream, token);
    emu_host_awaits_lane(stream->lane);
    return CUDA_SUCCESS;
}

/* -- entry points ------------------------------------------------------------------ */

static CUresult
stream_create(emu_context *context, CUstream *out, unsigned int flags, int priority)
{
    emu_stream *stream;

    if (out == NULL || flags > EMU_STREAM_NON_BLOCKING) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    stream = stream_new(context, flags, priority);
    if (stream == NULL) {
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
        status = stream_create(context, phStream, Flags, 0);
    }
    return emu_leave(status);
}

CUresult
emu_cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(StreamCreateWithPriority, &context);

    if (status == CUDA_SUCCESS) {
        status = stream_create(context, phStream, flags, priority);
    }
    return emu_leave(status);
}

/* Find the stream of a handle, in the context or in any other. */
static CUresult
stream_find_any(emu_context *context, CUstream handle, emu_stream **stream)
{
    *stream = emu_stream_get(context, handle);
    if (*stream == NULL) {
        *stream = emu_object_get(handle, EMU_STREAM);
    }
    if (*stream == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuStreamDestroy(CUstream hStream)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(StreamDestroy, hStream, &context);

    if (status == CUDA_SUCCESS) {
        emu_stream *stream = emu_object_get(hStream, EMU_STREAM);

        if (stream == NULL) {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
        else {
            status = emu_users_destroy(&stream->object);
        }
    }
    return emu_leave(status);
}

/* A call that stores one fact about a stream. */
#define STREAM_GETTER(name, Type, value)                                     \
    CUresult emu_cuStream##name(CUstream hStream, Type *out)                 \
    {                                                                        \
        emu_context *context;                                                \
        emu_stream *stream;                                                  \
        CUresult status = EMU_ENTER_STREAM(Stream##name, hStream, &context); \
                                                                             \
        if (status == CUDA_SUCCESS) {                                        \
            status = stream_find_any(context, hStream, &stream);             \
        }                                                                    \
        if (status == CUDA_SUCCESS && out == NULL) {                         \
            status = CUDA_ERROR_INVALID_VALUE;                               \
        }                                                                    \
        if (status == CUDA_SUCCESS) {                                        \
            *out = value;                                                    \
        }                                                                    \
        return emu_leave(status);                                            \
    }

STREAM_GETTER(GetPriority, int, stream->priority)
STREAM_GETTER(GetFlags, unsigned int, stream->flags)
STREAM_GETTER(GetCtx, CUcontext, emu_stream_context(stream))
STREAM_GETTER(GetId, unsigned long long, stream->id)

CUresult
emu_cuStreamQuery(CUstream hStream)
{
    emu_context *context;
    emu_stream *stream = NULL;
    CUresult status = EMU_ENTER_STREAM(StreamQuery, hStream, &context);

    if (status == CUDA_SUCCESS) {
        status = stream_find_any(context, hStream, &stream);
    }
    if (status == CUDA_SUCCESS) {
        status = emu_capture_refuse(stream);
    }
    if (status == CUDA_SUCCESS && stream->deferred.done < stream->deferred.kept) {
        /* One item a query, so that a program which polls gets to the end. */
        emu_deferred_advance(stream, stream->deferred.done + 1);
        if (stream->deferred.done < stream->deferred.kept) {
            status = CUDA_ERROR_NOT_READY;
        }
    }
    if (status == CUDA_SUCCESS && stream->object.users > 0) {
        status = CUDA_ERROR_NOT_READY; /* another thread's work is under way */
    }
    if (status == CUDA_SUCCESS) {
        emu_host_awaits_lane(stream->lane);
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
        status = stream_find_any(context, hStream, &stream);
    }
    if (status == CUDA_SUCCESS) {
        status = emu_capture_refuse(stream);
    }
    if (status == CUDA_SUCCESS) {
        status = emu_stream_synchronize(stream);
    }
    if (status == CUDA_SUCCESS) {
        status = (CUresult)atomic_load(&context->sticky);
    }
    return emu_leave(status);
}

/* -- host functions ---------------------------------------------------------------- */

typedef struct {
    CUhostFn function;
    void *data;
} host_call;

/* Call a function of the program, in the stream's turn. It may not call the driver. */
static CUresult
host_call_run(const void *payload, emu_context *context, emu_report *report)
{
    const host_call *call = payload;

    (void)context;
    (void)report;
    emu_set_in_callback(true);
    call->function(call->data);
    emu_set_in_callback(false);
    emu_operation_signals(emu_operation_present());
    return CUDA_SUCCESS;
}

static void
host_call_describe(void *payload, CUgraphNodeParams *params)
{
    const host_call *call = payload;

    params->host = (CUDA_HOST_NODE_PARAMS){call->function, call->data};
}

const emu_work emu_host_work = {.type = CU_GRAPH_NODE_TYPE_HOST,
                                .run = host_call_run,
                                .describe = host_call_describe};

CUresult
emu_host_node_make(emu_context *context, const CUgraphNodeParams *params,
                   emu_payload *out)
{
    host_call *call;

    (void)context; /* the function runs on the host */
    if (params->host.fn == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    call = malloc(sizeof(*call));
    if (call == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *call = (host_call){params->host.fn, params->host.userData};
    *out = (emu_payload){call, sizeof(*call)};
    return CUDA_SUCCESS;
}

static CUresult
host_call_enqueue(emu_stream *stream, const host_call *call)
{
    bool taken = false;
    CUresult status =
        emu_capture_take(stream, &emu_host_work, call, sizeof(*call), &taken);
    int token;

    if (status != CUDA_SUCCESS || taken) {
        return status;
    }
    token = emu_stream_begin(stream);
    if (token < 0) {
        return emu_wait_status();
    }
    (void)host_call_run(call, stream->object.context, NULL); /* always succeeds */
    emu_stream_end(stream, token);
    return CUDA_SUCCESS;
}

CUresult
emu_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    emu_context *context;
    emu_stream *stream;
    CUresult status = EMU_ENTER_STREAM(LaunchHostFunc, hStream, &context);

    if (status == CUDA_SUCCESS && fn == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = emu_stream_find(context, hStream, &stream);
    }
    if (status == CUDA_SUCCESS) {
        const host_call call = {fn, userData};

        status = host_call_enqueue(stream, &call);
    }
    return emu_leave(status);
}

CUresult
emu_cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData,
                        unsigned int flags)
{
    emu_context *context;
    emu_stream *stream;
    int token = 0;
    CUresult status = EMU_ENTER_STREAM(StreamAddCallback, hStream, &context);

    if (status == CUDA_SUCCESS && (callback == NULL || flags != 0)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = emu_stream_find(context, hStream, &stream);
    }
    if (status == CUDA_SUCCESS) {
        status = emu_capture_refuse(stream);
    }
    if (status == CUDA_SUCCESS) {
        token = emu_stream_begin(stream);
        if (token < 0) {
            status = emu_wait_status();
        }
    }
    if (status == CUDA_SUCCESS) {
        emu_set_in_callback(true);
        callback(hStream, (CUresult)atomic_load(&context->sticky), userData);
        emu_set_in_callback(false);
        emu_operation_signals(emu_operation_present());
        emu_stream_end(stream, token);
    }
    return emu_leave(status);
}
