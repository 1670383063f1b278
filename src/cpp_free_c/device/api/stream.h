/* Streams: looking handles up, and running work in a stream. */
#ifndef DEVICE_API_STREAM_H
#define DEVICE_API_STREAM_H

#include "device/api/stream_order.h"

/* The live stream of a handle (NULL, 1, 2: the context's null stream). NULL if there is
 * none or if it belongs to another context. Call it with the API lock held. */
emu_stream *emu_stream_get(emu_context *context, CUstream handle);
/* The same with INVALID_HANDLE for a stream that is not found. */
CUresult emu_stream_find(emu_context *context, CUstream handle, emu_stream **stream);

/* Run the deferred work that must come before new work in the stream, and take the
 * stream's turn. See emu_stream_turn for the token and emu_stream_end for the end. */
int emu_stream_begin(emu_stream *stream);

/* Take the turn of the null stream and write what kernels printed, so that all work of
 * the context that this thread enqueued is done. */
CUresult emu_stream_synchronize(emu_stream *stream);

/* Make and free what a context needs: its null stream and order lock. */
CUresult emu_stream_open(emu_context *context);
void emu_stream_close(emu_context *context);

#endif
