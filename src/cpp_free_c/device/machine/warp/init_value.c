/* Unset values in registers. See init_check.h. */
#include <stdlib.h>
#include <string.h>

#include "device/machine/warp/init_check.h"
#include "device/machine/warp/lanes.h"

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
    if (init->passes == NULL) {
        init->passes = calloc(EMU_UNSET_PASSES, sizeof *init->passes);
    }
    if (init->register_room < count) {
        free(init->registers);
        init->registers = calloc(count, sizeof *init->registers);
        init->register_room = init->registers == NULL ? 0 : count;
    }
    init->each = each;
    return init->origins != NULL && init->passes != NULL && init->registers != NULL;
}

void
emu_unset_clear(emu_block *block)
{
    emu_init *init = block->init;

    if (init->has_unset && init->registers != NULL) {
        memset(init->registers, 0, init->register_room * sizeof *init->registers);
        memset(init->passes, 0, EMU_UNSET_PASSES * sizeof *init->passes);
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
    emu_unset *old = &init->registers[init->each * warp->number + operand / BYTES];
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
    emu_unset_origin *origin = emu_unset_origin_of(warp, *number);
    if (origin->insn != insn || origin->space != space) {
        origin->lanes = 0;
    }
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

void
emu_unset_note_read(const emu_warp *warp, uint32_t number, uint32_t lanes,
                    const uint64_t at[EMU_LANES], unsigned offset)
{
    emu_unset_origin *origin = emu_unset_origin_of(warp, number);

    origin->lanes = (origin->lanes & ~warp->mask) | lanes;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        origin->at[lane] = at[lane] + offset;
    }
}

/* -- through memory ---------------------------------------------------------------- */

static emu_unset_pass *
unset_pass_of(const emu_warp *warp, uint64_t address)
{
    return &warp->block->init->passes[address / BYTES % EMU_UNSET_PASSES];
}

emu_unset_read
emu_unset_first_read(const emu_warp *warp, unsigned lane, uint32_t number)
{
    const emu_unset_origin *origin = emu_unset_origin_of(warp, number);
    const bool is_memory = origin->space == EMU_UNSET_GLOBAL ||
                           origin->space == EMU_UNSET_SHARED ||
                           origin->space == EMU_UNSET_LOCAL;

    /* A shuffle may have brought the value from another lane. */
    if (is_memory && origin->lanes != 0 && (origin->lanes >> lane & 1) == 0) {
        lane = (unsigned)__builtin_ctz(origin->lanes);
    }
    emu_unset_read read = {.insn = origin->insn,
                           .space = origin->space,
                           .size = origin->size,
                           .at = origin->at[lane],
                           .thread = warp->number * EMU_LANES + lane};

    if (is_memory && unset_pass_of(warp, read.at)->to == read.at) {
        return unset_pass_of(warp, read.at)->read;
    }
    return read;
}

void
emu_unset_note_pass(const emu_warp *warp, unsigned lane, uint32_t origin, uint64_t to)
{
    const emu_unset_read read = emu_unset_first_read(warp, lane, origin);

    if (read.space != EMU_UNSET_NOWHERE) {
        *unset_pass_of(warp, to) = (emu_unset_pass){.to = to, .read = read};
    }
}

/* -- from register to register ----------------------------------------------------- */

static emu_unset
follow_join(emu_unset a, emu_unset b)
{
    emu_unset both = {a.copied | b.copied, a.used | b.used, a.origin};

    if ((a.copied | a.used) == 0) {
        both.origin = b.origin;
    }
    return both;
}

/* Keep only the lanes in `mask`. */
static emu_unset
follow_only(emu_unset value, uint32_t mask)
{
    value.copied &= mask;
    value.used &= mask;
    return value;
}

/* The lanes in which operand a or b is not 0: a predicate, or a number of this width.
 */
static uint32_t
follow_nonzero(const emu_warp *warp, uint32_t operand, unsigned width)
{
    uint32_t lanes = 0;

    if (width == EMU_WIDTH_PREDICATE) {
        return *EMU_SOURCE(u32, operand);
    }
    for (unsigned i = 0; i < EMU_LANES; i++) {
        uint64_t now = 0;

        memcpy(&now, EMU_SOURCE(uint8_t, operand) + (size_t)i * width, width);
        lanes |= (uint32_t)(now != 0) << i;
    }
    return lanes;
}

/* The unset lanes of an operand that is present. */
static emu_unset
follow_operand(const emu_warp *warp, const emu_insn *insn, unsigned which,
               uint32_t operand)
{
    if (!(insn->used & which)) {
        return (emu_unset){0, 0, 0};
    }
    return emu_unset_of(warp, operand);
}

/* The unset lanes of all that an instruction reads. */
static emu_unset
follow_all(const emu_warp *warp, const emu_insn *insn)
{
    emu_unset value = follow_operand(warp, insn, EMU_USES_A, insn->a);

    value = follow_join(value, follow_operand(warp, insn, EMU_USES_B, insn->b));
    value = follow_join(value, follow_operand(warp, insn, EMU_USES_C, insn->c));
    for (unsigned k = insn->x_written; k < insn->x_count; k++) {
        value = follow_join(value, emu_unset_of(warp, insn->x[k]));
    }
    return value;
}

/* `x op y`, where a set operand with the value `decides` gives the result alone. */
static emu_unset
follow_deciding(const emu_warp *warp, const emu_insn *insn, uint32_t a_decides,
                uint32_t b_decides)
{
    const emu_unset a = follow_operand(warp, insn, EMU_USES_A, insn->a);
    const emu_unset b = follow_operand(warp, insn, EMU_USES_B, insn->b);
    const uint32_t a_set = ~(a.copied | a.used), b_set = ~(b.copied | b.used);

    return follow_only(follow_join(a, b), ~((a_decides & a_set) | (b_decides & b_set)));
}

static emu_unset
follow_select(const emu_warp *warp, const emu_insn *insn)
{
    const uint32_t chosen = *EMU_SOURCE(u32, insn->c);
    emu_unset a = follow_operand(warp, insn, EMU_USES_A, insn->a);
    emu_unset b = follow_operand(warp, insn, EMU_USES_B, insn->b);
    emu_unset c = follow_operand(warp, insn, EMU_USES_C, insn->c);

    c.used |= c.copied;
    c.copied = 0;
    return follow_join(c, follow_join(follow_only(a, chosen), follow_only(b, ~chosen)));
}

/* Two values in one register: compilers leave a half of it unset that is not used. */
static emu_unset
follow_pack(const emu_warp *warp, const emu_insn *insn)
{
    const emu_unset a = follow_operand(warp, insn, EMU_USES_A, insn->a);
    const emu_unset b = follow_operand(warp, insn, EMU_USES_B, insn->b);

    return follow_only(follow_join(a, b), (a.copied | a.used) & (b.copied | b.used));
}

/* Whether an operand is a mask that keeps no bit of the lowest byte. By it compilers
 * put a byte into a word whose other bytes, the padding of a struct, may be unset. */
static bool
follow_is_mask_of_padding(const emu_warp *warp, uint32_t operand)
{
    return (operand & EMU_TAG_MASK) == EMU_TAG_CONSTANT &&
           *EMU_SOURCE(uint8_t, operand) == 0;
}

/* As follow_deciding: a 0 decides, and a mask of padding is taken for one. */
static emu_unset
follow_and(const emu_warp *warp, const emu_insn *insn, unsigned width)
{
    uint32_t a_decides = ~follow_nonzero(warp, insn->a, width);
    uint32_t b_decides = ~follow_nonzero(warp, insn->b, width);

    if (follow_is_mask_of_padding(warp, insn->a)) {
        a_decides = EMU_FULL;
    }
    if (follow_is_mask_of_padding(warp, insn->b)) {
        b_decides = EMU_FULL;
    }
    return follow_deciding(warp, insn, a_decides, b_decides);
}

/* The unset lanes of the result. */
static emu_unset
follow_result(const emu_warp *warp, const emu_insn *insn)
{
    const unsigned width = emu_op_rows[insn->op].widths[EMU_A];
    emu_unset value;

    switch (emu_op_unset(insn->op)) {
        case EMU_FOLLOW_SELECT:
            return follow_select(warp, insn);
        case EMU_FOLLOW_AND:
            return follow_and(warp, insn, width);
        case EMU_FOLLOW_OR: /* a number that is not 0 is mostly the truth of a condition
                             */
            return follow_deciding(warp, insn, follow_nonzero(warp, insn->a, width),
                                   follow_nonzero(warp, insn->b, width));
        case EMU_FOLLOW_COPY:
            return follow_all(warp, insn);
        case EMU_FOLLOW_PACK:
            return follow_pack(warp, insn);
        case EMU_FOLLOW_DEFINE:
        case EMU_FOLLOW_SHUFFLE:
            return (emu_unset){0, 0, 0};
        case EMU_FOLLOW_COMPUTE:
        case EMU_FOLLOW_BRANCH:
            break;
    }
    value = follow_all(warp, insn);
    value.used |= value.copied;
    value.copied = 0;
    return value;
}

/* An unset register is first read here, other than by a copy. */
static void
follow_name(emu_warp *warp, const emu_insn *insn, emu_unset *value)
{
    if (value->used &&
        emu_unset_origin_of(warp, value->origin)->space == EMU_UNSET_NOWHERE) {
        (void)emu_unset_from(warp, insn, EMU_UNSET_REGISTER, 0, &value->origin);
    }
}

void
emu_init_branch(emu_warp *warp, const emu_insn *insn)
{
    emu_unset value =
        follow_only(follow_operand(warp, insn, EMU_USES_A, insn->a), warp->mask);
    const uint32_t lanes = value.copied | value.used;

    value.used = lanes;
    follow_name(warp, insn, &value);
    if (lanes && !(warp->astray & lanes)) {
        warp->astray |= lanes;
        warp->astray_origin = value.origin;
    }
}

void
emu_init_follow(emu_warp *warp, const emu_insn *insn)
{
    if (emu_op_unset(insn->op) == EMU_FOLLOW_BRANCH) {
        emu_init_branch(warp, insn);
        return;
    }
    emu_unset value = follow_only(follow_result(warp, insn), warp->mask);
    follow_name(warp, insn, &value);
    if (insn->used & EMU_USES_D && emu_op_unset(insn->op) != EMU_FOLLOW_SHUFFLE) {
        emu_unset_store(warp, insn->d, warp->mask, value);
    }
    if (insn->used & EMU_USES_E) {
        emu_unset_store(warp, insn->e, warp->mask, value);
    }
    for (unsigned k = 0; k < insn->x_written; k++) {
        emu_unset_store(warp, insn->x[k], warp->mask, value);
    }
}

void
emu_init_shuffle(emu_warp *warp, const emu_insn *insn, unsigned lane, unsigned source,
                 bool is_there, const emu_unset *before)
{
    const uint32_t bit = (uint32_t)1 << lane;
    emu_unset value = {.origin = before->origin};

    if (is_there) {
        value.copied = (before->copied >> source & 1) << lane;
        value.used = (before->used >> source & 1) << lane;
    }
    else if (emu_unset_from(warp, insn, EMU_UNSET_SHUFFLE, 4, &value.origin)) {
        emu_unset_origin_of(warp, value.origin)->at[lane] = source;
        value.used = bit;
    }
    if (warp->unset || value.used) {
        emu_unset_store(warp, insn->d, bit, value);
    }
}
