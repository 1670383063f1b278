/* Linear filters. See filter.h. */
#include "device/memory/filter.h"

#include <math.h>
#include <string.h>

#include "device/memory/cube.h"
#include "device/memory/texel.h"

#ifdef __clang__
#    pragma STDC FP_CONTRACT OFF
#endif

/* Whether an index is outside a face with n texels on a side. */
static bool
filter_is_beyond(int64_t k, int64_t n)
{
    return k < 0 || k >= n;
}

/* Read a texel for a seamless filter. False: the place is a corner, which has no texel.
 */
static bool
filter_seamless_texel(const emu_sampler *s, const emu_texture_level *level,
                      int64_t first, unsigned face, int64_t x, int64_t y,
                      uint32_t out[4])
{
    const int64_t n = (int64_t)level->width;

    if (filter_is_beyond(x, n) && filter_is_beyond(y, n)) {
        return false;
    }
    if (filter_is_beyond(x, n) || filter_is_beyond(y, n)) {
        emu_cube_cross_edge(&face, &x, &y, n);
    }
    emu_texel_tap(s, level, x, y, emu_clamp_layer(first + face, level->depth), out);
    return true;
}

/* How the filter adds one channel: integers in whole units; floats truncated to `bits`
 * bits below the leading bit of the greatest, and then rounded to `rounded` bits. */
typedef struct {
    double unit;              /* 0: floats */
    int bits, rounded, least; /* least: the exponent of subnormal numbers */
} filter_arithmetic;

static filter_arithmetic
filter_arithmetic_of(const emu_sampler *s, unsigned c)
{
    static const filter_arithmetic half = {0.0, 15, 11, -13},
                                   whole = {0.0, 28, 24, -125};

    if (s->format == CU_AD_FORMAT_HALF || (s->srgb && c < 3)) {
        return half;
    }
    if (!s->linear || !s->normalise) {
        return whole;
    }
    switch (s->format) {
        case CU_AD_FORMAT_SIGNED_INT8:
            return (filter_arithmetic){127.0, 0, 0, 0};
        case CU_AD_FORMAT_SIGNED_INT16:
            return (filter_arithmetic){32767.0, 0, 0, 0};
        default:
            return (filter_arithmetic){65535.0, 0, 0, 0};
    }
}

/* A channel of a texel, in units. */
static double
filter_in_units(const emu_sampler *s, unsigned c, uint32_t bits)
{
    const double unit = filter_arithmetic_of(s, c).unit, value = f32_of_bits(bits);

    if (unit == 0.0) {
        return value;
    }
    return floor(value * unit + 0.5);
}

/* Round to `bits` significant bits, halves away from zero. */
static double
filter_nearest(double value, int bits, int least)
{
    int exponent;

    if (!isfinite(value)) {
        return value;
    }
    frexp(value, &exponent);
    if (exponent < least) {
        exponent = least;
    }
    return copysign(
        ldexp(floor(ldexp(fabs(value), bits - exponent) + 0.5), exponent - bits),
        value);
}

/* The result has the width of the texels, except that
 * integers are widened to 16 bits; signed integers of 8 bits get three more bits from
 * the wider unit. */
uint32_t
emu_filter_round(const emu_sampler *s, unsigned c, double sum)
{
    const filter_arithmetic a = filter_arithmetic_of(s, c);
    double result;

    if (a.unit == 0.0) {
        result = filter_nearest(sum, a.rounded, a.least);
        if (a.rounded == 11 && fabs(result) > 65504.0) {
            result = copysign(INFINITY, result);
        }
        return bits_of_f32((float)result);
    }
    if (a.unit == 127.0) {
        sum = 258.0 * sum + floor(sum / 16.0) / 8.0;
    }
    result = floor(sum + 0.5);
    if (a.unit == 65535.0) {
        return bits_of_f32((float)(result / 65535.0));
    }
    if (result < -32767.0) {
        return bits_of_f32(-1.0f);
    }
    return bits_of_f32((float)(result / 32767.0));
}

/* Divide a weight between two neighbours at a place of `place` / EMU_FRACTION between
 * them. The second one gets the nearest whole number, with a half rounded up or down.
 */
static void
filter_divide(int whole, int place, bool up, int parts[2])
{
    parts[1] = (whole * place + EMU_FRACTION / 2 - !up) / EMU_FRACTION;
    parts[0] = whole - parts[1];
}

/* The weights of the eight texels around a place; bits 0, 1 and 2 of the index choose
 * the second texel along x, y and z. The weights are multiples of 1 / EMU_FRACTION, and
 * their sum is one, divided along z, then x, then y. (Measured on an H200 at all 65,536
 * places of x and y in 14 planes of z.) */
static void
filter_weigh(int x, int y, int z, int weights[8])
{
    const int layers[2] = {EMU_FRACTION - z, z};
    int layer, side, columns[2], rows[2];

    for (layer = 0; layer < 2; layer++) {
        filter_divide(layers[layer], x, true, columns);
        for (side = 0; side < 2; side++) {
            filter_divide(columns[side], y, side, rows);
            weights[layer << 2 | side] = rows[0];
            weights[layer << 2 | 2 | side] = rows[1];
        }
    }
}

/* The sum of the weighted texels of a layer. Floats are aligned to the greatest of them
 * and truncated; after that the sum is exact. A texel of weight 0 is ignored, so that
 * an infinity beside the place has no effect. */
static double
filter_blend(filter_arithmetic a, const double texels[4], const int weights[4])
{
    double most = 0.0, sum = 0.0;
    int k, shift = 0;

    for (k = 0; k < 4; k++) {
        if (weights[k] && isfinite(texels[k]) && fabs(texels[k]) > most) {
            most = fabs(texels[k]);
        }
    }
    frexp(most, &shift);
    shift = a.bits - shift;
    for (k = 0; k < 4; k++) {
        double value = texels[k];

        if (weights[k] == 0) {
            continue;
        }
        if (a.unit == 0.0) {
            value = ldexp(trunc(ldexp(value, shift)), -shift);
        }
        sum += weights[k] * value;
    }
    return sum / EMU_FRACTION;
}

/* The sum of a channel is the sum of both layers. */
void
emu_filter(const emu_sampler *s, const emu_texture_level *level,
           const emu_axis sides[3], unsigned count, int64_t layer, double out[4])
{
    unsigned corner, k, c;
    int places[3] = {0, 0, 0}, weights[8];
    double values[4][8] = {{0.0}};

    for (k = 0; k < count; k++) {
        places[k] = sides[k].weight;
    }
    filter_weigh(places[0], places[1], places[2], weights);
    for (corner = 0; corner < 1u << count; corner++) {
        int64_t at[3] = {0, 0, layer};
        uint32_t bits[4];

        for (k = 0; k < count; k++) {
            at[k] = sides[k].k[corner >> k & 1];
        }
        if (weights[corner] == 0) {
            continue;
        }
        emu_texel_tap(s, level, at[0], at[1], at[2], bits);
        for (c = 0; c < 4; c++) {
            values[c][corner] = filter_in_units(s, c, bits[c]);
        }
    }
    for (c = 0; c < 4; c++) {
        const filter_arithmetic a = filter_arithmetic_of(s, c);

        out[c] = filter_blend(a, values[c], weights) +
                 filter_blend(a, values[c] + 4, weights + 4);
    }
}

/* Filter across the edges of a cube. The weight of a corner, which has no texel, goes
 * to the other three texels in equal parts. */
void
emu_filter_seamless(const emu_sampler *s, const emu_texture_level *level, int64_t first,
                    unsigned face, const double place[2], double out[4])
{
    const double n = (double)level->width;
    double weights[4], spare = 0.0;
    int square[8];
    uint32_t bits[4][4];
    unsigned tap, c;
    int64_t k[2];
    int w[2];

    memset(out, 0, 4 * sizeof *out);
    for (c = 0; c < 2; c++) {
        const int64_t fixed = (int64_t)floor((place[c] * n - 0.5) * EMU_FRACTION + 0.5);
        const int64_t part = fixed & (EMU_FRACTION - 1);

        k[c] = (fixed - part) / EMU_FRACTION;
        w[c] = (int)part;
    }
    filter_weigh(w[0], w[1], 0, square);
    for (tap = 0; tap < 4; tap++) {
        const unsigned right = tap & 1, down = tap >> 1;

        weights[tap] = (double)square[tap] / EMU_FRACTION;
        if (!filter_seamless_texel(s, level, first, face, k[0] + right, k[1] + down,
                                   bits[tap])) {
            spare = weights[tap];
            weights[tap] = -1.0;
        }
    }
    for (tap = 0; tap < 4; tap++) {
        const double weight = weights[tap] + spare / 3.0;

        for (c = 0; c < 4 && weights[tap] >= 0.0 && weight > 0.0; c++) {
            out[c] += weight * filter_in_units(s, c, bits[tap][c]);
        }
    }
}
