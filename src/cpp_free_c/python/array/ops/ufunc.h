/* Elementwise operations on GPUArrays as NumPy's universal functions: rules of dtypes,
 * broadcasting, outputs.
 *
 * Called by the operators and methods in type/. */
#ifndef PYTHON_ARRAY_OPS_UFUNC_H
#define PYTHON_ARRAY_OPS_UFUNC_H

#include "python/array/ops/operations.h"
#include "python/driver/memory/gpuarray.h"

typedef struct {
    PyObject *outs[2]; /* borrowed: arrays to write to; NULL: new ones */
    int dtype;         /* pcu_type to compute in; PCU_T_NONE: by the rules */
    CUstream stream;
    PyObject *allocator; /* borrowed, of new arrays; NULL: the first input's */
    bool keeps_type;     /* an operator in place that PyCUDA has */
} pcu_ufunc_options;

/* Enqueue op(inputs), as NumPy's function of that name computes it: an array, or a
 * tuple of two. NULL without an exception if an input is neither an array nor a number.
 */
PCU_HIDDEN PyObject *pcu_ufunc_call(pcu_state *st, int op, PyObject *const *inputs,
                                    const pcu_ufunc_options *options);

/* The same; an input that is neither an array nor a number is a TypeError. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_ufunc_require(pcu_state *st, int op,
                                                  PyObject *const *inputs,
                                                  const pcu_ufunc_options *options);

/* Read the argument `out`: None, an array, or a tuple of up to two, each may be None.
 */
PCU_HIDDEN PCU_RAISES int pcu_ufunc_read_outs(PyObject *value, const char *name,
                                              PyObject **outs);

#endif
