/* Sorts of packed lines: the choice of the kernels, their memory and their launches.
 *
 * Called by sort.c, which has the arrays. */
#ifndef PYTHON_ARRAY_SORT_LINE_SORT_H
#define PYTHON_ARRAY_SORT_LINE_SORT_H

#include "python/array/sort/line_plan.h"

/* Choose the method for work in ctx. OverflowError if the sizes of the workspace
 * overflow. */
PCU_HIDDEN PCU_RAISES int pcu_line_sort_plan(pcu_line_sort *sort,
                                             const pcu_context *ctx);

/* Whether the target may be the source. */
PCU_HIDDEN bool pcu_line_sort_is_in_place(const pcu_line_sort *sort);

/* Get the kernels. Returns what pcu_kernel_table_get returns. */
PCU_HIDDEN PCU_RAISES int pcu_line_sort_get_kernels(const pcu_line_sort *sort,
                                                    pcu_context *ctx,
                                                    pcu_sort_kernels *kernels);

/* Enqueue the sort. */
PCU_HIDDEN PCU_RAISES int pcu_line_sort_launch(const pcu_line_sort *sort,
                                               const pcu_context *ctx,
                                               const pcu_sort_kernels *kernels,
                                               const pcu_sort_memory *memory,
                                               CUstream stream);

#endif
