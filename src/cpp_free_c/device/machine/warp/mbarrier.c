/* mbarrier objects. See mbarrier.h. */
#include "device/machine/warp/mbarrier.h"

#include "device/machine/warp/address_check.h"
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
