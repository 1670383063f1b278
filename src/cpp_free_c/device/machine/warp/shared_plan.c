/* Plans of loads from shared memory. See shared_plan.h. */
#include "device/machine/warp/shared_plan.h"

#include <stdlib.h>

#include "device/compile/encoding.h"
#include "device/machine/warp/access_parts.h"

enum { WORD = 4, BITS = 64 };

/* Add a word. False: there is no room. */
static bool
plan_add(emu_shared_plan *plan, uint64_t word)
{
    const uint32_t at = (uint32_t)(word / BITS);

    for (unsigned i = 0; i < plan->count; i++) {
        if (plan->sets[i].at == at) {
            plan->sets[i].bits |= (uint64_t)1 << word % BITS;
            return true;
        }
    }
    if (plan->count == EMU_PLAN_SETS) {
        return false;
    }
    plan->sets[plan->count++] = (emu_word_set){at, (uint64_t)1 << word % BITS};
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
        const uint64_t first = (parts.parts[i].start - shared) / WORD;
        const uint64_t words = emu_part_bytes(&parts.parts[i], size) / WORD;

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
        size % WORD != 0) {
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
