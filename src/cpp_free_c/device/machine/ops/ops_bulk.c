/* bulk_copy: copies and reductions of ranges of bytes. See encoding.h. */
#include "device/base/number.h"
#include "device/compile/encoding.h"
#include "device/machine/ops/reduction.h"
#include "device/machine/warp/address_check.h"
#include "device/machine/warp/bulk_copy.h"
#include "device/machine/warp/init_check.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/mbarrier.h"
#include "device/machine/warp/report.h"

enum { UNIT = 16 }; /* bytes: addresses and sizes are multiples of it */

typedef struct {
    uint64_t to, from, mbarrier;
    uint32_t bytes;
} range;

/* Addresses and sizes must be multiples of 16 bytes. */
static bool
bulk_is_aligned(emu_warp *warp, const emu_insn *insn, unsigned lane, const range *r)
{
    if ((r->to | r->from | r->bytes) % UNIT == 0) {
        return true;
    }
    (void)emu_fault(
        warp, insn, CUDA_ERROR_MISALIGNED_ADDRESS, lane, r->to,
        "a copy of %u bytes from 0x%llx to 0x%llx: sizes and addresses must "
        "be multiples of %d",
        r->bytes, (unsigned long long)r->from, (unsigned long long)r->to, UNIT);
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
    if (!emu_bulk_place(warp, insn, lane, address, bytes, UNIT, write, &place) ||
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
