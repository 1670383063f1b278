/* Reductions of GPUArrays along all axes or some.
 *
 * Called by type/operation_functions.c for pycuda's modules. */
#ifndef PYTHON_ARRAY_OPS_REDUCTION_H
#define PYTHON_ARRAY_OPS_REDUCTION_H

#include "python/array/ops/operations.h"
#include "python/driver/memory/gpuarray.h"

typedef struct {
    int op;                  /* pcu_reduction */
    pcu_gpuarray *inputs[2]; /* initialised arrays, as many as the row says */
    int dtype;               /* pcu_type that the program asked for, or PCU_T_NONE */
    PyObject *axis;          /* None, an int, or a tuple of ints; borrowed */
    bool keepdims;           /* reduced axes stay, with length 1 */
    PyObject *out;           /* borrowed; None: a new array */
    PyObject *allocator;     /* borrowed; None: the first input's */
    CUstream stream;
    double ddof;
} pcu_reduction_call;

/* Enqueue a reduction: its result, or `out`. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_reduce(pcu_state *st,
                                           const pcu_reduction_call *call);

#endif
