/* The texture unit. See sampling.h. */
#include "device/memory/sampling.h"

#include <math.h>
#include <string.h>

#include "device/base/half.h"

#ifdef __clang__
#    pragma STDC FP_CONTRACT OFF
#endif

enum { WRAP, CLAMP, MIRROR, BORDER }; /* CUaddress_mode */
enum { UNSIGNED_8 = 0x01, UNSIGNED_16, UNSIGNED_32, SIGNED_8 = 0x08, SIGNED_16 };
enum { SIGNED_32 = 0x0a, HALF = 0x10, FLOAT = 0x20 }; /* CUarray_format, as above */
enum { UNIT_STEPS = 1 << 21 };                        /* of normalised coordinates */
enum { FRACTION = 256 };                              /* steps between two texels */
enum { OUTSIDE = -1 };                                /* a texel of the border */

/* -- reading a texture object ---------------------------------------------- */

static bool
small_integer(CUarray_format format)
{
    return format == UNSIGNED_8 || format == UNSIGNED_16 || format == SIGNED_8 ||
           format == SIGNED_16;
}

/* Copy the range of levels and layers that the view names. texture.c has checked the
 * format of the view. */
static void
read_levels(emu_sampler *s, const emu_texture *t)
{
    unsigned int first = 0, last = t->level_count - 1, i;

    if (t->has_view && t->level_count > 1) {
        first = t->view.firstMipmapLevel;
        if (first > last) {
            first = last;
        }
        if (last > t->view.lastMipmapLevel) {
            last = t->view.lastMipmapLevel;
        }
        if (last < first) {
            last = first;
        }
    }
    s->level_count = last - first + 1;
    memcpy(s->levels, &t->levels[first], s->level_count * sizeof s->levels[0]);
    if (!t->has_view || !(t->flags & EMU_ARRAY_LAYERED)) {
        return;
    }
    for (i = 0; i < s->level_count; i++) {
        emu_texture_level *level = &s->levels[i];
        const size_t low = t->view.firstLayer, high = t->view.lastLayer;

        if (low < level->depth) {
            level->base += low * level->slice;
            level->depth -= low;
        }
        if (high >= low && high - low < level->depth) {
            level->depth = high - low + 1;
        }
    }
}

void
emu_sampler_read(emu_sampler *s, const emu_texture *t)
{
    const CUDA_TEXTURE_DESC *d = &t->texture;
    int i;

    s->format = t->format;
    s->channels = t->channels;
    s->element = t->element;
    s->in_line = t->resource.resType == CU_RESOURCE_TYPE_LINEAR;
    s->cubemap = (t->flags & EMU_ARRAY_CUBEMAP) != 0;
    s->normalise =
        small_integer(t->format) && !(d->flags & EMU_TEXTURE_READ_AS_INTEGER);
    s->is_float = s->normalise || t->format == HALF || t->format == FLOAT;
    s->linear = d->filterMode == 1 && s->is_float && !s->in_line;
    s->mip_linear = d->mipmapFilterMode == 1;
    s->unit_range = (d->flags & EMU_TEXTURE_NORMALIZED_COORDINATES) && !s->in_line;
    s->srgb = (d->flags & EMU_TEXTURE_SRGB) && s->normalise && t->format == UNSIGNED_8;
    s->seamless = (d->flags & EMU_TEXTURE_SEAMLESS_CUBEMAP) != 0;
    for (i = 0; i < 3; i++) {
        s->modes[i] = d->addressMode[i];
        if (s->modes[i] != BORDER && !s->unit_range) {
            s->modes[i] = CLAMP; /* WRAP and MIRROR need coordinates of [0, 1) */
        }
    }
    s->bias = d->mipmapLevelBias;
    s->least_level = d->minMipmapLevelClamp;
    s->most_level = d->maxMipmapLevelClamp;
    memcpy(s->border, d->borderColor, sizeof s->border);
    read_levels(s, t);
}

/* -- texels ---------------------------------------------------------------- */

static uint32_t
float_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float
bits_float(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The values of sRGB bytes on an H200, in steps of 1 / SRGB_ONE: the inverse of the
 * transfer function of IEC 61966-2-1 with at most eight significant bits. */
enum { SRGB_ONE = 1 << 14 };

/* clang-format off */
static const uint16_t from_srgb[256] = {
    0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 66,
    72, 78, 85, 92, 99, 107, 115, 123, 131, 140, 150, 159, 169, 180,
    190, 201, 213, 224, 236, 250, 262, 276, 290, 304, 318, 332, 348, 364,
    380, 396, 412, 430, 448, 466, 484, 504, 524, 544, 564, 584, 604, 624,
    648, 672, 692, 716, 740, 764, 788, 816, 840, 864, 896, 920, 944, 976,
    1000, 1032, 1064, 1088, 1120, 1152, 1184, 1216, 1248, 1280, 1312, 1352, 1384, 1416,
    1456, 1488, 1528, 1560, 1600, 1640, 1672, 1712, 1752, 1792, 1832, 1872, 1920, 1952,
    2000, 2048, 2080, 2128, 2176, 2224, 2272, 2320, 2368, 2416, 2464, 2512, 2560, 2608,
    2656, 2704, 2752, 2816, 2864, 2912, 2976, 3024, 3072, 3136, 3184, 3248, 3296, 3360,
    3424, 3472, 3536, 3600, 3664, 3712, 3776, 3840, 3904, 3968, 4032, 4096, 4160, 4224,
    4288, 4352, 4416, 4512, 4576, 4640, 4704, 4768, 4864, 4928, 4992, 5056, 5152, 5216,
    5280, 5376, 5440, 5536, 5600, 5696, 5760, 5824, 5920, 6016, 6080, 6176, 6240, 6336,
    6400, 6496, 6592, 6688, 6752, 6848, 6944, 7008, 7104, 7200, 7296, 7392, 7488, 7584,
    7680, 7744, 7872, 7936, 8064, 8128, 8256, 8320, 8448, 8512, 8640, 8768, 8832, 8960,
    9024, 9152, 9280, 9344, 9472, 9600, 9664, 9792, 9920, 9984, 10112, 10240, 10304, 10432,
    10560, 10688, 10816, 10880, 11008, 11136, 11264, 11392, 11456, 11584, 11712, 11840, 11968, 12096,
    12224, 12352, 12480, 12608, 12736, 12864, 12992, 13120, 13248, 13376, 13504, 13632, 13760, 13888,
    14016, 14144, 14272, 14400, 14528, 14656, 14848, 14976, 15104, 15232, 15360, 15488, 15616, 15744,
    16000, 16128, 16256, 16384,
};
/* clang-format on */

/* The value of one channel of a normalised format. The least signed integer is a little
 * below -1. */
static float
normalised_channel(const emu_sampler *s, const uint8_t *at, unsigned int c)
{
    uint16_t word;

    switch (s->format) {
        case UNSIGNED_8:
            if (s->srgb && c < 3) {
                return (float)from_srgb[at[c]] / SRGB_ONE;
            }
            return (float)at[c] / 255.0f;
        case SIGNED_8:
            return (float)(int8_t)at[c] / 127.0f;
        case UNSIGNED_16:
            memcpy(&word, at + (size_t)2 * c, sizeof word);
            return (float)word / 65535.0f;
        default: /* SIGNED_16 */
            memcpy(&word, at + (size_t)2 * c, sizeof word);
            return (float)(int16_t)word / 32767.0f;
    }
}

/* The bits of one channel: a float or a widened integer. */
static uint32_t
channel(const emu_sampler *s, const uint8_t *at, unsigned int c)
{
    uint16_t word;
    uint32_t whole;

    if (s->normalise) {
        return float_bits(normalised_channel(s, at, c));
    }
    switch (s->format) {
        case UNSIGNED_8:
            return at[c];
        case SIGNED_8:
            return (uint32_t)(int32_t)(int8_t)at[c];
        case UNSIGNED_16:
            memcpy(&word, at + (size_t)2 * c, sizeof word);
            return word;
        case SIGNED_16:
            memcpy(&word, at + (size_t)2 * c, sizeof word);
            return (uint32_t)(int32_t)(int16_t)word;
        case HALF:
            memcpy(&word, at + (size_t)2 * c, sizeof word);
            if ((word & 0x7c00) == 0x7c00) { /* keep a signalling NaN */
                return (word & 0x8000u) << 16 | 0x7f800000 | (word & 0x3ffu) << 13;
            }
            return float_bits((float)emu_half_value(word, EMU_F16));
        default:
            memcpy(&whole, at + (size_t)4 * c, sizeof whole);
            return whole;
    }
}

/* Set the channels that the format lacks, alpha too, to 0. */
static void
fill_channels(const emu_sampler *s, uint32_t out[4])
{
    unsigned int c;

    for (c = s->channels; c < 4; c++) {
        out[c] = 0;
    }
}

/* Read one texel; z is a slice, a layer or a face. If one of them is OUTSIDE, read the
 * border. */
static void
tap(const emu_sampler *s, const emu_texture_level *level, int64_t x, int64_t y,
    int64_t z, uint32_t out[4])
{
    unsigned int c;
    const uint8_t *at;

    if (x < 0 || y < 0 || z < 0 || (uint64_t)x >= level->width ||
        (uint64_t)y >= level->height || (uint64_t)z >= level->depth) {
        memcpy(out, s->border, 4 * sizeof *out);
        fill_channels(s, out);
        return;
    }
    at = (const uint8_t *)(uintptr_t)(level->base + (uint64_t)z * level->slice +
                                      (uint64_t)y * level->pitch +
                                      (uint64_t)x * s->element);
    for (c = 0; c < s->channels; c++) {
        out[c] = channel(s, at, c);
    }
    fill_channels(s, out);
}

/* Read one texel as a program sees it: the least normalised value is -1. */
static void
texel(const emu_sampler *s, const emu_texture_level *level, int64_t x, int64_t y,
      int64_t z, uint32_t out[4])
{
    unsigned int c;

    tap(s, level, x, y, z, out);
    if (s->normalise && (s->format == SIGNED_8 || s->format == SIGNED_16)) {
        for (c = 0; c < s->channels; c++) {
            if (bits_float(out[c]) < -1.0f) {
                out[c] = float_bits(-1.0f);
            }
        }
    }
}

/* -- coordinates ----------------------------------------------------------- */

/* The index within [0, n) that is nearest to k. */
static int64_t
clamp_index(int64_t k, int64_t n)
{
    if (k < 0) {
        return 0;
    }
    if (k >= n) {
        return n - 1;
    }
    return k;
}

/* The remainder of k, at least 0. */
static int64_t
wrap_index(int64_t k, int64_t n)
{
    k %= n;
    if (k < 0) {
        k += n;
    }
    return k;
}

/* The texel that the address mode gives for index k of n. */
static int64_t
resolve(CUaddress_mode mode, int64_t k, int64_t n)
{
    switch (mode) {
        case WRAP:
            return wrap_index(k, n);
        case MIRROR:
            k = wrap_index(k, 2 * n);
            return k < n ? k : 2 * n - 1 - k;
        case BORDER:
            return k < 0 || k >= n ? OUTSIDE : k;
        default:
            return clamp_index(k, n);
    }
}

/* The place of a coordinate in texels, bounded so that it can be converted to an
 * integer. A coordinate of [0, 1) is truncated to UNIT_STEPS first. */
static double
position(const emu_sampler *s, CUaddress_mode mode, float x, size_t n)
{
    double u = x;

    if (u != u || (isinf(u) && (mode == WRAP || mode == MIRROR))) {
        return 0.0;
    }
    if (s->unit_range) {
        if (mode == WRAP) {
            u -= floor(u);
        }
        else if (mode == MIRROR) {
            u -= 2.0 * floor(0.5 * u);
        }
        u = floor(u * UNIT_STEPS) / UNIT_STEPS * (double)n;
    }
    if (mode == CLAMP || mode == BORDER) {
        u = fmin(fmax(u, -64.0), (double)n + 64.0);
    }
    return u;
}

/* The texels along one side, and the weight of the second one. */
typedef struct {
    int64_t k[2];
    int weight; /* of FRACTION */
} axis;

static axis
point_axis(CUaddress_mode mode, double u, int32_t offset, size_t n)
{
    const int64_t k = resolve(mode, (int64_t)floor(u) + offset, (int64_t)n);

    return (axis){{k, k}, 0};
}

/* The hardware rounds u - 0.5 to the nearest 1 / 256, halves upwards. Beyond an edge
 * both texels are the same one, and it has all the weight. */
static axis
linear_axis(CUaddress_mode mode, double u, int32_t offset, size_t n)
{
    const int64_t fixed = (int64_t)floor((u - 0.5) * FRACTION + 0.5);
    const int weight = (int)(fixed & (FRACTION - 1));
    const int64_t k = (fixed - weight) / FRACTION + offset;
    const int64_t first = resolve(mode, k, (int64_t)n);
    const int64_t second = resolve(mode, k + 1, (int64_t)n);

    return (axis){{first, second}, first == second ? 0 : weight};
}

/* The layer of the instruction is unsigned: a negative one is beyond the last. */
static int64_t
given_layer(const emu_fetch *fetch)
{
    return (int64_t)(uint32_t)fetch->layer;
}

static int64_t
clamp_layer(int64_t layer, size_t count)
{
    return clamp_index(layer, (int64_t)count);
}

/* -- cubes ----------------------------------------------------------------- */

/* Faces are +x -x +y -y +z -z. On each, s goes right, t down, m out of the cube: which
 * part of the direction each is, and its sign. */
typedef struct {
    uint8_t s, t, m;
    int8_t s_sign, t_sign, m_sign;
} face_axes;

static const face_axes faces[6] = {{2, 1, 0, -1, -1, 1}, {2, 1, 0, 1, -1, -1},
                                   {0, 2, 1, 1, 1, 1},   {0, 2, 1, 1, -1, -1},
                                   {0, 1, 2, 1, -1, 1},  {0, 1, 2, -1, -1, -1}};

/* If components are equal, z goes before y, y before x. */
static unsigned
choose_face(const float d[3])
{
    const float x = fabsf(d[0]), y = fabsf(d[1]), z = fabsf(d[2]);

    if (z >= x && z >= y) {
        return d[2] < 0.0f ? 5 : 4;
    }
    if (y >= x) {
        return d[1] < 0.0f ? 3 : 2;
    }
    return d[0] < 0.0f ? 1 : 0;
}

/* The coordinates on the face, each of [0, 1]. */
static void
project(const float d[3], unsigned face, double out[2])
{
    const face_axes *f = &faces[face];
    const double m = fabs((double)d[f->m]);

    out[0] = 0.5 * (f->s_sign * (double)d[f->s] / m + 1.0);
    out[1] = 0.5 * (f->t_sign * (double)d[f->t] / m + 1.0);
    if (!(out[0] >= 0.0 && out[0] <= 1.0)) {
        out[0] = 0.5; /* a zero, infinite or undefined direction */
    }
    if (!(out[1] >= 0.0 && out[1] <= 1.0)) {
        out[1] = 0.5;
    }
}

/* Move a texel that is one step beyond an edge to the face that it belongs to. Texel
 * centres are at odd places of a cube whose sides go from -n to n. */
static void
cross_edge(unsigned *face, int64_t *x, int64_t *y, int64_t n)
{
    const face_axes *f = &faces[*face];
    int64_t p[3], s = 2 * *x + 1 - n, t = 2 * *y + 1 - n;
    unsigned out = s > n || s < -n ? f->s : f->t, next;

    p[f->s] = s * f->s_sign;
    p[f->t] = t * f->t_sign;
    p[f->m] = (n - 1) * f->m_sign; /* one step down the neighbour */
    next = 2 * out + (p[out] < 0);
    f = &faces[next];
    *face = next;
    *x = (p[f->s] * f->s_sign + n - 1) / 2;
    *y = (p[f->t] * f->t_sign + n - 1) / 2;
}

static bool
beyond(int64_t k, int64_t n)
{
    return k < 0 || k >= n;
}

/* Read a texel for a seamless filter. False: the place is a corner, which has no texel.
 */
static bool
seamless_texel(const emu_sampler *s, const emu_texture_level *level, int64_t first,
               unsigned face, int64_t x, int64_t y, uint32_t out[4])
{
    const int64_t n = (int64_t)level->width;

    if (beyond(x, n) && beyond(y, n)) {
        return false;
    }
    if (beyond(x, n) || beyond(y, n)) {
        cross_edge(&face, &x, &y, n);
    }
    tap(s, level, x, y, clamp_layer(first + face, level->depth), out);
    return true;
}

/* -- filters --------------------------------------------------------------- */

/* How the filter adds one channel: integers in whole units; floats truncated to `bits`
 * bits below the leading bit of the greatest, and then rounded to `rounded` bits. */
typedef struct {
    double unit;              /* 0: floats */
    int bits, rounded, least; /* least: the exponent of subnormal numbers */
} arithmetic;

static arithmetic
arithmetic_of(const emu_sampler *s, unsigned c)
{
    static const arithmetic half = {0.0, 15, 11, -13}, whole = {0.0, 28, 24, -125};

    if (s->format == HALF || (s->srgb && c < 3)) {
        return half;
    }
    if (!s->linear || !s->normalise) {
        return whole;
    }
    switch (s->format) {
        case SIGNED_8:
            return (arithmetic){127.0, 0, 0, 0};
        case SIGNED_16:
            return (arithmetic){32767.0, 0, 0, 0};
        default:
            return (arithmetic){65535.0, 0, 0, 0};
    }
}

/* A channel of a texel, in units. */
static double
in_units(const emu_sampler *s, unsigned c, uint32_t bits)
{
    const double unit = arithmetic_of(s, c).unit, value = bits_float(bits);

    if (unit == 0.0) {
        return value;
    }
    return floor(value * unit + 0.5);
}

/* Round to `bits` significant bits, halves away from zero. */
static double
nearest(double value, int bits, int least)
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

/* Round the sum of a filter. The result has the width of the texels, except that
 * integers are widened to 16 bits; signed integers of 8 bits get three more bits from
 * the wider unit. */
static uint32_t
filtered(const emu_sampler *s, unsigned c, double sum)
{
    const arithmetic a = arithmetic_of(s, c);
    double result;

    if (a.unit == 0.0) {
        result = nearest(sum, a.rounded, a.least);
        if (a.rounded == 11 && fabs(result) > 65504.0) {
            result = copysign(INFINITY, result);
        }
        return float_bits((float)result);
    }
    if (a.unit == 127.0) {
        sum = 258.0 * sum + floor(sum / 16.0) / 8.0;
    }
    result = floor(sum + 0.5);
    if (a.unit == 65535.0) {
        return float_bits((float)(result / 65535.0));
    }
    if (result < -32767.0) {
        return float_bits(-1.0f);
    }
    return float_bits((float)(result / 32767.0));
}

/* Divide a weight between two neighbours at a place of `place` / FRACTION between them.
 * The second one gets the nearest whole number, with a half rounded up or down. */
static void
divide(int whole, int place, bool up, int parts[2])
{
    parts[1] = (whole * place + FRACTION / 2 - !up) / FRACTION;
    parts[0] = whole - parts[1];
}

/* The weights of the eight texels around a place; bits 0, 1 and 2 of the index choose
 * the second texel along x, y and z. The weights are multiples of 1 / FRACTION, and
 * their sum is one, divided along z, then x, then y. (Measured on an H200 at all 65,536
 * places of x and y in 14 planes of z.) */
static void
weigh(int x, int y, int z, int weights[8])
{
    const int layers[2] = {FRACTION - z, z};
    int layer, side, columns[2], rows[2];

    for (layer = 0; layer < 2; layer++) {
        divide(layers[layer], x, true, columns);
        for (side = 0; side < 2; side++) {
            divide(columns[side], y, side, rows);
            weights[layer << 2 | side] = rows[0];
            weights[layer << 2 | 2 | side] = rows[1];
        }
    }
}

/* The sum of the weighted texels of a layer. Floats are aligned to the greatest of them
 * and truncated; after that the sum is exact. A texel of weight 0 is ignored, so that
 * an infinity beside the place has no effect. */
static double
blend(arithmetic a, const double texels[4], const int weights[4])
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
    return sum / FRACTION;
}

/* A texture of one dimension is filtered between rows -1 and 0, which are equal. So if
 * the mode of y is the border, half of the result is the border. */
static bool
half_is_border(const emu_sampler *s, unsigned geometry)
{
    return geometry == EMU_GEOMETRY_1D && s->modes[1] == BORDER;
}

/* The sums of the texels of both layers; filtered() rounds them. */
static void
filter(const emu_sampler *s, const emu_texture_level *level, const axis sides[3],
       unsigned count, int64_t layer, double out[4])
{
    unsigned corner, k, c;
    int weights[8];
    double values[4][8] = {{0.0}};

    weigh(sides[0].weight, count > 1 ? sides[1].weight : 0,
          count > 2 ? sides[2].weight : 0, weights);
    for (corner = 0; corner < 1u << count; corner++) {
        int64_t at[3] = {0, 0, layer};
        uint32_t bits[4];

        for (k = 0; k < count; k++) {
            at[k] = sides[k].k[corner >> k & 1];
        }
        if (weights[corner] == 0) {
            continue;
        }
        tap(s, level, at[0], at[1], at[2], bits);
        for (c = 0; c < 4; c++) {
            values[c][corner] = in_units(s, c, bits[c]);
        }
    }
    for (c = 0; c < 4; c++) {
        const arithmetic a = arithmetic_of(s, c);

        out[c] = blend(a, values[c], weights) + blend(a, values[c] + 4, weights + 4);
    }
}

/* Filter across the edges of a cube. The weight of a corner, which has no texel, goes
 * to the other three texels in equal parts. */
static void
filter_seamless(const emu_sampler *s, const emu_texture_level *level, int64_t first,
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
        const int64_t fixed = (int64_t)floor((place[c] * n - 0.5) * FRACTION + 0.5);
        const int64_t part = fixed & (FRACTION - 1);

        k[c] = (fixed - part) / FRACTION;
        w[c] = (int)part;
    }
    weigh(w[0], w[1], 0, square);
    for (tap = 0; tap < 4; tap++) {
        const unsigned right = tap & 1, down = tap >> 1;

        weights[tap] = (double)square[tap] / FRACTION;
        if (!seamless_texel(s, level, first, face, k[0] + right, k[1] + down,
                            bits[tap])) {
            spare = weights[tap];
            weights[tap] = -1.0;
        }
    }
    for (tap = 0; tap < 4; tap++) {
        const double weight = weights[tap] + spare / 3.0;

        for (c = 0; c < 4 && weights[tap] >= 0.0 && weight > 0.0; c++) {
            out[c] += weight * in_units(s, c, bits[tap][c]);
        }
    }
}

/* -- one level ------------------------------------------------------------- */

/* The texels of a fetch along each side, and the layer. For a cube the sides are those
 * of the face, and the layer is the face. Returns the number of sides. */
static unsigned
sides_of(const emu_sampler *s, const emu_texture_level *level, const emu_fetch *fetch,
         bool linear, axis sides[3], int64_t *layer)
{
    const size_t sizes[3] = {level->width, level->height, level->depth};
    unsigned count = emu_geometry_sides(fetch->geometry), k;
    const bool cube =
        fetch->geometry == EMU_GEOMETRY_CUBE || fetch->geometry == EMU_GEOMETRY_ACUBE;
    double place[2];

    memset(sides, 0, 3 * sizeof *sides);
    *layer = 0;
    if (emu_geometry_layered(fetch->geometry)) {
        *layer = given_layer(fetch);
    }
    if (cube) {
        const unsigned face = choose_face(fetch->at);

        project(fetch->at, face, place);
        *layer = clamp_layer(*layer, (level->depth + 5) / 6) * 6 + face;
        count = 2;
    }
    *layer = clamp_layer(*layer, level->depth);
    for (k = 0; k < count && k < 3; k++) {
        CUaddress_mode mode = CLAMP;
        double u;

        if (cube) {
            u = place[k] * (double)sizes[k];
        }
        else {
            mode = s->modes[k];
            u = position(s, mode, fetch->at[k], sizes[k]);
        }
        if (linear) {
            sides[k] = linear_axis(mode, u, fetch->offset[k], sizes[k]);
        }
        else {
            sides[k] = point_axis(mode, u, fetch->offset[k], sizes[k]);
        }
    }
    return count;
}

static void
sample_level(const emu_sampler *s, unsigned int number, const emu_fetch *fetch,
             double out[4])
{
    const emu_texture_level *level = &s->levels[number];
    axis sides[3];
    int64_t layer;
    unsigned count;

    if (s->seamless && s->cubemap && fetch->geometry >= EMU_GEOMETRY_CUBE) {
        const unsigned face = choose_face(fetch->at);
        double place[2];

        layer = 0;
        if (fetch->geometry == EMU_GEOMETRY_ACUBE) {
            layer = given_layer(fetch);
        }
        project(fetch->at, face, place);
        filter_seamless(s, level, clamp_layer(layer, level->depth / 6) * 6, face, place,
                        out);
        return;
    }
    count = sides_of(s, level, fetch, true, sides, &layer);
    if (half_is_border(s, fetch->geometry)) {
        sides[count++] = (axis){{OUTSIDE, 0}, FRACTION / 2};
    }
    filter(s, level, sides, count, layer, out);
}

static void
sample_point(const emu_sampler *s, unsigned int number, const emu_fetch *fetch,
             uint32_t out[4])
{
    const emu_texture_level *level = &s->levels[number];
    int64_t at[3] = {0, 0, 0}, layer;
    axis sides[3];
    unsigned count = sides_of(s, level, fetch, false, sides, &layer), k;

    at[2] = layer;
    for (k = 0; k < count; k++) {
        at[k] = sides[k].k[0];
    }
    texel(s, level, at[0], at[1], at[2], out);
}

/* -- levels ---------------------------------------------------------------- */

/* The level of a fetch in steps of 1 / FRACTION. */
static unsigned int
fixed_level(const emu_sampler *s, float level)
{
    const double most = (double)(s->level_count - 1);
    double lod = (double)level + (double)s->bias;

    if (s->level_count <= 1) {
        return 0;
    }
    if (lod > (double)s->most_level) {
        lod = (double)s->most_level;
    }
    if (!(lod > (double)s->least_level)) { /* NaN too */
        lod = (double)s->least_level;
    }
    if (!(lod > 0.0)) {
        lod = 0.0;
    }
    if (lod > most) {
        lod = most;
    }
    return (unsigned int)(FRACTION * lod + 0.5);
}

void
emu_sample(const emu_sampler *s, const emu_fetch *fetch, uint32_t out[4])
{
    const unsigned int fixed = fixed_level(s, fetch->level);
    unsigned int below = fixed / FRACTION, part = fixed % FRACTION, c;
    double sum[4], next[4];

    if (!s->mip_linear || !s->is_float) {
        below += part >= FRACTION / 2;
        part = 0;
    }
    if (s->in_line) {
        const double u = position(s, BORDER, fetch->at[0], s->levels[0].width);
        const int32_t at[3] = {(int32_t)floor(u < INT32_MAX ? u : INT32_MAX), 0, 0};

        emu_sample_texel(s, fetch, at, out);
        return;
    }
    if (!s->linear && part == 0) {
        sample_point(s, below, fetch, out);
        return;
    }
    for (c = 0; c < 4; c++) {
        sum[c] = next[c] = 0.0;
    }
    if (s->linear) {
        sample_level(s, below, fetch, sum);
        if (part) {
            sample_level(s, below + 1, fetch, next);
        }
    }
    else {
        uint32_t bits[2][4];

        sample_point(s, below, fetch, bits[0]);
        sample_point(s, below + 1, fetch, bits[1]);
        for (c = 0; c < 4; c++) {
            sum[c] = (double)bits_float(bits[0][c]);
            next[c] = (double)bits_float(bits[1][c]);
        }
    }
    for (c = 0; c < 4; c++) {
        if (part) {
            sum[c] += (next[c] - sum[c]) * ((double)part / FRACTION);
        }
        out[c] = filtered(s, c, sum[c]);
    }
}

void
emu_sample_texel(const emu_sampler *s, const emu_fetch *fetch, const int32_t at[3],
                 uint32_t out[4])
{
    const unsigned int fixed = fixed_level(s, fetch->level);
    const emu_texture_level *level = &s->levels[(fixed + FRACTION / 2) / FRACTION];
    const size_t sizes[3] = {level->width, level->height, level->depth};
    const unsigned count = emu_geometry_sides(fetch->geometry);
    int64_t place[3] = {0, 0, 0};
    unsigned k;

    if (s->in_line) {
        /* texels beyond linear memory are 0 in every address mode */
        const int64_t x = (int64_t)at[0] + fetch->offset[0];

        if (x < 0 || x >= (int64_t)level->width) {
            memset(out, 0, 4 * sizeof *out);
            fill_channels(s, out);
            return;
        }
        texel(s, level, x, 0, 0, out);
        return;
    }
    if (emu_geometry_layered(fetch->geometry)) {
        place[2] = clamp_layer(given_layer(fetch), level->depth);
    }
    for (k = 0; k < count; k++) {
        place[k] = resolve(s->modes[k] == BORDER ? BORDER : CLAMP,
                           (int64_t)at[k] + fetch->offset[k], (int64_t)sizes[k]);
    }
    texel(s, level, place[0], place[1], place[2], out);
}

/* A gather returns the NaN of arithmetic and no subnormal numbers, unlike a fetch. */
static uint32_t
gathered(uint32_t bits)
{
    if ((bits & 0x7fffffff) > 0x7f800000) {
        return 0x7fffffff;
    }
    if (!(bits & 0x7f800000)) {
        return bits & 0x80000000;
    }
    return bits;
}

void
emu_sample_gather(const emu_sampler *s, const emu_fetch *fetch, unsigned channel_number,
                  uint32_t out[4])
{
    static const uint8_t order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    const emu_texture_level *level = &s->levels[0];
    uint32_t bits[4];
    axis sides[3];
    int64_t layer;
    unsigned k;

    (void)sides_of(s, level, fetch, true, sides, &layer);
    for (k = 0; k < 4; k++) {
        texel(s, level, sides[0].k[order[k][0]], sides[1].k[order[k][1]], layer, bits);
        out[k] = bits[channel_number];
        if (s->is_float) {
            out[k] = gathered(out[k]);
        }
    }
}

/* -- derivatives ----------------------------------------------------------- */

/* The square of the number of texels of level 0 that a derivative crosses. */
static double
steps(const emu_sampler *s, const emu_fetch *fetch, const float d[3])
{
    const emu_texture_level *level = &s->levels[0];
    const size_t sizes[3] = {level->width, level->height, level->depth};
    const unsigned count = emu_geometry_sides(fetch->geometry);
    double sum = 0.0;
    unsigned k;

    if (fetch->geometry >= EMU_GEOMETRY_CUBE) {
        const face_axes *f = &faces[choose_face(fetch->at)];
        const double m = fabs((double)fetch->at[f->m]), n = (double)level->width;
        const double dm = (double)d[f->m] * f->m_sign;
        const double s_part =
            f->s_sign * ((double)d[f->s] * m - (double)fetch->at[f->s] * dm);
        const double t_part =
            f->t_sign * ((double)d[f->t] * m - (double)fetch->at[f->t] * dm);

        return (s_part * s_part + t_part * t_part) * 0.25 * n * n / (m * m * m * m);
    }
    for (k = 0; k < count && k < 3; k++) {
        const double step = (double)d[k] * (s->unit_range ? (double)sizes[k] : 1.0);

        sum += step * step;
    }
    return sum;
}

float
emu_sample_level(const emu_sampler *s, const emu_fetch *fetch, const float dx[3],
                 const float dy[3])
{
    const double x = steps(s, fetch, dx), y = steps(s, fetch, dy);

    return (float)(0.5 * log2(x > y ? x : y));
}
