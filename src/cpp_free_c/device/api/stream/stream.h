/* Streams: looking handles up, and the doors of calls on streams.
 *
 * Work gets into a stream by emu_queue_submit (entry/queue.h). Call all functions with
 * the API lock held. */
#ifndef DEVICE_API_STREAM_STREAM_H
#define DEVICE_API_STREAM_STREAM_H

#include "device/api/entry/call.h"
#include "device/api/entry/context_stack.h"
#include "device/api/entry/queue.h"
#include "device/api/entry/work.h"
#include "device/base/device.h"
#include "device/sync_check/lane_clock.h"
#include "device/api/entry/turn.h"

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

/* Write what kernels of the context have printed. The lock is released meanwhile. */
void emu_stream_print(emu_context *context);

/* Make and free what a context needs: its null stream. */
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

/* -- events ------------------------------------------------------------------------ */

/* Marks in a stream, with times of the system's clock. The mark of an event is atomic,
 * since another process may share it. */

/* What two processes share of an event. */
typedef struct {
    _Atomic uint64_t recorded; /* time of the last record in nanoseconds; 0: none yet */
} emu_event_mark;

typedef struct CUevent_st {
    emu_object object;
    unsigned int flags;
    emu_event_mark own;
    emu_event_mark *mark; /* &own, or in memory shared between processes */
    int file;             /* of the shared memory; -1: none */
    emu_capture_place place;
    emu_clock clock; /* of its last record, for the check of streams */
    /* A deferred stream keeps the last record, as its item `deferred_number`; NULL if
     * no stream does. It may have run by now. */
    emu_stream *deferred_stream;
    uint64_t deferred_serial; /* of the stream, as an object */
    uint64_t deferred_number;
} emu_event;

enum {
    EMU_EVENT_BLOCKING_SYNC = 1,
    EMU_EVENT_DISABLE_TIMING = 2,
    EMU_EVENT_INTERPROCESS = 4,
    EMU_EVENT_FLAGS = 7 /* all flags */
};

/* A new event; NULL: out of memory. Call it with the API lock held. */
emu_event *emu_event_new(emu_context *context, unsigned int flags);

/* Records of events, and waits for them, as nodes of graphs. */
extern const emu_work emu_event_record_work, emu_event_wait_work;
CUresult emu_event_node_make(emu_context *context, const CUgraphNodeParams *params,
                             emu_payload *out);

/* -- values in memory -------------------------------------------------------------- */

/* Batches of operations on them, as nodes of graphs. */

extern const emu_work emu_batch_work;
/* Make the payload of a node. Call it with the API lock held. */
CUresult emu_batch_node_make(emu_context *context, const CUgraphNodeParams *params,
                             emu_payload *out);

#endif
