/* Arrays joined along an axis: concatenate, stack and their kin.
 *
 * Arrays that are packed in C order and have the result's dtype are copied by one
 * kernel. Others are copied one by one, converted if need be. Called by
 * type/shape_functions.c. */
#ifndef PYTHON_ARRAY_OPS_JOIN_H
#define PYTHON_ARRAY_OPS_JOIN_H

#include "python/driver/memory/gpuarray.h"

/* Enqueue: copy arrays into consecutive parts of a target along an axis. The arrays
 * have the target's other lengths, and their lengths along the axis add up to the
 * target's. No array shares memory with the target. */
PCU_HIDDEN PCU_RAISES int pcu_join(pcu_gpuarray *target, pcu_gpuarray *const *arrays,
                                   Py_ssize_t count, int axis, CUstream stream);

#endif
