/* Operations of clusters: barrier.cluster, mapa, getctarank. See warp.h. */
#include "device/machine/warp/machine.h"

#include "device/machine/warp/warp.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/race_check.h"

enum { CLUSTER_BARRIER = EMU_BARRIERS - 1 }; /* its number for the race check */

/* -- the barrier ------------------------------------------------------------------- */

/* A cluster of one block has no arrive: its wait is a barrier of the block. */
const emu_insn *
emu_op_cluster_arrive(emu_warp *warp, const emu_insn *insn)
{
    if (warp->block->cluster == NULL) {
        return insn + 1;
    }
    warp->cluster_arrived |= warp->mask;
    if (warp->block->race) {
        emu_race_arrive(warp, CLUSTER_BARRIER);
        emu_race_fence(warp, false); /* for the other blocks of the cluster */
    }
    return insn + 1;
}

/* Whether all threads of a block have arrived or exited. */
static bool
cluster_block_has_arrived(const emu_block *block)
{
    for (unsigned i = 0; i < block->warp_count; i++) {
        if (block->warps[i].alive & ~block->warps[i].cluster_arrived) {
            return false;
        }
    }
    return true;
}

/* Begin the next phase of the barrier in a block. */
static void
cluster_block_release(emu_block *block)
{
    for (unsigned i = 0; i < block->warp_count; i++) {
        if (block->race && block->warps[i].cluster_arrived) {
            emu_race_leave(&block->warps[i], CLUSTER_BARRIER);
            emu_race_acquire(&block->warps[i]);
        }
        block->warps[i].cluster_arrived = 0;
    }
    if (block->race) {
        emu_race_released(block, CLUSTER_BARRIER);
        emu_race_forget(block);
    }
}

/* If all threads of the cluster have arrived, begin the next phase. */
static void
cluster_try_release(emu_cluster *cluster)
{
    unsigned i;

    for (i = 0; i < EMU_MAX_CLUSTER; i++) {
        if (cluster->blocks[i] && !cluster_block_has_arrived(cluster->blocks[i])) {
            return;
        }
    }
    for (i = 0; i < EMU_MAX_CLUSTER; i++) {
        if (cluster->blocks[i]) {
            cluster_block_release(cluster->blocks[i]);
        }
    }
}

/* Repeat the operation, after other warps and blocks, until the phase is over. The
 * operands are those of bar.sync, for clusters of one block. */
const emu_insn *
emu_op_cluster_wait(emu_warp *warp, const emu_insn *insn)
{
    if (warp->block->cluster == NULL) {
        return emu_op_bar_sync(warp, insn);
    }
    if (warp->mask & warp->cluster_arrived) {
        cluster_try_release(warp->block->cluster);
    }
    if (warp->mask & warp->cluster_arrived) {
        warp->spins = EMU_SPINS;
        return emu_warp_yield(warp, insn);
    }
    return insn + 1;
}

/* -- addresses --------------------------------------------------------------------- */

/* d: the address a in the block with rank b. imm: EMU_SHARED_WINDOW for generic
 * addresses, else 0; e: bytes of an address. */
const emu_insn *
emu_op_mapa(emu_warp *warp, const emu_insn *insn)
{
    const u32 *const rank = EMU_SOURCE(u32, insn->b);
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        uint64_t address = EMU_SOURCE(u32, insn->a)[i];

        if (insn->e == 8) {
            address = EMU_SOURCE(u64, insn->a)[i];
        }
        address = (address - (uint64_t)insn->imm) % EMU_CLUSTER_STEP +
                  ((uint64_t)rank[i] + 1) * EMU_CLUSTER_STEP + (uint64_t)insn->imm;
        if (insn->e == 8) {
            EMU_TARGET(u64, insn->d)[i] = address;
        }
        else {
            EMU_TARGET(u32, insn->d)[i] = (uint32_t)address;
        }
    }
    return insn + 1;
}

/* d: the rank of the block to which the shared address a belongs. */
const emu_insn *
emu_op_ctarank(emu_warp *warp, const emu_insn *insn)
{
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        uint64_t address = EMU_SOURCE(u32, insn->a)[i];
        uint32_t rank = warp->block->cluster_rank;

        if (insn->e == 8) {
            address = EMU_SOURCE(u64, insn->a)[i] - (uint64_t)insn->imm;
        }
        if (address >= EMU_CLUSTER_STEP) {
            rank = (uint32_t)(address / EMU_CLUSTER_STEP) - 1;
        }
        EMU_TARGET(u32, insn->d)[i] = rank;
    }
    return insn + 1;
}
