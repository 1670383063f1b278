/* Asynchronous copies (ops.h): what those of ranges and of tiles share, and bulk_copy,
 * the copy or reduction of a range. See encoding.h. */
#include "device/base/number.h"
#include "device/compile/encoding.h"
#include "device/machine/ops/ops.h"
#include "device/machine/warp/address_check.h"
#include "device/machine/warp/warp.h"
#include "device/machine/warp/init_check.h"
#include "device/machine/warp/lanes.h"
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
        (void)emu_address_fault(warp, insn, lane, address, (unsigned)size, write);
        return false;
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

/* -- copies of ranges -------------------------------------------------------------- */

enum { BULK_UNIT = 16 }; /* bytes: addresses and sizes are multiples of it */

typedef struct {
    uint64_t to, from, mbarrier;
    uint32_t bytes;
} range;

/* Addresses and sizes must be multiples of 16 bytes. */
static bool
bulk_is_aligned(emu_warp *warp, const emu_insn *insn, unsigned lane, const range *r)
{
    if ((r->to | r->from | r->bytes) % BULK_UNIT == 0) {
        return true;
    }
    (void)emu_fault(
        warp, insn, CUDA_ERROR_MISALIGNED_ADDRESS, lane, r->to,
        "a copy of %u bytes from 0x%llx to 0x%llx: sizes and addresses must "
        "be multiples of %d",
        r->bytes, (unsigned long long)r->from, (unsigned long long)r->to, BULK_UNIT);
    return false;
}

/* The host address of one end of the copy. NULL after a fault. */
static uint8_t *
bulk_end_of(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t address,
            uint32_t bytes, bool shared, bool write)
{
    emu_shared_place place;
    uint8_t *at;

    if (!shared) {
        at = emu_address_global(warp, address, bytes);
        if (at == NULL) {
            (void)emu_address_fault(warp, insn, lane, address, bytes, write);
            return NULL;
        }
        emu_address_note(warp, address, bytes, write);
        if (write) {
            emu_init_write(warp->block, address, bytes);
        }
        return at;
    }
    if (!emu_bulk_place(warp, insn, lane, address, bytes, BULK_UNIT, write, &place) ||
        !emu_bulk_note(warp, insn, lane, &place, place.offset, bytes, write)) {
        return NULL;
    }
    return place.owner->shared + place.offset;
}

/* Copy to one block, or to global memory. */
static bool
bulk_copy_range(emu_warp *warp, const emu_insn *insn, unsigned lane, const range *r)
{
    const unsigned type = insn->aux >> EMU_BULK_TYPE_SHIFT & 15;
    const bool to_shared = insn->aux & EMU_BULK_TO_SHARED;
    uint8_t *to, *from;

    from = bulk_end_of(warp, insn, lane, r->from, r->bytes,
                       insn->aux & EMU_BULK_FROM_SHARED, false);
    if (from == NULL) {
        return false;
    }
    to = bulk_end_of(warp, insn, lane, r->to, r->bytes, to_shared, true);
    if (to == NULL) {
        return false;
    }
    if (insn->e == EMU_REDUCE_NONE) {
        memmove(to, from, r->bytes);
    }
    else {
        emu_reduce_bytes(to, from, r->bytes, insn->e, type);
    }
    return !to_shared || emu_mbarrier_copied(warp, insn, lane, r->mbarrier, r->bytes);
}

const emu_insn *
emu_op_bulk_copy(emu_warp *warp, const emu_insn *insn)
{
    const uint32_t *const x = insn->x;
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint64_t to = EMU_SOURCE(u64, x[0])[lane];
        const uint64_t mbarrier = EMU_SOURCE(u64, x[3])[lane];
        range r = {.from = EMU_SOURCE(u64, x[1])[lane],
                   .bytes = EMU_SOURCE(u32, x[2])[lane]};
        emu_bulk_targets targets =
            emu_bulk_begin(insn->aux & EMU_BULK_MULTICAST, EMU_SOURCE(u16, x[4])[lane]);

        while (emu_bulk_next(&targets, to, mbarrier, &r.to, &r.mbarrier)) {
            if (!bulk_is_aligned(warp, insn, lane, &r) ||
                !bulk_copy_range(warp, insn, lane, &r)) {
                return NULL;
            }
        }
    }
    return insn + 1;
}
