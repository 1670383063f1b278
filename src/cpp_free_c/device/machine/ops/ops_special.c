/* Special registers. d: result; aux: the PTX_S_ number; imm: the part. */
#define _GNU_SOURCE
#include "device/machine/warp/machine.h"

#include "device/machine/warp/wait.h"
#include "device/machine/warp/lanes.h"
#include "device/ptx/words.h"

/* What an H200 reports of the shared memory that its driver keeps for itself. Here that
 * memory does not exist: variables begin at 0. */
enum { RESERVED_END = 0x120, RESERVED_CAPACITY = 0x400 };

/* Clocks; one tick is one nanosecond. */
static uint64_t
special_clock(unsigned special)
{
    switch (special) {
        case PTX_S_clock:
            return (uint32_t)emu_clock_steady();
        case PTX_S_clock_hi:
            return emu_clock_steady() >> 32;
        case PTX_S_clock64:
            return emu_clock_steady();
        case PTX_S_globaltimer:
            return emu_clock_of_day();
        case PTX_S_globaltimer_hi:
            return emu_clock_of_day() >> 32;
        case PTX_S_globaltimer_lo:
            return (uint32_t)emu_clock_of_day();
        default:
            return 0;
    }
}

/* Values that kernels seldom read. */
static uint64_t
special_rare(const emu_warp *warp, unsigned special, unsigned part)
{
    const emu_block *block = warp->block;
    const emu_grid *grid = block->grid;

    switch (special) {
        case PTX_S_cluster_nctaid:
            return part < 3 ? grid->cluster[part] : 0;
        case PTX_S_cluster_nctarank:
            return grid->cluster_size;
        case PTX_S_is_explicit_cluster:
            return grid->launch->cluster[0] != 0;
        case PTX_S_cluster_ctarank:
            return block->cluster_rank;
        case PTX_S_cluster_ctaid:
            return part < 3 ? block->ctaid[part] % grid->cluster[part] : 0;
        case PTX_S_clusterid:
            return part < 3 ? block->ctaid[part] / grid->cluster[part] : 0;
        case PTX_S_nclusterid:
            return part < 3 ? grid->grid[part] / grid->cluster[part] : 0;
        case PTX_S_warpid:
            return warp->number;
        case PTX_S_nwarpid:
            return EMU_MAX_WARPS;
        case PTX_S_smid:
            return block->worker->number;
        case PTX_S_nsmid:
            return (uint64_t)grid->context->device->limits.multiprocessors;
        case PTX_S_gridid:
            return grid->number;
        case PTX_S_total_smem_size:
        case PTX_S_aggr_smem_size:
            return grid->shared_size;
        case PTX_S_dynamic_smem_size:
            return grid->launch->dynamic_shared;
        case PTX_S_reserved_smem_offset_end:
            return RESERVED_END;
        case PTX_S_reserved_smem_offset_cap:
            return RESERVED_CAPACITY;
        case PTX_S_envreg + 1: /* the address of the counter of grid.sync */
            return (uint32_t)(grid->sync_space >> 32);
        case PTX_S_envreg + 2:
            return (uint32_t)grid->sync_space;
        default:
            return special_clock(special);
    }
}

/* Values that are the same in all lanes. Nearly every kernel reads the dimensions, so
 * these come first. */
static inline uint64_t
special_uniform(const emu_warp *warp, unsigned special, unsigned part)
{
    const emu_block *block = warp->block;

    switch (special) {
        case PTX_S_ntid:
            return part < 3 ? block->grid->block[part] : 0;
        case PTX_S_ctaid:
            return part < 3 ? block->ctaid[part] : 0;
        case PTX_S_nctaid:
            return part < 3 ? block->grid->grid[part] : 0;
        default:
            return special_rare(warp, special, part);
    }
}

static uint32_t
special_of_lane(const emu_warp *warp, unsigned special, unsigned part, unsigned lane)
{
    switch (special) {
        case PTX_S_tid:
            return part < 3 ? warp->tid[part][lane] : 0;
        case PTX_S_laneid:
            return lane;
        case PTX_S_lanemask_eq:
            return 1u << lane;
        case PTX_S_lanemask_lt:
            return (1u << lane) - 1;
        case PTX_S_lanemask_le:
            return ((1u << lane) - 1) | 1u << lane;
        case PTX_S_lanemask_gt:
            return ~(((1u << lane) - 1) | 1u << lane);
        default: /* lanemask_ge */
            return ~((1u << lane) - 1);
    }
}

/* e: bytes of the register. */
const emu_insn *
emu_op_special(emu_warp *warp, const emu_insn *insn)
{
    const uint64_t value = special_uniform(warp, insn->aux, (unsigned)insn->imm);
    uint32_t left;

    if (insn->aux == PTX_S_clock || insn->aux == PTX_S_clock64 ||
        insn->aux == PTX_S_globaltimer) {
        (void)emu_op_spin(warp, insn);
    }
    if (insn->e == 4 && warp->mask == EMU_FULL) {
        u32 *const d = EMU_TARGET(u32, insn->d);
        const uint32_t narrow = (uint32_t)value;
        int i;

        EMU_VECTORISE
        for (i = 0; i < EMU_LANES; i++) {
            d[i] = narrow;
        }
        return insn + 1;
    }
    for (left = warp->mask; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);

        if (insn->e == 2) {
            EMU_TARGET(u16, insn->d)[lane] = (uint16_t)value;
        }
        else if (insn->e == 4) {
            EMU_TARGET(u32, insn->d)[lane] = (uint32_t)value;
        }
        else {
            EMU_TARGET(u64, insn->d)[lane] = value;
        }
    }
    return insn + 1;
}

const emu_insn *
emu_op_lane_special(emu_warp *warp, const emu_insn *insn)
{
    uint32_t left;

    if (insn->aux == PTX_S_tid && insn->imm < 3 && insn->e == 4 &&
        warp->mask == EMU_FULL) {
        memcpy(EMU_TARGET(u32, insn->d), warp->tid[insn->imm], sizeof(u32) * EMU_LANES);
        return insn + 1;
    }
    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint32_t value =
            special_of_lane(warp, insn->aux, (unsigned)insn->imm, lane);

        if (insn->e == 2) {
            EMU_TARGET(u16, insn->d)[lane] = (uint16_t)value;
        }
        else if (insn->e == 4) {
            EMU_TARGET(u32, insn->d)[lane] = value;
        }
        else {
            EMU_TARGET(u64, insn->d)[lane] = value;
        }
    }
    return insn + 1;
}
