/* One cell of the race check: a word, a byte or a line of memory.
 *
 * A cell has the stamps of its last write and of its last reads by two different warps;
 * atomic operations after a plain write of the block count among the reads. With
 * barriers of the whole block two readers are enough: one of them is of another warp
 * than the next access. (A race with a third warp may not be found if barriers are for
 * a part of the block, or if they order the readers of global memory.) Called by
 * race_lines.c and race_check.c. */
#ifndef DEVICE_MACHINE_WARP_RACE_CELL_H
#define DEVICE_MACHINE_WARP_RACE_CELL_H

#include "device/machine/warp/race_state.h"

/* 0, or the stamp of a cell with which the access is a race. */
uint32_t emu_cell_check(const emu_race_try *a, const emu_visits *visits, size_t cell);
/* Remember the access with a stamp. */
void emu_cell_note(const emu_race_try *a, const emu_visits *visits, size_t cell,
                   uint32_t stamp);

#endif
