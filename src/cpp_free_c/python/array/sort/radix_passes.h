/* The radix sort of long lines: a count of all digits, then one pass for each
 * digit.
 *
 * Called by line_sort.c. */
#ifndef PYTHON_ARRAY_SORT_RADIX_PASSES_H
#define PYTHON_ARRAY_SORT_RADIX_PASSES_H

#include "python/array/sort/line_plan.h"

/* Set tiles and workspace of the sort, whose other fields are set. */
PCU_HIDDEN PCU_RAISES int pcu_radix_passes_plan(pcu_line_sort *sort);

/* Enqueue the passes: see pcu_line_sort_launch. */
PCU_HIDDEN PCU_RAISES int pcu_radix_passes_launch(const pcu_line_sort *sort,
                                                  const pcu_context *ctx,
                                                  const pcu_sort_kernels *kernels,
                                                  const pcu_sort_memory *memory,
                                                  CUstream stream);

#endif
