/* Linear filters: the weighted sum of the texels around a place.
 *
 * The sums are doubles; emu_filter_round makes the bits of the result. The arithmetic
 * of weights and sums is that of an H200, as measured. Called by sampling.c. */
#ifndef DEVICE_MEMORY_FILTER_H
#define DEVICE_MEMORY_FILTER_H

#include "device/memory/coordinates.h"
#include "device/memory/sampler.h"

/* Add up the texels around a place on `count` sides. */
void emu_filter(const emu_sampler *s, const emu_texture_level *level,
                const emu_axis sides[3], unsigned count, int64_t layer, double out[4]);
/* The same for a place on a face of a cube, across its edges. `first` is the layer of
 * the cube's first face. */
void emu_filter_seamless(const emu_sampler *s, const emu_texture_level *level,
                         int64_t first, unsigned face, const double place[2],
                         double out[4]);
/* Round the sum of one channel. */
uint32_t emu_filter_round(const emu_sampler *s, unsigned c, double sum);

#endif
