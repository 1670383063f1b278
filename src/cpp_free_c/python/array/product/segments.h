/* Products of few, long sums by generated kernels.
 *
 * If the result has too few tiles to fill the device, the sums are cut into segments. A
 * reduction adds the results of the segments. Called by matmul.c. */
#ifndef PYTHON_ARRAY_PRODUCT_SEGMENTS_H
#define PYTHON_ARRAY_PRODUCT_SEGMENTS_H

#include "python/array/product/product.h"
#include "python/driver/context.h"

/* Enqueue a product into `target`, the array of the product's result, in segments or at
 * once. PCU_KERNEL_MADE: the result is not complete, and other code may have run: see
 * python/array/ops/kernel_table.h. */
PCU_HIDDEN PCU_RAISES int pcu_segments_multiply(pcu_state *st, pcu_context *ctx,
                                                const pcu_product *product,
                                                pcu_gpuarray *target,
                                                PyObject *allocator, CUstream stream);

#endif
