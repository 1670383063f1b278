/* The texture unit: one fetch of one thread, from coordinates to four values.
 *
 * A sampler is a copy of what a texture object says, so that a fetch reads one state
 * even while the program destroys the object. Every fetch stays within the levels of
 * the sampler, whatever the coordinates are: who opens one has checked that the memory
 * of the levels is there. Pure functions; called by ops_tex.c alone.
 *
 * What the manuals leave open is decided here and in one place each: the rounding of
 * coordinates to 8 bits of fraction (linear_axis), the sum of the weighted texels
 * (filter), the channels that a format lacks (fill_channels), equal sides of a cube
 * direction (choose_face). */
#ifndef DEVICE_MEMORY_SAMPLING_H
#define DEVICE_MEMORY_SAMPLING_H

#include "device/base/geometry.h"
#include "device/memory/texture.h"

typedef struct {
    CUarray_format format;
    unsigned int channels;
    size_t element;
    bool in_line;   /* linear memory: no filter, nothing outside of it */
    bool cubemap;   /* layers are faces */
    bool is_float;  /* what a fetch gives: floats, else integers */
    bool normalise; /* integers become floats of [0, 1] or [-1, 1] */
    bool linear;    /* filter */
    bool mip_linear;
    bool unit_range; /* coordinates of [0, 1) */
    bool srgb, seamless;
    CUaddress_mode modes[3];
    float bias, least_level, most_level;
    uint32_t border[4];
    unsigned int level_count; /* at least 1 */
    emu_texture_level levels[EMU_ARRAY_LEVELS];
} emu_sampler;

/* Reads the fields of a texture; its memory is not looked at. */
void emu_sampler_read(emu_sampler *sampler, const emu_texture *texture);

typedef struct {
    unsigned geometry; /* emu_geometry */
    int32_t layer;
    float at[3];
    int32_t offset[3]; /* in texels */
    float level;
} emu_fetch;

/* Bits of four floats or integers. */
void emu_sample(const emu_sampler *sampler, const emu_fetch *fetch, uint32_t out[4]);
/* At integer coordinates, unfiltered. */
void emu_sample_texel(const emu_sampler *sampler, const emu_fetch *fetch,
                      const int32_t at[3], uint32_t out[4]);
/* One channel of the four texels that a linear filter in 2D would read, in the order of
 * tld4. */
void emu_sample_gather(const emu_sampler *sampler, const emu_fetch *fetch,
                       unsigned channel, uint32_t out[4]);
/* The level that derivatives of the coordinates ask for. */
float emu_sample_level(const emu_sampler *sampler, const emu_fetch *fetch,
                       const float dx[3], const float dy[3]);

#endif
