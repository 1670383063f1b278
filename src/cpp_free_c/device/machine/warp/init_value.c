/* Unset values in registers. See init_value.h. */
#include "device/machine/warp/init_value.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 4 /* of the distance of two registers, at least */ };

/* Make room for the registers of all warps. False: out of memory. */
static bool
unset_reserve(emu_block *block)
{
    emu_init *init = block->init;
    const size_t each = block->grid->kernel->func->frame_size / BYTES;
    const size_t count = each * block->warp_count;

    if (init->origins == NULL) {
        init->origins =
            malloc((size_t)EMU_MAX_WARPS * EMU_UNSET_ORIGINS * sizeof *init->origins);
    }
    if (init->register_room < count) {
        free(init->registers);
        init->registers = calloc(count, sizeof *init->registers);
        init->register_room = init->registers == NULL ? 0 : count;
    }
    init->each = each;
    return init->origins != NULL && init->registers != NULL;
}

void
emu_unset_clear(emu_block *block)
{
    emu_init *init = block->init;

    if (init->has_unset && init->registers != NULL) {
        memset(init->registers, 0, init->register_room * sizeof *init->registers);
    }
    init->has_unset = false;
    init->each = 0;
    for (unsigned i = 0; i < block->warp_count; i++) {
        block->warps[i].unset = 0;
        block->warps[i].astray = 0;
    }
}

/* The registers of a warp; NULL: none is unset. */
static emu_unset *
unset_registers(const emu_warp *warp)
{
    const emu_init *init = warp->block->init;

    if (init->each == 0) {
        return NULL;
    }
    return init->registers + init->each * warp->number;
}

/* Whether an operand is a register of the kernel itself. */
static bool
unset_is_followed(const emu_warp *warp, uint32_t operand)
{
    return (operand & EMU_TAG_MASK) == EMU_TAG_FRAME &&
           warp->base[0] == warp->block->roots[warp->number].regs;
}

emu_unset
emu_unset_of(const emu_warp *warp, uint32_t operand)
{
    const emu_unset *registers = unset_registers(warp);

    if (warp->unset == 0 || registers == NULL || !unset_is_followed(warp, operand)) {
        return (emu_unset){0, 0, 0};
    }
    return registers[operand / BYTES];
}

void
emu_unset_store(emu_warp *warp, uint32_t operand, uint32_t mask, emu_unset value)
{
    emu_init *init = warp->block->init;
    const uint32_t copied = value.copied & mask, used = value.used & mask;
    emu_unset *old;

    if (!unset_is_followed(warp, operand)) {
        return;
    }
    if (init->each == 0) {
        if ((copied | used) == 0 || !unset_reserve(warp->block)) {
            return;
        }
        init->has_unset = true;
    }
    if (copied | used) {
        warp->block->is_apart = true;
    }
    old = &init->registers[init->each * warp->number + operand / BYTES];
    warp->unset -= (old->copied | old->used) != 0;
    old->copied = (old->copied & ~mask) | copied;
    old->used = (old->used & ~mask) | used;
    if (copied | used) {
        old->origin = value.origin;
    }
    warp->unset += (old->copied | old->used) != 0;
}

void
emu_unset_enter(emu_block *block)
{
    const emu_func *func = block->grid->kernel->func;

    for (unsigned i = 0; i < block->warp_count && func->unset_count > 0; i++) {
        emu_warp *warp = &block->warps[i];
        emu_unset value = {.copied = warp->alive};

        if (!emu_unset_from(warp, NULL, EMU_UNSET_NOWHERE, 0, &value.origin)) {
            return;
        }
        for (uint32_t k = 0; k < func->unset_count; k++) {
            emu_unset_store(warp, func->unset[k], EMU_FULL, value);
        }
    }
}

/* -- origins ----------------------------------------------------------------------- */

bool
emu_unset_from(emu_warp *warp, const emu_insn *insn, emu_unset_space space,
               unsigned size, uint32_t *number)
{
    emu_unset_origin *origin;

    *number = 0;
    if (warp->block->init->each == 0) {
        if (!unset_reserve(warp->block)) {
            return false;
        }
        warp->block->init->has_unset = true;
    }
    if (insn != NULL) {
        *number =
            (uint32_t)((uintptr_t)insn / sizeof *insn) % (EMU_UNSET_ORIGINS - 1) + 1;
    }
    origin = emu_unset_origin_of(warp, *number);
    origin->insn = insn;
    origin->space = space;
    origin->size = size;
    return true;
}

emu_unset_origin *
emu_unset_origin_of(const emu_warp *warp, uint32_t number)
{
    return &warp->block->init->origins[warp->number * EMU_UNSET_ORIGINS + number];
}
