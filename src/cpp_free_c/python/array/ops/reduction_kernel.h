/* The kernels of a reduction: their keys, parameters and launches.
 *
 * Called by reduction.c. */
#ifndef PYTHON_ARRAY_OPS_REDUCTION_KERNEL_H
#define PYTHON_ARRAY_OPS_REDUCTION_KERNEL_H

#include "python/array/ops/reduction_plan.h"

/* Get the kernel that reduces elements. Returns what pcu_kernel_table_get returns. */
PCU_HIDDEN PCU_RAISES int pcu_reduction_kernel_get(const pcu_reduction_plan *plan,
                                                   pcu_context *ctx,
                                                   CUfunction *kernel);

/* Launch it: results, or accumulators if there are several segments. */
PCU_HIDDEN PCU_RAISES int pcu_reduction_kernel_launch(const pcu_reduction_plan *plan,
                                                      CUfunction kernel,
                                                      CUdeviceptr target,
                                                      CUstream stream);

/* How many threads join the segments of a result: those of a block or of a warp. */
PCU_HIDDEN size_t pcu_reduction_join_lanes(const pcu_reduction_plan *plan);

/* Get the kernel that joins the segments. */
PCU_HIDDEN PCU_RAISES int pcu_reduction_join_get(const pcu_reduction_plan *plan,
                                                 pcu_context *ctx, CUfunction *kernel);

/* Launch it: accumulators to results. */
PCU_HIDDEN PCU_RAISES int pcu_reduction_join_launch(const pcu_reduction_plan *plan,
                                                    CUfunction kernel,
                                                    CUdeviceptr partial,
                                                    CUdeviceptr target,
                                                    CUstream stream);

#endif
