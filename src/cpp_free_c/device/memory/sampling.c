/* Sampling. See sampling.h. */
#include "device/memory/sampling.h"

#include <math.h>
#include <string.h>

#include "device/memory/coordinates.h"
#include "device/memory/cube.h"
#include "device/memory/filter.h"
#include "device/memory/texel.h"

#ifdef __clang__
#    pragma STDC FP_CONTRACT OFF
#endif

/* The layer of the instruction is unsigned: a negative one is beyond the last. */
static int64_t
fetch_layer(const emu_fetch *fetch)
{
    return (int64_t)(uint32_t)fetch->layer;
}

/* -- one level ------------------------------------------------------------- */

/* The texels of a fetch along each side, and the layer. For a cube the sides are those
 * of the face, and the layer is the face. Returns the number of sides. */
static unsigned
sample_sides(const emu_sampler *s, const emu_texture_level *level,
             const emu_fetch *fetch, bool linear, emu_axis sides[3], int64_t *layer)
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
        const unsigned face = emu_cube_face(fetch->at);

        emu_cube_project(fetch->at, face, place);
        *layer = emu_clamp_layer(*layer, (level->depth + 5) / 6) * 6 + face;
        count = 2;
    }
    *layer = emu_clamp_layer(*layer, level->depth);
    for (k = 0; k < count && k < 3; k++) {
        CUaddress_mode mode = CU_TR_ADDRESS_MODE_CLAMP;
        double u;

        if (cube) {
            u = place[k] * (double)sizes[k];
        }
        else {
            mode = s->modes[k];
            u = emu_texel_position(s, mode, fetch->at[k], sizes[k]);
        }
        if (linear) {
            sides[k] = emu_axis_linear(mode, u, fetch->offset[k], sizes[k]);
        }
        else {
            sides[k] = emu_axis_point(mode, u, fetch->offset[k], sizes[k]);
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
    emu_axis sides[3];
    int64_t layer;
    unsigned count;

    if (s->seamless && s->cubemap && fetch->geometry >= EMU_GEOMETRY_CUBE) {
        const unsigned face = emu_cube_face(fetch->at);
        double place[2];

        layer = 0;
        if (fetch->geometry == EMU_GEOMETRY_ACUBE) {
            layer = fetch_layer(fetch);
        }
        emu_cube_project(fetch->at, face, place);
        emu_filter_seamless(s, level, emu_clamp_layer(layer, level->depth / 6) * 6,
                            face, place, out);
        return;
    }
    count = sample_sides(s, level, fetch, true, sides, &layer);
    if (sample_half_is_border(s, fetch->geometry)) {
        sides[count++] = (emu_axis){{EMU_OUTSIDE, 0}, EMU_FRACTION / 2};
    }
    emu_filter(s, level, sides, count, layer, out);
}

/* Read one texel of a level. */
static void
sample_point(const emu_sampler *s, unsigned int number, const emu_fetch *fetch,
             uint32_t out[4])
{
    const emu_texture_level *level = &s->levels[number];
    int64_t at[3] = {0, 0, 0}, layer;
    emu_axis sides[3];
    unsigned count = sample_sides(s, level, fetch, false, sides, &layer), k;

    at[2] = layer;
    for (k = 0; k < count; k++) {
        at[k] = sides[k].k[0];
    }
    emu_texel_read(s, level, at[0], at[1], at[2], out);
}

/* -- levels ---------------------------------------------------------------- */

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
        const double u = emu_texel_position(s, CU_TR_ADDRESS_MODE_BORDER, fetch->at[0],
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
        out[c] = emu_filter_round(s, c, sum[c]);
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
        place[2] = emu_clamp_layer(fetch_layer(fetch), level->depth);
    }
    for (k = 0; k < count; k++) {
        CUaddress_mode mode = CU_TR_ADDRESS_MODE_CLAMP;

        if (s->modes[k] == CU_TR_ADDRESS_MODE_BORDER) {
            mode = CU_TR_ADDRESS_MODE_BORDER;
        }
        place[k] = emu_resolve_index(mode, (int64_t)at[k] + fetch->offset[k],
                                     (int64_t)sizes[k]);
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
    emu_axis sides[3];
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

/* -- derivatives ----------------------------------------------------------- */

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
        return emu_cube_steps(fetch->at, d, level->width);
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
