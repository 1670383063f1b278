/* Streams: making, destroying, asking, host functions. See stream.h. */
#define _GNU_SOURCE
#include "device/api/stream/stream.h"

#include <stdlib.h>

#include "device/sync_check/stream_check.h"
#include "device/machine/services/services.h"
#include "device/api/entry/capture.h"
#include "device/api/entry/context_stack.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/lock.h"
#include "device/api/entry/users.h"
#include "device/base/number.h"

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
    emu_queue_drop(stream);
    emu_lane_free(stream->lane);
    emu_object_free(object);
}

int
emu_stream_clamp_priority(int priority)
{
    return (int)emu_clamp(priority, HIGHEST_PRIORITY, LOWEST_PRIORITY);
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

    if (stream == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    /* Not in the registry: it has no handle of its own and is not counted. */
    stream->object.kind = EMU_STREAM;
    stream->object.context = context;
    stream->is_null = true;
    stream->place.stream = stream;
    stream->id = ++last_id;
    stream->object.serial = stream->id;
    stream->lane = emu_lane_new(context, EMU_LANE_NULL);
    context->null_stream = stream;
    return CUDA_SUCCESS;
}

void
emu_stream_close(emu_context *context)
{
    emu_lane_free(context->null_stream->lane);
    free(context->null_stream);
    context->null_stream = NULL;
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

CUresult
emu_stream_find(emu_context *context, CUstream handle, emu_stream **stream)
{
    if (handle == NULL) {
        *stream = emu_stream_default(context);
    }
    else if (handle == CU_STREAM_LEGACY) {
        *stream = context->null_stream;
    }
    else if (handle == CU_STREAM_PER_THREAD) {
        *stream = stream_of_thread(context);
    }
    else {
        *stream = emu_object_get(handle, EMU_STREAM);
    }
    if (*stream == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return CUDA_SUCCESS;
}

/* -- doors ------------------------------------------------------------------------- */

CUresult
emu_enter_stream_context(emu_call call, CUstream handle, emu_context **context)
{
    CUresult status = emu_enter(call);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    const emu_stream *stream = emu_object_get(handle, EMU_STREAM);

    if (stream == NULL) {
        return emu_entered_current(context);
    }
    *context = stream->object.context;
    return emu_context_status(*context);
}

CUresult
emu_enter_stream(emu_call call, CUstream *stream)
{
    emu_context *context;
    CUresult status = emu_enter_stream_context(call, *stream, &context);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    return emu_stream_find(context, *stream, stream);
}

CUresult
emu_enter_default_stream(emu_call call, emu_stream **stream)
{
    emu_context *context;
    CUresult status = emu_enter_context(call, &context);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    *stream = emu_stream_default(context);
    return CUDA_SUCCESS;
}

/* -- entry points ------------------------------------------------------------------ */

CUresult
emu_cuStreamCreate(emu_context *context, CUstream *phStream, unsigned int Flags)
{
    return emu_cuStreamCreateWithPriority(context, phStream, Flags, 0);
}

CUresult
emu_cuStreamCreateWithPriority(emu_context *context, CUstream *phStream,
                               unsigned int flags, int priority)
{
    if (phStream == NULL || flags > EMU_STREAM_NON_BLOCKING) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_stream *stream = stream_new(context, flags, priority);
    if (stream == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *phStream = stream;
    return CUDA_SUCCESS;
}

CUresult
emu_cuStreamDestroy(emu_stream *stream)
{
    if (!stream->queue.has_thread) {
        return emu_users_destroy(&stream->object);
    }
    emu_count_free(stream->object.context);
    emu_object_unlist(&stream->object);
    stream->queue.is_orphan = true;
    return CUDA_SUCCESS;
}

EMU_GETTER(emu_cuStreamGetPriority, (emu_stream * stream, int *out), out,
           stream->priority)
EMU_GETTER(emu_cuStreamGetFlags, (emu_stream * stream, unsigned int *out), out,
           stream->flags)
EMU_GETTER(emu_cuStreamGetCtx, (emu_stream * stream, CUcontext *out), out,
           emu_stream_context(stream))
EMU_GETTER(emu_cuStreamGetId, (emu_stream * stream, unsigned long long *out), out,
           stream->id)
EMU_GETTER(emu_cuStreamGetDevice, (emu_stream * stream, CUdevice *out), out,
           stream->object.context->device->ordinal)
EMU_GETTER(emu_cuStreamGetGreenCtx, (emu_stream * stream, CUgreenCtx *out), out,
           emu_green_context_get(stream->green))

CUresult
emu_cuStreamQuery(emu_stream *stream)
{
    CUresult status = emu_capture_refuse(stream);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (stream->queue.done < stream->queue.kept) {
        /* One item a query, so that a program which polls gets to the end. */
        emu_queue_advance(stream, stream->queue.done + 1);
        if (stream->queue.done < stream->queue.kept) {
            return CUDA_ERROR_NOT_READY;
        }
    }
    while (stream->queue.has_thread && stream->queue.done == stream->queue.kept) {
        (void)emu_lock_wait(); /* its thread ends */
    }
    if (stream->object.users > 0) {
        return CUDA_ERROR_NOT_READY; /* another thread's work is under way */
    }
    emu_host_awaits_lane(stream->lane);
    return CUDA_SUCCESS;
}

void
emu_stream_print(emu_context *context)
{
    emu_users_add(&context->object);
    const emu_call call = emu_lock_pause();

    emu_services_flush(context);
    emu_lock_resume(call);
    emu_users_remove(&context->object);
}

/* As on a GPU, a stream without work does not wait for that of the null stream. */
CUresult
emu_cuStreamSynchronize(emu_stream *stream)
{
    static const emu_work nothing = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    emu_context *context = stream->object.context;

    if (context->turns.threads > 0 && !stream->is_null && !stream->has_turn &&
        stream->queue.done == stream->queue.kept && stream->place.capture == NULL) {
        emu_stream_print(context);
        return emu_context_status(context);
    }
    return emu_queue_submit(stream, &nothing, NULL, 0, EMU_SUBMIT_AND_WAIT);
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

CUresult
emu_cuLaunchHostFunc(emu_stream *stream, CUhostFn fn, void *userData)
{
    const host_call call = {fn, userData};

    if (fn == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return emu_queue_submit(stream, &emu_host_work, &call, sizeof(call), EMU_SUBMIT);
}

/* A function that gets the stream and its status. */
typedef struct {
    CUstream stream;
    CUstreamCallback function;
    void *data;
} stream_callback;

static CUresult
callback_run(const void *payload, emu_context *context, emu_report *report)
{
    const stream_callback *callback = payload;

    (void)report;
    emu_set_in_callback(true);
    callback->function(callback->stream, emu_context_status(context), callback->data);
    emu_set_in_callback(false);
    emu_operation_signals(emu_operation_present());
    return CUDA_SUCCESS;
}

static const emu_work callback_work = {
    .type = CU_GRAPH_NODE_TYPE_HOST, .runs_after_fault = true, .run = callback_run};

CUresult
emu_cuStreamAddCallback(emu_context *context, CUstream hStream,
                        CUstreamCallback callback, void *userData, unsigned int flags)
{
    const stream_callback payload = {hStream, callback, userData};
    emu_stream *stream;

    if (callback == NULL || flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = emu_stream_find(context, hStream, &stream);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    return emu_queue_submit(stream, &callback_work, &payload, sizeof(payload),
                            EMU_SUBMIT_PROMPTLY);
}

/* -- attributes -------------------------------------------------------------------- */

enum { SYNCHRONIZATION_POLICY = 3, MEM_SYNC_DOMAIN = 10 };

CUresult
emu_cuStreamGetCtx_v2(emu_stream *stream, CUcontext *pCtx, CUgreenCtx *pGreenCtx)
{
    if (pCtx == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pCtx = emu_stream_context(stream);
    if (pGreenCtx != NULL) {
        *pGreenCtx = emu_green_context_get(stream->green);
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuStreamGetAttribute(emu_stream *stream, CUlaunchAttributeID attr,
                         CUlaunchAttributeValue *value_out)
{
    if (value_out == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const emu_stream_attributes *from = &stream->attributes;

    switch (attr) {
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
            value_out->accessPolicyWindow = from->window;
            break;
        case SYNCHRONIZATION_POLICY:
            value_out->cooperative = from->policy; /* also one int */
            break;
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
            value_out->priority = stream->priority;
            break;
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
            value_out->memSyncDomainMap = from->domain_map;
            break;
        case MEM_SYNC_DOMAIN:
            value_out->cooperative = from->domain;
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuStreamSetAttribute(emu_stream *stream, CUlaunchAttributeID attr,
                         const CUlaunchAttributeValue *value)
{
    if (value == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_stream_attributes *to = &stream->attributes;

    /* Hints to hardware: without effect here. */
    switch (attr) {
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
            to->window = value->accessPolicyWindow;
            break;
        case SYNCHRONIZATION_POLICY:
            to->policy = value->cooperative;
            break;
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
            stream->priority = emu_stream_clamp_priority(value->priority);
            break;
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
            to->domain_map = value->memSyncDomainMap;
            break;
        case MEM_SYNC_DOMAIN:
            to->domain = value->cooperative;
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuStreamCopyAttributes(emu_stream *to, CUstream src)
{
    emu_stream *from;
    CUresult status = emu_stream_find(to->object.context, src, &from);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    to->attributes = from->attributes;
    return CUDA_SUCCESS;
}
