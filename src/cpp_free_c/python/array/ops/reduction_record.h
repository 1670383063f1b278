/* The record of a reduction: see python/array/recording.h.
 *
 * Called by reduction.c. */
#ifndef PYTHON_ARRAY_OPS_REDUCTION_RECORD_H
#define PYTHON_ARRAY_OPS_REDUCTION_RECORD_H

#include "python/array/ops/reduction_plan.h"

/* Call the recorder as for an elementwise operation, with one more argument: a tuple of
 * the divisor and the cut. The cut is a tuple, too: the number of the kind of kernel,
 * the axes of the first input that the result keeps and those that are reduced, and
 * numbers: the lanes that join segments, segments, segment, vector, threads, lanes,
 * rounds and blocks of the plan, whether it is streamed, the multiprocessors of the
 * device. Axes are in the order of the kernel's loops, without those of length 1. */
PCU_HIDDEN PCU_RAISES int pcu_reduction_record(const pcu_reduction_plan *plan,
                                               const pcu_context *ctx,
                                               pcu_gpuarray *target);

#endif
