/* Streams: looking handles up, and running work in a stream.
 *
 * Every call that enqueues work looks its stream up here and takes the stream's turn
 * with emu_stream_begin. Call all functions with the API lock held. */
#ifndef DEVICE_API_STREAM_STREAM_H
#define DEVICE_API_STREAM_STREAM_H

#include "device/api/entry/call.h"
#include "device/api/entry/green_context.h"
#include "device/api/entry/queue.h"
#include "device/api/entry/work.h"

/* Whether NULL, and a call without a stream, mean the default stream of this thread
 * instead of the context's null stream. The exported functions whose names end in _ptsz
 * and _ptds set it for the time of a call. */
extern _Thread_local bool emu_stream_is_per_thread;

/* The stream of a call without a stream. */
emu_stream *emu_stream_default(emu_context *context);

/* Find the stream of a handle: a live one of any context, or a default one of a
 * context. 1 is the null stream, 2 the default stream of the thread, NULL one of both.
 * INVALID_HANDLE: there is none. */
CUresult emu_stream_find(emu_context *context, CUstream handle, emu_stream **stream);

/* The doors of calls on streams: replace the handle by the stream, or store the default
 * stream of the current context, or the context of a handle's stream. */
CUresult emu_enter_stream(emu_call call, CUstream *stream);
CUresult emu_enter_default_stream(emu_call call, emu_stream **stream);
CUresult emu_enter_stream_context(emu_call call, CUstream handle,
                                  emu_context **context);

/* Make and free what a context needs: its null stream and order lock. */
CUresult emu_stream_open(emu_context *context);
void emu_stream_close(emu_context *context);

/* The closest priority that a stream can have. */
int emu_stream_clamp_priority(int priority);

/* Host functions as nodes of graphs. */
extern const emu_work emu_host_work;
CUresult emu_host_node_make(emu_context *context, const CUgraphNodeParams *params,
                            emu_payload *out);

/* The context of a stream: that of its green context, if it has one that lives. */
static inline CUcontext
emu_stream_context(const emu_stream *stream)
{
    emu_green_context *green = emu_green_context_get(stream->green);

    if (green != NULL) {
        return (CUcontext)(void *)green;
    }
    return stream->object.context;
}

#endif
