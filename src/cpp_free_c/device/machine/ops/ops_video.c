/* Dot products and video instructions: operations on the parts of words. */
#include "device/machine/warp/machine.h"

#include <stdlib.h>

#include "device/compile/encoding.h"
#include "device/machine/warp/lanes.h"

/* These operations are built once: OP_OWN in tables/operations.inc. */
#undef EMU_OP
#define EMU_OP(name) const emu_insn *emu_op_##name(emu_warp *warp, const emu_insn *insn)

/* -- dot products -------------------------------------------------------------------
 */

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
        c += (uint32_t)(video_element(a, i, 8, aux & 1) *
                        video_element(b, i, 8, aux & 2));
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
                v = emu_clamp(v, low, high);
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

/* A GPU has no such instructions: an assembler makes several ordinary ones of each. The
 * results below are those of an H200, with all their irregularities. */

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

/* The low `bits` bits of a number, with their sign. */
static int64_t
video_low_bits(int64_t value, unsigned bits)
{
    return (int64_t)((uint64_t)value << (64 - bits)) >> (64 - bits);
}

static int64_t
video_first(const emu_insn *insn, int64_t x, int64_t y)
{
    const unsigned operation = insn->aux & 15, flags = (unsigned)insn->imm;
    int64_t value;

    switch (operation) {
        case EMU_VIDEO_SHL:
            value = (int64_t)((uint64_t)x << video_count(y, flags & EMU_VIDEO_WRAP));
            return flags & EMU_VIDEO_SAT ? video_low_bits(value, 34) : value;
        case EMU_VIDEO_SHR:
            return x >> video_count(y, flags & EMU_VIDEO_WRAP);
        default:
            return video_one(operation, x, y,
                             insn->aux >> EMU_VIDEO_COMPARE_SHIFT & 15);
    }
}

static bool
video_is_shift(const emu_insn *insn)
{
    return (insn->aux & 15) == EMU_VIDEO_SHL || (insn->aux & 15) == EMU_VIDEO_SHR;
}

/* The bits of a part: a word, a byte or a half. */
static unsigned
video_part_bits(unsigned part)
{
    if (part == EMU_VIDEO_WHOLE) {
        return 32;
    }
    return part < EMU_VIDEO_H0 ? 8 : 16;
}

/* Saturates to the range of a part, of a shift to the range of a word. A byte or a half
 * gets its greatest number for a negative one too, a sum may exceed a word, and so may
 * a magnitude of a difference. */
static int64_t
video_saturate(const emu_insn *insn, int64_t value)
{
    const unsigned part = insn->aux >> EMU_VIDEO_D_SHIFT & 15;
    const bool is_signed = insn->imm & EMU_VIDEO_D_SIGNED;
    const unsigned bits = video_part_bits(part);
    const unsigned wide = video_is_shift(insn) ? 32 : bits;
    const int64_t greatest = ((int64_t)1 << (wide - is_signed)) - 1;

    if (bits != 32 && !video_is_shift(insn)) {
        return value < 0 || value > greatest ? greatest : value;
    }
    if (!is_signed && value < 0) {
        return 0;
    }
    if (is_signed) {
        return emu_clamp(value, -greatest - 1, greatest);
    }
    if ((insn->aux & 15) == EMU_VIDEO_SHL && value > greatest) {
        return greatest;
    }
    return value;
}

/* The value that is compared with c: that of a sum or a difference is its low word with
 * its sign. */
static int64_t
video_compared(const emu_insn *insn, int64_t value)
{
    const unsigned operation = insn->aux & 15, flags = (unsigned)insn->imm;
    const unsigned signs = EMU_VIDEO_A_SIGNED | EMU_VIDEO_D_SIGNED;
    const unsigned wraps = EMU_VIDEO_SAT | EMU_VIDEO_WRAP;

    if (operation == EMU_VIDEO_ADD || operation == EMU_VIDEO_SUB ||
        (video_is_shift(insn) && (flags & (signs | wraps)) == wraps)) {
        return video_low_bits(value, 32);
    }
    return value;
}

static bool
video_is_less(const emu_insn *insn, int64_t value, uint32_t c)
{
    value = video_compared(insn, value);
    if (insn->imm & EMU_VIDEO_D_SIGNED) {
        return value < (int32_t)c;
    }
    return (uint64_t)value < c;
}

/* c with a part replaced. The upper half comes from the upper half. */
static uint32_t
video_merged(uint32_t word, unsigned part, uint32_t c)
{
    uint32_t mask = 0xffff, at = 0;

    if (part == EMU_VIDEO_H1) {
        return (word & 0xffff0000u) | (c & 0xffff);
    }
    if (part != EMU_VIDEO_H0) {
        at = 8 * (part - EMU_VIDEO_B0);
        mask = (uint32_t)0xff << at;
    }
    return (word << at & mask) | (c & ~mask);
}

/* Combines the result of the first operation with c. */
static uint32_t
video_second(const emu_insn *insn, int64_t value, uint32_t c)
{
    const uint32_t word = (uint32_t)value;

    switch (insn->aux >> EMU_VIDEO_SECOND_SHIFT & 7) {
        case EMU_VIDEO_THEN_ADD:
            return word + c;
        case EMU_VIDEO_THEN_MIN:
            return video_is_less(insn, value, c) ? word : c;
        case EMU_VIDEO_THEN_MAX:
            return video_is_less(insn, value, c) ? c : word;
        case EMU_VIDEO_THEN_MERGE:
            return video_merged(word, insn->aux >> EMU_VIDEO_D_SHIFT & 15, c);
        default:
            return word;
    }
}

/* aux: the EMU_VIDEO_ operation, the comparison, the operation with c, the parts.
 * imm: EMU_VIDEO_ flags. */
EMU_OP(video)
{
    const unsigned flags = (unsigned)insn->imm;
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
            value = video_saturate(insn, value);
        }
        EMU_TARGET(u32, insn->d)
        [lane] = video_second(insn, value, EMU_SOURCE(u32, insn->c)[lane]);
    }
    return insn + 1;
}

/* -- vmad -------------------------------------------------------------------------- */

/* A factor. A whole word is signed whatever its type. */
static int64_t
video_factor(uint32_t x, unsigned part, bool is_signed)
{
    return video_part(x, part, is_signed || part == EMU_VIDEO_WHOLE);
}

/* a * b + c with the signs, the scale and the saturation of the flags. */
static uint32_t
video_multiply_add(const emu_insn *insn, int64_t a, int64_t b, int64_t c)
{
    const unsigned flags = (unsigned)insn->imm;
    const unsigned scale = insn->aux >> EMU_VIDEO_SCALE_SHIFT & 15;
    const bool is_signed = flags & (EMU_VIDEO_A_SIGNED | EMU_VIDEO_B_SIGNED |
                                    EMU_VIDEO_NEGATE | EMU_VIDEO_NEGATE_C);
    int64_t value = flags & EMU_VIDEO_NEGATE ? -(a * b) : a * b;

    value += flags & EMU_VIDEO_NEGATE_C ? -c : c;
    if (flags & EMU_VIDEO_PLUS_ONE) {
        value++;
    }
    if (scale != 0 && !is_signed) {
        value = (int64_t)((uint64_t)value >> scale);
    }
    else {
        value >>= scale;
    }
    if (flags & EMU_VIDEO_SAT && is_signed) {
        value = emu_clamp(value, INT32_MIN, INT32_MAX);
    }
    else if (flags & EMU_VIDEO_SAT) {
        value = emu_clamp(value, 0, UINT32_MAX);
    }
    return (uint32_t)value;
}

EMU_OP(video_mad)
{
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const int64_t x = video_factor(EMU_SOURCE(u32, insn->a)[lane],
                                       insn->aux >> EMU_VIDEO_A_SHIFT & 15,
                                       insn->imm & EMU_VIDEO_A_SIGNED);
        const int64_t y = video_factor(EMU_SOURCE(u32, insn->b)[lane],
                                       insn->aux >> EMU_VIDEO_B_SHIFT & 15,
                                       insn->imm & EMU_VIDEO_B_SIGNED);

        EMU_TARGET(u32, insn->d)
        [lane] = video_multiply_add(insn, x, y, EMU_SOURCE(s32, insn->c)[lane]);
    }
    return insn + 1;
}
