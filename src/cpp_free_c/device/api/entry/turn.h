/* The record of a stream, and the turns in which streams run their work.
 *
 * A stream has one turn at a time, so that the work of two threads in one stream does
 * not overlap. The null stream has none while blocking streams have turns, and the
 * other way round. A turn belongs to no thread: one may begin it and another one end
 * it. Threads take turns in no fixed order, as on a GPU. Each turn gets a ticket when
 * it begins, so that a wait covers the work that runs now and none that begins later.
 * Call all functions with the API lock held. */
#ifndef DEVICE_API_ENTRY_TURN_H
#define DEVICE_API_ENTRY_TURN_H

#include <stdatomic.h>

#include "device/base/device.h"
#include "device/memory/memory.h"
#include "device/api/entry/graph.h"

/* -- streams ----------------------------------------------------------------------- */

/* A turn that runs now. */
typedef struct emu_running {
    const emu_context *context;
    uint64_t ticket;
    struct emu_running *next;
} emu_running;

/* The work that a stream keeps (queue.h). */
typedef struct {
    struct emu_queue_item *first, **last;
    uint64_t kept, done;         /* how many items there have been */
    uint64_t running;            /* the number of the item that runs; 0: none */
    bool has_thread;             /* a thread of the device runs its items */
    struct emu_queue_item *rest; /* it must go on with this one first; or NULL */
    const void *owner;           /* the thread that enqueued that one */
    _Atomic bool cancelled;      /* that thread drops them */
    bool is_orphan;              /* the thread destroys the stream at its end */
    struct CUstream_st *next, *previous; /* of the streams that keep some */
} emu_queue;

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
    bool has_turn;
    emu_running running;     /* its work, during a turn */
    emu_capture_place place; /* in a capture */
    emu_queue queue;
    struct emu_lane *lane; /* for the check of streams; NULL: off (stream_check.h) */
} emu_stream;

enum { EMU_STREAM_NON_BLOCKING = 1 };

/* Whether the stream and the null stream wait for each other. */
static inline bool
emu_stream_is_blocking(const emu_stream *stream)
{
    return (stream->flags & EMU_STREAM_NON_BLOCKING) == 0;
}

/* -- turns ------------------------------------------------------------------------- */

/* Whether the stream can have a turn now. */
bool emu_turn_is_free(const emu_stream *stream);
/* Release the API lock and wait for the stream's turn; neither the stream nor its
 * context can be destroyed meanwhile. Return a token for emu_turn_end. Below 0 there
 * is no turn, the API lock is held as before, and emu_wait_status() says why (wait.h).
 */
int emu_turn_begin(emu_stream *stream);
/* End the turn and take the API lock again. The stream lives while the lock is held. */
void emu_turn_end(emu_stream *stream, int token);

/* Wait for the work of the context that other threads are running now. A nested call
 * (wait.h) does not wait. */
void emu_running_settle(const emu_context *context);
/* Whether this is a nested call that would have to wait. */
bool emu_running_cannot_settle(const emu_context *context);
/* A signal ended a wait of this thread: from now on the thread does not wait for the
 * work that runs now. Otherwise what it frees while it handles the signal would. */
void emu_running_give_up(void);

/* Free an allocation by calling `release`, which returns false if it was freed before.
 * A free waits for the running work, as on a GPU (emu_running_settle). A nested call,
 * made by a signal handler during a wait or a kernel of its own thread, cannot wait:
 * what it frees is released when the running work has ended. */
CUresult emu_pending_free(emu_allocation *allocation,
                          bool (*release)(emu_allocation *));

#endif
