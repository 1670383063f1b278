/* Clusters. See cluster.h. */
#include "device/machine/warp/cluster.h"

#include <stdlib.h>

emu_cluster *
emu_cluster_new(void)
{
    return calloc(1, sizeof(emu_cluster));
}

void
emu_cluster_join(emu_cluster *cluster, emu_block *block, uint32_t rank)
{
    block->cluster = cluster;
    block->cluster_rank = rank;
    cluster->blocks[rank] = block;
    cluster->live++;
}

bool
emu_cluster_leave(emu_block *block)
{
    emu_cluster *cluster = block->cluster;

    if (cluster == NULL) {
        return true;
    }
    block->cluster = NULL;
    cluster->blocks[block->cluster_rank] = NULL;
    cluster->live--;
    if (cluster->live) {
        return false;
    }
    free(cluster);
    return true;
}

uint64_t
emu_cluster_block_number(const emu_grid *grid, uint64_t cluster, uint32_t rank)
{
    uint64_t number = 0, below = 1;
    unsigned i;

    for (i = 0; i < 3; i++) {
        const uint32_t size = grid->cluster[i], count = grid->grid[i] / size;
        const uint64_t at = cluster % count * size + rank % size;

        number += at * below;
        below *= grid->grid[i];
        cluster /= count;
        rank /= size;
    }
    return number;
}

const emu_block *
emu_cluster_owner(const emu_block *block, uint64_t address)
{
    const uint64_t rank = address / EMU_CLUSTER_STEP - 1;

    if (address < EMU_CLUSTER_STEP) {
        return block;
    }
    if (block->cluster != NULL && rank < EMU_MAX_CLUSTER) {
        return block->cluster->blocks[rank];
    }
    if (rank == block->cluster_rank) {
        return block;
    }
    return NULL;
}

uint8_t *
emu_cluster_address(const emu_block *block, uint64_t address, size_t size)
{
    const uint64_t offset = address % EMU_CLUSTER_STEP;
    const emu_block *owner = NULL;

    if (address >= EMU_CLUSTER_STEP) {
        owner = emu_cluster_owner(block, address);
    }
    if (owner == NULL || size > owner->shared_size ||
        offset > owner->shared_size - size) {
        return NULL;
    }
    return owner->shared + offset;
}
