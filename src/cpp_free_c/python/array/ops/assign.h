/* Assignment to the elements of a GPUArray: from an array, a number, or host data.
 *
 * Called by the methods in type/ and by reduction.c. */
#ifndef PYTHON_ARRAY_OPS_ASSIGN_H
#define PYTHON_ARRAY_OPS_ASSIGN_H

#include "python/driver/memory/gpuarray.h"

/* Enqueue target[...] = source, with broadcasting and conversion. The source is a
 * GPUArray, a number, or anything of which NumPy makes an array. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_assign(pcu_gpuarray *target, PyObject *source,
                                              CUstream stream);

/* Enqueue target[...] = value for a number, or for a value that an element's dtype
 * holds (a record). */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_fill(pcu_gpuarray *target, PyObject *value,
                                            CUstream stream);

/* A NumPy array of a value that is no GPUArray: a list gets target's dtype, and a
 * number in it that the dtype cannot hold is an OverflowError. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_assigned_array_new(const pcu_gpuarray *target,
                                                       PyObject *value);

#endif
