/* Products of matrices through cuBLAS.
 *
 * A context that multiplies gets a handle of cuBLAS, which ends with it. The handle is
 * used by one thread at a time, under a lock of its own, because a call may have to
 * wait without the interpreter lock. Called by matmul.c. */
#ifndef PYTHON_ARRAY_PRODUCT_BLAS_H
#define PYTHON_ARRAY_PRODUCT_BLAS_H

#include "python/array/product/product.h"
#include "python/driver/context.h"

/* What multiplies in a context. PCU_PRODUCT_HOST: NumPy, on the software device.
 * PCU_PRODUCT_CHANGED: this call made the choice, and other code may have run: check
 * the arrays and ask again. */
enum {
    PCU_PRODUCT_GENERATED = 0,
    PCU_PRODUCT_CUBLAS = 1,
    PCU_PRODUCT_HOST = 2,
    PCU_PRODUCT_CHANGED = 3
};

/* Return what multiplies in ctx, which is current, or -1. The environment variable
 * PYCUDA_BLAS decides when the context multiplies for the first time. */
PCU_HIDDEN PCU_RAISES int pcu_blas_choose(pcu_state *st, pcu_context *ctx);

/* Whether the program insists on cuBLAS; false if a context that has cuBLAS may use
 * generated kernels where they are faster. Call it after pcu_blas_choose. */
PCU_HIDDEN bool pcu_blas_is_required(const pcu_context *ctx);

/* Whether cuBLAS has products of this type. */
PCU_HIDDEN bool pcu_blas_has_type(int type);

/* Whether cuBLAS can take that matrix of the product, PCU_LEFT, PCU_RIGHT or
 * PCU_RESULT, as it lies in memory. */
PCU_HIDDEN bool pcu_blas_takes(const pcu_product *product, int which);

/* Enqueue a product of which cuBLAS takes all three matrices. Return 1 if the library
 * does not support it: then the result is not complete. */
PCU_HIDDEN PCU_RAISES int pcu_blas_multiply(pcu_state *st, pcu_context *ctx,
                                            const pcu_product *product,
                                            CUstream stream);

/* A sentence that says what multiplies in ctx, and why. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_blas_describe_new(pcu_state *st, pcu_context *ctx);

#endif
