/* Numbers of 16 bits: IEEE half precision and bfloat16.
 *
 * They are computed in double precision, which holds their sums and products exactly,
 * and rounded once. Used by lowering, sampling and the operations of the machine. */
#ifndef DEVICE_BASE_HALF_H
#define DEVICE_BASE_HALF_H

#include <math.h>
#include <stdint.h>

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

#endif
