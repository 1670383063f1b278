/* Which shapes of wmma go with which types. Used by lower_wmma.c. */
#ifndef DEVICE_COMPILE_WMMA_FORMS_H
#define DEVICE_COMPILE_WMMA_FORMS_H

#include "device/compile/lower_state.h"
#include "device/ptx/words.h"

/* The shapes with A and B of this type (EMU_MATRIX_), and those with C and D of it: a
 * bit for each. */
unsigned low_wmma_shapes(unsigned type);
unsigned low_wmma_result_shapes(unsigned type);
/* Fails unless the shape is one of the set. */
void low_check_wmma_shape(const low_func *f, ptx_shape shape, unsigned set);

#endif
