/* The bits of a floating-point number as an integer, and back. Called by the operations
 * of the machine and by the sampling of textures. */
#ifndef DEVICE_BASE_FLOAT_BITS_H
#define DEVICE_BASE_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint32_t
bits_of_f32(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float
f32_of_bits(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t
bits_of_f64(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double
f64_of_bits(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
