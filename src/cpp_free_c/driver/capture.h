/* Captures: whether the work of a stream becomes a part of a graph, and the handles
 * whose release waits for the end of a capture.
 *
 * While a capture of this package is active, its record takes every handle that the
 * program releases in the thread or the context of the capture, because a release would
 * wait for the captured stream.
 *
 * Invariant: `pcu_captures` has the records of the active captures. They are read and
 * written under the interpreter lock only. Callers: python/driver/graph_resources.c
 * owns the records; python/driver/resource.c and the pools ask before a release; any
 * file that enqueues work asks about its stream. */
#ifndef DRIVER_CAPTURE_H
#define DRIVER_CAPTURE_H

#include "driver/release.h"

/* A handle that is to be released later. */
typedef struct {
    pcu_handle_kind kind;
    pcu_handle handle;
    void *ctx; /* the Context, a strong reference of the record's owner */
} pcu_owed_handle;

/* An active capture. */
typedef struct pcu_capture_record {
    struct pcu_capture_record *next; /* in the list of active captures */
    CUcontext context;
    unsigned long thread;  /* the thread that began it */
    pcu_owed_handle *owed; /* in the order of their releases */
    size_t owed_count;
    size_t owed_room;
} pcu_capture_record;

/* All active captures of this package, the newest first. NULL: work that is enqueued
 * notes nothing. */
extern PCU_HIDDEN pcu_capture_record *pcu_captures;

PCU_HIDDEN void pcu_capture_begin(pcu_capture_record *rec);
PCU_HIDDEN void pcu_capture_end(pcu_capture_record *rec);

/* The active capture that a release in this context by this thread must wait for, or
 * NULL. */
PCU_HIDDEN pcu_capture_record *pcu_capture_delays(CUcontext context,
                                                  unsigned long thread);

/* Let the record release the handle later. Return 0, or -1 if there is no memory. */
PCU_HIDDEN int pcu_capture_take(pcu_capture_record *rec, pcu_handle_kind kind,
                                pcu_handle handle, void *ctx);

/* What a capture means for work that is enqueued in a stream now. */
typedef enum {
    PCU_CAPTURE_NONE,   /* the work runs */
    PCU_CAPTURE_STREAM, /* the work becomes a part of a graph */
    PCU_CAPTURE_BLOCKS  /* the driver refuses the work: the default stream would wait
                           for a captured stream */
} pcu_capture;

/* Ask the driver, in the context of the stream. NULL is the default stream. Captures of
 * other libraries count. After a failure the state is PCU_CAPTURE_NONE. */
PCU_HIDDEN CUresult pcu_capture_ask(CUstream stream, pcu_capture *state);

/* Whether work of the stream becomes a part of a graph. */
static inline bool
pcu_is_captured(CUstream stream)
{
    pcu_capture state;
    return pcu_capture_ask(stream, &state) == CUDA_SUCCESS &&
           state == PCU_CAPTURE_STREAM;
}

#endif
