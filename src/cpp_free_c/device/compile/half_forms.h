/* The half-precision forms of arithmetic opcodes. Used by lower_arithmetic.c and
 * lower_float.c, which have the opcodes. */
#ifndef DEVICE_COMPILE_HALF_FORMS_H
#define DEVICE_COMPILE_HALF_FORMS_H

#include "device/compile/lower_state.h"

/* Whether the type is .f16, .bf16 or a pair of them. */
bool low_is_half(unsigned type);
/* Lowers the instruction to `op`, which reads the first `sources` sources. A pair gets
 * one operation for each half. */
void low_half_operation(low_func *f, unsigned op, unsigned type, unsigned sources);
#endif
