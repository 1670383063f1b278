/* Dot products and video instructions: operations on the parts of words. */
#include "device/machine/warp/machine.h"

#include <stdlib.h>

#include "device/compile/encoding.h"
#include "device/machine/warp/lanes.h"

/* Operations of EMU_OPS_COMMON have public names: they are built once. */
#undef EMU_OP
#define EMU_OP(name) const emu_insn *emu_op_##name(emu_warp *warp, const emu_insn *insn)

/* -- dot products ------------------------------------------------------------------- */

/* Element i of `bits` bits. */
static int64_t
video_element(uint32_t x, unsigned i, unsigned bits, bool is_signed)
{
    const uint32_t raw = x >> (i * bits) & ((1u << bits) - 1);

    if (is_signed && raw >> (bits - 1)) {
        return (int64_t)raw - (1 << bits);
    }
    return (int64_t)raw;
}

/* aux: 1 a signed, 2 b signed */
static uint32_t
video_dot4(uint32_t a, uint32_t b, uint32_t c, unsigned aux)
{
    unsigned i;

    for (i = 0; i < 4; i++) {
        c +=
            (uint32_t)(video_element(a, i, 8, aux & 1) * video_element(b, i, 8, aux & 2));
    }
    return c;
}

/* aux: 1 a signed, 2 b signed, 4 the upper two bytes of b */
static uint32_t
video_dot2(uint32_t a, uint32_t b, uint32_t c, unsigned aux)
{
    const unsigned first = aux >> 1 & 2;
    unsigned i;

    for (i = 0; i < 2; i++) {
        c += (uint32_t)(video_element(a, i, 16, aux & 1) *
                        video_element(b, first + i, 8, aux & 2));
    }
    return c;
}

EMU_SLOW_TERNARY(dp4a, u32, u32, u32, u32, video_dot4(x, y, z, insn->aux))
EMU_SLOW_TERNARY(dp2a, u32, u32, u32, u32, video_dot2(x, y, z, insn->aux))

/* A word of 32 bits as a number. */
static int64_t
video_element_of_word(uint32_t x, bool is_signed)
{
    if (is_signed) {
        return (int32_t)x;
    }
    return (int64_t)x;
}

/* -- SIMD video instructions ------------------------------------------------------- */

/* vadd4, vsub4, vavrg4, vabsdiff4, vmin4, vmax4, vset4, and vadd2 to vset2, which
 * have elements of 16 bits. */

static bool
video_compare(unsigned compare, int64_t x, int64_t y)
{
    switch (compare) {
        case 0:
            return x == y;
        case 1:
            return x != y;
        case 2:
            return x < y;
        case 3:
            return x <= y;
        case 4:
            return x > y;
        default:
            return x >= y;
    }
}

static int64_t
video_one(unsigned operation, int64_t x, int64_t y, unsigned compare)
{
    switch (operation) {
        case EMU_VIDEO_ADD:
            return x + y;
        case EMU_VIDEO_SUB:
            return x - y;
        case EMU_VIDEO_AVRG:
            if (x + y < 0) {
                return -((-(x + y) + 1) >> 1);
            }
            return (x + y + 1) >> 1;
        case EMU_VIDEO_ABSDIFF:
            return llabs(x - y);
        case EMU_VIDEO_MIN:
            return x < y ? x : y;
        case EMU_VIDEO_MAX:
            return x > y ? x : y;
        default: /* EMU_VIDEO_SET */
            return video_compare(compare, x, y);
    }
}

static int64_t
video_clamp(int64_t value, int64_t low, int64_t high)
{
    if (value < low) {
        return low;
    }
    if (value > high) {
        return high;
    }
    return value;
}

/* aux: the EMU_VIDEO_ operation and the comparison. imm: EMU_VIDEO_ flags. c is added
 * under EMU_VIDEO_SUM. */
EMU_OP(simd_video)
{
    const unsigned flags = (unsigned)insn->imm, bits = flags & EMU_VIDEO_PAIRS ? 16 : 8;
    const unsigned count = 32 / bits;
    int64_t low = 0, high = ((int64_t)1 << bits) - 1;
    uint32_t left;

    if (flags & EMU_VIDEO_D_SIGNED) {
        low = -((int64_t)1 << (bits - 1));
        high = -low - 1;
    }
    for (left = warp->mask; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const uint32_t x = EMU_SOURCE(u32, insn->a)[lane],
                       y = EMU_SOURCE(u32, insn->b)[lane];
        const uint32_t z = EMU_SOURCE(u32, insn->c)[lane];
        uint32_t r = 0;
        unsigned i;

        if (flags & EMU_VIDEO_SUM) {
            r = z;
        }

        for (i = 0; i < count; i++) {
            int64_t v = video_one(insn->aux & 15,
                                  video_element(x, i, bits, flags & EMU_VIDEO_A_SIGNED),
                                  video_element(y, i, bits, flags & EMU_VIDEO_B_SIGNED),
                                  insn->aux >> EMU_VIDEO_COMPARE_SHIFT);

            if (flags & EMU_VIDEO_SAT) {
                v = video_clamp(v, low, high);
            }
            if (flags & EMU_VIDEO_SUM) {
                r += (uint32_t)v;
            }
            else {
                r |= (uint32_t)(v & ((1 << bits) - 1)) << (i * bits);
            }
        }
        EMU_TARGET(u32, insn->d)[lane] = r;
    }
    return insn + 1;
}

/* -- video instructions on one part ------------------------------------------------ */

__extension__ typedef __int128 video_wide;

/* The part of a word that a selector names: EMU_VIDEO_WHOLE, a byte or a half. */
static int64_t
video_part(uint32_t x, unsigned part, bool is_signed)
{
    switch (part) {
        case EMU_VIDEO_WHOLE:
            return video_element_of_word(x, is_signed);
        case EMU_VIDEO_H0:
        case EMU_VIDEO_H1:
            return video_element(x, part - EMU_VIDEO_H0, 16, is_signed);
        default:
            return video_element(x, part - EMU_VIDEO_B0, 8, is_signed);
    }
}

/* The bits that a part has. */
static unsigned
video_part_bits(unsigned part)
{
    switch (part) {
        case EMU_VIDEO_WHOLE:
            return 32;
        case EMU_VIDEO_H0:
        case EMU_VIDEO_H1:
            return 16;
        default:
            return 8;
    }
}

/* A shift count: at most 32, or its low five bits. */
static unsigned
video_count(int64_t count, bool wrap)
{
    if (wrap) {
        return (unsigned)count & 31;
    }
    if (count > 32) {
        return 32;
    }
    return (unsigned)count;
}

static int64_t
video_first(const emu_insn *insn, int64_t x, int64_t y)
{
    const unsigned operation = insn->aux & 15, flags = (unsigned)insn->imm;

    switch (operation) {
        case EMU_VIDEO_SHL:
            return (int64_t)((uint64_t)x << video_count(y, flags & EMU_VIDEO_WRAP));
        case EMU_VIDEO_SHR:
            return x >> video_count(y, flags & EMU_VIDEO_WRAP);
        default:
            return video_one(operation, x, y,
                             insn->aux >> EMU_VIDEO_COMPARE_SHIFT & 15);
    }
}

/* Clamps to the range of a part. */
static int64_t
video_saturate(int64_t value, unsigned bits, bool is_signed)
{
    if (is_signed) {
        return video_clamp(value, -((int64_t)1 << (bits - 1)),
                           ((int64_t)1 << (bits - 1)) - 1);
    }
    return video_clamp(value, 0, ((int64_t)1 << bits) - 1);
}

/* Combines the result of the first operation with c. */
static uint32_t
video_second(const emu_insn *insn, int64_t value, uint32_t c)
{
    const bool is_signed = insn->imm & EMU_VIDEO_D_SIGNED;
    const unsigned part = insn->aux >> EMU_VIDEO_D_SHIFT & 15;
    const uint32_t word = (uint32_t)value;
    const bool less = is_signed ? (int32_t)word < (int32_t)c : word < c;
    uint32_t mask, at;

    switch (insn->aux >> EMU_VIDEO_SECOND_SHIFT & 7) {
        case EMU_VIDEO_THEN_ADD:
            return word + c;
        case EMU_VIDEO_THEN_MIN:
            return less ? word : c;
        case EMU_VIDEO_THEN_MAX:
            return less ? c : word;
        case EMU_VIDEO_THEN_MERGE:
            at = part >= EMU_VIDEO_H0 ? 16 * (part - EMU_VIDEO_H0)
                                      : 8 * (part - EMU_VIDEO_B0);
            mask = (((uint32_t)1 << video_part_bits(part)) - 1) << at;
            return (word << at & mask) | (c & ~mask);
        default:
            return word;
    }
}

/* aux: the EMU_VIDEO_ operation, the comparison, the operation with c, the parts.
 * imm: EMU_VIDEO_ flags. */
EMU_OP(video)
{
    const unsigned flags = (unsigned)insn->imm;
    const unsigned bits = video_part_bits(insn->aux >> EMU_VIDEO_D_SHIFT & 15);
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const int64_t x =
            video_part(EMU_SOURCE(u32, insn->a)[lane],
                       insn->aux >> EMU_VIDEO_A_SHIFT & 15, flags & EMU_VIDEO_A_SIGNED);
        const int64_t y =
            video_part(EMU_SOURCE(u32, insn->b)[lane],
                       insn->aux >> EMU_VIDEO_B_SHIFT & 15, flags & EMU_VIDEO_B_SIGNED);
        int64_t value = video_first(insn, x, y);

        if (flags & EMU_VIDEO_SAT) {
            value = video_saturate(value, bits, flags & EMU_VIDEO_D_SIGNED);
        }
        EMU_TARGET(u32, insn->d)
        [lane] = video_second(insn, value, EMU_SOURCE(u32, insn->c)[lane]);
    }
    return insn + 1;
}

/* a * b + c with the signs, the scale and the saturation of the flags. */
static uint32_t
video_multiply_add(const emu_insn *insn, int64_t a, int64_t b, uint32_t c)
{
    const unsigned flags = (unsigned)insn->imm;
    const bool is_signed = flags & (EMU_VIDEO_A_SIGNED | EMU_VIDEO_B_SIGNED |
                                    EMU_VIDEO_NEGATE | EMU_VIDEO_NEGATE_C);
    video_wide value = (video_wide)a * b, addend;

    if (flags & EMU_VIDEO_NEGATE_C) {
        c = ~c;
    }
    addend = is_signed ? (video_wide)(int32_t)c : (video_wide)c;
    if (flags & EMU_VIDEO_NEGATE) {
        value = ~value;
    }
    value += addend;
    if (flags & (EMU_VIDEO_NEGATE | EMU_VIDEO_NEGATE_C | EMU_VIDEO_PLUS_ONE)) {
        value++;
    }
    value >>= insn->aux >> EMU_VIDEO_SCALE_SHIFT & 15;
    if (flags & EMU_VIDEO_SAT) {
        return (uint32_t)video_saturate((int64_t)value, 32, is_signed);
    }
    return (uint32_t)value;
}

EMU_OP(video_mad)
{
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const int64_t x = video_part(EMU_SOURCE(u32, insn->a)[lane],
                                     insn->aux >> EMU_VIDEO_A_SHIFT & 15,
                                     insn->imm & EMU_VIDEO_A_SIGNED);
        const int64_t y = video_part(EMU_SOURCE(u32, insn->b)[lane],
                                     insn->aux >> EMU_VIDEO_B_SHIFT & 15,
                                     insn->imm & EMU_VIDEO_B_SIGNED);

        EMU_TARGET(u32, insn->d)
        [lane] = video_multiply_add(insn, x, y, EMU_SOURCE(u32, insn->c)[lane]);
    }
    return insn + 1;
}
