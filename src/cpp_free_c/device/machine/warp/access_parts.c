/* The parts of an access. See access_parts.h. */
#include "device/machine/warp/access_parts.h"

#include <stdlib.h>

#include "device/compile/encoding.h"
#include "device/machine/warp/address_check.h"

enum { HALF = EMU_LANES / 2 };

/* Vector code for any processor, and for those with AVX2. */
#define PARTS_INLINE static inline __attribute__((always_inline))

/* Whether the numbers of half a warp are equal or have the distance `unit`. *step is
 * this distance, or 0. */
PARTS_INLINE bool
parts_step32(const uint32_t *values, uint32_t unit, uint64_t *step)
{
    const uint32_t start = values[0], between = values[1] - start;
    uint32_t differs = 0;

    for (unsigned i = 0; i < HALF; i++) {
        differs |= (values[i] - start) ^ (i * between);
    }
    *step = between;
    return differs == 0 && (between == 0 || between == unit);
}

PARTS_INLINE bool
parts_step64(const uint64_t *values, uint64_t unit, uint64_t *step)
{
    const uint64_t start = values[0], between = values[1] - start;
    const uint64_t unit_or_0 = between == unit ? unit : 0;
    uint64_t differs = between ^ unit_or_0, expected = 0;

    for (unsigned i = 0; i < HALF; i++) {
        differs |= (values[i] - start) ^ expected;
        expected += unit_or_0;
    }
    *step = between;
    return differs == 0;
}

/* Set the part of an access for the half of a warp from lane `first` on. False: it is
 * none. */
PARTS_INLINE bool
parts_half(const emu_warp *warp, const emu_insn *insn, unsigned first, unsigned size,
           emu_part *part)
{
    const uint64_t offset = (uint64_t)insn->imm;
    uint64_t step = 0;

    part->first = first;
    part->lanes = HALF;
    part->start = offset;
    if (insn->aux & EMU_AT_INDEX) {
        const uint32_t *index = EMU_SOURCE(uint32_t, insn->a) + first;
        const uint32_t last = index[HALF - 1];

        if (!parts_step32(index, 1, &step) ||
            (step != 0 && insn->aux >> EMU_AT_SCALE_SHIFT != size) ||
            (insn->aux & EMU_AT_UNSIGNED ? last < index[0]
                                         : (int32_t)last < (int32_t)index[0])) {
            return false;
        }
        part->start +=
            *EMU_SOURCE(uint64_t, insn->c) + emu_address_index(insn->aux, index[0]);
    }
    else if (insn->aux & EMU_AT_BASE64) {
        const uint64_t *base = EMU_SOURCE(uint64_t, insn->a) + first;

        if (!parts_step64(base, size, &step)) {
            return false;
        }
        part->start += base[0];
    }
    else if (insn->aux & EMU_AT_BASE32) {
        const uint32_t *base = EMU_SOURCE(uint32_t, insn->a) + first;

        if (!parts_step32(base, size, &step)) {
            return false;
        }
        part->start = (uint32_t)(part->start + base[0]);
    }
    part->same = step == 0;
    return true;
}

PARTS_INLINE bool
parts_of_lanes(const emu_warp *warp, const emu_insn *insn, unsigned size,
               emu_parts *parts)
{
    return parts_half(warp, insn, 0, size, &parts->parts[0]) &&
           parts_half(warp, insn, HALF, size, &parts->parts[1]);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static bool
parts_of_lanes_avx2(const emu_warp *warp, const emu_insn *insn, unsigned size,
                    emu_parts *parts)
{
    return parts_of_lanes(warp, insn, size, parts);
}
#endif

/* Set the parts of an access by the addresses of its lanes, not checked. */
static bool
parts_of_any(const emu_warp *warp, const emu_insn *insn, unsigned size,
             emu_parts *parts)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        return parts_of_lanes_avx2(warp, insn, size, parts);
    }
#endif
    return parts_of_lanes(warp, insn, size, parts);
}

/* Make two parts one if they are consecutive, or the same. */
static void
parts_join(emu_parts *parts, unsigned size)
{
    emu_part *one = &parts->parts[0];
    const emu_part *two = &parts->parts[1];
    const uint64_t distance = two->start - one->start;

    parts->count = 2;
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

/* Set the parts of an access through an address whose shape is known. */
static bool
parts_of_shape(const emu_warp *warp, const emu_insn *insn, unsigned size,
               emu_parts *parts)
{
    const emu_shape *shape =
        (const emu_shape *)(const void *)(warp->base[EMU_TAG_WARP] + EMU_TAG_WARP +
                                          (insn->aux >> EMU_AT_SHAPE_SHIFT));

    for (unsigned half = 0; half < 2; half++) {
        const uint32_t step = shape->step[half];

        if (step != 0 && step != size) {
            return false;
        }
        parts->parts[half] =
            (emu_part){(uint32_t)(shape->start[half] + (uint64_t)insn->imm),
                       half * HALF, HALF, step == 0};
    }
    return shape->is_known;
}

/* Check the parts and turn their addresses into those of the host. */
static bool
parts_finish(emu_warp *warp, const emu_insn *insn, unsigned size, emu_parts *parts)
{
    parts_join(parts, size);
    for (unsigned i = 0; i < parts->count; i++) {
        if (!parts_resolve(warp, insn->aux & EMU_AT_MASK, size, &parts->parts[i])) {
            return false;
        }
    }
    return true;
}

bool
emu_parts_of_shape(emu_warp *warp, const emu_insn *insn, unsigned size,
                   emu_parts *parts)
{
    return (insn->aux & EMU_AT_SHAPE) && (insn->aux & EMU_AT_MASK) == EMU_AT_SHARED &&
           parts_of_shape(warp, insn, size, parts) &&
           parts_finish(warp, insn, size, parts);
}

bool
emu_parts_find(emu_warp *warp, const emu_insn *insn, unsigned size, emu_parts *parts)
{
    if ((insn->aux & EMU_AT_MASK) > EMU_AT_SHARED || warp->mask != EMU_FULL) {
        return false;
    }
    return emu_parts_of_shape(warp, insn, size, parts) ||
           (parts_of_any(warp, insn, size, parts) &&
            parts_finish(warp, insn, size, parts));
}

/* The same by the addresses of all lanes. */
static uint64_t
parts_in_a_row(emu_warp *warp, const emu_insn *insn, unsigned size)
{
    const uint64_t step = (uint64_t)size * EMU_LANES;
    uint64_t start = 0;

    for (unsigned i = 0; i < warp->abreast; i++) {
        emu_parts parts;

        if (!parts_of_any(&warp[i], insn, size, &parts)) {
            return 0;
        }
        parts_join(&parts, size);
        if (i == 0) {
            start = parts.parts[0].start;
        }
        if (parts.count != 1 || parts.parts[0].same ||
            parts.parts[0].start != start + i * step) {
            return 0;
        }
    }
    if (start % size != 0 ||
        emu_address_global(warp, start, step * warp->abreast) == NULL) {
        return 0;
    }
    return start;
}

uint64_t
emu_parts_of_warps(emu_warp *warp, const emu_insn *insn, unsigned size)
{
    const uint32_t aux = insn->aux, elements = warp->abreast * EMU_LANES;
    uint32_t start, last;
    uint64_t first;

    if ((aux & EMU_AT_MASK) > EMU_AT_GLOBAL || (size & (size - 1)) != 0) {
        return 0;
    }
    if (!(aux & EMU_AT_LINEAR) || aux >> EMU_AT_SCALE_SHIFT != size ||
        !warp->block->grid->is_linear) {
        return parts_in_a_row(warp, insn, size);
    }
    start = *EMU_SOURCE(uint32_t, insn->a);
    last = start + elements - 1;
    if (aux & EMU_AT_UNSIGNED ? last < start : (int32_t)last < (int32_t)start) {
        return 0;
    }
    first = *EMU_SOURCE(uint64_t, insn->c) + emu_address_index(aux, start) +
            (uint64_t)insn->imm;
    if (first % size != 0 ||
        emu_address_global(warp, first, (uint64_t)size * elements) == NULL) {
        return 0;
    }
    return first;
}

/* -- plans of shared memory -------------------------------------------------------- */

/* Plans of loads from shared memory. See access_parts.h. */

/* Add a word. False: there is no room. */
static bool
plan_add(emu_shared_plan *plan, uint64_t word)
{
    const uint32_t at = (uint32_t)(word / EMU_WORDS_OF_MASK);

    for (unsigned i = 0; i < plan->count; i++) {
        if (plan->sets[i].at == at) {
            plan->sets[i].bits |= (uint64_t)1 << word % EMU_WORDS_OF_MASK;
            return true;
        }
    }
    if (plan->count == EMU_PLAN_SETS) {
        return false;
    }
    plan->sets[plan->count++] =
        (emu_word_set){at, (uint64_t)1 << word % EMU_WORDS_OF_MASK};
    return true;
}

/* Add the words of one warp. False: its access has another form. */
static bool
plan_add_warp(emu_shared_plan *plan, emu_warp *warp, unsigned size)
{
    const uint64_t shared = (uint64_t)(uintptr_t)warp->block->shared;
    emu_parts parts;

    if (!emu_parts_of_shape(warp, plan->insn, size, &parts)) {
        return false;
    }
    for (unsigned i = 0; i < parts.count; i++) {
        const uint64_t first = (parts.parts[i].start - shared) / EMU_WORD;
        const uint64_t words = emu_part_bytes(&parts.parts[i], size) / EMU_WORD;

        for (uint64_t k = 0; k < words; k++) {
            if (!plan_add(plan, first + k)) {
                return false;
            }
        }
    }
    return true;
}

const emu_shared_plan *
emu_shared_plan_of(emu_warp *warp, const emu_insn *insn, unsigned size)
{
    emu_block *block = warp->block;
    emu_shared_plan *plan;

    if (!(insn->aux & EMU_AT_SHAPE) || (insn->aux & EMU_AT_MASK) != EMU_AT_SHARED ||
        size % EMU_WORD != 0) {
        return NULL;
    }
    if (block->plans == NULL) {
        block->plans = calloc(EMU_PLANS, sizeof *block->plans);
        if (block->plans == NULL) {
            return NULL;
        }
    }
    plan = &block->plans[(uintptr_t)insn / sizeof *insn % EMU_PLANS];
    if (plan->insn != insn || plan->launch != block->grid->number ||
        plan->first != warp->number || plan->warps != warp->abreast) {
        *plan = (emu_shared_plan){.insn = insn,
                                  .launch = block->grid->number,
                                  .first = warp->number,
                                  .warps = warp->abreast};
        for (unsigned i = 0; i < warp->abreast; i++) {
            if (!plan_add_warp(plan, &warp[i], size)) {
                plan->count = 0;
                break;
            }
        }
    }
    if (plan->count == 0) {
        return NULL;
    }
    return plan;
}
