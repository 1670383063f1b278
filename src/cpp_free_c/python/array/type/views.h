/* Views of a GPUArray under another shape or order of axes, for other files of type/.
 */
#ifndef PYTHON_ARRAY_TYPE_VIEWS_H
#define PYTHON_ARRAY_TYPE_VIEWS_H

#include "python/driver/memory/gpuarray.h"

/* The elements under a shape of as many elements. A packed array is read in the order
 * of memory; one with gaps in C (or Fortran) order of its indices, by way of a copy in
 * the stream if no view has that shape. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_gpuarray_reshape_new(pcu_gpuarray *self, int ndim,
                                                         const size_t *shape,
                                                         bool f_order, CUstream stream);

/* The getters of the attributes T and mT. */
PCU_HIDDEN PyObject *pcu_gpuarray_get_T(PyObject *op, void *closure);
PCU_HIDDEN PyObject *pcu_gpuarray_get_mT(PyObject *op, void *closure);

#endif
