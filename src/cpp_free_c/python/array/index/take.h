/* Elements at index arrays along an axis: take, put, and their kin along an axis.
 *
 * Called by type/index_functions.c. */
#ifndef PYTHON_ARRAY_INDEX_TAKE_H
#define PYTHON_ARRAY_INDEX_TAKE_H

#include "python/array/index/selection.h"

enum { PCU_AXIS_FLAT = -1 - PCU_MAX_NDIM }; /* all elements, in their order in memory */

/* The elements at indices along an axis, in `out` (Py_None: a new array). */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_take(pcu_gpuarray *self, PyObject *indices,
                                         int axis, PyObject *out, pcu_bounds bounds,
                                         CUstream stream);

/* Enqueue the assignment of values to the elements at flat indices. There are as many
 * values as indices, or one. */
PCU_HIDDEN PCU_RAISES int pcu_put(pcu_gpuarray *self, PyObject *indices,
                                  pcu_gpuarray *values, pcu_bounds bounds,
                                  CUstream stream);

/* The elements at indices along an axis, where each line of the array has indices of
 * its own. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_take_along_axis(pcu_gpuarray *self,
                                                    PyObject *indices, int axis,
                                                    CUstream stream);

/* Enqueue the assignment to these elements. */
PCU_HIDDEN PCU_RAISES int pcu_put_along_axis(pcu_gpuarray *self, PyObject *indices,
                                             PyObject *values, int axis,
                                             CUstream stream);

#endif
