/* Numbers of 16 bits. See half.h. */
#include "device/base/half.h"

#include <stdbool.h>
#include <string.h>

/* Whether a magnitude rounds away from zero. `rest` has the bits below the last kept
 * bit, `half` is half of that bit, and `odd` says whether the last kept bit is set. */
static bool
half_rounds_up(uint64_t rest, uint64_t half, bool odd, bool negative, int rounding)
{
    switch (rounding) {
        case EMU_RN:
            return rest > half || (rest == half && odd);
        case EMU_RM:
            return rest && negative;
        case EMU_RP:
            return rest && !negative;
        default:
            return false;
    }
}

/* The bits of a finite positive value with this exponent in the format, not yet biased
 * to at least 1, and this mantissa of 52 bits. `negative` is for the rounding alone. */
static uint16_t
half_round_magnitude(const emu_half_shape *shape, int exponent, uint64_t mantissa,
                     bool negative, int rounding)
{
    int drop = 52 - shape->mantissa_bits;
    uint64_t kept, rest;

    mantissa |= (uint64_t)1 << 52;
    if (exponent < 1) {
        drop += 1 - exponent;
        exponent = 0;
    }
    if (drop > 63) { /* far below half of the smallest number */
        return half_rounds_up(1, 2, false, negative, rounding);
    }
    kept = mantissa >> drop;
    rest = mantissa & (((uint64_t)1 << drop) - 1);
    if (half_rounds_up(rest, (uint64_t)1 << (drop - 1), kept & 1, negative, rounding)) {
        kept++; /* a carry increments the exponent, up to infinity */
    }
    if (exponent > 0) {
        kept += (uint64_t)(exponent - 1) << shape->mantissa_bits;
    }
    return (uint16_t)kept;
}

uint16_t
emu_half_round(double value, int format, int rounding)
{
    const emu_half_shape *shape = &emu_half_shapes[format];
    const int special = (1 << shape->exponent_bits) - 1;
    uint64_t bits;
    uint16_t magnitude;
    bool negative;
    int exponent;

    memcpy(&bits, &value, sizeof bits);
    negative = bits >> 63;
    exponent = (int)(bits >> 52 & 0x7ff) - 1023 + shape->bias;
    if (value != value) {
        return 0x7fff;
    }
    if (value == 0.0) {
        magnitude = 0;
    }
    else if (exponent >= special) {
        magnitude = (uint16_t)(special << shape->mantissa_bits); /* infinity */
        if (!isinf(value) && rounding != EMU_RN &&
            !half_rounds_up(1, 0, false, negative, rounding)) {
            magnitude--; /* the largest number */
        }
    }
    else {
        magnitude = half_round_magnitude(shape, exponent, bits & 0xfffffffffffffu,
                                         negative, rounding);
    }
    if (negative) {
        magnitude |= 0x8000;
    }
    return magnitude;
}

uint16_t
emu_half_add(uint16_t x, uint16_t y, int format)
{
    return emu_half_round(emu_half_value(x, format) + emu_half_value(y, format), format,
                          EMU_RN);
}
