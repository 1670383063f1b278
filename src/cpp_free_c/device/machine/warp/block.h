/* Blocks: preparing a block, giving its warps turns, and the report of a deadlock.
 *
 * A block stays allocated for the next one of its worker, with its buffers. Called by
 * workers.c and watch.c. */
#ifndef DEVICE_MACHINE_WARP_BLOCK_H
#define DEVICE_MACHINE_WARP_BLOCK_H

#include "device/machine/warp/machine.h"

typedef enum { EMU_BLOCK_DONE, EMU_BLOCK_MORE, EMU_BLOCK_FAILED } emu_block_state;

/* Allocate a block for a worker. NULL: out of memory. */
emu_block *emu_block_new(emu_worker *worker);
/* Prepare a block to run as the block with this number of a grid. False: out of memory.
 */
bool emu_block_begin(emu_block *block, emu_grid *grid, uint64_t number);
/* Set the warps of a block that has not run yet. Call it before reading them. */
void emu_block_settle(emu_block *block);
/* Give every warp of the block one turn. FAILED: the launch has failed. */
emu_block_state emu_block_turn(emu_block *block);
/* Free the activations of a block that will not continue. */
void emu_block_drop_frames(emu_block *block);
void emu_block_free(emu_block *block);

#endif
