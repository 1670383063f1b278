/* The record of an elementwise operation: see python/array/recording.h.
 *
 * Called by elementwise_kernel.c. */
#ifndef PYTHON_ARRAY_OPS_ELEMENTWISE_RECORD_H
#define PYTHON_ARRAY_OPS_ELEMENTWISE_RECORD_H

#include "python/array/ops/operand.h"

/* Call the recorder: see pcu_record. */
PCU_HIDDEN PCU_RAISES int pcu_elementwise_record(pcu_state *st, int op, int nin,
                                                 const pcu_operand *inputs, int nout,
                                                 pcu_gpuarray *const *outputs,
                                                 int compute);

#endif
