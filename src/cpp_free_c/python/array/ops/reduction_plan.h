/* One reduction in progress: the types it computes in, its axes, and how its work is
 * cut into jobs of a kernel.
 *
 * reduction_types.c fills the types, reduction_plan.c the axes and the cut,
 * reduction_kernel.c packs and launches it. Called by reduction.c. */
#ifndef PYTHON_ARRAY_OPS_REDUCTION_PLAN_H
#define PYTHON_ARRAY_OPS_REDUCTION_PLAN_H

#include "python/array/ops/kernel_request.h"
#include "python/array/ops/operations.h"
#include "python/array/ops/reduction_axes.h"
#include "python/driver/context.h"

enum { PCU_REDUCTION_ACC_BYTES = 48 }; /* the largest Acc in pycuda-reduce.hpp */

typedef struct {
    pcu_state *st;
    int op; /* pcu_reduction */
    const pcu_reduction_row *row;
    int nin;
    pcu_gpuarray *const *inputs;
    int compute; /* pcu_type */
    int result;  /* pcu_type */
    double divisor;
    CUstream stream;
    int ndim;                  /* of the inputs */
    const unsigned char *mask; /* of the axes that are reduced */
    unsigned char types[PCU_OPERANDS_MAX];
    pcu_reduction_axes kept;
    pcu_reduction_axes reduced;
    /* the cut */
    int variant; /* pcu_variant of the first kernel */
    size_t segments;
    size_t segment; /* reduced elements in each segment but the last */
    size_t vector;  /* elements that a thread loads at once */
    size_t threads; /* of a block */
    size_t lanes;   /* threads of a job; across the results in columns */
    size_t rounds;  /* vectors that a thread has under way */
    size_t blocks;
    bool wide;
    bool streamed; /* the inputs are larger than the cache, so loads bypass it */
} pcu_reduction_plan;

/* Fill in compute and result; dtype is the type that a program asked for, or NONE. out
 * is borrowed: the argument, not checked yet, or None. */
PCU_HIDDEN PCU_RAISES int pcu_reduction_types(pcu_reduction_plan *plan, int dtype,
                                              PyObject *out);

/* Fill in the axes. mask: of the axes that are reduced. */
PCU_HIDDEN PCU_RAISES int pcu_reduction_plan_axes(pcu_reduction_plan *plan,
                                                  const unsigned char *mask);

/* Cut the work for the device of a context. There are results. */
PCU_HIDDEN void pcu_reduction_plan_cut(pcu_reduction_plan *plan,
                                       const pcu_context *ctx);

#endif
