/* The captures and what may be done during them. See capture.h.
 *
 * Which calls are refused, and with which code, follows the driver's documentation. A
 * call that would wait for captured work always conflicts with the capture. A call that
 * works behind its back ("unsafe") conflicts depending on the modes of the capture and
 * of the thread. Where the documentation gives no code, the code is the one that a
 * GPU's driver was seen to return, or that of the most similar case seen. */
#define _GNU_SOURCE
#include "device/api/entry/capture.h"

#include <stdlib.h>

#include "device/api/entry/context_stack.h"

typedef struct emu_capture {
    emu_context *context; /* of the origin */
    emu_stream *origin;
    CUstreamCaptureMode mode;
    uint64_t thread; /* that began it */
    bool invalid;
    uint64_t number;  /* as cuStreamGetCaptureInfo gives it */
    emu_graph *graph; /* NULL once its context has gone */
    bool own;         /* the capture made the graph */
    emu_capture_place *places;
    struct emu_capture *next, *previous; /* of all captures */
} emu_capture;

static emu_capture *captures; /* guarded by the API lock, with everything they own */
static uint64_t last_thread;  /* guarded by the API lock */
static uint64_t last_number;  /* guarded by the API lock */
static _Thread_local uint64_t this_thread;
static _Thread_local CUstreamCaptureMode thread_mode = EMU_CAPTURE_GLOBAL;

static uint64_t
capture_thread_number(void)
{
    if (this_thread == 0) {
        this_thread = ++last_thread;
    }
    return this_thread;
}

/* End a capture; its streams run work again. */
static void
capture_free(emu_capture *capture)
{
    while (capture->places != NULL) {
        emu_capture_place *place = capture->places;
        bool captured = place->captured;

        emu_capture_place_leave(place);
        place->captured = captured; /* an event that never took place stays so */
    }
    if (capture->previous != NULL) {
        capture->previous->next = capture->next;
    }
    else {
        captures = capture->next;
    }
    if (capture->next != NULL) {
        capture->next->previous = capture->previous;
    }
    if (capture->graph != NULL) {
        capture->graph->capturing = NULL;
    }
    if (capture->graph != NULL && capture->own) {
        emu_graph_destroy(&capture->graph->object);
    }
    free(capture);
}

void
emu_capture_stream_gone(emu_stream *stream)
{
    emu_capture *capture = stream->place.capture;

    if (capture != NULL && capture->origin == stream) {
        capture_free(capture); /* all its places leave it, this one too */
    }
    emu_capture_place_leave(&stream->place);
}

/* Whether the null stream of the context would have to wait for a captured stream. */
static bool
capture_blocks(const emu_capture *capture, const emu_context *context)
{
    for (const emu_capture_place *p = capture->places; p != NULL; p = p->next) {
        const emu_stream *stream = p->stream;

        if (stream != NULL && stream->object.context == context &&
            emu_stream_is_blocking(stream)) {
            return true;
        }
    }
    return false;
}

/* Find the capture of a stream to which work is to be added; NULL: none. Work in the
 * null stream would wait for captured work, which never runs. */
static CUresult
capture_find(emu_stream *stream, emu_capture **capture)
{
    CUresult status = CUDA_SUCCESS;

    *capture = stream->place.capture;
    if (*capture != NULL) {
        if ((*capture)->invalid || (*capture)->graph == NULL) {
            return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
        }
        return CUDA_SUCCESS;
    }
    if (stream->is_null) {
        for (emu_capture *c = captures; c != NULL; c = c->next) {
            if (capture_blocks(c, stream->object.context)) {
                c->invalid = true;
                status = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
            }
        }
    }
    return status;
}

bool
emu_capture_is_active(const emu_stream *stream)
{
    return stream->place.capture != NULL;
}

CUresult
emu_capture_add(emu_stream *stream, const emu_work *work, const void *payload,
                size_t size, bool *taken)
{
    emu_edges after = {0};
    emu_capture *capture;
    emu_node *node;
    CUresult status;

    *taken = false;
    if (captures == NULL) {
        return CUDA_SUCCESS;
    }
    status = capture_find(stream, &capture);
    if (status != CUDA_SUCCESS || capture == NULL) {
        return status;
    }
    node = emu_graph_add(capture->graph, work, payload, size);
    if (node != NULL && !emu_edges_add(&after, node, NULL)) {
        emu_graph_remove(node);
        node = NULL;
    }
    if (node == NULL) {
        capture->invalid = true;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *taken = true;
    node->capture = capture->number;
    node->after = stream->place.after;
    stream->place.after = after;
    return CUDA_SUCCESS;
}

void
emu_capture_launched_early(emu_stream *stream)
{
    emu_edges *after;

    if (stream->place.capture == NULL || stream->place.after.count != 1) {
        return;
    }
    after = &stream->place.after.nodes[0]->after;
    for (size_t i = 0; i < after->count; i++) {
        if (after->nodes[i]->work->type == CU_GRAPH_NODE_TYPE_KERNEL) {
            after->data[i] =
                (CUgraphEdgeData){.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                  .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
        }
    }
}

/* -- what is refused --------------------------------------------------------------- */

CUresult
emu_capture_refuse(emu_stream *stream)
{
    emu_capture *capture;

    if (captures == NULL) {
        return CUDA_SUCCESS;
    }
    CUresult status = capture_find(stream, &capture);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (capture != NULL) {
        capture->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return CUDA_SUCCESS;
}

/* Whether a code is one with which a capture itself refuses a call. */
static bool
capture_is_own_code(CUresult status)
{
    return status >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
           status <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

CUresult
emu_capture_failed(emu_stream *stream, CUresult status)
{
    emu_capture *capture;

    if (status == CUDA_SUCCESS || stream == NULL || capture_is_own_code(status)) {
        return status;
    }
    capture = stream->place.capture;
    if (capture == NULL) {
        return status;
    }
    if (capture->invalid) {
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    capture->invalid = true;
    return status;
}

/* Whether the modes of the capture and of this thread forbid an unsafe call. */
static bool
capture_forbids_unsafe(const emu_capture *capture)
{
    if (capture->mode == EMU_CAPTURE_RELAXED) {
        return false;
    }
    if (capture->thread == capture_thread_number()) {
        return true;
    }
    return thread_mode == EMU_CAPTURE_GLOBAL && capture->mode == EMU_CAPTURE_GLOBAL;
}

CUresult
emu_capture_unsafe(void)
{
    CUresult status = CUDA_SUCCESS;

    if (captures == NULL || thread_mode == EMU_CAPTURE_RELAXED) {
        return CUDA_SUCCESS;
    }
    for (emu_capture *c = captures; c != NULL; c = c->next) {
        if (!c->invalid && capture_forbids_unsafe(c)) {
            c->invalid = true;
            status = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return status;
}

CUresult
emu_capture_graph_unsafe(const emu_graph *graph)
{
    CUresult status = CUDA_SUCCESS;

    for (emu_capture *c = captures; c != NULL; c = c->next) {
        if (c->graph != NULL && emu_graph_holds(graph, c->graph)) {
            c->invalid = true;
            status = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return status;
}

/* Refuse to wait for the current context as a whole. */
static CUresult
capture_refuse_context(void)
{
    CUresult status = CUDA_SUCCESS;

    for (emu_capture *c = captures; c != NULL; c = c->next) {
        if (c->context == emu_context_top()) {
            c->invalid = true;
            status = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return status;
}

CUresult
emu_capture_permit(emu_call call)
{
    const unsigned char traits = emu_call_traits[call];

    if (captures == NULL) {
        return CUDA_SUCCESS;
    }
    if ((traits & EMU_CALL_STOPS_CAPTURE) != 0) {
        return capture_refuse_context();
    }
    if ((traits & EMU_CALL_IS_UNSAFE) != 0) {
        return emu_capture_unsafe();
    }
    return CUDA_SUCCESS;
}

/* -- events ------------------------------------------------------------------------ */

CUresult
emu_capture_record(emu_stream *stream, emu_capture_place *event, bool *taken)
{
    emu_capture *capture = NULL;

    *taken = false;
    if (captures != NULL) {
        CUresult status = capture_find(stream, &capture);

        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    if (capture == NULL) {
        emu_capture_place_leave(event);
        return CUDA_SUCCESS;
    }
    if (!emu_capture_place_join(event, capture, &capture->places,
                                &stream->place.after)) {
        event->captured = false;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *taken = event->captured = true;
    return CUDA_SUCCESS;
}

/* Make a stream that is not being captured wait for an event of an active capture: the
 * stream joins the capture. */
static CUresult
capture_join(emu_stream *stream, const emu_capture_place *event)
{
    emu_capture *capture = event->capture;

    if (capture->invalid) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (stream->is_null) {
        capture->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (!emu_capture_place_join(&stream->place, capture, &capture->places,
                                &event->after)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

/* Make a stream wait for an event of an active capture. */
static CUresult
capture_wait_captured(emu_stream *stream, const emu_capture_place *event)
{
    emu_capture *capture;
    CUresult status = capture_find(stream, &capture);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (capture == NULL) {
        return capture_join(stream, event);
    }
    if (capture != event->capture) {
        capture->invalid = event->capture->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (!emu_capture_place_wait(&stream->place, &event->after)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_capture_wait(emu_stream *stream, emu_capture_place *event, bool recorded,
                 bool *taken)
{
    emu_capture *capture = NULL;
    CUresult status = CUDA_SUCCESS;

    *taken = event->captured;
    if (event->capture != NULL) {
        return capture_wait_captured(stream, event);
    }
    if (event->captured) {
        return CUDA_ERROR_INVALID_VALUE; /* of a capture that has ended */
    }
    if (captures != NULL) {
        status = capture_find(stream, &capture);
    }
    if (status == CUDA_SUCCESS && capture != NULL) {
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
    if (!event->captured) {
        return emu_capture_unsafe();
    }
    if (event->capture == NULL) {
        return CUDA_ERROR_INVALID_VALUE; /* its capture has ended */
    }
    event->capture->invalid = true;
    return CUDA_ERROR_CAPTURED_EVENT;
}

/* -- begin and end ----------------------------------------------------------------- */

/* Make the record of a capture into a graph, or into one that it makes. */
static emu_capture *
capture_new(emu_context *context, emu_graph *graph)
{
    emu_capture *capture = calloc(1, sizeof(*capture));

    if (capture == NULL) {
        return NULL;
    }
    capture->own = graph == NULL;
    if (capture->own) {
        graph = emu_graph_new(context, NULL);
    }
    if (graph == NULL) {
        free(capture);
        return NULL;
    }
    capture->graph = graph;
    graph->capturing = &capture->graph;
    capture->number = ++last_number;
    capture->context = context;
    capture->thread = capture_thread_number();
    capture->next = captures;
    if (captures != NULL) {
        captures->previous = capture;
    }
    captures = capture;
    return capture;
}

CUresult
emu_capture_begin(emu_stream *stream, CUstreamCaptureMode mode, emu_graph *graph,
                  const emu_edges *after)
{
    emu_capture *capture;

    if (stream->is_null) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (stream->place.capture != NULL) {
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    capture = capture_new(stream->object.context, graph);
    if (capture == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    capture->origin = stream;
    capture->mode = mode;
    if (!emu_capture_place_join(&stream->place, capture, &capture->places, after)) {
        capture_free(capture);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

/* Mark a node and, when it is taken from the list, those that it waits for. */
static void
capture_reach(emu_node *node, bool *reached, emu_node **list, size_t *count)
{
    if (!reached[node->number]) {
        reached[node->number] = true;
        list[(*count)++] = node;
    }
}

/* Whether the origin waits for all that was captured. Nodes that the program added, or
 * took out of the dependencies itself, need no join. */
static bool
capture_is_joined(const emu_capture *capture)
{
    const emu_graph *graph = capture->graph;
    const emu_edges *last = &capture->origin->place.after;
    bool *reached = calloc(graph->count + 1, sizeof(*reached));
    emu_node **list = malloc((graph->count + 1) * sizeof(emu_node *));
    bool joined = reached != NULL && list != NULL;
    size_t count = 0;

    for (size_t i = 0; joined && i < last->count; i++) {
        capture_reach(last->nodes[i], reached, list, &count);
    }
    for (size_t i = 0; joined && i < graph->count; i++) {
        if (graph->nodes[i]->capture != capture->number || graph->nodes[i]->detached) {
            capture_reach(graph->nodes[i], reached, list, &count);
        }
    }
    while (joined && count > 0) {
        const emu_edges *after = &list[--count]->after;

        for (size_t k = 0; k < after->count; k++) {
            capture_reach(after->nodes[k], reached, list, &count);
        }
    }
    for (size_t i = 0; joined && i < graph->count; i++) {
        joined = reached[i];
    }
    free(reached);
    free(list);
    return joined;
}

/* Whether a capture that ends in the right stream and thread gives a graph. */
static CUresult
capture_check_complete(const emu_capture *capture)
{
    if (capture->invalid || capture->graph == NULL) {
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    if (!capture_is_joined(capture)) {
        return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_capture_end(emu_stream *stream, emu_graph **graph)
{
    emu_capture *capture = stream->place.capture;
    CUresult status;

    if (capture == NULL) {
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    if (capture->origin != stream) {
        capture->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    if (capture->mode != EMU_CAPTURE_RELAXED &&
        capture->thread != capture_thread_number()) {
        capture_free(capture); /* it is lost, as on a GPU */
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    }
    status = capture_check_complete(capture);
    /* As on an H200, a capture that fails takes its graph along, but not a body of a
     * node.
     */
    capture->own = status != CUDA_SUCCESS && capture->graph != NULL &&
                   capture->graph->owner == NULL;
    if (status == CUDA_SUCCESS) {
        *graph = capture->graph;
    }
    capture_free(capture);
    return status;
}

uint64_t
emu_capture_number(const emu_stream *stream)
{
    return stream->place.capture->number;
}

emu_graph *
emu_capture_graph(const emu_stream *stream)
{
    return stream->place.capture->graph;
}

CUresult
emu_capture_status(const emu_stream *stream, CUstreamCaptureStatus *status)
{
    const emu_capture *capture = stream->place.capture;

    *status = EMU_CAPTURE_NONE;
    if (capture != NULL) {
        *status = EMU_CAPTURE_ACTIVE;
        if (capture->invalid || capture->graph == NULL) {
            *status = EMU_CAPTURE_INVALIDATED;
        }
    }
    if (stream->is_null) { /* the question does not invalidate the captures */
        for (const emu_capture *c = captures; c != NULL; c = c->next) {
            if (capture_blocks(c, stream->object.context)) {
                return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
            }
        }
    }
    return CUDA_SUCCESS;
}

void
emu_capture_exchange_mode(CUstreamCaptureMode *mode)
{
    CUstreamCaptureMode before = thread_mode;

    thread_mode = *mode;
    *mode = before;
}
