/* A product of matrices as lengths and strides: the form in which cuBLAS and generated
 * kernels get it.
 *
 * result[i] = left[i] @ right[i] for each index i of the batch: (m, k) by (k, n) gives
 * (m, n). Distances are in bytes. Pure arithmetic, no driver call. Called by the files
 * of this folder. */
#ifndef PYTHON_ARRAY_PRODUCT_PRODUCT_H
#define PYTHON_ARRAY_PRODUCT_PRODUCT_H

#include "driver/shape.h"
#include "python/array/element_type.h"

enum { PCU_LEFT, PCU_RIGHT, PCU_RESULT, PCU_MATRICES };

typedef struct {
    CUdeviceptr address;
    int type;         /* pcu_type of the elements */
    ptrdiff_t row;    /* to the next row */
    ptrdiff_t column; /* to the next column */
} pcu_matrix;

typedef struct {
    size_t m, n, k;
    int compute; /* pcu_type in which the product is computed */
    pcu_matrix matrices[PCU_MATRICES];
    int ndim; /* axes of the batch */
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t steps[PCU_MATRICES][PCU_MAX_NDIM]; /* along the axes of the batch */
} pcu_product;

/* Join the axes of the batch where possible. An axis along which one operand stays the
 * same becomes more rows, or more columns, of the other. */
PCU_HIDDEN void pcu_product_join(pcu_product *product);

/* Exchange rows and columns of everything: result.T = right.T @ left.T. */
PCU_HIDDEN void pcu_product_transpose(pcu_product *product);

/* How BLAS stores a matrix: runs of elements, `leading` elements from one to the next.
 */
typedef struct {
    bool by_row; /* the rows are runs, else the columns are */
    size_t leading;
} pcu_matrix_storage;

/* Whether BLAS can take a matrix of that shape as it lies in memory. */
PCU_HIDDEN bool pcu_matrix_is_stored(const pcu_matrix *matrix, size_t rows,
                                     size_t columns, pcu_matrix_storage *storage);

#endif
