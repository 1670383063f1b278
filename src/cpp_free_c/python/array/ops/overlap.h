/* Whether two arrays share memory in a way that a kernel cannot handle.
 *
 * Called before a kernel or copy writes an array that it may also read. */
#ifndef PYTHON_ARRAY_OPS_OVERLAP_H
#define PYTHON_ARRAY_OPS_OVERLAP_H

#include "python/driver/memory/gpuarray.h"

/* Whether writing `out` may change elements of `in` that other threads have not read
 * yet. False if the arrays have the same elements in the same places: then each thread
 * reads and writes its own. */
PCU_HIDDEN bool pcu_gpuarray_conflicts(const pcu_gpuarray *in, const pcu_gpuarray *out);

/* Whether the ranges of addresses that the elements of two arrays touch overlap. */
PCU_HIDDEN bool pcu_gpuarray_may_overlap(const pcu_gpuarray *a, const pcu_gpuarray *b);

/* ValueError if elements of the target share memory, so that different values for them
 * would depend on the order of threads. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_check_target(const pcu_gpuarray *target);

#endif
