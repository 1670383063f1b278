/* Numbers in a range and of 8 and 16 bits, elements of arrays in memory, and the bits
 * of floating-point numbers. Used by lowering, by the memory of textures and tensors,
 * and by the operations of the machine. */
#ifndef DEVICE_BASE_NUMBER_H
#define DEVICE_BASE_NUMBER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The number from `low` to `high` that is nearest to a value. */
static inline int64_t
emu_clamp(int64_t value, int64_t low, int64_t high)
{
    if (value < low) {
        return low;
    }
    if (value > high) {
        return high;
    }
    return value;
}

/* -- the bits of a floating-point number as an integer, and back ------------------- */

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

/* -- numbers of 16 bits: IEEE half precision and bfloat16 -------------------------- */

/* They are computed in double precision, which holds their sums and products exactly,
 * and rounded once. */

enum { EMU_F16, EMU_BF16 };

typedef struct {
    int exponent_bits, mantissa_bits, bias;
} emu_half_shape;

/* By format. */
static const emu_half_shape emu_half_shapes[] = {{5, 10, 15}, {8, 7, 127}};

/* Flags of emu_insn.aux, together with the format: .ftz, .satfinite, .oob. The rounding
 * has bits 4 and 5. */
enum { EMU_HALF_FTZ = 2, EMU_HALF_FINITE = 64, EMU_HALF_OOB = 128 };

/* Flags of emu_insn.imm of minimum and maximum: .NaN, .xorsign. */
enum { EMU_HALF_PREFERS_NAN = 1, EMU_HALF_XORSIGN = 2 };

/* Rounding of emu_half_round; the order of the PTX modifiers. */
enum { EMU_RN, EMU_RZ, EMU_RM, EMU_RP };

/* The value of a number; exact. Inline, since each lane of an operation calls it. */
static inline double
emu_half_value(uint16_t bits, int format)
{
    const emu_half_shape *shape = &emu_half_shapes[format];
    const int special = (1 << shape->exponent_bits) - 1;
    const int exponent = bits >> shape->mantissa_bits & special;
    const int mantissa = bits & ((1 << shape->mantissa_bits) - 1);
    double value;

    if (exponent == special) {
        value = mantissa ? (double)NAN : (double)INFINITY;
    }
    else if (exponent == 0) {
        value = ldexp(mantissa, 1 - shape->bias - shape->mantissa_bits);
    }
    else {
        value = ldexp(mantissa + (1 << shape->mantissa_bits),
                      exponent - shape->bias - shape->mantissa_bits);
    }
    return bits & 0x8000 ? -value : value;
}

/* Round a value to a number of 16 bits. NaN gives 0x7fff. */
uint16_t emu_half_round(double value, int format, int rounding);
/* Add two numbers and round to nearest even. */
uint16_t emu_half_add(uint16_t x, uint16_t y, int format);

/* -- numbers of 8 bits: e4m3, which has no infinity, and e5m2 ---------------------- */

enum { EMU_E4M3, EMU_E5M2 };

/* The value of a number; exact. */
double emu_fp8_value(uint8_t bits, int format);
/* Round a value to nearest even. A value that is too large, or infinity, gives the
 * largest number, and NaN gives 0x7f. */
uint8_t emu_fp8_round(double value, int format);

/* -- elements, as tensor maps name their types ------------------------------------- */

/* An element is a number of up to 64 bits, whose upper bits are 0. */

/* The numbers of CUtensorMapDataType. */
enum {
    EMU_ELEMENT_U8,
    EMU_ELEMENT_U16,
    EMU_ELEMENT_U32,
    EMU_ELEMENT_S32,
    EMU_ELEMENT_U64,
    EMU_ELEMENT_S64,
    EMU_ELEMENT_F16,
    EMU_ELEMENT_F32,
    EMU_ELEMENT_F64,
    EMU_ELEMENT_BF16,
    EMU_ELEMENT_F32_FTZ,
    EMU_ELEMENT_TF32,
    EMU_ELEMENT_TF32_FTZ,
    EMU_ELEMENT_COUNT
};

/* The operations of cp.reduce.async.bulk. */
enum {
    EMU_REDUCE_NONE, /* a copy */
    EMU_REDUCE_ADD,
    EMU_REDUCE_MIN,
    EMU_REDUCE_MAX,
    EMU_REDUCE_INC,
    EMU_REDUCE_DEC,
    EMU_REDUCE_AND,
    EMU_REDUCE_OR,
    EMU_REDUCE_XOR
};

/* Bytes of an element. */
unsigned emu_element_size(unsigned type);
bool emu_element_is_float(unsigned type);

/* Whether there is such a reduction of elements of this type. */
bool emu_element_can_reduce(unsigned operation, unsigned type);

/* The element that a copy to shared memory by a tensor map of this type writes. */
uint64_t emu_element_copied(unsigned type, uint64_t bits);
/* Whether emu_element_copied changes elements of this type. */
bool emu_element_changes(unsigned type);
/* The NaN that copies write for elements outside an array. */
uint64_t emu_element_nan(unsigned type);

#endif
