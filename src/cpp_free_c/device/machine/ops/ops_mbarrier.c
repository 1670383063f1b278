/* mbarrier objects: barriers in shared memory, 64 bits each.
 *
 * An object holds the number of arrivals that a phase expects, the number that it still
 * waits for, and the number of the phase. The token of an arrival is the object before
 * the arrival. Its phase is over when the object has another phase. A block belongs to
 * one thread, so plain accesses are enough. */
#include "device/machine/warp/machine.h"

#include "device/machine/warp/address_check.h"
#include "device/machine/warp/lanes.h"

enum { COUNT_BITS = 20 };
#define COUNT_MASK (((uint64_t)1 << COUNT_BITS) - 1)
#define PHASE(object) ((object) >> (2 * COUNT_BITS))

static uint64_t
mbarrier_object_of(uint64_t expected, uint64_t pending, uint64_t phase)
{
    return (expected & COUNT_MASK) | (pending & COUNT_MASK) << COUNT_BITS |
           phase << (2 * COUNT_BITS);
}

/* The object after `count` arrivals. If `drop` is set, later phases do not expect
 * them any more. */
static uint64_t
mbarrier_arrived(uint64_t object, uint32_t count, bool drop)
{
    const uint64_t pending = ((object >> COUNT_BITS) & COUNT_MASK) - count;
    uint64_t expected = object & COUNT_MASK;

    if (drop) {
        expected -= count;
    }
    if (pending & COUNT_MASK) {
        return mbarrier_object_of(expected, pending, PHASE(object));
    }
    return mbarrier_object_of(expected, expected, PHASE(object) + 1);
}

/* b: arrivals that each phase expects */
const emu_insn *
emu_op_mbarrier_init(emu_warp *warp, const emu_insn *insn)
{
    uint64_t at[EMU_LANES];
    uint32_t left;

    if (!emu_address_check(warp, insn, warp->mask, 8, true, at)) {
        return NULL;
    }
    for (left = warp->mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        const uint32_t count = EMU_SOURCE(u32, insn->b)[i];

        *(u64 *)(uintptr_t)at[i] = mbarrier_object_of(count, count, 0);
    }
    return insn + 1;
}

/* d: token; b: number of arrivals; e: later phases do not expect them */
const emu_insn *
emu_op_mbarrier_arrive(emu_warp *warp, const emu_insn *insn)
{
    uint64_t at[EMU_LANES];
    uint32_t left;

    if (!emu_address_check(warp, insn, warp->mask, 8, true, at)) {
        return NULL;
    }
    for (left = warp->mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        u64 *const object = (u64 *)(uintptr_t)at[i];
        const uint64_t before = *object;

        *object = mbarrier_arrived(before, EMU_SOURCE(u32, insn->b)[i], insn->e & 1);
        EMU_TARGET(u64, insn->d)[i] = before;
    }
    return insn + 1;
}

/* d: whether the phase is over; b: its token or, when e is 1, its parity */
const emu_insn *
emu_op_mbarrier_wait(emu_warp *warp, const emu_insn *insn)
{
    u32 *const d = EMU_TARGET(u32, insn->d);
    uint64_t at[EMU_LANES];
    uint32_t left, bits = 0;

    if (!emu_address_check(warp, insn, warp->mask, 8, false, at)) {
        return NULL;
    }
    for (left = warp->mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        const uint64_t phase = PHASE(*(const u64 *)(uintptr_t)at[i]);
        bool over;

        if (insn->e & 1) {
            over = (phase & 1) != (EMU_SOURCE(u32, insn->b)[i] & 1);
        }
        else {
            over = phase != PHASE(EMU_SOURCE(u64, insn->b)[i]);
        }
        bits |= (uint32_t)over << i;
    }
    *d = (*d & ~warp->mask) | bits;
    return insn + 1;
}
