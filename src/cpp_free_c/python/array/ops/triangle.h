/* Arrays of which one triangle of each matrix is kept and the other set to 0.
 *
 * Called by type/triangle_functions.c. */
#ifndef PYTHON_ARRAY_OPS_TRIANGLE_H
#define PYTHON_ARRAY_OPS_TRIANGLE_H

#include "python/array/scalar.h"
#include "python/driver/memory/gpuarray.h"

typedef struct {
    pcu_gpuarray *target; /* C-contiguous, with at least two axes */
    pcu_gpuarray *source; /* of the target's shape and dtype; NULL: `value` */
    unsigned char value[PCU_SCALAR_BYTES]; /* of each kept element, in its dtype */
    bool lower;                            /* the lower triangle is kept */
    int64_t k;                             /* the diagonal at its edge */
    CUstream stream;
} pcu_triangle_call;

/* Enqueue the kernel that fills the target. The arrays must not overlap. */
PCU_HIDDEN PCU_RAISES int pcu_triangle(pcu_state *st, const pcu_triangle_call *call);

#endif
