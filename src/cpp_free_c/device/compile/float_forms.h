/* The forms of arithmetic opcodes in single and double precision. Used by
 * lower_arithmetic.c and lower_float.c, which have the opcodes. */
#ifndef DEVICE_COMPILE_FLOAT_FORMS_H
#define DEVICE_COMPILE_FLOAT_FORMS_H

#include "device/compile/lower_state.h"

/* The positions of the operations on floating-point numbers in most rows of
 * tables/opcodes.h. */
enum { LOW_ROW_F32, LOW_ROW_F64, LOW_ROW_HALF, LOW_ROW_FTZ };

/* The operations of an opcode on floating-point numbers; 0 where there is none. */
typedef struct {
    unsigned f32, f64;
    unsigned ftz; /* f32 with .ftz: the operation itself flushes */
} low_float_ops;

/* Lowers the instruction to one of the operations, which reads the first `sources`
 * sources. Adds the operations that .ftz and .sat need. */
void low_float_operation(low_func *f, low_float_ops ops, unsigned type,
                         unsigned sources);

#endif
