/* Checking and remembering an access to consecutive cells as a whole, with the widest
 * instructions that the processor has. Called by race_lines.c and
 * race_check.c. */
#ifndef DEVICE_MACHINE_WARP_RACE_CELLS_H
#define DEVICE_MACHINE_WARP_RACE_CELLS_H

#include "device/memory/shadow.h"

typedef struct {
    uint32_t stamp;  /* of the first cell */
    uint32_t own;    /* the first stamp of its warp in the visitor's chunk */
    uint32_t oldest; /* stamps below it count as none */
    /* Cell i is accessed by thread (i << up) >> down, counted from that of the first
     * cell. If there are several warps, the first cell is of lane 0. */
    unsigned up, down;
    bool writes;
    /* Two readers are remembered until `oldest` moves, whichever they are. */
    bool keeps_readers;
} emu_cell_access;

/* Remember an access to `count` cells from cell `first` on. False, with nothing
 * remembered: another warp has accessed a cell so that it may be a race. */
bool emu_cells_take(const emu_visits *visits, size_t first, unsigned count,
                    const emu_cell_access *access);

#endif
