/* Numbers of 8 bits. See fp8.h. */
#include "device/base/fp8.h"

#include <math.h>

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
