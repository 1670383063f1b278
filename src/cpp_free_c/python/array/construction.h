/* New GPUArrays: with fresh memory, as views, and like another array.
 *
 * Called by the files of the array rooms. GPUArray.__init__ is in type/gpuarray_type.c.
 */
#ifndef PYTHON_ARRAY_CONSTRUCTION_H
#define PYTHON_ARRAY_CONSTRUCTION_H

#include "python/driver/memory/gpuarray.h"

/* An array before its __init__. */
PCU_HIDDEN PCU_NEWREF pcu_gpuarray *pcu_gpuarray_blank_new(pcu_state *st,
                                                           PyTypeObject *type);

/* An array with memory from `allocator` (NULL: the default one). strides NULL: C order.
 * type NULL: GPUArray. A subclass is called as subclass(shape, dtype, allocator=,
 * strides=). */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_gpuarray_new(pcu_state *st, PyTypeObject *type,
                                                 int ndim, const size_t *shape,
                                                 const ptrdiff_t *strides,
                                                 PyArray_Descr *dtype,
                                                 PyObject *allocator);

/* A plain GPUArray that shares self's memory and holds self as its base. It begins
 * `offset` bytes after self's first element. dtype NULL: self's. */
PCU_HIDDEN PCU_NEWREF pcu_gpuarray *pcu_gpuarray_view_new(pcu_gpuarray *self, int ndim,
                                                          const size_t *shape,
                                                          const ptrdiff_t *strides,
                                                          ptrdiff_t offset,
                                                          PyArray_Descr *dtype);

/* An array of self's type for the result of an operation on self. shape NULL: self's
 * shape, packed in self's order of axes. allocator NULL: self's. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_gpuarray_like_new(pcu_gpuarray *self, int ndim,
                                                      const size_t *shape,
                                                      PyArray_Descr *dtype,
                                                      PyObject *allocator);

#endif
