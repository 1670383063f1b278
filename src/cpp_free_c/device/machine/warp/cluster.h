/* Clusters: blocks that run together, wait for each other at barrier.cluster, and read
 * and write each other's shared memory.
 *
 * All blocks of a cluster belong to one worker and begin together. A grid without
 * clusters has no record: each block is a cluster of its own, with NULL in
 * block->cluster.
 *
 * An address in the shared memory of the block with rank r is the offset in that memory
 * plus (r + 1) * EMU_CLUSTER_STEP. An offset below EMU_CLUSTER_STEP is in the memory of
 * the block itself. A generic address adds EMU_SHARED_WINDOW, as for one's own memory.
 *
 * Called by workers.c (begin and end), ops_cluster.c and address_check.c. */
#ifndef DEVICE_MACHINE_WARP_CLUSTER_H
#define DEVICE_MACHINE_WARP_CLUSTER_H

#include "device/machine/warp/machine.h"

enum { EMU_CLUSTER_STEP = 1 << 24 };

struct emu_cluster {
    uint32_t live;                      /* blocks that have not ended */
    emu_block *blocks[EMU_MAX_CLUSTER]; /* by rank; NULL: has ended, or none */
};

/* NULL: out of memory. */
emu_cluster *emu_cluster_new(void);
/* Add a block that has begun. */
void emu_cluster_join(emu_cluster *cluster, emu_block *block, uint32_t rank);
/* Remove a block. True: it was the last one of its cluster, whose record is gone. */
bool emu_cluster_leave(emu_block *block);

/* The number of the block with this rank in a cluster of the grid. */
uint64_t emu_cluster_block_number(const emu_grid *grid, uint64_t cluster,
                                  uint32_t rank);

/* The block to whose shared memory an address of shared::cluster belongs; NULL: none.
 */
const emu_block *emu_cluster_owner(const emu_block *block, uint64_t address);
/* The host address of an address of shared::cluster outside the block's own memory.
 * NULL: not legal. */
uint8_t *emu_cluster_address(const emu_block *block, uint64_t address, size_t size);

#endif
