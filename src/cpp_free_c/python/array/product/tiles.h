/* Products of matrices by generated kernels.
 *
 * They take all number types, operands of different types, any strides, and sizes
 * beyond 2**31. Called by segments.c and matmul.c. */
#ifndef PYTHON_ARRAY_PRODUCT_TILES_H
#define PYTHON_ARRAY_PRODUCT_TILES_H

#include "python/array/product/product.h"
#include "python/driver/context.h"

/* Sums of at most so many terms, of at most so many rows or columns, are short. It is
 * SHORT of pycuda/fuse/_group.py, whose kernels compute them, too. */
enum { PCU_TILES_SHORT = 4 };

/* Whether a thread makes one element of a result with m rows and n columns, each a sum
 * of k products. */
static inline bool
pcu_tiles_is_short(size_t m, size_t n, size_t k)
{
    return k <= PCU_TILES_SHORT && Py_MIN(m, n) <= PCU_TILES_SHORT;
}

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
