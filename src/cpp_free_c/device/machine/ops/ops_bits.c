/* Operations on bits and bytes: carry chains, bit fields, permutations. */
#include "device/machine/warp/machine.h"

#include "device/compile/encoding.h"
#include "device/machine/warp/lanes.h"

/* These operations are built once: OP_OWN in tables/operations.inc. */
#undef EMU_OP
#define EMU_OP(name) const emu_insn *emu_op_##name(emu_warp *warp, const emu_insn *insn)

/* -- carries: c comes in when aux & 1, e goes out when aux & 2 --------------------- */

/* A difference is computed as the sum with the complement, with the carry of that sum,
 * as on a GPU: it is set if nothing was borrowed. So the first step of a difference has
 * a carry in, and a chain may mix sums and differences. */
#define EMU_CARRY(name, type, wide, second, first_in)                             \
    EMU_OP(name)                                                                  \
    {                                                                             \
        const type *const pa = EMU_SOURCE(type, insn->a);                         \
        const type *const pb = EMU_SOURCE(type, insn->b);                         \
        type *const pd = EMU_TARGET(type, insn->d);                               \
        const uint32_t in = insn->aux & 1 ? *EMU_SOURCE(u32, insn->c) : first_in; \
        uint32_t out = 0, left;                                                   \
                                                                                  \
        for (left = warp->mask; left; left &= left - 1) {                         \
            const int i = __builtin_ctz(left);                                    \
            const type x = pa[i], y = pb[i];                                      \
            const wide r = (wide)x + (type)(second) + (in >> i & 1);              \
                                                                                  \
            pd[i] = (type)r;                                                      \
            out |= (uint32_t)(r >> (8 * sizeof(type)) & 1) << i;                  \
        }                                                                         \
        if (insn->aux & 2) {                                                      \
            u32 *const e = EMU_TARGET(u32, insn->e);                              \
                                                                                  \
            *e = (*e & ~warp->mask) | out;                                        \
        }                                                                         \
        return insn + 1;                                                          \
    }

EMU_CARRY(addc_32, u32, uint64_t, y, 0)
EMU_CARRY(addc_64, u64, u128, y, 0)
EMU_CARRY(subc_32, u32, uint64_t, ~y, EMU_FULL)
EMU_CARRY(subc_64, u64, u128, ~y, EMU_FULL)
#undef EMU_CARRY

/* -- finding bits ------------------------------------------------------------------ */

static uint64_t
bits_low(unsigned count)
{
    if (count >= 64) {
        return UINT64_MAX;
    }
    return ((uint64_t)1 << count) - 1;
}

/* The highest bit that differs from the sign; aux: 1 signed, 2 shift amount. */
static uint32_t
bits_find(uint64_t x, unsigned width, unsigned aux)
{
    uint32_t at;

    if (aux & 1 && x >> (width - 1) & 1) {
        x = ~x;
        x &= bits_low(width);
    }
    if (!x) {
        return UINT32_MAX;
    }
    at = 63 - (uint32_t)__builtin_clzll(x);
    if (aux & 2) {
        return width - 1 - at;
    }
    return at;
}

EMU_SLOW_UNARY(bfind_32, u32, u32, bits_find(x, 32, insn->aux))
EMU_SLOW_UNARY(bfind_64, u32, u64, bits_find(x, 64, insn->aux))

/* -- bit fields -------------------------------------------------------------------- */

/* The start of a field. With 32 bits only the low byte of the position counts; with 64
 * bits, which a GPU handles in several instructions, all of it does. */
static uint32_t
bits_field_start(uint32_t pos, unsigned width)
{
    if (width == 32) {
        return pos & 0xff;
    }
    if (pos > 0xff) {
        return 0xff;
    }
    return pos;
}

/* Bits [pos, pos + len) of x. Beyond the top they are the sign, or zero. */
static uint64_t
bits_extract(uint64_t x, uint32_t pos, uint32_t len, unsigned width, bool is_signed)
{
    const uint64_t all = bits_low(width);
    uint64_t field = 0, sign = 0;
    uint32_t last;

    pos = bits_field_start(pos, width);
    len &= 0xff;
    if (len == 0) {
        return 0;
    }
    last = pos + len - 1;
    if (last > width - 1) {
        last = width - 1;
    }
    if (is_signed && x >> last & 1) {
        sign = all;
    }
    if (pos >= width) {
        return sign;
    }
    field = x >> pos & bits_low(last - pos + 1);
    return field | (sign & ~bits_low(last - pos + 1));
}

static uint64_t
bits_insert(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, unsigned width)
{
    uint64_t mask;

    pos = bits_field_start(pos, width);
    len &= 0xff;
    if (pos >= width || len == 0) {
        return b;
    }
    mask = bits_low(len) << pos;
    return (b & ~mask) | (a << pos & mask);
}

EMU_SLOW_TERNARY(bfe_32, u32, u32, u32, u32, bits_extract(x, y, z, 32, insn->aux))
EMU_SLOW_TERNARY(bfe_64, u64, u64, u32, u32, bits_extract(x, y, z, 64, insn->aux))

/* d = b with bits of a inserted; position c, length x[0]. */
EMU_OP(bfi_32)
{
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);

        EMU_TARGET(u32, insn->d)
        [i] = (uint32_t)bits_insert(
            EMU_SOURCE(u32, insn->a)[i], EMU_SOURCE(u32, insn->b)[i],
            EMU_SOURCE(u32, insn->c)[i], EMU_SOURCE(u32, insn->x[0])[i], 32);
    }
    return insn + 1;
}

EMU_OP(bfi_64)
{
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);

        EMU_TARGET(u64, insn->d)
        [i] = bits_insert(EMU_SOURCE(u64, insn->a)[i], EMU_SOURCE(u64, insn->b)[i],
                          EMU_SOURCE(u32, insn->c)[i], EMU_SOURCE(u32, insn->x[0])[i],
                          64);
    }
    return insn + 1;
}

static uint32_t
bits_at_most_32(uint32_t count)
{
    if (count > 32) {
        return 32;
    }
    return count;
}

/* aux: 1 clamp, else wrap */
static uint32_t
bits_mask(uint32_t start, uint32_t size, unsigned aux)
{
    uint64_t bits;

    if (aux) {
        start = bits_at_most_32(start);
        size = bits_at_most_32(size);
    }
    else {
        start &= 31;
        size &= 31;
    }
    bits = (((uint64_t)1 << size) - 1) << start;
    return (uint32_t)bits;
}

EMU_SLOW_BINARY(bmsk, u32, u32, u32, bits_mask(x, y, insn->aux))

/* aux: 1 clamp, 2 signed */
static uint32_t
bits_extend(uint32_t x, uint32_t size, unsigned aux)
{
    if (aux & 1) {
        size = bits_at_most_32(size);
    }
    else {
        size &= 31;
    }
    if (size == 0) {
        return 0;
    }
    if (size == 32) {
        return x;
    }
    if (aux & 2 && x >> (size - 1) & 1) {
        return x | ~(((uint32_t)1 << size) - 1);
    }
    return x & (((uint32_t)1 << size) - 1);
}

EMU_SLOW_BINARY(szext, u32, u32, u32, bits_extend(x, y, insn->aux))

/* The position of the set bit number `offset`, counted from bit `base` upwards, or
 * downwards if the offset is negative. UINT32_MAX: there is none. */
static uint32_t
bits_find_nth(uint32_t mask, uint32_t base, int32_t offset)
{
    int at = (int)(base & 31);
    int step = 1, count = offset;

    if (offset == 0 && base < 32 && mask >> base & 1) {
        return base;
    }
    if (offset == 0) {
        return UINT32_MAX;
    }
    if (offset < 0) {
        step = -1;
        count = -offset;
    }
    for (; at >= 0 && at < 32; at += step) {
        if ((mask >> at & 1) == 0) {
            continue;
        }
        count--;
        if (count == 0) {
            return (uint32_t)at;
        }
    }
    return UINT32_MAX;
}

EMU_SLOW_TERNARY(fns, u32, u32, u32, s32, bits_find_nth(x, y, z < -32 ? -33 : z))

/* -- bytes ------------------------------------------------------------------------- */

enum { PRMT_INDEX, PRMT_F4E, PRMT_B4E, PRMT_RC8, PRMT_ECL, PRMT_ECR, PRMT_RC16 };

static const uint16_t prmt_tables[][4] = {
    [PRMT_F4E] = {0x3210, 0x4321, 0x5432, 0x6543},
    [PRMT_B4E] = {0x5670, 0x6701, 0x7012, 0x0123},
    [PRMT_RC8] = {0x0000, 0x1111, 0x2222, 0x3333},
    [PRMT_ECL] = {0x3210, 0x3211, 0x3222, 0x3333},
    [PRMT_ECR] = {0x0000, 0x1110, 0x2210, 0x3210},
    [PRMT_RC16] = {0x1010, 0x3232, 0x1010, 0x3232},
};

static uint32_t
bits_permute(uint32_t a, uint32_t b, uint32_t selector, unsigned mode)
{
    const uint64_t both = (uint64_t)b << 32 | a;
    uint32_t r = 0;
    unsigned i;

    if (mode != PRMT_INDEX) {
        selector = prmt_tables[mode][selector & 3];
    }
    for (i = 0; i < 4; i++) {
        const unsigned pick = selector >> (4 * i) & 15;
        uint32_t byte = (uint32_t)(both >> (8 * (pick & 7))) & 0xff;

        if (pick & 8) {
            byte = (byte >> 7) * 0xff; /* its sign */
        }
        r |= byte << (8 * i);
    }
    return r;
}

EMU_SLOW_TERNARY(prmt, u32, u32, u32, u32, bits_permute(x, y, z, insn->aux))

static uint64_t
bits_difference(uint64_t x, uint64_t y, bool is_less)
{
    if (is_less) {
        return y - x;
    }
    return x - y;
}

/* |a - b| + c; aux: signed */
#define EMU_SAD(name, type, signed_type)                                             \
    EMU_SLOW_TERNARY(                                                                \
        name, type, type, type, type,                                                \
        bits_difference(x, y, insn->aux ? (signed_type)x < (signed_type)y : x < y) + \
            z)

EMU_SAD(sad_16, u16, s16)
EMU_SAD(sad_32, u32, s32)
EMU_SAD(sad_64, u64, s64)
#undef EMU_SAD

/* -- cache policies: imm has the priorities ---------------------------------------- */

/* The fraction of the accesses that have the first priority, in sixteenths. */
static uint64_t
bits_policy(float fraction, int64_t base)
{
    uint64_t sixteenths = 1;

    while (sixteenths < 16 && (float)sixteenths < fraction * 16.0f) {
        sixteenths++;
    }
    return (uint64_t)base | (sixteenths - 1) << 52;
}

EMU_SLOW_UNARY(policy, u64, f32, bits_policy(x, insn->imm))

/* -- testp: aux 0 finite, 1 infinite, 2 number, 3 notanumber, 4 normal, 5 subnormal -
 */

static bool
bits_test_float(int kind, unsigned aux)
{
    switch (aux) {
        case 0:
            return kind != FP_INFINITE && kind != FP_NAN;
        case 1:
            return kind == FP_INFINITE;
        case 2:
            return kind != FP_NAN;
        case 3:
            return kind == FP_NAN;
        case 4: /* zero counts as normal */
            return kind == FP_NORMAL || kind == FP_ZERO;
        default:
            return kind == FP_SUBNORMAL;
    }
}

#define EMU_TESTP(name, type)                                                 \
    EMU_OP(name)                                                              \
    {                                                                         \
        u32 *const d = EMU_TARGET(u32, insn->d);                              \
        uint32_t bits = 0, left;                                              \
                                                                              \
        for (left = warp->mask; left; left &= left - 1) {                     \
            const int i = __builtin_ctz(left);                                \
            const type x = EMU_SOURCE(type, insn->a)[i];                      \
                                                                              \
            bits |= (uint32_t)bits_test_float(fpclassify(x), insn->aux) << i; \
        }                                                                     \
        *d = (*d & ~warp->mask) | bits;                                       \
        return insn + 1;                                                      \
    }

EMU_TESTP(testp_f32, f32)
EMU_TESTP(testp_f64, f64)
#undef EMU_TESTP

/* -- 128-bit registers ------------------------------------------------------------- */

EMU_OP(mov_128)
{
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const size_t at = 16 * (size_t)__builtin_ctz(left);

        memmove(EMU_TARGET(uint8_t, insn->d) + at, EMU_SOURCE(uint8_t, insn->a) + at,
                16);
    }
    return insn + 1;
}

EMU_OP(join_128)
{
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        const uint64_t low = EMU_SOURCE(u64, insn->a)[i],
                       high = EMU_SOURCE(u64, insn->b)[i];

        EMU_TARGET(u64, insn->d)[(size_t)2 * i] = low;
        EMU_TARGET(u64, insn->d)[2 * i + 1] = high;
    }
    return insn + 1;
}

/* imm: 0 the lower half, 64 the upper */
EMU_OP(part_64from128)
{
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);

        EMU_TARGET(u64, insn->d)
        [i] = EMU_SOURCE(u64, insn->a)[2 * i + (insn->imm != 0)];
    }
    return insn + 1;
}
