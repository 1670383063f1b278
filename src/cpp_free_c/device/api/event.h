/* Events: marks in a stream, with times of the system's clock. */
#ifndef DEVICE_API_EVENT_H
#define DEVICE_API_EVENT_H

#include "device/api/capture.h"
#include "device/base/device.h"

/* What two processes share of an event: written by who records, read by who asks. */
typedef struct {
    _Atomic uint64_t recorded; /* 0, or the time in nanoseconds of the last record */
} emu_event_mark;

typedef struct CUevent_st {
    emu_object object;
    unsigned int flags;
    emu_event_mark own;
    emu_event_mark *mark; /* &own, or in memory shared between processes */
    emu_capture_place place;
    CUstream late_stream; /* in which the last record is still to come, perhaps */
    uint64_t late_serial, late_number;
    int file; /* of the shared memory; -1: none */
} emu_event;

enum {
    EMU_EVENT_BLOCKING_SYNC = 1,
    EMU_EVENT_DISABLE_TIMING = 2,
    EMU_EVENT_INTERPROCESS = 4
};

/* A new event; NULL: out of memory. Under the API lock. */
emu_event *emu_event_new(emu_context *context, unsigned int flags);

#endif
