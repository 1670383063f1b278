/* The calls that begin, end, describe and change a stream capture. */
#include "device/api/entry/capture.h"
#include "device/api/entry/entry.h"
#include "device/api/graph/node_kinds.h"
#include "device/api/stream/stream.h"

CUresult
emu_cuStreamBeginCapture(emu_stream *stream, CUstreamCaptureMode mode)
{
    const emu_edges none = {0};

    if (mode > EMU_CAPTURE_RELAXED) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return emu_capture_begin(stream, mode, NULL, &none);
}

/* Begin a capture into a graph, after some of its nodes. */
static CUresult
capture_begin_in(emu_stream *stream, CUgraph handle, const CUgraphNode *nodes,
                 const CUgraphEdgeData *data, size_t count, CUstreamCaptureMode mode)
{
    emu_graph *graph = emu_graph_get(handle);
    emu_edges after = {0};

    if (graph == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (graph->capturing != NULL) {
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    CUresult status = emu_edges_read(graph, nodes, data, count, false, &after);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = emu_capture_begin(stream, mode, graph, &after);
    emu_edges_clear(&after);
    return status;
}

CUresult
emu_cuStreamBeginCaptureToGraph(emu_stream *stream, CUgraph hGraph,
                                const CUgraphNode *dependencies,
                                const CUgraphEdgeData *dependencyData,
                                size_t numDependencies, CUstreamCaptureMode mode)
{
    if (mode > EMU_CAPTURE_RELAXED) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return capture_begin_in(stream, hGraph, dependencies, dependencyData,
                            numDependencies, mode);
}

CUresult
emu_cuStreamEndCapture(emu_stream *stream, CUgraph *phGraph)
{
    if (phGraph == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *phGraph = NULL; /* a misuse gives no graph */
    return emu_capture_end(stream, phGraph);
}

CUresult
emu_cuStreamIsCapturing(emu_stream *stream, CUstreamCaptureStatus *captureStatus)
{
    if (captureStatus == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return emu_capture_status(stream, captureStatus);
}

/* Store what the next work of a captured stream waits for. The arrays stay until the
 * next call on the stream. */
static CUresult
capture_list(const emu_stream *stream, const CUgraphNode **nodes,
             const CUgraphEdgeData **data, size_t *count)
{
    const emu_edges *after = &stream->place.after;

    for (size_t i = 0; nodes != NULL && data == NULL && i < after->count; i++) {
        if (!emu_edge_is_plain(&after->data[i])) {
            return CUDA_ERROR_LOSSY_QUERY;
        }
    }
    if (nodes != NULL) {
        *nodes = after->nodes;
    }
    if (data != NULL) {
        *data = after->data;
    }
    if (count != NULL) {
        *count = after->count;
    }
    return CUDA_SUCCESS;
}

static CUresult
capture_describe(const emu_stream *stream, cuuint64_t *number, CUgraph *graph,
                 const CUgraphNode **nodes, const CUgraphEdgeData **data, size_t *count)
{
    if (number != NULL) {
        *number = emu_capture_number(stream);
    }
    if (graph != NULL) {
        *graph = emu_capture_graph(stream);
    }
    return capture_list(stream, nodes, data, count);
}

CUresult
emu_cuStreamGetCaptureInfo(emu_stream *stream, CUstreamCaptureStatus *captureStatus_out,
                           cuuint64_t *id_out, CUgraph *graph_out,
                           const CUgraphNode **dependencies_out,
                           const CUgraphEdgeData **edgeData_out,
                           size_t *numDependencies_out)
{
    if (captureStatus_out == NULL ||
        (edgeData_out != NULL && dependencies_out == NULL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = emu_capture_status(stream, captureStatus_out);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (*captureStatus_out != EMU_CAPTURE_ACTIVE) {
        return CUDA_SUCCESS;
    }
    return capture_describe(stream, id_out, graph_out, dependencies_out, edgeData_out,
                            numDependencies_out);
}

/* Add nodes to what the next work of a stream waits for, or replace it. */
static CUresult
capture_update(emu_stream *stream, const CUgraphNode *nodes,
               const CUgraphEdgeData *data, size_t count, bool replace)
{
    emu_edges *after = &stream->place.after;
    emu_edges wish = {0};
    CUresult status =
        emu_edges_read(emu_capture_graph(stream), nodes, data, count, false, &wish);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (!replace) {
        if (!emu_capture_place_wait(&stream->place, &wish)) {
            status = CUDA_ERROR_OUT_OF_MEMORY;
        }
        emu_edges_clear(&wish);
        return status;
    }
    for (size_t i = 0; i < after->count; i++) {
        if (emu_edges_find(&wish, after->nodes[i]) == wish.count) {
            after->nodes[i]->detached = true;
        }
    }
    emu_edges_clear(after);
    *after = wish;
    return CUDA_SUCCESS;
}

CUresult
emu_cuStreamUpdateCaptureDependencies(emu_stream *stream, CUgraphNode *dependencies,
                                      const CUgraphEdgeData *dependencyData,
                                      size_t numDependencies, unsigned int flags)
{
    CUstreamCaptureStatus state = EMU_CAPTURE_NONE;

    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = emu_capture_status(stream, &state);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (state == EMU_CAPTURE_NONE) {
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    if (state == EMU_CAPTURE_INVALIDATED) {
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    return capture_update(stream, dependencies, dependencyData, numDependencies,
                          flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

CUresult
emu_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    if (mode == NULL || *mode > EMU_CAPTURE_RELAXED) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_capture_exchange_mode(mode);
    return CUDA_SUCCESS;
}
