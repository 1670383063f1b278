/* The race check of a block: its beginning and its barriers.
 *
 * A checked block has an emu_race; a block without the check has NULL in block->race
 * and no cost. Called by block.c, barrier.c, lockstep.c and ops_cluster.c. */
#ifndef DEVICE_MACHINE_WARP_RACE_BLOCK_H
#define DEVICE_MACHINE_WARP_RACE_BLOCK_H

#include "device/machine/warp/race_state.h"

/* Prepare a block to run with the check, or without it. False: out of memory. */
bool emu_race_begin(emu_block *block);
void emu_race_free(emu_block *block);

/* All threads of the block have met at a barrier: earlier accesses to shared memory are
 * ordered before all that follows. */
void emu_race_forget(emu_block *block);
/* All warps, in lockstep, meet at such a barrier. */
void emu_race_meet(emu_block *block);

#endif
