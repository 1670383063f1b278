/* Coordinates: from the coordinate of a fetch to the indices of texels along one side.
 *
 * The functions are inline, since every fetch calls them for each side. Included by
 * filter.c and sampling.c. */
#ifndef DEVICE_MEMORY_COORDINATES_H
#define DEVICE_MEMORY_COORDINATES_H

#include <math.h>

#include "device/memory/sampler.h"

#ifdef __clang__
#    pragma STDC FP_CONTRACT OFF
#endif

enum { EMU_UNIT_STEPS = 1 << 21 }; /* of normalised coordinates */
enum { EMU_FRACTION = 256 };       /* steps between two texels */
enum { EMU_OUTSIDE = -1 };         /* the index of a texel of the border */

/* The index within [0, n) that is nearest to k. */
static inline int64_t
emu_clamp_index(int64_t k, int64_t n)
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
static inline int64_t
emu_wrap_index(int64_t k, int64_t n)
{
    k %= n;
    if (k < 0) {
        k += n;
    }
    return k;
}

/* The texel that the address mode gives for index k of n. */
static inline int64_t
emu_resolve_index(CUaddress_mode mode, int64_t k, int64_t n)
{
    switch (mode) {
        case CU_TR_ADDRESS_MODE_WRAP:
            return emu_wrap_index(k, n);
        case CU_TR_ADDRESS_MODE_MIRROR:
            k = emu_wrap_index(k, 2 * n);
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
            return emu_clamp_index(k, n);
    }
}

/* The place of a coordinate in units of texels, bounded so that it can be converted to
 * an integer. A coordinate of [0, 1) is truncated to EMU_UNIT_STEPS first. */
static inline double
emu_texel_position(const emu_sampler *s, CUaddress_mode mode, float x, size_t n)
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
} emu_axis;

/* The texel that a fetch without a filter reads. */
static inline emu_axis
emu_axis_point(CUaddress_mode mode, double u, int32_t offset, size_t n)
{
    const int64_t k = emu_resolve_index(mode, (int64_t)floor(u) + offset, (int64_t)n);

    return (emu_axis){{k, k}, 0};
}

/* The two texels of a linear filter. The hardware rounds u - 0.5 to the nearest 1 /
 * 256, halves upwards. Beyond an edge both texels are the same one, and it has all the
 * weight. */
static inline emu_axis
emu_axis_linear(CUaddress_mode mode, double u, int32_t offset, size_t n)
{
    const int64_t fixed = (int64_t)floor((u - 0.5) * EMU_FRACTION + 0.5);
    const int fraction = (int)(fixed & (EMU_FRACTION - 1));
    const int64_t k = (fixed - fraction) / EMU_FRACTION + offset;
    const int64_t first = emu_resolve_index(mode, k, (int64_t)n);
    const int64_t second = emu_resolve_index(mode, k + 1, (int64_t)n);
    emu_axis axis = {{first, second}, 0};

    if (first != second) {
        axis.weight = fraction;
    }
    return axis;
}

/* The layer that is nearest to the given one. */
static inline int64_t
emu_clamp_layer(int64_t layer, size_t count)
{
    return emu_clamp_index(layer, (int64_t)count);
}

#endif
