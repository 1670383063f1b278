/* The rules of dtypes: from the inputs of an operation to the dtype in which the kernel
 * computes, and the dtypes of the results.
 *
 * The rules are NumPy's: Python's numbers yield to the dtype of arrays.
 * tables/array_ops.h has a row for each rule. No driver call, no kernel. Called by
 * ufunc.c. */
#ifndef PYTHON_ARRAY_OPS_DTYPE_RULES_H
#define PYTHON_ARRAY_OPS_DTYPE_RULES_H

#include "python/array/ops/elementwise_kernel.h"
#include "python/array/ops/operations.h"
#include "python/array/scalar.h"

enum { PCU_INPUTS_MAX = 4 };

/* The types of one call of an operation. */
typedef struct {
    int op;
    const pcu_op_row *row;
    pcu_operand inputs[PCU_INPUTS_MAX];
    unsigned char yields[PCU_INPUTS_MAX]; /* 1: a Python number */
    int compute;                          /* pcu_type; RAW: each input as it is */
    int results[2];                       /* pcu_type of the outputs */
    int counts_as; /* the type that a new bool array remembers: see pcu_gpuarray */
} pcu_typed_call;

/* Fill in compute, results and counts_as. dtype is the type that the program asked for,
 * or PCU_T_NONE. new_outputs is 1 if the call makes all its outputs. TypeError for a
 * type that the operation does not take. */
PCU_HIDDEN PCU_RAISES int pcu_dtype_rules_apply(pcu_typed_call *call, int dtype,
                                                bool new_outputs);

/* The type in which input i goes to the kernel if it is a scalar. */
PCU_HIDDEN int pcu_dtype_rules_scalar_type(const pcu_typed_call *call, int i);

/* How input i becomes a number of that type if it is a scalar. */
PCU_HIDDEN pcu_scalar_way pcu_dtype_rules_scalar_way(const pcu_typed_call *call, int i);

/* Whether a number that the type cannot hold is taken as an infinity. */
PCU_HIDDEN bool pcu_dtype_rules_take_infinity(const pcu_typed_call *call);

#endif
