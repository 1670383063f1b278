/* An input of an operation on arrays: an array or a number. */
#ifndef PYTHON_ARRAY_OPS_OPERAND_H
#define PYTHON_ARRAY_OPS_OPERAND_H

#include "python/array/scalar.h"
#include "python/driver/memory/gpuarray.h"

typedef struct {
    pcu_gpuarray *array;                   /* borrowed; NULL: a scalar */
    int type;                              /* pcu_type of the elements or the scalar */
    unsigned char value[PCU_SCALAR_BYTES]; /* of a scalar, in its type */
} pcu_operand;

#endif
