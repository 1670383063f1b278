/* Deferred streams: PYCUDA_EMULATOR_STREAMS=late, and streams that wait for a value in
 * memory (stream_memory.c) or for an event behind such a wait.
 *
 * A stream keeps its work until something must wait for it. So a program that forgets
 * to wait sees old values in every run, not once in a thousand runs. The null stream,
 * graphs, and copies that a GPU's driver finishes before it returns (those with memory
 * that is not page-locked) run at once, after the work that they must wait for.
 *
 * Work that is not ready (work.h) is kept in any case, with the work behind it, so the
 * thread that enqueues it goes on. A thread that must wait for such a stream runs the
 * work of other streams meanwhile. A context that ends drops it.
 *
 * Call all functions with the API lock held; it is released while work runs. */
#ifndef DEVICE_API_ENTRY_DEFERRED_H
#define DEVICE_API_ENTRY_DEFERRED_H

#include "device/api/entry/call.h"
#include "device/api/entry/stream_order.h"
#include "device/api/entry/work.h"

extern bool emu_deferred_on; /* set once, by cuInit */

/* Read the environment. */
CUresult emu_deferred_open(void);

/* Keep a copy of the work until later. False: run it now. */
bool emu_deferred_keep(emu_stream *stream, const emu_work *work, const void *payload,
                       size_t size);

/* Run the work that a stream keeps until `until` items are done. When a signal ends
 * that, drop all work that the stream still keeps. False: the stream's turn could not
 * be taken (wait.h). */
bool emu_deferred_run(emu_stream *stream, uint64_t until);
/* Run the work up to that item, but only as far as it is ready. */
void emu_deferred_advance(emu_stream *stream, uint64_t until);
/* Whether work that runs at once must run conflicting work that streams keep before: the
 * checks `init` and `sync` are on, and streams keep work. */
bool emu_deferred_needs_uses(void);
/* Run what streams keep and may conflict with work of these uses. */
void emu_deferred_run_earlier(const emu_uses *uses);
/* Drop all work that the stream keeps. */
void emu_deferred_drop(emu_stream *stream);
/* Whether any stream keeps work. */
bool emu_deferred_any(void);
/* Run everything that new work in the stream must wait for. */
void emu_deferred_run_before(emu_stream *stream);
/* Run everything that a call must wait for, at its entry; deferred streams or not, some
 * calls also wait for the work that other threads run. Return true if the call must end
 * when a signal ended the wait; a call that frees goes on. */
bool emu_deferred_enter(emu_call call);

#endif
