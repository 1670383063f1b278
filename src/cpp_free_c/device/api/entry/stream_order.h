/* The record of a stream, and the order in which streams run their work.
 *
 * Work runs in the thread that enqueues it, in the turn of its stream. A turn holds the
 * stream's mutex, so that the work of two threads in one stream does not overlap. It
 * also holds the context's order lock: the null stream for writing, other streams for
 * reading, NON_BLOCKING streams not at all. So the null stream and the blocking streams
 * wait for each other. Threads take turns in no fixed order, as on a GPU. */
#ifndef DEVICE_API_ENTRY_STREAM_ORDER_H
#define DEVICE_API_ENTRY_STREAM_ORDER_H

#include <pthread.h>

#include "device/base/device.h"
#include "device/api/entry/capture_place.h"
#include "device/api/entry/running.h"

/* The work that a deferred stream has not run yet (deferred.h). */
typedef struct {
    struct emu_deferred_item *first, **last;
    uint64_t kept, done;                 /* how many items there have been */
    struct CUstream_st *next, *previous; /* of the streams that keep some */
} emu_deferred_queue;

/* What cuStreamSetAttribute keeps: hints to hardware, for cuStreamGetAttribute. */
typedef struct {
    CUaccessPolicyWindow window;
    CUlaunchMemSyncDomainMap domain_map;
    int policy, domain;
} emu_stream_attributes;

typedef struct CUstream_st {
    emu_object object;
    uint64_t id; /* as cuStreamGetId gives it */
    unsigned int flags;
    int priority;
    emu_stream_attributes attributes;
    bool is_null;
    CUgreenCtx green;         /* that it was made in; it may have ended */
    uint64_t thread;          /* of the default stream of a thread: its number */
    struct CUstream_st *next; /* of the default streams of threads */
    pthread_mutex_t turn;
    emu_running running;     /* its work, during a turn */
    emu_capture_place place; /* in a capture */
    emu_deferred_queue deferred;
    struct emu_lane *lane; /* for the check of streams; NULL: off (stream_check.h) */
} emu_stream;

enum { EMU_STREAM_NON_BLOCKING = 1 };

/* Whether the stream and the null stream wait for each other. */
static inline bool
emu_stream_is_blocking(const emu_stream *stream)
{
    return (stream->flags & EMU_STREAM_NON_BLOCKING) == 0;
}

/* Make and free the order lock of a context. False: out of memory. */
bool emu_stream_order_open(emu_context *context);
void emu_stream_order_close(emu_context *context);

/* Release the API lock and wait for the stream's turn; neither the stream nor its
 * context can be destroyed meanwhile. Return a token for emu_stream_end. Below 0 there
 * is no turn, the API lock is held as before, and emu_wait_status() says why (wait.h).
 *
 * This does not run the stream's deferred work first, as emu_stream_begin does. */
int emu_stream_turn(emu_stream *stream);
/* End the turn and take the API lock again. */
void emu_stream_end(emu_stream *stream, int token);

#endif
