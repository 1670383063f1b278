/* Operations on mbarrier objects. See mbarrier.h. */
#include "device/machine/warp/mbarrier.h"

#include "device/machine/warp/lanes.h"
#include "device/machine/warp/race_check.h"

/* b: arrivals that each phase expects */
const emu_insn *
emu_op_mbarrier_init(emu_warp *warp, const emu_insn *insn)
{
    uint64_t at[EMU_LANES];
    uint32_t left;

    if (!emu_mbarrier_find(warp, insn, at)) {
        return NULL;
    }
    for (left = warp->mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);

        *(u64 *)(uintptr_t)at[i] = emu_mbarrier_new(EMU_SOURCE(u32, insn->b)[i]);
    }
    return insn + 1;
}

/* d: token; b: number of arrivals; c: bytes that the phase expects beside; e: later
 * phases do not expect the arrivals */
const emu_insn *
emu_op_mbarrier_arrive(emu_warp *warp, const emu_insn *insn)
{
    uint64_t at[EMU_LANES];
    uint32_t left;

    if (!emu_mbarrier_find(warp, insn, at)) {
        return NULL;
    }
    for (left = warp->mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        u64 *const object = (u64 *)(uintptr_t)at[i];
        const uint64_t before = *object;

        *object = emu_mbarrier_arrive(before, EMU_SOURCE(u32, insn->b)[i],
                                      EMU_SOURCE(u32, insn->c)[i], (insn->e & 1) != 0);
        EMU_TARGET(u64, insn->d)[i] = before;
    }
    if (warp->block->race) {
        emu_race_signal(warp);
    }
    return insn + 1;
}

/* b: bytes; e: 0 if the phase expects them, 1 if they have been copied */
const emu_insn *
emu_op_mbarrier_bytes(emu_warp *warp, const emu_insn *insn)
{
    uint64_t at[EMU_LANES];
    uint32_t left;

    if (!emu_mbarrier_find(warp, insn, at)) {
        return NULL;
    }
    for (left = warp->mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        u64 *const object = (u64 *)(uintptr_t)at[i];
        const uint32_t bytes = EMU_SOURCE(u32, insn->b)[i];

        if (insn->e & 1) {
            *object = emu_mbarrier_complete(*object, bytes);
        }
        else {
            *object = emu_mbarrier_expect(*object, bytes);
        }
    }
    if (warp->block->race && insn->e & 1) {
        emu_race_signal(warp);
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

    if (!emu_mbarrier_find(warp, insn, at)) {
        return NULL;
    }
    for (left = warp->mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        const uint32_t phase = emu_mbarrier_phase(*(const u64 *)(uintptr_t)at[i]);
        bool over;

        if (insn->e & 1) {
            over = (phase & 1) != (EMU_SOURCE(u32, insn->b)[i] & 1);
        }
        else {
            over = phase != emu_mbarrier_phase(EMU_SOURCE(u64, insn->b)[i]);
        }
        bits |= (uint32_t)over << i;
    }
    if (bits && warp->block->race) {
        emu_race_observe(warp);
    }
    *d = (*d & ~warp->mask) | bits;
    return insn + 1;
}

/* d: the arrivals that the phase of token a waits for */
const emu_insn *
emu_op_mbarrier_pending(emu_warp *warp, const emu_insn *insn)
{
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);

        EMU_TARGET(u32, insn->d)[i] = emu_mbarrier_pending(EMU_SOURCE(u64, insn->a)[i]);
    }
    return insn + 1;
}
