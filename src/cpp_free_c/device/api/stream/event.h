/* Events: marks in a stream, with times of the system's clock.
 *
 * The API lock guards an event. Its mark is atomic, since another process may share it.
 * The calls on events and on their handles for other processes use this file. */
#ifndef DEVICE_API_STREAM_EVENT_H
#define DEVICE_API_STREAM_EVENT_H

#include "device/base/device.h"
#include "device/check/lane_clock.h"
#include "device/api/entry/turn.h"
#include "device/api/entry/work.h"

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

#endif
