/* The record of an elementwise operation: see python/array/recording.h.
 *
 * Called by elementwise_kernel.c. */
#ifndef PYTHON_ARRAY_OPS_ELEMENTWISE_RECORD_H
#define PYTHON_ARRAY_OPS_ELEMENTWISE_RECORD_H

#include "python/array/ops/operand.h"

/* Call the recorder with the name of the operation, the name of the type in which it
 * computes ("raw": each input as it is), a tuple of the inputs and a tuple of the
 * outputs. A scalar is a tuple of its type's name and its bytes. */
PCU_HIDDEN PCU_RAISES int pcu_elementwise_record(pcu_state *st, int op, int nin,
                                                 const pcu_operand *inputs, int nout,
                                                 pcu_gpuarray *const *outputs,
                                                 int compute);

#endif
