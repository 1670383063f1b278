/* The calls that begin and end a stream capture. */
#include "device/api/entry/capture.h"
#include "device/api/entry/entry.h"
#include "device/api/stream/graph.h"
#include "device/api/stream/stream.h"

CUresult
emu_cuStreamBeginCapture(CUstream hStream, CUstreamCaptureMode mode)
{
    emu_context *context;
    emu_stream *stream;
    CUresult status = EMU_ENTER_STREAM(StreamBeginCapture, hStream, &context);

    if (status == CUDA_SUCCESS && mode > EMU_CAPTURE_RELAXED) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = emu_stream_find(context, hStream, &stream);
    }
    if (status == CUDA_SUCCESS) {
        status = emu_capture_begin(context, stream, mode);
    }
    return emu_leave(status);
}

/* End the capture and make its graph; after a misuse there is none. */
static CUresult
capture_finish(emu_stream *stream, CUgraph *out)
{
    emu_context *context;
    emu_graph_body *body;
    CUresult status = emu_capture_end(stream, &context, &body);

    *out = NULL;
    if (status != CUDA_SUCCESS) {
        return status;
    }
    return emu_graph_new(context, body, out);
}

CUresult
emu_cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
    emu_context *context;
    emu_stream *stream;
    CUresult status = EMU_ENTER_STREAM(StreamEndCapture, hStream, &context);

    if (status == CUDA_SUCCESS && phGraph == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = emu_stream_find(context, hStream, &stream);
    }
    if (status == CUDA_SUCCESS) {
        status = capture_finish(stream, phGraph);
    }
    return emu_leave(status);
}

CUresult
emu_cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    emu_context *context;
    emu_stream *stream;
    CUresult status = EMU_ENTER_STREAM(StreamIsCapturing, hStream, &context);

    if (status == CUDA_SUCCESS && captureStatus == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = emu_stream_find(context, hStream, &stream);
    }
    if (status == CUDA_SUCCESS) {
        status = emu_capture_status(stream, captureStatus);
    }
    return emu_leave(status);
}

CUresult
emu_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    CUresult status = EMU_ENTER(ThreadExchangeStreamCaptureMode);

    if (status == CUDA_SUCCESS && (mode == NULL || *mode > EMU_CAPTURE_RELAXED)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        emu_capture_exchange_mode(mode);
    }
    return emu_leave(status);
}
