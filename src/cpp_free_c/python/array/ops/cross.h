/* Cross products of vectors of three elements that follow each other in memory.
 *
 * Called by type/cross_function.c. */
#ifndef PYTHON_ARRAY_OPS_CROSS_H
#define PYTHON_ARRAY_OPS_CROSS_H

#include "python/driver/memory/gpuarray.h"

/* Whether pcu_cross takes the two arrays: C-contiguous, of one shape and dtype of
 * numbers other than bool, with three elements along the last axis. */
PCU_HIDDEN bool pcu_cross_takes(const pcu_gpuarray *left, const pcu_gpuarray *right);

/* Enqueue the kernel that computes left x right. pcu_cross_takes is true of the
 * operands, and the target, which overlaps none of them, is like the left one. */
PCU_HIDDEN PCU_RAISES int pcu_cross(pcu_state *st, pcu_gpuarray *target,
                                    pcu_gpuarray *left, pcu_gpuarray *right,
                                    CUstream stream);

#endif
