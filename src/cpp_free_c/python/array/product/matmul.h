/* The matrix product of GPUArrays, by the rules of NumPy's matmul.
 *
 * Called by type/operators.c and type/product_functions.c. */
#ifndef PYTHON_ARRAY_PRODUCT_MATMUL_H
#define PYTHON_ARRAY_PRODUCT_MATMUL_H

#include "python/driver/memory/gpuarray.h"

typedef struct {
    PyObject *out;       /* borrowed; None: a new array */
    int dtype;           /* pcu_type to compute in; PCU_T_NONE: the common one */
    PyObject *allocator; /* borrowed; None: the first operand's */
    CUstream stream;
} pcu_matmul_options;

/* Enqueue a @ b for two GPUArrays: the result, or `out`. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_matmul(pcu_state *st, pcu_gpuarray *a,
                                           pcu_gpuarray *b,
                                           const pcu_matmul_options *options);

#endif
