/* Asynchronous copies. See bulk_copy.h. */
#include "device/machine/warp/bulk_copy.h"

#include "device/machine/warp/address_check.h"
#include "device/machine/warp/cluster.h"
#include "device/machine/warp/init_check.h"
#include "device/machine/warp/race_check.h"
#include "device/machine/warp/report.h"

bool
emu_bulk_place(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t address,
               uint64_t size, unsigned align, bool write, emu_shared_place *out)
{
    const uint64_t offset = address - EMU_SHARED_WINDOW;
    const emu_block *owner = NULL;

    if (offset < EMU_WINDOW_SIZE) {
        owner = emu_cluster_owner(warp->block, offset);
    }
    out->owner = owner;
    out->offset = offset % EMU_CLUSTER_STEP;
    if (owner == NULL || size > owner->shared_size ||
        out->offset > owner->shared_size - size) {
        return emu_address_fault(warp, insn, lane, address, (unsigned)size, write);
    }
    if (out->offset % align != 0) {
        (void)emu_fault(warp, insn, CUDA_ERROR_MISALIGNED_ADDRESS, lane, offset,
                        "a copy to or from offset %llu of shared memory, which is no "
                        "multiple of %u",
                        (unsigned long long)out->offset, align);
        return false;
    }
    return true;
}

bool
emu_bulk_note(emu_warp *warp, const emu_insn *insn, unsigned lane,
              const emu_shared_place *place, uint64_t offset, uint64_t size, bool write)
{
    if (place->owner != warp->block) {
        return true;
    }
    if (write) {
        emu_init_write(warp->block, (uint64_t)(uintptr_t)warp->block->shared + offset,
                       size);
    }
    if (warp->block->race == NULL) {
        return true;
    }
    return emu_race_copy(warp, insn, lane, offset, (unsigned)size, write);
}

emu_bulk_targets
emu_bulk_begin(bool is_multicast, uint32_t blocks)
{
    return (emu_bulk_targets){.blocks = blocks, .is_multicast = is_multicast};
}

/* The address in the block with this rank of the cluster. */
static uint64_t
bulk_in_block(uint64_t address, unsigned rank)
{
    return EMU_SHARED_WINDOW + (address - EMU_SHARED_WINDOW) % EMU_CLUSTER_STEP +
           (uint64_t)(rank + 1) * EMU_CLUSTER_STEP;
}

bool
emu_bulk_next(emu_bulk_targets *targets, uint64_t address, uint64_t mbarrier,
              uint64_t *to, uint64_t *signal)
{
    unsigned rank;

    if (targets->is_done || (targets->is_multicast && targets->blocks == 0)) {
        return false;
    }
    if (!targets->is_multicast) {
        targets->is_done = true;
        *to = address;
        *signal = mbarrier;
        return true;
    }
    rank = (unsigned)__builtin_ctz(targets->blocks);
    targets->blocks &= targets->blocks - 1;
    *to = bulk_in_block(address, rank);
    *signal = bulk_in_block(mbarrier, rank);
    return true;
}
