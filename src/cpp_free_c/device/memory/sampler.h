/* Samplers: the state of a texture object, unpacked for sampling.
 *
 * A sampler is a copy, so that a fetch reads one state even while the program destroys
 * the object. Called by ops_texture.c; read by the files that sample. */
#ifndef DEVICE_MEMORY_SAMPLER_H
#define DEVICE_MEMORY_SAMPLER_H

#include "device/memory/texture.h"

typedef struct {
    CUarray_format format;
    unsigned int channels;
    size_t element;
    bool in_line;   /* linear memory: no filter, zeros outside */
    bool cubemap;   /* layers are faces */
    bool is_float;  /* a fetch returns floats, not integers */
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

/* Copy the state of a texture. Does not access its memory. */
void emu_sampler_read(emu_sampler *sampler, const emu_texture *texture);

#endif
