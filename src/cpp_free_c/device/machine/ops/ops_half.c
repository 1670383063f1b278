/* Operations on 16-bit numbers. See base/number.h. */
#include "device/base/number.h"

#include "device/machine/warp/lanes.h"
#include "device/machine/warp/machine.h"

#undef EMU_OP
#define EMU_OP(name) const emu_insn *emu_op_##name(emu_warp *warp, const emu_insn *insn)

/* a * b + c in double precision with a sticky last bit, so that a later rounding to 16
 * bits is exact. */
static double
half_fma_odd(double a, double b, double c)
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
    if ((error > 0.0) == (sum > 0.0)) {
        return f64_of_bits(bits_of_f64(sum) | 1);
    }
    return f64_of_bits(bits_of_f64(sum) - 1);
}

/* The lesser number. If `nan` is set, a NaN is preferred to a number. */
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
#define VALUE(n) half_operand_value(n, insn->aux)
#define ROUND(value) half_result_bits(value, insn->aux)

/* The value of an operand. .ftz, which only f16 has, makes a subnormal number a zero of
 * its sign. */
static double
half_operand_value(uint16_t bits, uint32_t aux)
{
    const double value = emu_half_value(bits, (int)(aux & 1));

    if (aux & EMU_HALF_FTZ && fabs(value) < 0x1p-14) {
        return copysign(0.0, value);
    }
    return value;
}

static uint16_t
half_result_bits(double value, uint32_t aux)
{
    const uint16_t bits = emu_half_round(value, (int)(aux & 1), (int)(aux >> 4 & 3));

    /* With unlimited exponents, values from here on are rounded to 2^-14. */
    if (aux & EMU_HALF_FTZ && fabs(value) < 0x1.ffep-15) {
        return bits & 0x8000;
    }
    if (aux & EMU_HALF_FINITE && isinf(emu_half_value(bits, (int)(aux & 1)))) {
        return bits - 1;
    }
    return bits;
}

/* The minimum, or the maximum if `sign` is -1. imm: EMU_HALF_ flags of minimum and
 * maximum. */
static uint16_t
half_extreme(uint16_t x, uint16_t y, const emu_insn *insn, double sign)
{
    const bool nan = insn->imm & EMU_HALF_PREFERS_NAN;
    const bool magnitudes = insn->imm & EMU_HALF_XORSIGN;
    double first = half_operand_value(x, insn->aux);
    double second = half_operand_value(y, insn->aux);
    uint16_t bits;

    if (magnitudes) {
        first = fabs(first);
        second = fabs(second);
    }
    bits =
        half_result_bits(sign * half_min(sign * first, sign * second, nan), insn->aux);
    if (magnitudes && bits != 0x7fff) {
        bits = (uint16_t)((bits & 0x7fff) | ((x ^ y) & 0x8000));
    }
    return bits;
}

/* Conversions between 16 and 64 bits keep the sign and the upper bits of a NaN and make
 * it quiet. */
static uint16_t
half_of_nan(uint64_t nan, int format)
{
    const int mantissa = emu_half_shapes[format].mantissa_bits;
    const uint64_t bits = nan >> (52 - mantissa) & ((1u << mantissa) - 1);

    return (uint16_t)((nan >> 63) << 15 |
                      ((1u << (16 - mantissa)) - 1) << (mantissa - 1) | bits);
}

static double
half_double_of_nan(uint16_t nan, int format)
{
    const int mantissa = emu_half_shapes[format].mantissa_bits;
    const uint64_t bits = nan & ((1u << mantissa) - 1);

    return quiet(f64_of_bits((uint64_t)(nan >> 15) << 63 | (uint64_t)0x7ff << 52 |
                             bits << (52 - mantissa)));
}

static double
half_value_with_nan(uint16_t bits, int format)
{
    const double value = emu_half_value(bits, format);

    return value == value ? value : half_double_of_nan(bits, format);
}

/* The upper half of a float is a bfloat16, so only bits are moved. */
EMU_SLOW_UNARY(cvt_f32_f16, f32, u16,
               FORMAT == EMU_BF16 ? f32_of_bits((uint32_t)x << 16)
                                  : canonical((float)VALUE(x)))
EMU_SLOW_UNARY(cvt_f64_f16, f64, u16, half_value_with_nan(x, FORMAT))
EMU_SLOW_UNARY(cvt_f16_f32, u16, f32, ROUND((double)x))
EMU_SLOW_UNARY(cvt_f16_f64, u16, f64,
               x == x ? ROUND(x) : half_of_nan(bits_of_f64(x), FORMAT))

/* An integer of 64 bits as a double that rounds to 16 bits as the integer does. imm: it
 * is signed. */
static double
half_of_integer(uint64_t x, bool is_signed)
{
    const bool negative = is_signed && x >> 63;
    uint64_t magnitude = x;
    double value;

    if (negative) {
        magnitude = 0 - x;
    }
    if (magnitude >> 53) { /* the last bit says whether bits were lost */
        magnitude = (magnitude >> 11 | ((magnitude & 0x7ff) != 0)) << 11;
    }
    value = (double)magnitude;
    return negative ? -value : value;
}

EMU_SLOW_UNARY(cvt_f16_64, u16, u64, ROUND(half_of_integer(x, insn->imm)))
EMU_SLOW_BINARY(half_add, u16, u16, u16, ROUND(VALUE(x) + VALUE(y)))
EMU_SLOW_BINARY(half_sub, u16, u16, u16, ROUND(VALUE(x) - VALUE(y)))
EMU_SLOW_BINARY(half_mul, u16, u16, u16, ROUND(VALUE(x) * VALUE(y)))

/* .oob: what a tensor map fills in outside of a tensor, of any sign, is a zero factor.
 */
static bool
half_is_outside(uint16_t bits, uint32_t aux)
{
    return aux & EMU_HALF_OOB && (bits & 0x7fff) == 0x7ff7;
}

static uint16_t
half_fma(uint16_t x, uint16_t y, uint16_t z, const emu_insn *insn)
{
    if (half_is_outside(x, insn->aux) || half_is_outside(y, insn->aux)) {
        return 0;
    }
    return ROUND(half_fma_odd(VALUE(x), VALUE(y), VALUE(z)));
}

EMU_SLOW_TERNARY(half_fma, u16, u16, u16, u16, half_fma(x, y, z, insn))
EMU_SLOW_BINARY(half_min, u16, u16, u16, half_extreme(x, y, insn, 1.0))
EMU_SLOW_BINARY(half_max, u16, u16, u16, half_extreme(x, y, insn, -1.0))
EMU_SLOW_UNARY(half_tanh, u16, u16, ROUND(tanh(VALUE(x))))
EMU_SLOW_UNARY(half_ex2, u16, u16, ROUND(exp2(VALUE(x))))

/* .sat: clamps to [0, 1]; imm 1 is .relu, which has no upper bound. NaN: +0, for relu
 * the canonical NaN. */
static double
half_clamp(double x, bool relu)
{
    if (relu && x != x) {
        return x;
    }
    if (!(x > 0.0)) {
        return 0.0;
    }
    if (!relu && x > 1.0) {
        return 1.0;
    }
    return x;
}
EMU_SLOW_UNARY(half_sat, u16, u16, ROUND(half_clamp(VALUE(x), insn->imm)))
