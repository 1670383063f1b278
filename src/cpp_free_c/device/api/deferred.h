/* Streams that run late: PYCUDA_EMULATOR_STREAMS=late.
 *
 * Work in a stream is kept until something must wait for it, so that a program which
 * forgets to wait sees old values, always and not once in a thousand runs. The null
 * stream, graphs, and copies that a GPU's driver finishes before it returns (those with
 * memory that is not page-locked) run at once, after what they must wait for.
 *
 * All functions are called under the API lock, and give it back while work runs. */
#ifndef DEVICE_API_DEFERRED_H
#define DEVICE_API_DEFERRED_H

#include "device/api/entry.h"
#include "device/api/graph.h"

/* What a stream keeps. */
typedef struct {
    struct emu_late_item *first, **last;
    uint64_t kept, done;                 /* how many there have been */
    struct CUstream_st *next, *previous; /* of the streams that keep something */
} emu_late;

extern bool emu_late_on;

/* Reads the environment. */
CUresult emu_late_open(void);

/* Keeps work for later; false: it is to be run now. */
bool emu_late_keep(struct CUstream_st *stream, const emu_work *work,
                   const void *payload, size_t size);
/* Whether any stream keeps something. Call without the API lock. */
bool emu_late_keeps(void);
/* Runs what a stream keeps, up to that number. When a signal ends that, all that the
 * stream still keeps is dropped. False: the stream's turn could not be had (wait.h). */
bool emu_late_run(struct CUstream_st *stream, uint64_t until);
/* Runs all that work in the stream must wait for. */
void emu_late_before(struct CUstream_st *stream);
/* Asked at the entry of each call: some wait for all streams, and, late or not, for
 * what other threads run. Whether the call has no more to do when a signal ended the
 * wait; one that frees goes on. */
bool emu_late_call(emu_call call);

#endif
