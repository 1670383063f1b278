/* Following unset values. See init_follow.h. */
#include "device/machine/warp/init_follow.h"

#include "device/machine/warp/lanes.h"

/* How an operation passes unset values on; COMPUTE unless `ways` says otherwise. */
enum { COMPUTE, COPY, PACK, SELECT, AND, OR, AND_BITS, OR_BITS, BRANCH, DEFINE };

#define COPIES(name) [EMU_OP_##name] = COPY
#define PACKS(name) [EMU_OP_##name] = PACK
#define DEFINES(name) [EMU_OP_##name] = DEFINE
static const uint8_t ways[EMU_OP_COUNT] = {
    COPIES(mov_16),
    COPIES(mov_32),
    COPIES(mov_64),
    COPIES(mov_128),
    COPIES(mov_p),
    PACKS(join_16),
    PACKS(join_32),
    PACKS(join_64),
    PACKS(join_128),
    COPIES(part_16from32),
    COPIES(part_16from64),
    COPIES(part_32from64),
    COPIES(part_64from128),
    COPIES(cvt_16_u8),
    COPIES(cvt_16_s8),
    COPIES(cvt_32from16_u8),
    COPIES(cvt_32from16_s8),
    COPIES(cvt_32from16_u16),
    COPIES(cvt_32from16_s16),
    COPIES(cvt_64from16_u8),
    COPIES(cvt_64from16_s8),
    COPIES(cvt_64from16_u16),
    COPIES(cvt_64from16_s16),
    COPIES(cvt_16from32_u8),
    COPIES(cvt_16from32_s8),
    COPIES(cvt_16from32_u16),
    COPIES(cvt_32_u8),
    COPIES(cvt_32_s8),
    COPIES(cvt_32_u16),
    COPIES(cvt_32_s16),
    COPIES(cvt_64from32_u8),
    COPIES(cvt_64from32_s8),
    COPIES(cvt_64from32_u16),
    COPIES(cvt_64from32_s16),
    COPIES(cvt_64from32_u32),
    COPIES(cvt_64from32_s32),
    COPIES(cvt_16from64_u8),
    COPIES(cvt_16from64_s8),
    COPIES(cvt_16from64_u16),
    COPIES(cvt_32from64_u8),
    COPIES(cvt_32from64_s8),
    COPIES(cvt_32from64_u16),
    COPIES(cvt_32from64_s16),
    COPIES(cvt_32from64_u32),
    COPIES(cvt_64_u8),
    COPIES(cvt_64_s8),
    COPIES(cvt_64_u16),
    COPIES(cvt_64_s16),
    COPIES(cvt_64_u32),
    COPIES(cvt_64_s32),
    COPIES(shl_16),
    COPIES(shl_32),
    COPIES(shl_64),
    COPIES(shr_u16),
    COPIES(shr_u32),
    COPIES(shr_u64),
    COPIES(shr_s16),
    COPIES(shr_s32),
    COPIES(shr_s64),
    PACKS(prmt),
    PACKS(shf),
    COPIES(bfe_32),
    COPIES(bfe_64),
    PACKS(bfi_32),
    PACKS(bfi_64),
    COPIES(lop3),
    [EMU_OP_and_16] = AND_BITS,
    [EMU_OP_and_32] = AND_BITS,
    [EMU_OP_and_64] = AND_BITS,
    [EMU_OP_or_16] = OR_BITS,
    [EMU_OP_or_32] = OR_BITS,
    [EMU_OP_or_64] = OR_BITS,
    [EMU_OP_and_p] = AND,
    [EMU_OP_or_p] = OR,
    [EMU_OP_selp_16] = SELECT,
    [EMU_OP_selp_32] = SELECT,
    [EMU_OP_selp_64] = SELECT,
    [EMU_OP_bra_if] = BRANCH,
    [EMU_OP_brx] = BRANCH,
    DEFINES(call),
    DEFINES(call_to),
    DEFINES(ret),
    DEFINES(exit),
    DEFINES(bra),
    DEFINES(label),
    DEFINES(entry),
    DEFINES(shfl),
    DEFINES(vote),
    DEFINES(match),
    DEFINES(elect),
    DEFINES(activemask),
    DEFINES(special),
    DEFINES(lane_special),
    DEFINES(tex),
    DEFINES(tex_query),
    DEFINES(suld),
    DEFINES(sust),
    DEFINES(sured),
    DEFINES(mma),
    DEFINES(wgmma),
    DEFINES(service),
    DEFINES(bar_red),
};
#undef COPIES
#undef PACKS
#undef DEFINES

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

/* The lanes in which an operand of `bits` bits has this value. */
static uint32_t
follow_lanes_with(const emu_warp *warp, uint32_t operand, unsigned bits, uint64_t value)
{
    uint32_t lanes = 0;

    for (unsigned i = 0; i < EMU_LANES; i++) {
        uint64_t now = EMU_SOURCE(u64, operand)[bits == 64 ? i : 0];

        if (bits == 32) {
            now = EMU_SOURCE(u32, operand)[i];
        }
        if (bits == 16) {
            now = EMU_SOURCE(u16, operand)[i];
        }
        lanes |= (uint32_t)(now == value) << i;
    }
    return lanes;
}

static unsigned
follow_bits(unsigned op)
{
    switch (op) {
        case EMU_OP_and_16:
        case EMU_OP_or_16:
            return 16;
        case EMU_OP_and_32:
        case EMU_OP_or_32:
            return 32;
        default:
            return 64;
    }
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
    const unsigned bits = follow_bits(insn->op);
    emu_unset value;

    switch (ways[insn->op]) {
        case SELECT:
            return follow_select(warp, insn);
        case AND:
            return follow_deciding(warp, insn, ~*EMU_SOURCE(u32, insn->a),
                                   ~*EMU_SOURCE(u32, insn->b));
        case OR:
            return follow_deciding(warp, insn, *EMU_SOURCE(u32, insn->a),
                                   *EMU_SOURCE(u32, insn->b));
        case AND_BITS:
            return follow_deciding(warp, insn,
                                   follow_lanes_with(warp, insn->a, bits, 0),
                                   follow_lanes_with(warp, insn->b, bits, 0));
        case OR_BITS: /* a number that is not 0 is mostly the truth of a condition */
            return follow_deciding(warp, insn,
                                   ~follow_lanes_with(warp, insn->a, bits, 0),
                                   ~follow_lanes_with(warp, insn->b, bits, 0));
        case COPY:
            return follow_all(warp, insn);
        case PACK:
            return follow_pack(warp, insn);
        case DEFINE:
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

    if (ways[insn->op] == BRANCH) {
        emu_init_branch(warp, insn);
        return;
    }
    value = follow_only(follow_result(warp, insn), warp->mask);
    follow_name(warp, insn, &value);
    if (insn->used & EMU_USES_D && insn->op != EMU_OP_shfl) {
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
