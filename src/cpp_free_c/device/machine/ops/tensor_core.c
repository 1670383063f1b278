/* The arithmetic of tensor cores. See ops.h.
 *
 * An H200 multiplies exactly, aligns the products and the addend to the largest
 * exponent among them, cuts off what is below a fixed number of fraction bits, and adds
 * exactly. It rounds the sum toward zero to single precision, or to nearest to half
 * precision. The exponent of a product is the sum of the exponents: products are not
 * normalised. PTX does not define this. It was found by recordings. */
#include "device/machine/ops/ops.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>

#include "device/base/number.h"
#include "device/compile/encoding.h"

/* -- floating-point elements ------------------------------------------------------- */

typedef struct {
    uint8_t exponent_bits, mantissa_bits;
    uint8_t ignored;  /* low bits that are not read */
    bool is_infinite; /* the largest exponent has infinity and NaN */
} tile_format;

static const tile_format tile_formats[] = {
    [EMU_MATRIX_F16] = {5, 10, 0, true},   [EMU_MATRIX_BF16] = {8, 7, 0, true},
    [EMU_MATRIX_TF32] = {8, 10, 13, true}, [EMU_MATRIX_E4M3] = {4, 3, 0, false},
    [EMU_MATRIX_E5M2] = {5, 2, 0, true},   [EMU_MATRIX_F32] = {8, 23, 0, true}};

/* A number: significand * 2^(exponent - mantissa bits of the format). */
typedef struct {
    int32_t significand;
    int32_t exponent;
    bool special; /* infinity or NaN */
} tile_number;

/* Numbers of one row of A or column of B, for loops that gcc and clang vectorise. A
 * product of two values is exact: neither has more than 11 bits. */
typedef struct {
    double value[EMU_TILE_DEPTH]; /* 0 for infinity and NaN */
    int16_t exponent[EMU_TILE_DEPTH];
    bool special; /* one of them is infinity or NaN */
} tile_numbers;

enum { TILE_NO_EXPONENT = -10000 /* of an absent product or of zero */ };

/* 2^exponent, of a normal number. */
static double
tile_power(int exponent)
{
    return f64_of_bits((uint64_t)(exponent + 1023) << 52);
}

static tile_number
tile_number_of(unsigned type, uint64_t bits)
{
    const tile_format f = tile_formats[type];
    const uint32_t all = (uint32_t)bits >> f.ignored;
    const int top = (1 << f.exponent_bits) - 1;
    const int field = (int)(all >> f.mantissa_bits) & top;
    tile_number n;

    n.significand = (int32_t)(all & ((1u << f.mantissa_bits) - 1));
    n.special = field == top && (f.is_infinite || n.significand == 7);
    n.exponent = field - top / 2;
    if (field == 0) {
        n.exponent++;
    }
    else {
        n.significand |= 1 << f.mantissa_bits;
    }
    if (all >> (f.exponent_bits + f.mantissa_bits) & 1) {
        n.significand = -n.significand;
    }
    return n;
}

/* The value of an element, exact. */
static double
tile_value(unsigned type, uint64_t bits)
{
    const tile_format f = tile_formats[type];
    const tile_number n = tile_number_of(type, bits);
    const unsigned sign = f.ignored + f.exponent_bits + f.mantissa_bits;
    double magnitude = INFINITY;

    if (!n.special) {
        magnitude = ldexp(abs(n.significand), n.exponent - f.mantissa_bits);
    }
    else if (!f.is_infinite ||
             (bits >> f.ignored & ((1u << f.mantissa_bits) - 1)) != 0) {
        return (double)NAN;
    }
    return bits >> sign & 1 ? -magnitude : magnitude;
}

static void
tile_read_numbers(unsigned type, bool negated, const uint64_t *bits, unsigned depth,
                  tile_numbers *out)
{
    const int mantissa = tile_formats[type].mantissa_bits;

    out->special = false;
    for (unsigned k = 0; k < depth; k++) {
        tile_number n = {0, TILE_NO_EXPONENT, false};

        if (!(bits[k] & EMU_TILE_ABSENT)) {
            n = tile_number_of(type, bits[k]);
        }
        out->special |= n.special;
        if (n.significand == 0 || n.special) {
            out->value[k] = 0.0;
            out->exponent[k] = TILE_NO_EXPONENT;
            continue;
        }
        out->value[k] = n.significand * tile_power(n.exponent - mantissa);
        out->exponent[k] = (int16_t)n.exponent;
        if (negated) {
            out->value[k] = -out->value[k];
        }
    }
}

/* -- sums of products -------------------------------------------------------------- */

/* fraction and kept, below; SHORT_FRACTION is both of wgmma of 8-bit floats. */
enum { FRACTION = 25, MANTISSA = 23, SHORT_FRACTION = 13 };

/* How a sum is aligned and rounded. */
typedef struct {
    unsigned a_type, b_type, c_type, d_type;
    int fraction; /* bits kept below the largest exponent */
    int kept;     /* bits of the mantissa of a result in single precision */
} tile_sum_form;

/* significand * 2^-shift, toward zero. */
static int64_t
tile_aligned(int64_t significand, int shift)
{
    const int64_t magnitude = significand < 0 ? -significand : significand;
    int64_t kept = 0;

    if (magnitude == 0) {
        return 0; /* a zero may be far below the sum */
    }
    if (shift <= 0) {
        kept = magnitude << -shift;
    }
    else if (shift < 63) {
        kept = magnitude >> shift;
    }
    return significand < 0 ? -kept : kept;
}

/* The bits of sum * 2^exponent in single precision, toward zero, with the leading
 * `kept` bits of the mantissa. A zero is positive. */
static uint32_t
tile_single(int64_t sum, int exponent, int kept)
{
    const uint32_t sign = sum < 0 ? 0x80000000u : 0;
    uint64_t magnitude = (uint64_t)(sum < 0 ? -sum : sum);
    int drop;

    if (magnitude == 0) {
        return 0;
    }
    drop = 63 - __builtin_clzll(magnitude) - 23;
    if (exponent + drop < -149) {
        drop = -149 - exponent;
    }
    if (drop > 63) {
        return 0;
    }
    magnitude = drop < 0 ? magnitude << -drop : magnitude >> drop;
    magnitude &= UINT64_MAX << (23 - kept);
    exponent += drop;
    if (exponent + 23 > 127) {
        return sign | 0x7f800000u;
    }
    if (magnitude >> 23) {
        magnitude += (uint64_t)(exponent + 149) << 23;
    }
    return magnitude == 0 ? 0 : sign | (uint32_t)magnitude;
}

/* The bits of D for a finite sum. */
static uint64_t
tile_rounded(const tile_sum_form *form, int64_t sum, int exponent)
{
    if (form->d_type == EMU_MATRIX_F16) {
        const uint16_t half =
            emu_half_round(ldexp((double)sum, exponent), EMU_F16, EMU_RN);

        return half == 0x8000 ? 0 : half;
    }
    return tile_single(sum, exponent, form->kept);
}

/* The bits of D for a sum that is infinite or NaN. */
static uint64_t
tile_special(const tile_sum_form *form, const uint64_t *a, const uint64_t *b,
             unsigned depth, double sum, bool negated)
{
    for (unsigned k = 0; k < depth; k++) {
        double product;

        if (a[k] & EMU_TILE_ABSENT) {
            continue;
        }
        product = tile_value(form->a_type, a[k]) * tile_value(form->b_type, b[k]);
        sum += negated ? -product : product;
    }
    if (form->d_type == EMU_MATRIX_F16) {
        return emu_half_round(sum, EMU_F16, EMU_RN);
    }
    if (sum != sum) {
        return 0x7fffffff;
    }
    return bits_of_f32((float)sum);
}

/* Whether a factor of the stored products is infinite or NaN. */
static bool
tile_has_special(const tile_sum_form *form, const uint64_t *a, const uint64_t *b,
                 unsigned depth)
{
    for (unsigned k = 0; k < depth; k++) {
        if (!(a[k] & EMU_TILE_ABSENT) && (tile_number_of(form->a_type, a[k]).special ||
                                          tile_number_of(form->b_type, b[k]).special)) {
            return true;
        }
    }
    return false;
}

/* The largest exponent of the products. */
static int
tile_top(const int16_t *a, const int16_t *b, unsigned depth)
{
    int16_t top = 2 * TILE_NO_EXPONENT;

    for (unsigned k = 0; k < depth; k++) {
        const int16_t exponent = (int16_t)(a[k] + b[k]);

        if (exponent > top) {
            top = exponent;
        }
    }
    return top;
}

/* The sum of the products times a scale, each toward zero. The scale makes a product
 * less than 2^27, and at most eight are not zero; of 8-bit floats, 2^15 and 16. */
static int32_t
tile_scaled_sum(const double *a, const double *b, unsigned depth, double scale)
{
    int32_t sum = 0;

    for (unsigned k = 0; k < depth; k++) {
        sum += (int32_t)(a[k] * b[k] * scale);
    }
    return sum;
}

/* A sum of finite products and a finite addend. */
static uint64_t
tile_sum(const tile_sum_form *form, const tile_numbers *a, const tile_numbers *b,
         unsigned depth, tile_number c)
{
    const unsigned half = depth / 2;
    int top = tile_top(a->exponent, b->exponent, depth), lowest;
    double scale;
    int64_t sum;

    if (c.significand != 0 && c.exponent > top) {
        top = c.exponent;
    }
    if (top <= TILE_NO_EXPONENT / 2) {
        return 0;
    }
    lowest = top - form->fraction;
    scale = tile_power(-lowest);
    sum = tile_aligned(c.significand,
                       lowest - c.exponent + tile_formats[form->c_type].mantissa_bits);
    sum += tile_scaled_sum(a->value, b->value, half, scale);
    sum += tile_scaled_sum(a->value + half, b->value + half, half, scale);
    return tile_rounded(form, sum, lowest);
}

/* -- products of floating-point matrices ------------------------------------------- */

static void
tile_multiply_floats(const emu_tile_form *form, const tile_sum_form *how,
                     emu_tile *tile)
{
    tile_numbers a[EMU_TILE_ROWS], b;

    for (unsigned i = 0; i < form->rows; i++) {
        tile_read_numbers(how->a_type, form->a_negated, tile->a[i], form->depth, &a[i]);
    }
    for (unsigned j = 0; j < form->columns; j++) {
        tile_read_numbers(how->b_type, form->b_negated, tile->b[j], form->depth, &b);
        for (unsigned i = 0; i < form->rows; i++) {
            const tile_number c = tile_number_of(how->c_type, tile->c[i][j]);

            if (c.special ||
                ((a[i].special || b.special) &&
                 tile_has_special(how, tile->a[i], tile->b[j], form->depth))) {
                tile->d[i][j] = tile_special(how, tile->a[i], tile->b[j], form->depth,
                                             tile_value(how->c_type, tile->c[i][j]),
                                             form->a_negated != form->b_negated);
            }
            else {
                tile->d[i][j] = tile_sum(how, &a[i], &b, form->depth, c);
            }
        }
    }
}

/* Single or half precision to single precision. */
static float
tile_float(unsigned type, uint64_t bits)
{
    return (float)tile_value(type, bits);
}

static uint64_t
tile_float_bits(unsigned type, float value)
{
    if (type == EMU_MATRIX_F16) {
        return emu_half_round((double)value, EMU_F16, EMU_RN);
    }
    return value == value ? bits_of_f32(value) : 0x7fffffff;
}

static bool
tile_is_8bit_float(unsigned type)
{
    return type == EMU_MATRIX_E4M3 || type == EMU_MATRIX_E5M2;
}

/* An 8-bit float as the half of the same value, which is normal where a half can be. */
static uint64_t
tile_half_of(unsigned type, uint64_t bits)
{
    if (bits & EMU_TILE_ABSENT) {
        return bits;
    }
    return emu_half_round(tile_value(type, bits), EMU_F16, EMU_RN);
}

/* mma of 8-bit floats. The tensor cores of sm_90 have it for wgmma only, so it is two
 * products of half precision, of the pairs of stored elements with even and with odd
 * number, and an addition of C. A pair of a sparse matrix lies among four elements. */
static void
tile_multiply_pairs(const emu_tile_form *form, emu_tile *tile)
{
    const tile_sum_form how = {EMU_MATRIX_F16, EMU_MATRIX_F16, form->d_type,
                               form->d_type,   FRACTION,       MANTISSA};
    const unsigned run = form->is_sparse ? 4 : 2;
    emu_tile_form half = *form;
    emu_tile part = {.c = {{0}}};

    half.depth = form->depth / 2;
    for (unsigned odd = 0; odd < 2; odd++) {
        for (unsigned k = 0; k < half.depth; k++) {
            const unsigned from = (k / run * 2 + odd) * run + k % run;

            for (unsigned i = 0; i < form->rows; i++) {
                part.a[i][k] = tile_half_of(form->a_type, tile->a[i][from]);
            }
            for (unsigned j = 0; j < form->columns; j++) {
                part.b[j][k] = tile_half_of(form->b_type, tile->b[j][from]);
            }
        }
        tile_multiply_floats(&half, &how, &part);
        for (unsigned i = 0; i < form->rows; i++) {
            for (unsigned j = 0; j < form->columns; j++) {
                part.c[i][j] = part.d[i][j];
            }
        }
    }
    for (unsigned i = 0; i < form->rows; i++) {
        for (unsigned j = 0; j < form->columns; j++) {
            const float sum = tile_float(form->c_type, tile->c[i][j]) +
                              tile_float(form->d_type, part.d[i][j]);

            tile->d[i][j] = tile_float_bits(form->d_type, sum);
        }
    }
}

/* mma.m8n8k4, which sm_90 computes without tensor cores. */
static void
tile_multiply_quads(const emu_tile_form *form, emu_tile *tile)
{
    for (unsigned i = 0; i < form->rows; i++) {
        for (unsigned j = 0; j < form->columns; j++) {
            const float c = tile_float(form->c_type, tile->c[i][j]);
            float a[4], b[4], sum;

            for (unsigned k = 0; k < 4; k++) {
                a[k] = tile_float(EMU_MATRIX_F16, tile->a[i][k]);
                b[k] = tile_float(EMU_MATRIX_F16, tile->b[j][k]);
            }
            if (form->d_type == EMU_MATRIX_F16) {
                sum = c + fmaf(a[1], b[1], a[0] * b[0]);
                sum += fmaf(a[3], b[3], a[2] * b[2]);
            }
            else {
                sum = fmaf(a[1], b[1], fmaf(a[0], b[0], 0.0f));
                sum = c + fmaf(a[3], b[3], fmaf(a[2], b[2], sum));
            }
            tile->d[i][j] = tile_float_bits(form->d_type, sum);
        }
    }
}

/* -- other types ------------------------------------------------------------------- */

/* The NaN that x * y + z gives: that of an operand, made quiet, as fma.f64 does. */
static double
tile_nan_of(double x, double y, double z)
{
    double nan = f64_of_bits(0xfff8000000000000u);

    if (y != y) {
        nan = y;
    }
    else if (z != z) {
        nan = z;
    }
    else if (x != x) {
        nan = x;
    }
    return f64_of_bits(bits_of_f64(nan) | (uint64_t)1 << 51);
}

static double
tile_multiply_add(double x, double y, double z)
{
    const double sum = fma(x, y, z);

    return sum == sum ? sum : tile_nan_of(x, y, z);
}

static void
tile_multiply_doubles(const emu_tile_form *form, emu_tile *tile)
{
    static const int modes[] = {[EMU_RN] = FE_TONEAREST,
                                [EMU_RZ] = FE_TOWARDZERO,
                                [EMU_RM] = FE_DOWNWARD,
                                [EMU_RP] = FE_UPWARD};
    const int before = fegetround();

    (void)fesetround(modes[form->rounding]);
    for (unsigned i = 0; i < form->rows; i++) {
        for (unsigned j = 0; j < form->columns; j++) {
            double sum = f64_of_bits(tile->c[i][j]);

            for (unsigned k = 0; k < form->depth; k++) {
                sum = tile_multiply_add(f64_of_bits(tile->a[i][k]),
                                        f64_of_bits(tile->b[j][k]), sum);
            }
            tile->d[i][j] = bits_of_f64(sum);
        }
    }
    (void)fesetround(before);
}

/* The value of an integer element; 0 for an absent one. */
static int32_t
tile_integer(unsigned type, uint64_t bits)
{
    if (bits & EMU_TILE_ABSENT) {
        return 0;
    }
    switch (type) {
        case EMU_MATRIX_S8:
            return (int8_t)bits;
        case EMU_MATRIX_S4:
            return (int32_t)((bits & 15) ^ 8) - 8;
        default:
            return (int32_t)bits;
    }
}

static int64_t
tile_integer_product(const emu_tile_form *form, const uint64_t *a, const uint64_t *b)
{
    int64_t sum = 0;

    for (unsigned k = 0; k < form->depth; k++) {
        if (form->a_type != EMU_MATRIX_B1) {
            sum += (int64_t)tile_integer(form->a_type, a[k]) *
                   tile_integer(form->b_type, b[k]);
        }
        else if (form->is_xor) {
            sum += __builtin_popcount((uint32_t)(a[k] ^ b[k]));
        }
        else {
            sum += __builtin_popcount((uint32_t)(a[k] & b[k]));
        }
    }
    return sum;
}

static void
tile_multiply_integers(const emu_tile_form *form, emu_tile *tile)
{
    for (unsigned i = 0; i < form->rows; i++) {
        for (unsigned j = 0; j < form->columns; j++) {
            int64_t sum = (int32_t)tile->c[i][j];

            sum += tile_integer_product(form, tile->a[i], tile->b[j]);
            if (form->satfinite) {
                sum = sum > INT32_MAX ? INT32_MAX : sum;
                sum = sum < INT32_MIN ? INT32_MIN : sum;
            }
            tile->d[i][j] = (uint32_t)sum;
        }
    }
}

/* Products of wmma with C and D of two types: the tensor core adds C to products in
 * single precision, and D is rounded from that. */
static void
tile_multiply_mixed(const emu_tile_form *form, emu_tile *tile)
{
    const tile_sum_form how = {form->a_type,   form->b_type, EMU_MATRIX_F32,
                               EMU_MATRIX_F32, FRACTION,     MANTISSA};

    for (unsigned i = 0; i < form->rows; i++) {
        for (unsigned j = 0; j < form->columns; j++) {
            tile->c[i][j] = tile_float_bits(EMU_MATRIX_F32,
                                            tile_float(form->c_type, tile->c[i][j]));
        }
    }
    tile_multiply_floats(form, &how, tile);
    for (unsigned i = 0; i < form->rows; i++) {
        for (unsigned j = 0; j < form->columns; j++) {
            tile->d[i][j] =
                tile_float_bits(form->d_type, f32_of_bits((uint32_t)tile->d[i][j]));
        }
    }
}

void
emu_tile_multiply(const emu_tile_form *form, emu_tile *tile)
{
    const bool is_short = tile_is_8bit_float(form->a_type);

    if (form->a_type == EMU_MATRIX_F64) {
        tile_multiply_doubles(form, tile);
    }
    else if (form->d_type == EMU_MATRIX_S32) {
        tile_multiply_integers(form, tile);
    }
    else if (is_short && !form->is_group) {
        tile_multiply_pairs(form, tile);
    }
    else if (form->rows == 8) {
        tile_multiply_quads(form, tile);
    }
    else if (form->c_type != form->d_type) {
        tile_multiply_mixed(form, tile);
    }
    else {
        tile_sum_form how = {form->a_type, form->b_type, form->c_type,
                             form->d_type, FRACTION,     MANTISSA};

        if (is_short) {
            how.fraction = how.kept = SHORT_FRACTION;
        }
        tile_multiply_floats(form, &how, tile);
    }
}
