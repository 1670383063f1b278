/* Checking and remembering an access to consecutive cells as a whole, with the widest
 * instructions that the processor has. Called by race_lines.c and
 * race_check.c. */
#ifndef DEVICE_MACHINE_WARP_RACE_CELLS_H
#define DEVICE_MACHINE_WARP_RACE_CELLS_H

#include "device/memory/memory.h"

typedef struct {
    uint32_t stamp; /* of the first cell */
    /* The stamp of its warp's first thread in the visitor's chunk, and the bits in
     * which stamps of this warp are equal. Or the same for its thread, if cells are of
     * two warps and only accesses by the same threads are told from others. */
    uint32_t own, mask;
    uint32_t oldest;            /* stamps below it count as none */
    uint32_t block, block_size; /* the stamps of the block, if it has up to 8 warps */
    /* Cell i is accessed by thread (i << up) >> down, counted from that of the first
     * cell. If there are several warps, the first cell is of lane 0. */
    unsigned up, down;
    bool writes;
    bool again; /* look again after a write: other threads may access the cells now */
    /* Two readers are remembered until `oldest` moves, whichever they are. */
    bool keeps_readers;
} emu_cell_access;

/* Remember an access to `count` cells from cell `first` on. False, with nothing
 * remembered: another warp has accessed a cell so that it may be a race. */
bool emu_cells_take(const emu_visits *visits, size_t first, unsigned count,
                    const emu_cell_access *access);
/* Whether no other warp has accessed these cells so that it may be a race. */
bool emu_cells_are_free(const emu_visits *visits, size_t first, unsigned count,
                        const emu_cell_access *access);

#endif
