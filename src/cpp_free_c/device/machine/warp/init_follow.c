/* Following unset values. See init_follow.h. */
#include "device/machine/warp/init_follow.h"

#include "device/machine/warp/lanes.h"

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

/* The unset lanes of the result. */
static emu_unset
follow_result(const emu_warp *warp, const emu_insn *insn)
{
    const unsigned width = emu_op_rows[insn->op].widths[EMU_A];
    emu_unset value;

    switch (emu_op_rows[insn->op].unset) {
        case EMU_FOLLOW_SELECT:
            return follow_select(warp, insn);
        case EMU_FOLLOW_AND:
            return follow_deciding(warp, insn, ~follow_nonzero(warp, insn->a, width),
                                   ~follow_nonzero(warp, insn->b, width));
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
        default:
            value = follow_all(warp, insn);
            value.used |= value.copied;
            value.copied = 0;
            return value;
    }
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
    emu_unset value;

    if (emu_op_rows[insn->op].unset == EMU_FOLLOW_BRANCH) {
        emu_init_branch(warp, insn);
        return;
    }
    value = follow_only(follow_result(warp, insn), warp->mask);
    follow_name(warp, insn, &value);
    if (insn->used & EMU_USES_D && emu_op_rows[insn->op].unset != EMU_FOLLOW_SHUFFLE) {
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
