/* Sampling: one fetch of one thread from a texture. See texture.h. */
#include "device/memory/texture.h"

#include <math.h>
#include <string.h>

#ifdef __clang__
#    pragma STDC FP_CONTRACT OFF
#endif

/* -- samplers ---------------------------------------------------------------------- */

static bool
sampler_is_small_integer(CUarray_format format)
{
    return format == CU_AD_FORMAT_UNSIGNED_INT8 ||
           format == CU_AD_FORMAT_UNSIGNED_INT16 ||
           format == CU_AD_FORMAT_SIGNED_INT8 || format == CU_AD_FORMAT_SIGNED_INT16;
}

/* Copy the range of levels and layers that the view names. texture.c has checked the
 * format of the view. */
static void
sampler_read_levels(emu_sampler *s, const emu_texture *t)
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
    s->normalise = sampler_is_small_integer(t->format) &&
                   !(d->flags & EMU_TEXTURE_READ_AS_INTEGER);
    s->is_float = s->normalise || t->format == CU_AD_FORMAT_HALF ||
                  t->format == CU_AD_FORMAT_FLOAT;
    s->linear = d->filterMode == 1 && !s->in_line;
    s->mip_linear = d->mipmapFilterMode == 1;
    s->unit_range = (d->flags & EMU_TEXTURE_NORMALIZED_COORDINATES) && !s->in_line;
    s->srgb = (d->flags & EMU_TEXTURE_SRGB) && s->normalise &&
              t->format == CU_AD_FORMAT_UNSIGNED_INT8;
    s->seamless = (d->flags & EMU_TEXTURE_SEAMLESS_CUBEMAP) != 0;
    for (i = 0; i < 3; i++) {
        s->modes[i] = d->addressMode[i];
        if (s->modes[i] != CU_TR_ADDRESS_MODE_BORDER && !s->unit_range) {
            /* wrapping and mirroring need coordinates of [0, 1) */
            s->modes[i] = CU_TR_ADDRESS_MODE_CLAMP;
        }
    }
    s->bias = d->mipmapLevelBias;
    s->least_level = d->minMipmapLevelClamp;
    s->most_level = d->maxMipmapLevelClamp;
    memcpy(s->border, d->borderColor, sizeof s->border);
    sampler_read_levels(s, t);
}

/* -- coordinates ------------------------------------------------------------------- */

/* From the coordinate of a fetch to the indices of texels along one side. */

enum { EMU_UNIT_STEPS = 1 << 21 }; /* of normalised coordinates */
enum { EMU_FRACTION = 256 };       /* steps between two texels */
enum { EMU_OUTSIDE = -1 };         /* the index of a texel of the border */

/* The remainder of k, at least 0. */
static inline int64_t
wrap_index(int64_t k, int64_t n)
{
    k %= n;
    if (k < 0) {
        k += n;
    }
    return k;
}

/* The texel that the address mode gives for index k of n. */
static inline int64_t
resolve_index(CUaddress_mode mode, int64_t k, int64_t n)
{
    switch (mode) {
        case CU_TR_ADDRESS_MODE_WRAP:
            return wrap_index(k, n);
        case CU_TR_ADDRESS_MODE_MIRROR:
            k = wrap_index(k, 2 * n);
            if (k >= n) {
                k = 2 * n - 1 - k;
            }
            return k;
        case CU_TR_ADDRESS_MODE_BORDER:
            if (k < 0 || k >= n) {
                return EMU_OUTSIDE;
            }
            return k;
        default:
            return emu_clamp(k, 0, n - 1);
    }
}

/* The place of a coordinate in units of texels, bounded so that it can be converted to
 * an integer. A coordinate of [0, 1) is truncated to EMU_UNIT_STEPS first. */
static inline double
texel_position(const emu_sampler *s, CUaddress_mode mode, float x, size_t n)
{
    double u = x;

    if (u != u || (isinf(u) && (mode == CU_TR_ADDRESS_MODE_WRAP ||
                                mode == CU_TR_ADDRESS_MODE_MIRROR))) {
        return 0.0;
    }
    if (s->unit_range) {
        if (mode == CU_TR_ADDRESS_MODE_WRAP) {
            u -= floor(u);
        }
        else if (mode == CU_TR_ADDRESS_MODE_MIRROR) {
            u -= 2.0 * floor(0.5 * u);
        }
        u = floor(u * EMU_UNIT_STEPS) / EMU_UNIT_STEPS * (double)n;
    }
    if (mode == CU_TR_ADDRESS_MODE_CLAMP || mode == CU_TR_ADDRESS_MODE_BORDER) {
        u = fmin(fmax(u, -64.0), (double)n + 64.0);
    }
    return u;
}

/* The texels along one side, and the weight of the second one. */
typedef struct {
    int64_t k[2];
    int weight; /* of EMU_FRACTION */
} axis;

/* The texel that a fetch without a filter reads. */
static inline axis
axis_point(CUaddress_mode mode, double u, int32_t offset, size_t n)
{
    const int64_t k = resolve_index(mode, (int64_t)floor(u) + offset, (int64_t)n);

    return (axis){{k, k}, 0};
}

/* The two texels of a linear filter. The hardware rounds u - 0.5 to the nearest 1 /
 * 256, halves upwards. Beyond an edge both texels are the same one, and it has all the
 * weight. */
static inline axis
axis_linear(CUaddress_mode mode, double u, int32_t offset, size_t n)
{
    const int64_t fixed = (int64_t)floor((u - 0.5) * EMU_FRACTION + 0.5);
    const int fraction = (int)(fixed & (EMU_FRACTION - 1));
    const int64_t k = (fixed - fraction) / EMU_FRACTION + offset;
    const int64_t first = resolve_index(mode, k, (int64_t)n);
    const int64_t second = resolve_index(mode, k + 1, (int64_t)n);
    axis found = {{first, second}, 0};

    if (first != second) {
        found.weight = fraction;
    }
    return found;
}

/* The layer that is nearest to the given one. */
static inline int64_t
clamp_layer(int64_t layer, size_t count)
{
    return emu_clamp(layer, 0, (int64_t)count - 1);
}

/* -- cubes ------------------------------------------------------------------------- */

/* The face that a direction points to, the place on it, and the way across an edge.
 * Faces are numbered +x -x +y -y +z -z. */

/* The axes of a face: s to the right, t down, m out of the cube. Each is a component of
 * the direction (0 x, 1 y, 2 z), with a sign. */
typedef struct {
    uint8_t s, t, m;
    int8_t s_sign, t_sign, m_sign;
} cube_axes;

static const cube_axes cube_faces[6] = {{2, 1, 0, -1, -1, 1}, {2, 1, 0, 1, -1, -1},
                                        {0, 2, 1, 1, 1, 1},   {0, 2, 1, 1, -1, -1},
                                        {0, 1, 2, 1, -1, 1},  {0, 1, 2, -1, -1, -1}};

/* The face of a direction. Of components with equal size, z is preferred to y, and y to
 * x. */
static unsigned
cube_face(const float d[3])
{
    const float x = fabsf(d[0]), y = fabsf(d[1]), z = fabsf(d[2]);

    if (z >= x && z >= y) {
        return 4 + (d[2] < 0.0f);
    }
    if (y >= x) {
        return 2 + (d[1] < 0.0f);
    }
    return d[0] < 0.0f;
}

/* The coordinates on the face, each of [0, 1]. */
static void
cube_project(const float d[3], unsigned face, double out[2])
{
    const cube_axes *f = &cube_faces[face];
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

/* Texel centres are at odd places of a cube whose sides go from -n to n. */
static void
cube_cross_edge(unsigned *face, int64_t *x, int64_t *y, int64_t n)
{
    const cube_axes *f = &cube_faces[*face];
    int64_t p[3], s = 2 * *x + 1 - n, t = 2 * *y + 1 - n;
    unsigned out = f->t, next;

    if (s > n || s < -n) {
        out = f->s;
    }
    p[f->s] = s * f->s_sign;
    p[f->t] = t * f->t_sign;
    p[f->m] = (n - 1) * f->m_sign; /* one step down the neighbour */
    next = 2 * out + (p[out] < 0);
    f = &cube_faces[next];
    *face = next;
    *x = (p[f->s] * f->s_sign + n - 1) / 2;
    *y = (p[f->t] * f->t_sign + n - 1) / 2;
}

/* The square of the number of texels that the derivative d of a direction crosses. */
static double
cube_steps(const float at[3], const float d[3], size_t width)
{
    const cube_axes *f = &cube_faces[cube_face(at)];
    const double m = fabs((double)at[f->m]), n = (double)width;
    const double dm = (double)d[f->m] * f->m_sign;
    const double s_part = f->s_sign * ((double)d[f->s] * m - (double)at[f->s] * dm);
    const double t_part = f->t_sign * ((double)d[f->t] * m - (double)at[f->t] * dm);

    return (s_part * s_part + t_part * t_part) * 0.25 * n * n / (m * m * m * m);
}

/* -- linear filters ---------------------------------------------------------------- */

/* The weighted sum of the texels around a place. The sums are doubles; filter_round
 * makes the bits of the result. The arithmetic of weights and sums is that of an H200,
 * as measured. */

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
        cube_cross_edge(&face, &x, &y, n);
    }
    emu_texel_tap(s, level, x, y, clamp_layer(first + face, level->depth), out);
    return true;
}

/* Whether a fetch gives signed integers. */
static bool
filter_is_signed(const emu_sampler *s)
{
    return s->format == CU_AD_FORMAT_SIGNED_INT8 ||
           s->format == CU_AD_FORMAT_SIGNED_INT16 ||
           s->format == CU_AD_FORMAT_SIGNED_INT32;
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

    if (!s->is_float) {
        return (filter_arithmetic){1.0, 0, 0, 0};
    }
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

    if (!s->is_float) {
        return filter_is_signed(s) ? (double)(int32_t)bits : (double)bits;
    }
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

/* A sum of integers that stay integers: of 8 and 16 bits rounded, halves upwards, of 32
 * bits rounded down. */
static uint32_t
filter_round_integer(const emu_sampler *s, double sum)
{
    if (sampler_is_small_integer(s->format)) {
        sum += 0.5;
    }
    return (uint32_t)(int64_t)floor(sum);
}

/* The result has the width of the texels, except that
 * integers are widened to 16 bits; signed integers of 8 bits get three more bits from
 * the wider unit. */
static uint32_t
filter_round(const emu_sampler *s, unsigned c, double sum)
{
    const filter_arithmetic a = filter_arithmetic_of(s, c);
    double result;

    if (!s->is_float) {
        return filter_round_integer(s, sum);
    }
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
static void
filter(const emu_sampler *s, const emu_texture_level *level, const axis sides[3],
       unsigned count, int64_t layer, double out[4])
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

/* -- fetches ----------------------------------------------------------------------- */

/* The layer of the instruction is unsigned: a negative one is beyond the last. */
static int64_t
fetch_layer(const emu_fetch *fetch)
{
    return (int64_t)(uint32_t)fetch->layer;
}

/* -- fetches: one level ------------------------------------------------------------ */

/* The texels of a fetch along each side, and the layer. For a cube the sides are those
 * of the face, and the layer is the face. Returns the number of sides. */
static unsigned
sample_sides(const emu_sampler *s, const emu_texture_level *level,
             const emu_fetch *fetch, bool linear, axis sides[3], int64_t *layer)
{
    const size_t sizes[3] = {level->width, level->height, level->depth};
    unsigned count = emu_geometry_sides(fetch->geometry), k;
    const bool cube =
        fetch->geometry == EMU_GEOMETRY_CUBE || fetch->geometry == EMU_GEOMETRY_ACUBE;
    double place[2];

    memset(sides, 0, 3 * sizeof *sides);
    *layer = 0;
    if (emu_geometry_layered(fetch->geometry)) {
        *layer = fetch_layer(fetch);
    }
    if (cube) {
        const unsigned face = cube_face(fetch->at);

        cube_project(fetch->at, face, place);
        *layer = clamp_layer(*layer, (level->depth + 5) / 6) * 6 + face;
        count = 2;
    }
    *layer = clamp_layer(*layer, level->depth);
    for (k = 0; k < count && k < 3; k++) {
        CUaddress_mode mode = CU_TR_ADDRESS_MODE_CLAMP;
        double u;

        if (cube) {
            u = place[k] * (double)sizes[k];
        }
        else {
            mode = s->modes[k];
            u = texel_position(s, mode, fetch->at[k], sizes[k]);
        }
        if (linear) {
            sides[k] = axis_linear(mode, u, fetch->offset[k], sizes[k]);
        }
        else {
            sides[k] = axis_point(mode, u, fetch->offset[k], sizes[k]);
        }
    }
    return count;
}

/* A texture of one dimension is filtered between rows -1 and 0, which are equal. So if
 * the mode of y is the border, half of the result is the border. */
static bool
sample_half_is_border(const emu_sampler *s, unsigned geometry)
{
    return geometry == EMU_GEOMETRY_1D && s->modes[1] == CU_TR_ADDRESS_MODE_BORDER;
}

/* Filter one level. */
static void
sample_level(const emu_sampler *s, unsigned int number, const emu_fetch *fetch,
             double out[4])
{
    const emu_texture_level *level = &s->levels[number];
    axis sides[3];
    int64_t layer;
    unsigned count;

    if (s->seamless && s->cubemap && fetch->geometry >= EMU_GEOMETRY_CUBE) {
        const unsigned face = cube_face(fetch->at);
        double place[2];

        layer = 0;
        if (fetch->geometry == EMU_GEOMETRY_ACUBE) {
            layer = fetch_layer(fetch);
        }
        cube_project(fetch->at, face, place);
        filter_seamless(s, level, clamp_layer(layer, level->depth / 6) * 6, face, place,
                        out);
        return;
    }
    count = sample_sides(s, level, fetch, true, sides, &layer);
    if (sample_half_is_border(s, fetch->geometry)) {
        sides[count++] = (axis){{EMU_OUTSIDE, 0}, EMU_FRACTION / 2};
    }
    filter(s, level, sides, count, layer, out);
}

/* Read one texel of a level. */
static void
sample_point(const emu_sampler *s, unsigned int number, const emu_fetch *fetch,
             uint32_t out[4])
{
    const emu_texture_level *level = &s->levels[number];
    int64_t at[3] = {0, 0, 0}, layer;
    axis sides[3];
    unsigned count = sample_sides(s, level, fetch, false, sides, &layer), k;

    at[2] = layer;
    for (k = 0; k < count; k++) {
        at[k] = sides[k].k[0];
    }
    emu_texel_read(s, level, at[0], at[1], at[2], out);
}

/* -- fetches: levels --------------------------------------------------------------- */

/* The level of a fetch in steps of 1 / EMU_FRACTION. */
static unsigned int
sample_fixed_level(const emu_sampler *s, float level)
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
    return (unsigned int)(EMU_FRACTION * lod + 0.5);
}

void
emu_sample(const emu_sampler *s, const emu_fetch *fetch, uint32_t out[4])
{
    const unsigned int fixed = sample_fixed_level(s, fetch->level);
    unsigned int below = fixed / EMU_FRACTION, part = fixed % EMU_FRACTION, c;
    double sum[4], next[4];

    if (!s->mip_linear || !s->is_float) {
        below += part >= EMU_FRACTION / 2;
        part = 0;
    }
    if (s->in_line) {
        const double u = texel_position(s, CU_TR_ADDRESS_MODE_BORDER, fetch->at[0],
                                        s->levels[0].width);
        const int32_t at[3] = {(int32_t)floor(fmin(u, INT32_MAX)), 0, 0};

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
            sum[c] = (double)f32_of_bits(bits[0][c]);
            next[c] = (double)f32_of_bits(bits[1][c]);
        }
    }
    for (c = 0; c < 4; c++) {
        if (part) {
            sum[c] += (next[c] - sum[c]) * ((double)part / EMU_FRACTION);
        }
        out[c] = filter_round(s, c, sum[c]);
    }
}

void
emu_sample_texel(const emu_sampler *s, const emu_fetch *fetch, const int32_t at[3],
                 uint32_t out[4])
{
    const unsigned int fixed = sample_fixed_level(s, fetch->level);
    const emu_texture_level *level =
        &s->levels[(fixed + EMU_FRACTION / 2) / EMU_FRACTION];
    const size_t sizes[3] = {level->width, level->height, level->depth};
    const unsigned count = emu_geometry_sides(fetch->geometry);
    int64_t place[3] = {0, 0, 0};
    unsigned k;

    if (s->in_line) {
        /* texels beyond linear memory are 0 in every address mode */
        const int64_t x = (int64_t)at[0] + fetch->offset[0];

        if (x < 0 || x >= (int64_t)level->width) {
            memset(out, 0, 4 * sizeof *out);
            emu_texel_fill(s, out);
            return;
        }
        emu_texel_read(s, level, x, 0, 0, out);
        return;
    }
    if (emu_geometry_layered(fetch->geometry)) {
        place[2] = clamp_layer(fetch_layer(fetch), level->depth);
    }
    for (k = 0; k < count; k++) {
        CUaddress_mode mode = CU_TR_ADDRESS_MODE_CLAMP;

        if (s->modes[k] == CU_TR_ADDRESS_MODE_BORDER) {
            mode = CU_TR_ADDRESS_MODE_BORDER;
        }
        place[k] =
            resolve_index(mode, (int64_t)at[k] + fetch->offset[k], (int64_t)sizes[k]);
    }
    emu_texel_read(s, level, place[0], place[1], place[2], out);
}

/* A gather returns the NaN of arithmetic and no subnormal numbers, unlike a
 * fetch. */
static uint32_t
sample_gathered(uint32_t bits)
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

    (void)sample_sides(s, level, fetch, true, sides, &layer);
    for (k = 0; k < 4; k++) {
        emu_texel_read(s, level, sides[0].k[order[k][0]], sides[1].k[order[k][1]],
                       layer, bits);
        out[k] = bits[channel_number];
        if (s->is_float) {
            out[k] = sample_gathered(out[k]);
        }
    }
}

/* -- fetches: derivatives ---------------------------------------------------------- */

/* The square of the number of texels of level 0 that a derivative crosses. */
static double
sample_steps(const emu_sampler *s, const emu_fetch *fetch, const float d[3])
{
    const emu_texture_level *level = &s->levels[0];
    const size_t sizes[3] = {level->width, level->height, level->depth};
    const unsigned count = emu_geometry_sides(fetch->geometry);
    double sum = 0.0;
    unsigned k;

    if (fetch->geometry >= EMU_GEOMETRY_CUBE) {
        return cube_steps(fetch->at, d, level->width);
    }
    for (k = 0; k < count && k < 3; k++) {
        double step = (double)d[k];

        if (s->unit_range) {
            step *= (double)sizes[k];
        }
        sum += step * step;
    }
    return sum;
}

float
emu_sample_level(const emu_sampler *s, const emu_fetch *fetch, const float dx[3],
                 const float dy[3])
{
    const double x = sample_steps(s, fetch, dx), y = sample_steps(s, fetch, dy);
    double most = y;

    if (x > y) {
        most = x;
    }
    return (float)(0.5 * log2(most));
}
