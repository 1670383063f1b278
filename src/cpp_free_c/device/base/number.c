/* Numbers of 8 and 16 bits, and elements of arrays. See number.h. */
#include "device/base/number.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* -- numbers of 16 bits ------------------------------------------------------------ */

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

/* -- numbers of 8 bits ------------------------------------------------------------- */

/* By format: the bits of the mantissa, the exponent of subnormal numbers, the code and
 * the value of the largest number. */
static const struct {
    int mantissa_bits, least_exponent;
    uint8_t largest;
    double largest_value;
} fp8_shapes[] = {{3, -6, 0x7e, 448.0}, {2, -14, 0x7b, 57344.0}};

double
emu_fp8_value(uint8_t bits, int format)
{
    const int mantissa_bits = fp8_shapes[format].mantissa_bits;
    const int magnitude = bits & 0x7f, exponent = magnitude >> mantissa_bits;
    const int mantissa = magnitude & ((1 << mantissa_bits) - 1);
    double value;

    if (magnitude > fp8_shapes[format].largest) {
        /* e5m2 has the codes of infinity and NaN that f16 has, e4m3 only one NaN */
        value = magnitude == 0x7c ? (double)INFINITY : (double)NAN;
    }
    else if (exponent == 0) {
        value = ldexp(mantissa, fp8_shapes[format].least_exponent - mantissa_bits);
    }
    else {
        value = ldexp(mantissa + (1 << mantissa_bits),
                      exponent - 1 + fp8_shapes[format].least_exponent - mantissa_bits);
    }
    return bits & 0x80 ? -value : value;
}

/* The code of a magnitude below the largest value. */
static int
fp8_round_magnitude(double magnitude, int format)
{
    const int mantissa_bits = fp8_shapes[format].mantissa_bits;
    const int least = fp8_shapes[format].least_exponent;
    int exponent = least, code;
    double units, rest;

    if (magnitude >= ldexp(1.0, least)) {
        exponent = ilogb(magnitude);
    }
    units = ldexp(magnitude, mantissa_bits - exponent);
    code = (int)units;
    rest = units - code;
    if (rest > 0.5 || (rest == 0.5 && code & 1)) {
        code++; /* a carry increments the exponent */
    }
    return code + ((exponent - least) << mantissa_bits);
}

uint8_t
emu_fp8_round(double value, int format)
{
    const double magnitude = fabs(value);
    int code = fp8_shapes[format].largest;

    if (value != value) {
        return 0x7f;
    }
    if (magnitude < fp8_shapes[format].largest_value) {
        code = fp8_round_magnitude(magnitude, format);
    }
    if (signbit(value)) {
        code |= 0x80;
    }
    return (uint8_t)code;
}

/* -- elements ---------------------------------------------------------------------- */

unsigned
emu_element_size(unsigned type)
{
    static const unsigned char sizes[EMU_ELEMENT_COUNT] = {1, 2, 4, 4, 8, 8, 2,
                                                           4, 8, 2, 4, 4, 4};
    return sizes[type];
}

bool
emu_element_is_float(unsigned type)
{
    return type >= EMU_ELEMENT_F16;
}

/* -- reductions -------------------------------------------------------------------- */

bool
emu_element_can_reduce(unsigned operation, unsigned type)
{
    const unsigned size = emu_element_size(type);

    switch (operation) {
        case EMU_REDUCE_NONE:
            return true;
        case EMU_REDUCE_ADD:
            return type >= EMU_ELEMENT_U32 && type != EMU_ELEMENT_S64;
        case EMU_REDUCE_MIN:
        case EMU_REDUCE_MAX:
            return (type >= EMU_ELEMENT_U32 && type <= EMU_ELEMENT_F16) ||
                   type == EMU_ELEMENT_BF16;
        case EMU_REDUCE_INC:
        case EMU_REDUCE_DEC:
            return type == EMU_ELEMENT_U32;
        default:
            return size >= 4 && !emu_element_is_float(type);
    }
}

/* -- copies ------------------------------------------------------------------------ */

/* Round to the 10 bits of the fraction of TF32, to nearest even. All NaN become one. */
static uint64_t
element_round_tf32(uint64_t bits)
{
    const uint64_t rest = bits & 0x1fff, odd = bits >> 13 & 1;

    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return 0x7fffe000u;
    }
    if (rest + odd > 0x1000) {
        return (bits - rest + 0x2000) & 0xffffffffu;
    }
    return bits - rest;
}

/* On an H200 the types with FTZ keep subnormal numbers: only reductions flush them. */
uint64_t
emu_element_copied(unsigned type, uint64_t bits)
{
    if (emu_element_changes(type)) {
        return element_round_tf32(bits);
    }
    return bits;
}

bool
emu_element_changes(unsigned type)
{
    return type == EMU_ELEMENT_TF32 || type == EMU_ELEMENT_TF32_FTZ;
}

uint64_t
emu_element_nan(unsigned type)
{
    /* 0x7ff7 in each half word, as an H200 writes */
    return 0x7ff77ff77ff77ff7 >> (64 - 8 * emu_element_size(type));
}
