/* Arithmetic on half-precision numbers, for the opcodes that have such a form. Used by
 * lower_arithmetic.c and lower_float.c. */
#ifndef DEVICE_COMPILE_LOWER_HALF_H
#define DEVICE_COMPILE_LOWER_HALF_H

#include "device/compile/lowering.h"

/* Whether the type is .f16, .bf16 or a pair of them. */
bool low_is_half(unsigned type);
/* Lowers the instruction to `op`, which reads the first `sources` sources. A pair gets
 * one operation for each half. */
void low_half_operation(low_func *f, unsigned op, unsigned type, unsigned sources);

#endif
