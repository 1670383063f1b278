/* Capture of streams into graphs. See capture.h.
 *
 * Which calls are refused, and with which code, follows the driver's documentation:
 * what would wait for captured work conflicts with the capture always; what works
 * behind its back ("unsafe") depends on the modes of the capture and of the thread.
 * Where the documentation gives no code, what has been seen of a GPU's driver decides,
 * and where nothing has been, the likest case that has. */
#define _GNU_SOURCE
#include "device/api/capture.h"

#include <stdlib.h>
#include <string.h>

#include "device/api/context.h"
#include "device/api/faults.h"
#include "device/api/deferred.h"
#include "device/api/stream.h"

/* CUstreamCaptureMode and CUstreamCaptureStatus values. */
enum { MODE_GLOBAL = 0, MODE_THREAD_LOCAL = 1, MODE_RELAXED = 2 };
enum { STATUS_NONE = 0, STATUS_ACTIVE = 1, STATUS_INVALIDATED = 2 };

struct emu_capture {
    emu_context *context; /* of the origin */
    emu_stream *origin;
    CUstreamCaptureMode mode;
    uint64_t thread; /* that began it */
    bool invalid;
    emu_graph_body *body;
    emu_capture_place *places;
    emu_capture *next, *previous; /* of all captures */
};

static emu_capture *captures; /* guarded by the API lock, as all that hangs on it */
static uint64_t last_thread;  /* guarded by the API lock */
static _Thread_local uint64_t this_thread;
static _Thread_local CUstreamCaptureMode thread_mode = MODE_GLOBAL;

static uint64_t
thread_number(void)
{
    if (!this_thread) {
        this_thread = ++last_thread;
    }
    return this_thread;
}

/* -- places ------------------------------------------------------------------------ */

void
emu_capture_forget(emu_capture_place *place)
{
    emu_capture *capture = place->capture;

    place->captured = false;
    if (!capture) {
        return;
    }
    if (place->previous) {
        place->previous->next = place->next;
    }
    else {
        capture->places = place->next;
    }
    if (place->next) {
        place->next->previous = place->previous;
    }
    free(place->after);
    place->after = NULL;
    place->count = 0;
    place->capture = NULL;
    place->next = place->previous = NULL;
}

/* Puts a place into the capture, after the nodes given. */
static CUresult
join(emu_capture_place *place, emu_capture *capture, const uint32_t *after,
     size_t count)
{
    uint32_t *copy = malloc((count + 1) * sizeof(*copy));

    if (!copy) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (count) {
        memcpy(copy, after, count * sizeof(*copy));
    }
    emu_capture_forget(place);
    place->capture = capture;
    place->after = copy;
    place->count = count;
    place->next = capture->places;
    if (place->next) {
        place->next->previous = place;
    }
    capture->places = place;
    return CUDA_SUCCESS;
}

/* Lets a place wait for more nodes. */
static CUresult
wait_for(emu_capture_place *place, const uint32_t *after, size_t count)
{
    uint32_t *all = realloc(place->after, (place->count + count + 1) * sizeof(*all));

    if (!all) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    place->after = all;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;

        while (k < place->count && all[k] != after[i]) {
            k++;
        }
        all[k] = after[i];
        place->count += k == place->count;
    }
    return CUDA_SUCCESS;
}

/* -- captures ---------------------------------------------------------------------- */

/* Ends a capture; its streams run work again. */
static void
end(emu_capture *capture)
{
    while (capture->places) {
        emu_capture_place *place = capture->places;
        bool captured = place->captured;

        emu_capture_forget(place);
        place->captured = captured; /* an event stays one that never took place */
    }
    if (capture->previous) {
        capture->previous->next = capture->next;
    }
    else {
        captures = capture->next;
    }
    if (capture->next) {
        capture->next->previous = capture->previous;
    }
    emu_graph_body_release(capture->body);
    free(capture);
}

void
emu_capture_stream_gone(emu_stream *stream)
{
    emu_capture_place *place = emu_stream_place(stream);
    emu_capture *capture = place->capture;

    if (capture && capture->origin == stream) {
        end(capture); /* forgets all its places, this one too */
        place->capture = NULL;
    }
    emu_capture_forget(place);
}

/* Whether the null stream would have to wait for a stream of the capture. */
static bool
is_blocking(const emu_capture *capture, const emu_context *context)
{
    for (const emu_capture_place *p = capture->places; p; p = p->next) {
        if (p->stream && emu_stream_context(p->stream) == context &&
            emu_stream_is_blocking(p->stream)) {
            return true;
        }
    }
    return false;
}

/* Finds the capture of a stream to which work is to be added; NULL: none. Work in the
 * null stream would wait for captured work, which is never done. */
static CUresult
find(emu_stream *stream, emu_capture **capture)
{
    CUresult status = CUDA_SUCCESS;

    *capture = emu_stream_place(stream)->capture;
    if (*capture) {
        return (*capture)->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                                   : CUDA_SUCCESS;
    }
    if (emu_stream_is_null(stream)) {
        for (emu_capture *c = captures; c; c = c->next) {
            if (is_blocking(c, emu_stream_context(stream))) {
                c->invalid = true;
                status = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
            }
        }
    }
    return status;
}

static CUresult
take(emu_stream *stream, const emu_work *work, const void *payload, size_t size,
     bool *taken)
{
    emu_capture_place *place = emu_stream_place(stream);
    emu_capture *capture;
    uint32_t number;
    CUresult status;

    *taken = false;
    if (!captures) {
        return CUDA_SUCCESS;
    }
    status = find(stream, &capture);
    if (status != CUDA_SUCCESS || !capture) {
        return status;
    }
    if (!emu_graph_body_add(capture->body, work, payload, size, place->after,
                            place->count, &number)) {
        capture->invalid = true;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *taken = true;
    place->after[0] = number; /* there is room for one always */
    place->count = 1;
    return CUDA_SUCCESS;
}

CUresult
emu_capture_take(emu_stream *stream, const emu_work *work, const void *payload,
                 size_t size, bool *taken)
{
    CUresult status = take(stream, work, payload, size, taken);

    if (status == CUDA_SUCCESS && !*taken) {
        *taken = emu_late_keep(stream, work, payload, size);
    }
    return status;
}

/* -- what may not be done ---------------------------------------------------------- */

CUresult
emu_capture_refuse(emu_stream *stream)
{
    emu_capture *capture;
    CUresult status;

    if (!captures) {
        return CUDA_SUCCESS;
    }
    status = find(stream, &capture);
    if (status == CUDA_SUCCESS && capture) {
        capture->invalid = true;
        status = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return status;
}

CUresult
emu_capture_failed(emu_stream *stream, CUresult status)
{
    emu_capture *capture = stream ? emu_stream_place(stream)->capture : NULL;
    bool own = status >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
               status <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;

    if (status == CUDA_SUCCESS || !capture || own) {
        return status;
    }
    if (capture->invalid) {
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    capture->invalid = true;
    return status;
}

CUresult
emu_capture_unsafe(void)
{
    CUresult status = CUDA_SUCCESS;

    if (!captures || thread_mode == MODE_RELAXED) {
        return CUDA_SUCCESS;
    }
    for (emu_capture *c = captures; c; c = c->next) {
        bool mine = c->thread == thread_number();

        if (!c->invalid && c->mode != MODE_RELAXED &&
            (mine || (thread_mode == MODE_GLOBAL && c->mode == MODE_GLOBAL))) {
            c->invalid = true;
            status = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return status;
}

/* The current context as a whole is to be waited for. */
static CUresult
refuse_context(void)
{
    CUresult status = CUDA_SUCCESS;

    for (emu_capture *c = captures; c; c = c->next) {
        if (c->context == emu_context_peek()) {
            c->invalid = true;
            status = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return status;
}

CUresult
emu_capture_permit(emu_call call)
{
    if (!captures) {
        return CUDA_SUCCESS;
    }
    switch (call) {
        case EMU_CALL_CtxSynchronize:
            return refuse_context();
        case EMU_CALL_MemAlloc:
        case EMU_CALL_MemAllocPitch:
        case EMU_CALL_MemAllocManaged:
        case EMU_CALL_MemFree:
        case EMU_CALL_MemHostAlloc:
        case EMU_CALL_MemFreeHost:
        case EMU_CALL_MemHostRegister:
        case EMU_CALL_MemHostUnregister:
        case EMU_CALL_ArrayCreate:
        case EMU_CALL_Array3DCreate:
        case EMU_CALL_ArrayDestroy:
        case EMU_CALL_MipmappedArrayCreate:
        case EMU_CALL_MipmappedArrayDestroy:
        case EMU_CALL_TexObjectCreate:
        case EMU_CALL_TexObjectDestroy:
        case EMU_CALL_SurfObjectCreate:
        case EMU_CALL_SurfObjectDestroy:
        case EMU_CALL_ModuleLoad:
        case EMU_CALL_ModuleLoadData:
        case EMU_CALL_ModuleLoadDataEx:
        case EMU_CALL_ModuleLoadFatBinary:
        case EMU_CALL_ModuleUnload:
            return emu_capture_unsafe();
        default:
            return CUDA_SUCCESS;
    }
}

/* -- events ------------------------------------------------------------------------ */

CUresult
emu_capture_record(emu_stream *stream, emu_capture_place *event, bool *taken)
{
    emu_capture *capture = NULL;
    CUresult status = captures ? find(stream, &capture) : CUDA_SUCCESS;

    *taken = false;
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (!capture) {
        emu_capture_forget(event);
        return CUDA_SUCCESS;
    }
    status = join(event, capture, emu_stream_place(stream)->after,
                  emu_stream_place(stream)->count);
    *taken = event->captured = status == CUDA_SUCCESS;
    return status;
}

/* A stream waits for an event of a capture that goes on. */
static CUresult
wait_captured(emu_stream *stream, const emu_capture_place *event)
{
    emu_capture_place *place = emu_stream_place(stream);
    emu_capture *capture;
    CUresult status = find(stream, &capture);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (!capture) {
        if (event->capture->invalid) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (emu_stream_is_null(stream)) {
            event->capture->invalid = true;
            return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
        return join(place, event->capture, event->after, event->count);
    }
    if (capture != event->capture) {
        capture->invalid = event->capture->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    return wait_for(place, event->after, event->count);
}

CUresult
emu_capture_wait(emu_stream *stream, emu_capture_place *event, bool recorded,
                 bool *taken)
{
    emu_capture *capture = NULL;
    CUresult status = CUDA_SUCCESS;

    *taken = event->captured;
    if (event->capture) {
        return wait_captured(stream, event);
    }
    if (event->captured) {
        return CUDA_ERROR_INVALID_VALUE; /* of a capture that has ended */
    }
    if (captures) {
        status = find(stream, &capture);
    }
    if (status == CUDA_SUCCESS && capture) {
        *taken = true;
        if (recorded) {
            capture->invalid = true;
            status = CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
        }
    }
    return status;
}

CUresult
emu_capture_look(emu_capture_place *event)
{
    if (event->captured) {
        if (!event->capture) {
            return CUDA_ERROR_INVALID_VALUE; /* its capture has ended */
        }
        event->capture->invalid = true;
        return CUDA_ERROR_CAPTURED_EVENT;
    }
    return emu_capture_unsafe();
}

/* -- entry points ------------------------------------------------------------------ */

static CUresult
begin(emu_context *context, emu_stream *stream, CUstreamCaptureMode mode)
{
    emu_capture_place *place = emu_stream_place(stream);
    emu_capture *capture;

    if (emu_stream_is_null(stream)) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (place->capture) {
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    capture = calloc(1, sizeof(*capture));
    if (!capture) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    capture->body = emu_graph_body_new();
    if (!capture->body || join(place, capture, NULL, 0) != CUDA_SUCCESS) {
        emu_graph_body_release(capture->body);
        free(capture);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    capture->context = context;
    capture->origin = stream;
    capture->mode = mode;
    capture->thread = thread_number();
    capture->next = captures;
    if (captures) {
        captures->previous = capture;
    }
    captures = capture;
    return CUDA_SUCCESS;
}

CUresult
emu_cuStreamBeginCapture(CUstream hStream, CUstreamCaptureMode mode)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(StreamBeginCapture, hStream, &context);

    if (status == CUDA_SUCCESS && mode > MODE_RELAXED) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        emu_stream *stream = emu_stream_get(context, hStream);

        status = stream ? begin(context, stream, mode) : CUDA_ERROR_INVALID_HANDLE;
    }
    return emu_leave(status);
}

/* Ends the capture and makes its graph; after a misuse there is none. */
static CUresult
finish(emu_capture *capture, CUgraph *out)
{
    const emu_capture_place *place = emu_stream_place(capture->origin);
    CUresult status = CUDA_SUCCESS;

    *out = NULL;
    if (capture->invalid) {
        status = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    else if (!emu_graph_body_joined(capture->body, place->after, place->count)) {
        status = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    }
    else {
        *out = emu_graph_new(capture->context, capture->body);
        if (*out) {
            capture->body = NULL;
        }
        else {
            status = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    end(capture);
    return status;
}

CUresult
emu_cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
    emu_context *context;
    emu_stream *stream = NULL;
    CUresult status = EMU_ENTER_STREAM(StreamEndCapture, hStream, &context);

    if (status == CUDA_SUCCESS && !phGraph) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        stream = emu_stream_get(context, hStream);
        status = stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    }
    if (status == CUDA_SUCCESS) {
        emu_capture *capture = emu_stream_place(stream)->capture;

        if (!capture) {
            status = CUDA_ERROR_ILLEGAL_STATE;
        }
        else if (capture->origin != stream) {
            capture->invalid = true;
            status = CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
        }
        else if (capture->mode != MODE_RELAXED && capture->thread != thread_number()) {
            end(capture); /* it is lost, as on a GPU */
            status = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
        }
        else {
            status = finish(capture, phGraph);
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    emu_context *context;
    emu_stream *stream = NULL;
    CUresult status = EMU_ENTER_STREAM(StreamIsCapturing, hStream, &context);

    if (status == CUDA_SUCCESS && !captureStatus) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        stream = emu_stream_get(context, hStream);
        status = stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    }
    if (status == CUDA_SUCCESS) {
        const emu_capture *capture = emu_stream_place(stream)->capture;

        *captureStatus = !capture           ? STATUS_NONE
                         : capture->invalid ? STATUS_INVALIDATED
                                            : STATUS_ACTIVE;
        if (emu_stream_is_null(stream)) { /* asking alone does no harm */
            for (const emu_capture *c = captures; c; c = c->next) {
                if (is_blocking(c, context)) {
                    status = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
                }
            }
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    CUresult status = EMU_ENTER(ThreadExchangeStreamCaptureMode);

    if (status == CUDA_SUCCESS && (!mode || *mode > MODE_RELAXED)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        CUstreamCaptureMode before = thread_mode;

        thread_mode = *mode;
        *mode = before;
    }
    return emu_leave(status);
}
