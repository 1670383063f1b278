/* The signatures of reductions: methods, functions of pycuda.gpuarray, _reduce.
 *
 * Called by reduction_functions.c. */
#ifndef PYTHON_ARRAY_TYPE_REDUCTION_ARGUMENTS_H
#define PYTHON_ARRAY_TYPE_REDUCTION_ARGUMENTS_H

#include "python/support/args.h"

#include "abi/cuda_abi.h"

/* The arguments of every signature; objects are borrowed. */
typedef struct {
    PyObject *a;
    PyObject *axis;
    PyObject *dtype;
    PyObject *out;
    PyObject *initial;
    PyObject *where;
    PyObject *allocator;
    PyObject *ddof;
    int keepdims;
    CUstream stream;
    int op;           /* of _reduce */
    PyObject *inputs; /* of _reduce */
} pcu_reduction_args;

/* A signature. */
typedef struct {
    const pcu_argspec *specs;
    int count;
    int places; /* arguments that may be given by position, without self */
} pcu_reduction_signature;

extern PCU_HIDDEN const pcu_reduction_signature pcu_method_sum_signature;
extern PCU_HIDDEN const pcu_reduction_signature pcu_method_mean_signature;
extern PCU_HIDDEN const pcu_reduction_signature pcu_method_var_signature;
extern PCU_HIDDEN const pcu_reduction_signature pcu_method_min_signature;
extern PCU_HIDDEN const pcu_reduction_signature pcu_method_argmin_signature;
extern PCU_HIDDEN const pcu_reduction_signature pcu_method_ptp_signature;
extern PCU_HIDDEN const pcu_reduction_signature pcu_method_any_signature;
extern PCU_HIDDEN const pcu_reduction_signature pcu_numpy_any_signature;
extern PCU_HIDDEN const pcu_reduction_signature pcu_function_sum_signature;
extern PCU_HIDDEN const pcu_reduction_signature pcu_function_mean_signature;
extern PCU_HIDDEN const pcu_reduction_signature pcu_function_min_signature;
extern PCU_HIDDEN const pcu_reduction_signature pcu_function_argmin_signature;
extern PCU_HIDDEN const pcu_reduction_signature pcu_function_any_signature;
extern PCU_HIDDEN const pcu_reduction_signature pcu_function_var_signature;
extern PCU_HIDDEN const pcu_reduction_signature pcu_nan_sum_signature;
extern PCU_HIDDEN const pcu_reduction_signature pcu_nan_mean_signature;
extern PCU_HIDDEN const pcu_reduction_signature pcu_nan_var_signature;
extern PCU_HIDDEN const pcu_reduction_signature pcu_nan_min_signature;
extern PCU_HIDDEN const pcu_reduction_signature pcu_nan_argmin_signature;
extern PCU_HIDDEN const pcu_reduction_signature pcu_reduce_signature;

#endif
