/* Accesses to global memory in the race check.
 *
 * Most kernels access whole lines of 64 bytes by consecutive lanes. Such a line has one
 * cell: its stamp is that of the lane which accesses the first word, and the size of
 * the visit's elements gives the lanes of the other words. A line may
 * be of two warps, if the elements are single bytes or do not begin with a line; its
 * visits are others than those of lines of one warp (emu_visit.pairs). The first access
 * of another kind splits the line for the rest of the launch: its writer is then the
 * launch's `split` stamp, and its words have cells. Called by race_check.c. */
#ifndef DEVICE_MACHINE_WARP_RACE_LINES_H
#define DEVICE_MACHINE_WARP_RACE_LINES_H

#include "device/machine/warp/race_state.h"

/* Remember an access to whole lines by consecutive lanes of up to eight warps, from the
 * thread of `stamp` on. False, with nothing remembered: it may be a race. */
bool emu_lines_take_warps(const emu_race_try *a, uint64_t offset, uint64_t bytes,
                          uint32_t stamp);
/* Check and remember an access to whole lines by consecutive lanes of one warp, from
 * the lane of `stamp` on. False, with nothing remembered: it must be checked by words.
 */
bool emu_lines_take(const emu_race_try *a, uint64_t offset, uint64_t bytes,
                    uint32_t stamp);
/* Split all lines of `count` bytes. */
void emu_lines_split(const emu_race_try *a, uint64_t offset, uint64_t count);

#endif
