/* The queues of streams: how work enters, waits and runs. There is one way.
 *
 * emu_queue_submit takes a piece of work (work.h) and a payload. If the stream is
 * being captured, the work becomes a node of the graph. If the stream keeps work, it
 * keeps a copy of the payload. Otherwise the work runs in the thread that enqueues it.
 * Kept or not, work goes through the same steps, at the only place that has them:
 *
 *   1. `begin` checks that what the work needs exists, and keeps it alive.
 *   2. The work becomes an operation of the check of streams (stream_check.h), and
 * `use` notes the memory that it may use. With the checks `init` and `sync`, kept work
 *      that may conflict with it runs first, so that the report names the missing wait.
 *   3. `run` runs in a turn of the stream (turn.h), unless the context has failed.
 *   4. `end` releases what `begin` kept; the report of a fault becomes the message.
 *
 * A fault makes the context fail. The call that enqueued the work still succeeds, as on
 * a GPU, unless it waits for the work.
 *
 * A stream keeps work until something must wait for it if PYCUDA_EMULATOR_STREAMS is
 * late. So a program that forgets to wait sees old values in every run, not once in a
 * thousand runs. The null stream, graphs, and copies that a GPU's driver finishes
 * before it returns (those with memory that is not page-locked) run at once, after the
 * work that they must wait for. Work that is not ready (a wait for a value in memory,
 * or for an event behind such a wait) is kept in any case, with the work behind it, so
 * the thread that enqueues it goes on. A thread that must wait for such a stream runs
 * the work of other streams meanwhile. A context that ends drops it.
 *
 * A kernel may wait for the host or for a kernel of another stream, so a launch must
 * return. Work that runs for more than EMU_LEAVE_NANOSECONDS leaves its thread: `run`
 * returns EMU_GOES_ON (a kernel at a look, a graph at a node that does), the stream
 * gets a thread of the device, and that thread goes on where the first one stopped,
 * with the same turn. Then it runs the items behind, and ends when there is none.
 * Nothing is decided before the time has passed, so short work costs no more, whatever
 * it is.
 *
 * While there are such threads, items have numbers: a stream that is ordered with the
 * null stream runs an item when all items of the other with smaller numbers are done.
 * Work behind them is kept, in any mode and in the null stream too, and each stream
 * that keeps work gets a thread when something must wait for it. What waits for a
 * stream with a thread waits for the thread (queue_join). A signal that ends the wait
 * ends the kernel, if the waiting thread has launched it. Destroying a stream or an
 * executable graph leaves that to the thread. With the check of streams on, work does
 * not leave: its operations belong to threads. Nor does a grid that a kernel has
 * launched.
 *
 * Call all functions with the API lock held; it is released while work runs. */
#ifndef DEVICE_API_ENTRY_QUEUE_H
#define DEVICE_API_ENTRY_QUEUE_H

#include "device/api/entry/call.h"
#include "device/api/entry/turn.h"
#include "device/api/entry/work.h"

/* -- work -------------------------------------------------------------------------- */

typedef enum {
    EMU_SUBMIT,          /* capture it, keep it or run it */
    EMU_SUBMIT_PROMPTLY, /* run it now, or keep it behind work that a thread of the
                            device runs; a capture refuses it */
    EMU_SUBMIT_AT_ONCE,  /* run it before the call returns; a capture refuses it */
    EMU_SUBMIT_AND_WAIT /* the same, and the host waits: write what kernels printed, and
                           report a fault */
} emu_submit;

/* Enqueue work. The payload is copied if the work does not run now. */
CUresult emu_queue_submit(emu_stream *stream, const emu_work *work, const void *payload,
                          size_t size, emu_submit how);

/* Keep a copy of the work until later. False: run it now. */
bool emu_queue_keep(emu_stream *stream, const emu_work *work, const void *payload,
                    size_t size);

/* Run the work that a stream keeps until `until` items are done. When a signal ends
 * that, drop all work that the stream still keeps. False: the stream's turn could not
 * be taken (wait.h). */
bool emu_queue_run(emu_stream *stream, uint64_t until);
/* Run the work up to that item, but only as far as it is ready. */
void emu_queue_advance(emu_stream *stream, uint64_t until);
/* Whether new work in the stream comes behind work of a thread of the device. */
bool emu_queue_is_busy(const emu_stream *stream);
/* That stream if it keeps work; else NULL. It may have ended. */
emu_stream *emu_queue_keeper(const emu_stream *stream, uint64_t serial);
/* A signal ended a wait of this thread: it does not wait for the work that there is now
 * any more (emu_running_give_up), as far as threads of the device run it. */
void emu_queue_give_up(void);
/* Wait for the threads of the device in a context that ends. They drop work that is not
 * ready in the end; a signal ends their kernels. */
void emu_queue_end(const emu_context *context);
/* Drop all work that the stream keeps. */
void emu_queue_drop(emu_stream *stream);
/* Run everything that a call must wait for, at its entry; with work that streams keep
 * or without, some calls also wait for the work that other threads run. Return true if
 * the call must end when a signal ended the wait; a call that frees goes on. */
bool emu_queue_enter(emu_call call);

/* The same in the body of a call, for one that waits for some arguments only. */
void emu_queue_settle(void);

/* Take a turn of the stream (emu_turn_begin) after the kept work that must come before
 * new work in it: for calls that need a state in which no work of the stream runs. */
int emu_queue_begin_turn(emu_stream *stream);

extern bool emu_queue_keeps_all; /* PYCUDA_EMULATOR_STREAMS=late; set once, by cuInit */

/* Read the environment. */
CUresult emu_queue_open(void);

#endif
