/* Capture: work that a program enqueues in a stream becomes nodes of a graph instead of
 * being run.
 *
 * A capture begins in one stream, its origin; a stream that waits for an event which
 * was recorded in the capture takes part from then on. Whatever may not be done
 * meanwhile fails and makes the capture invalid; it lasts until the program ends it.
 * All functions are called under the API lock. */
#ifndef DEVICE_API_CAPTURE_H
#define DEVICE_API_CAPTURE_H

#include "device/api/entry.h"
#include "device/api/graph.h"

typedef struct emu_capture emu_capture;

/* Where a stream, or an event that was recorded, stands in a capture. */
typedef struct emu_capture_place {
    emu_capture *capture;       /* NULL: in none */
    struct CUstream_st *stream; /* whose place it is; NULL: an event's */
    uint32_t *after;            /* what is enqueued next waits for these nodes */
    size_t count;
    struct emu_capture_place *next, *previous; /* of the capture */
    bool captured; /* an event: its last record was in a capture, ended or not */
} emu_capture_place;

/* To be asked by every call that enqueues work: when the stream is being captured, the
 * work is kept (`taken`) and must not be run. Nor when the stream runs late. */
CUresult emu_capture_take(struct CUstream_st *stream, const emu_work *work,
                          const void *payload, size_t size, bool *taken);
/* To be told how a call that enqueues work ended: one that fails makes the capture of
 * its stream invalid, and that it was so before comes first. Returns the call's code.
 */
CUresult emu_capture_failed(struct CUstream_st *stream, CUresult status);
/* To be asked by calls on a stream that cannot be captured. */
CUresult emu_capture_refuse(struct CUstream_st *stream);
/* To be asked by calls that do work which no capture sees. */
CUresult emu_capture_unsafe(void);
/* Whether a call may be made at all: asked at the entry of each. */
CUresult emu_capture_permit(emu_call call);

/* An event is recorded in a stream; not taken: it is a record as ever. */
CUresult emu_capture_record(struct CUstream_st *stream, emu_capture_place *event,
                            bool *taken);
/* A stream waits for an event; `recorded` when it ever was. Not taken: as ever. */
CUresult emu_capture_wait(struct CUstream_st *stream, emu_capture_place *event,
                          bool recorded, bool *taken);
/* To be asked by calls that look at an event's state. */
CUresult emu_capture_look(emu_capture_place *event);

/* An event goes or is recorded anew. */
void emu_capture_forget(emu_capture_place *place);
/* A stream goes; a capture that began in it ends without a graph. */
void emu_capture_stream_gone(struct CUstream_st *stream);

#endif
