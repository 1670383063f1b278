/* mbarrier objects, and the operations on them. See ops.h. */
#include "device/machine/ops/ops.h"
#include "device/machine/warp/address_check.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/race_check.h"
#include "device/machine/warp/report.h"

/* The fields of an object, from the lowest bit: expected arrivals, pending arrivals,
 * pending bytes (signed), phase. */
enum { COUNT_BITS = 20, BYTE_BITS = 21 };
#define COUNT_MASK (((uint64_t)1 << COUNT_BITS) - 1)
#define BYTE_MASK (((uint64_t)1 << BYTE_BITS) - 1)

typedef struct {
    uint64_t expected, pending, bytes, phase;
} fields;

static fields
mbarrier_unpack(uint64_t object)
{
    return (fields){.expected = object & COUNT_MASK,
                    .pending = object >> COUNT_BITS & COUNT_MASK,
                    .bytes = object >> (2 * COUNT_BITS) & BYTE_MASK,
                    .phase = object >> (2 * COUNT_BITS + BYTE_BITS)};
}

/* Begin the next phase if this one is over, and pack the fields. */
static uint64_t
mbarrier_pack(fields f)
{
    if ((f.pending & COUNT_MASK) == 0 && (f.bytes & BYTE_MASK) == 0) {
        f.pending = f.expected;
        f.phase++;
    }
    return (f.expected & COUNT_MASK) | (f.pending & COUNT_MASK) << COUNT_BITS |
           (f.bytes & BYTE_MASK) << (2 * COUNT_BITS) |
           f.phase << (2 * COUNT_BITS + BYTE_BITS);
}

uint64_t
emu_mbarrier_new(uint32_t count)
{
    return (count & COUNT_MASK) | (count & COUNT_MASK) << COUNT_BITS;
}

uint64_t
emu_mbarrier_arrive(uint64_t object, uint32_t count, uint32_t bytes, bool drop)
{
    fields f = mbarrier_unpack(object);

    f.bytes += bytes;
    f.pending -= count;
    if (drop) {
        f.expected -= count;
    }
    return mbarrier_pack(f);
}

uint64_t
emu_mbarrier_expect(uint64_t object, uint32_t bytes)
{
    fields f = mbarrier_unpack(object);

    f.bytes += bytes;
    return mbarrier_pack(f);
}

uint64_t
emu_mbarrier_complete(uint64_t object, uint32_t bytes)
{
    fields f = mbarrier_unpack(object);

    f.bytes -= bytes;
    return mbarrier_pack(f);
}

uint32_t
emu_mbarrier_phase(uint64_t object)
{
    return (uint32_t)mbarrier_unpack(object).phase;
}

uint32_t
emu_mbarrier_pending(uint64_t object)
{
    return (uint32_t)mbarrier_unpack(object).pending;
}

bool
emu_mbarrier_find(emu_warp *warp, const emu_insn *insn, uint64_t at[EMU_LANES])
{
    return emu_address_resolve(warp, insn, at);
}

bool
emu_mbarrier_copied(emu_warp *warp, const emu_insn *insn, unsigned lane,
                    uint64_t address, uint32_t bytes)
{
    uint64_t *object = NULL;

    if (address >= EMU_SHARED_WINDOW && address % 8 == 0) {
        object = (uint64_t *)(void *)emu_address_generic(warp, lane, address, 8);
    }
    if (object == NULL) {
        (void)emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_ADDRESS, lane, address,
                        "the mbarrier of a copy is at 0x%llx: not 8 aligned bytes of "
                        "shared memory",
                        (unsigned long long)address);
        return false;
    }
    *object = emu_mbarrier_complete(*object, bytes);
    if (warp->block->race) {
        emu_race_copied(warp->block);
    }
    return true;
}

/* -- operations -------------------------------------------------------------------- */

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
