/* The place of a stream or an event in a stream capture.
 *
 * A stream that is captured has a place: the nodes that its next work waits for. So has
 * an event that was recorded in the capture. Invariant: a place is in the list of its
 * capture exactly while its `capture` is set. Call all functions with the API lock
 * held. */
#ifndef DEVICE_API_ENTRY_CAPTURE_PLACE_H
#define DEVICE_API_ENTRY_CAPTURE_PLACE_H

#include "device/base/device.h"
#include "device/api/entry/graph.h"

struct emu_capture;

typedef struct emu_capture_place {
    struct emu_capture *capture;               /* NULL: in none */
    struct emu_capture_place **places;         /* the list of the capture's places */
    struct emu_capture_place *next, *previous; /* in that list */
    struct CUstream_st *stream;                /* whose place it is; NULL: an event's */
    emu_edges after;                           /* what the next work waits for */
    bool captured; /* an event: its last record was in a capture, active or ended */
} emu_capture_place;

/* Put a place into a capture, after the nodes given. False: out of memory. */
bool emu_capture_place_join(emu_capture_place *place, struct emu_capture *capture,
                            emu_capture_place **places, const emu_edges *after);

/* Make the next work of a place wait for more nodes. False: out of memory. */
bool emu_capture_place_wait(emu_capture_place *place, const emu_edges *after);

/* Take a place out of its capture, if it is in one, and forget that it was captured. */
void emu_capture_place_leave(emu_capture_place *place);

#endif
