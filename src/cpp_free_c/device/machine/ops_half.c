/* Arithmetic of 16-bit numbers: computed in double, which holds sums and products of
 * them exactly, and rounded once. */
#include "device/base/half.h"

#include "device/machine/machine.h"

#include "device/machine/lanes.h"

#undef EMU_OP
#define EMU_OP(name) const emu_insn *emu_op_##name(emu_warp *warp, const emu_insn *insn)

typedef struct {
    int exponent_bits, mantissa_bits, bias;
} half_shape;

static const half_shape shapes[] = {{5, 10, 15}, {8, 7, 127}};

double
emu_half_value(uint16_t bits, int format)
{
    const half_shape *shape = &shapes[format];
    const int exponent =
        bits >> shape->mantissa_bits & ((1 << shape->exponent_bits) - 1);
    const int mantissa = bits & ((1 << shape->mantissa_bits) - 1);
    double value;

    if (exponent == (1 << shape->exponent_bits) - 1) {
        value = mantissa ? (double)NAN : (double)INFINITY;
    }
    else if (exponent == 0) {
        value = ldexp(mantissa, 1 - shape->bias - shape->mantissa_bits);
    }
    else {
        value = ldexp(mantissa + (1 << shape->mantissa_bits),
                      exponent - shape->bias - shape->mantissa_bits);
    }
    return bits & 0x8000 ? -value : value;
}

/* Whether a magnitude with these bits below the last kept one rounds away from zero. */
static bool
rounds_up(uint64_t rest, uint64_t half, bool odd, bool negative, int rounding)
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

uint16_t
emu_half_round(double value, int format, int rounding)
{
    const half_shape *shape = &shapes[format];
    const uint64_t bits = bits_of_f64(value);
    const bool negative = bits >> 63;
    const uint16_t sign = negative ? 0x8000 : 0;
    const uint16_t infinity =
        (uint16_t)(((1 << shape->exponent_bits) - 1) << shape->mantissa_bits);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023 + shape->bias, drop;
    uint64_t mantissa = bits & 0xfffffffffffffu, kept, rest;

    if (value != value) {
        return 0x7fff;
    }
    if (value == 0.0) {
        return sign;
    }
    if (exponent >= (1 << shape->exponent_bits) - 1) {
        bool up = rounding == EMU_RN || (rounding == EMU_RM && negative) ||
                  (rounding == EMU_RP && !negative) || isinf(value);

        return (uint16_t)(sign | (up ? infinity : infinity - 1));
    }
    mantissa |= (uint64_t)1 << 52;
    drop = 52 - shape->mantissa_bits;
    if (exponent < 1) {
        drop += 1 - exponent;
        exponent = 0;
    }
    if (drop > 63) {
        kept = 0;
        rest = 1; /* far below half */
        if (rounds_up(rest, 2, false, negative, rounding)) {
            kept = 1;
        }
        return (uint16_t)(sign | kept);
    }
    kept = mantissa >> drop;
    rest = mantissa & (((uint64_t)1 << drop) - 1);
    if (rounds_up(rest, (uint64_t)1 << (drop - 1), kept & 1, negative, rounding)) {
        kept++;
    }
    if (exponent > 0) {
        kept += (uint64_t)(exponent - 1) << shape->mantissa_bits;
    }
    return (uint16_t)(sign |
                      kept); /* a carry moves on into the exponent, to infinity */
}

uint16_t
emu_half_add(uint16_t x, uint16_t y, int format)
{
    return emu_half_round(emu_half_value(x, format) + emu_half_value(y, format), format,
                          EMU_RN);
}

/* a * b + c with the last bit of a double sticky: a later rounding to 16 bits is exact.
 */
static double
fma_odd(double a, double b, double c)
{
    const double product = a * b, sum = product + c;
    const double back = sum - product;
    const double error = (product - (sum - back)) + (c - back);

    if (error == 0.0 || error != error || isinf(sum)) {
        return sum;
    }
    if (bits_of_f64(sum) & 1) {
        return sum;
    }
    return (error > 0.0) == (sum > 0.0) ? f64_of_bits(bits_of_f64(sum) | 1)
                                        : f64_of_bits(bits_of_f64(sum) - 1);
}

/* nan: a NaN wins over a number. */
static double
half_min(double x, double y, bool nan)
{
    if (nan && (x != x || y != y)) {
        return (double)NAN;
    }
    if (x != x) {
        return y;
    }
    if (x == y) {
        return signbit(x) ? x : y;
    }
    return y < x ? y : x;
}

/* aux of all of these: format | EMU_HALF_FTZ | rounding << 4 */
#define FORMAT ((int)(insn->aux & 1))
#define ROUNDING ((int)(insn->aux >> 4 & 3))
#define VALUE(n) operand_value(n, insn->aux)
#define ROUND(value) result_bits(value, insn->aux)

/* .ftz, which only f16 has: a subnormal number is a zero of its sign. */
static double
operand_value(uint16_t bits, uint32_t aux)
{
    const double value = emu_half_value(bits, (int)(aux & 1));

    return aux & EMU_HALF_FTZ && fabs(value) < 0x1p-14 ? copysign(0.0, value) : value;
}

static uint16_t
result_bits(double value, uint32_t aux)
{
    const uint16_t bits = emu_half_round(value, (int)(aux & 1), (int)(aux >> 4 & 3));

    return aux & EMU_HALF_FTZ && (bits & 0x7fff) < 0x400 ? bits & 0x8000 : bits;
}

/* A NaN that keeps its sign and upper bits, quiet: what conversions between 16 and 64
 * bits do. */
static uint16_t
half_of_nan(uint64_t nan, int format)
{
    const int mantissa = shapes[format].mantissa_bits;
    const uint64_t bits = nan >> (52 - mantissa) & ((1u << mantissa) - 1);

    return (uint16_t)((nan >> 63) << 15 |
                      ((1u << (16 - mantissa)) - 1) << (mantissa - 1) | bits);
}

static double
double_of_nan(uint16_t nan, int format)
{
    const int mantissa = shapes[format].mantissa_bits;
    const uint64_t bits = nan & ((1u << mantissa) - 1);

    return quiet(f64_of_bits((uint64_t)(nan >> 15) << 63 | (uint64_t)0x7ff << 52 |
                             bits << (52 - mantissa)));
}

static double
value_with_nan(uint16_t bits, int format)
{
    const double value = emu_half_value(bits, format);

    return value == value ? value : double_of_nan(bits, format);
}

/* The upper half of a float is a bfloat16: bits only. */
EMU_SLOW_UNARY(cvt_f32_f16, f32, u16,
               FORMAT == EMU_BF16 ? f32_of_bits((uint32_t)x << 16)
                                  : canonical((float)VALUE(x)))
EMU_SLOW_UNARY(cvt_f64_f16, f64, u16, value_with_nan(x, FORMAT))
EMU_SLOW_UNARY(cvt_f16_f32, u16, f32, ROUND((double)x))
EMU_SLOW_UNARY(cvt_f16_f64, u16, f64,
               x == x ? ROUND(x) : half_of_nan(bits_of_f64(x), FORMAT))
EMU_SLOW_BINARY(half_add, u16, u16, u16, ROUND(VALUE(x) + VALUE(y)))
EMU_SLOW_BINARY(half_sub, u16, u16, u16, ROUND(VALUE(x) - VALUE(y)))
EMU_SLOW_BINARY(half_mul, u16, u16, u16, ROUND(VALUE(x) * VALUE(y)))
EMU_SLOW_TERNARY(half_fma, u16, u16, u16, u16,
                 ROUND(fma_odd(VALUE(x), VALUE(y), VALUE(z))))
EMU_SLOW_BINARY(half_min, u16, u16, u16, ROUND(half_min(VALUE(x), VALUE(y), insn->imm)))
EMU_SLOW_BINARY(half_max, u16, u16, u16,
                ROUND(-half_min(-VALUE(x), -VALUE(y), insn->imm)))
EMU_SLOW_UNARY(half_tanh, u16, u16, ROUND(tanh(VALUE(x))))
EMU_SLOW_UNARY(half_ex2, u16, u16, ROUND(exp2(VALUE(x))))

/* .sat: clamps to [0, 1]; imm 1 is .relu, which has no upper bound. NaN: +0, for relu
 * the canonical NaN. */
static double
half_clamp(double x, bool relu)
{
    if (relu) {
        return x != x ? x : x > 0.0 ? x : 0.0;
    }
    return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0;
}
EMU_SLOW_UNARY(half_sat, u16, u16, ROUND(half_clamp(VALUE(x), insn->imm)))
