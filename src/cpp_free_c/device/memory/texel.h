/* Texels: from the bytes of an element to four channels, each the bits of a float or of
 * a widened integer.
 *
 * A place outside the level reads the colour of the border. Channels that the format
 * lacks are 0. Called by filter.c and sampling.c. */
#ifndef DEVICE_MEMORY_TEXEL_H
#define DEVICE_MEMORY_TEXEL_H

#include "device/base/float_bits.h"
#include "device/memory/sampler.h"

/* Set the channels that the format lacks, alpha too, to 0. */
void emu_texel_fill(const emu_sampler *s, uint32_t out[4]);
/* Read one texel for a filter; z is a slice, a layer or a face. If one of the indices
 * is outside the level, read the border. */
void emu_texel_tap(const emu_sampler *s, const emu_texture_level *level, int64_t x,
                   int64_t y, int64_t z, uint32_t out[4]);
/* Read one texel as a program sees it: the least normalised value is -1. */
void emu_texel_read(const emu_sampler *s, const emu_texture_level *level, int64_t x,
                    int64_t y, int64_t z, uint32_t out[4]);
/* Write one channel of an element. The word is a float for a format of floats, else an
 * integer, which is clamped to the range of the format. */
void emu_texel_write(CUarray_format format, uint8_t *element, unsigned int channel,
                     uint32_t word);

#endif
