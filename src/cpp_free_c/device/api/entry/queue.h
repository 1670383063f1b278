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
 * Call all functions with the API lock held; it is released while work runs. */
#ifndef DEVICE_API_ENTRY_QUEUE_H
#define DEVICE_API_ENTRY_QUEUE_H

#include "device/api/entry/call.h"
#include "device/api/entry/turn.h"
#include "device/api/entry/work.h"

/* -- work -------------------------------------------------------------------------- */

typedef enum {
    EMU_SUBMIT,         /* capture it, keep it or run it */
    EMU_SUBMIT_AT_ONCE, /* run it before the call returns; a capture refuses it */
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
