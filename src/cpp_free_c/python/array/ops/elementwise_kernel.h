/* Elementwise kernels: from operands to a launch.
 *
 * Called by ufunc.c, which applies the rules of dtypes and shapes, and by the copies
 * and fills of device_copy.c and assign.c. */
#ifndef PYTHON_ARRAY_OPS_ELEMENTWISE_KERNEL_H
#define PYTHON_ARRAY_OPS_ELEMENTWISE_KERNEL_H

#include "python/array/ops/operand.h"

/* Enqueue outputs = op(inputs), computed in the pcu_type `compute` (PCU_T_RAW: each
 * input as it is). The outputs have one shape, to which the inputs broadcast. No output
 * may overlap an input in conflict with it: see overlap.h. */
PCU_HIDDEN PCU_RAISES int pcu_elementwise_enqueue(pcu_state *st, int op, int nin,
                                                  const pcu_operand *inputs, int nout,
                                                  pcu_gpuarray *const *outputs,
                                                  int compute, CUstream stream);

#endif
