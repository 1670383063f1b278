/* Elementwise loops of which some inputs are packed along another axis than the
 * outputs, such as x + y.T. See elementwise_tiles.c. Called by elementwise_kernel.c. */
#ifndef PYTHON_ARRAY_OPS_ELEMENTWISE_TILES_H
#define PYTHON_ARRAY_OPS_ELEMENTWISE_TILES_H

#include "python/array/ops/elementwise_loop.h"
#include "python/driver/context.h"

/* Enqueue the planned loop by tiles if it exchanges axes: 1 if it was enqueued, 0 if
 * not, -1 on error. PCU_KERNEL_MADE: nothing was enqueued; the caller checks the arrays
 * again and repeats the call (see kernel_table.h). */
PCU_HIDDEN PCU_RAISES int pcu_elementwise_tiles(pcu_state *st, pcu_context *ctx,
                                                const pcu_elementwise_loop *loop,
                                                CUstream stream);

#endif
