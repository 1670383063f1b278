/* Sampling: one fetch of one thread from a texture, from coordinates to four values.
 *
 * Every fetch stays within the levels of
 * the sampler, whatever the coordinates are; the caller has checked that the memory of
 * the levels is live. Pure functions; called by ops_texture.c and ops_surface.c.
 *
 * The manuals leave some details open. Each is decided in one place: the rounding of
 * coordinates to 8 bits of fraction (emu_axis_linear in coordinates.h), the sum of the
 * weighted texels (filter.c), the channels that a format lacks (emu_texel_fill), equal
 * components of a cube direction (emu_cube_face). */
#ifndef DEVICE_MEMORY_SAMPLING_H
#define DEVICE_MEMORY_SAMPLING_H

#include "device/base/geometry.h"
#include "device/memory/sampler.h"

typedef struct {
    unsigned geometry; /* emu_geometry */
    int32_t layer;
    float at[3];
    int32_t offset[3]; /* in texels */
    float level;
} emu_fetch;

/* Fetch; the result is the bits of four floats or integers. */
void emu_sample(const emu_sampler *sampler, const emu_fetch *fetch, uint32_t out[4]);
/* Fetch at integer coordinates, unfiltered. */
void emu_sample_texel(const emu_sampler *sampler, const emu_fetch *fetch,
                      const int32_t at[3], uint32_t out[4]);
/* Fetch one channel of the four texels that a linear filter in 2D reads, in the order
 * of tld4. */
void emu_sample_gather(const emu_sampler *sampler, const emu_fetch *fetch,
                       unsigned channel, uint32_t out[4]);
/* The level for derivatives of the coordinates. */
float emu_sample_level(const emu_sampler *sampler, const emu_fetch *fetch,
                       const float dx[3], const float dy[3]);

#endif
