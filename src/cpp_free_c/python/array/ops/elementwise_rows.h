/* Elementwise loops on the software device, by rows. See elementwise_rows.c. Called by
 * elementwise_kernel.c. */
#ifndef PYTHON_ARRAY_OPS_ELEMENTWISE_ROWS_H
#define PYTHON_ARRAY_OPS_ELEMENTWISE_ROWS_H

#include "python/array/ops/elementwise_loop.h"
#include "python/driver/context.h"

/* Enqueue the planned loop by rows, if it is planned so: 1 if it was enqueued, 0 if
 * not, -1 on error. PCU_KERNEL_MADE: nothing was enqueued; the caller checks the arrays
 * again, plans the loop again and repeats the call (see kernel_table.h). */
PCU_HIDDEN PCU_RAISES int pcu_elementwise_rows(pcu_state *st, pcu_context *ctx,
                                               pcu_elementwise_loop *loop,
                                               CUstream stream);

#endif
