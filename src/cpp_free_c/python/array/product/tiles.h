/* Products of matrices by generated kernels.
 *
 * They take all number types, operands of different types, any strides, and sizes
 * beyond 2**31. Called by segments.c and matmul.c. */
#ifndef PYTHON_ARRAY_PRODUCT_TILES_H
#define PYTHON_ARRAY_PRODUCT_TILES_H

#include "python/array/product/product.h"
#include "python/driver/context.h"

/* Whether a block makes a whole result: it has few elements, and long sums. */
PCU_HIDDEN bool pcu_tiles_is_thin(const pcu_product *product);

/* The number of blocks of the product's kernel, 1 or more. */
PCU_HIDDEN size_t pcu_tiles_blocks(const pcu_product *product, const pcu_context *ctx);

/* Enqueue a product. PCU_KERNEL_MADE: nothing was enqueued, and other code may have
 * run: see python/array/ops/kernel_table.h. */
PCU_HIDDEN PCU_RAISES int pcu_tiles_multiply(pcu_state *st, pcu_context *ctx,
                                             const pcu_product *product,
                                             CUstream stream);

#endif
