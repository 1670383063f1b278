/* The parts of an access. See access_parts.h. */
#include "device/machine/warp/access_parts.h"

#include "device/compile/encoding.h"
#include "device/machine/warp/address_check.h"

enum { HALF = EMU_LANES / 2 };

/* Set a part for the half of a warp from lane `first` on. False: it is none. */
static bool
parts_half(const uint64_t address[EMU_LANES], unsigned first, unsigned size,
           emu_part *part)
{
    const uint64_t start = address[first], step = address[first + 1] - start;
    uint64_t differs = 0;

    if (step != 0 && step != size) {
        return false;
    }
    for (unsigned i = 0; i < HALF; i++) {
        differs |= (address[first + i] - start) ^ (i * step);
    }
    *part = (emu_part){start, first, HALF, step == 0};
    return differs == 0;
}

/* Make two parts one if they are consecutive, or the same. */
static void
parts_join(emu_parts *parts, unsigned size)
{
    emu_part *one = &parts->parts[0];
    const emu_part *two = &parts->parts[1];
    const uint64_t distance = two->start - one->start;

    if (one->same == two->same && distance == (one->same ? 0 : (uint64_t)HALF * size)) {
        one->lanes = EMU_LANES;
        parts->count = 1;
    }
}

/* Turn the address of a part into that of the host, if the access is legal. */
static bool
parts_resolve(emu_warp *warp, uint32_t space, unsigned size, emu_part *part)
{
    const emu_block *block = warp->block;
    const uint64_t bytes = emu_part_bytes(part, size);
    uint64_t offset = part->start;

    if (part->start % size != 0) {
        return false;
    }
    if (space == EMU_AT_GENERIC && part->start >= EMU_SHARED_WINDOW) {
        offset -= EMU_SHARED_WINDOW;
    }
    else if (space != EMU_AT_SHARED) {
        return space <= EMU_AT_GLOBAL &&
               emu_address_global(warp, part->start, bytes) != NULL;
    }
    part->start = (uint64_t)(uintptr_t)block->shared + offset;
    return offset < block->shared_size && bytes <= block->shared_size - offset;
}

bool
emu_parts_find(emu_warp *warp, const emu_insn *insn, unsigned size, emu_parts *parts)
{
    const uint32_t space = insn->aux & EMU_AT_MASK;
    uint64_t address[EMU_LANES];

    if (space > EMU_AT_SHARED || warp->mask != EMU_FULL) {
        return false;
    }
    emu_address_of_lanes(warp, insn, address);
    if (!parts_half(address, 0, size, &parts->parts[0]) ||
        !parts_half(address, HALF, size, &parts->parts[1])) {
        return false;
    }
    parts->count = 2;
    parts_join(parts, size);
    for (unsigned i = 0; i < parts->count; i++) {
        if (!parts_resolve(warp, space, size, &parts->parts[i])) {
            return false;
        }
    }
    return true;
}
