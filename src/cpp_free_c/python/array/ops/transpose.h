/* Copies that exchange axes: the source is packed along one axis, the target along
 * another. See transpose.c. Called by elementwise_kernel.c and triangle.c. */
#ifndef PYTHON_ARRAY_OPS_TRANSPOSE_H
#define PYTHON_ARRAY_OPS_TRANSPOSE_H

#include "python/driver/context.h"

/* The part of each matrix that a copy keeps: its lower or upper triangle. */
typedef struct {
    int64_t k; /* the diagonal at the edge */
    bool lower;
} pcu_triangle_part;

/* A copy between two arrays of one shape, element by element. */
typedef struct {
    CUdeviceptr source_address;
    CUdeviceptr target_address;
    size_t itemsize;
    int ndim;
    const size_t *shape;
    const ptrdiff_t *source; /* strides */
    const ptrdiff_t *target;
    /* NULL, or the part of the last two axes that is copied. The others become 0. */
    const pcu_triangle_part *part;
} pcu_strided_copy;

/* Enqueue the copy if it exchanges axes: 1 if it was enqueued, 0 if not, -1 on error.
 * PCU_KERNEL_MADE: nothing was enqueued; the caller checks the arrays again and repeats
 * the call (see kernel_table.h). */
PCU_HIDDEN PCU_RAISES int pcu_transpose(pcu_state *st, pcu_context *ctx,
                                        const pcu_strided_copy *copy, CUstream stream);

#endif
