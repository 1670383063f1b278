/* Indices with index arrays: x[index] and x[index] = value.
 *
 * An index is a tuple of integers, slices, None, Ellipsis, index arrays and masks, on
 * the device or the host. The rules are NumPy's. Called by type/indexing.c. */
#ifndef PYTHON_ARRAY_INDEX_ITEMS_H
#define PYTHON_ARRAY_INDEX_ITEMS_H

#include "python/driver/memory/gpuarray.h"

/* The elements at an index of n items, a copy. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_index_get(pcu_gpuarray *self,
                                              PyObject *const *items, Py_ssize_t n,
                                              CUstream stream);

/* Enqueue self[items] = value. */
PCU_HIDDEN PCU_RAISES int pcu_index_set(pcu_gpuarray *self, PyObject *const *items,
                                        Py_ssize_t n, PyObject *value, CUstream stream);

/* Enqueue op(element, value) for the elements at an index, where op is an elementwise
 * operation with two inputs of self's dtype. Repeated indices count. */
PCU_HIDDEN PCU_RAISES int pcu_index_apply(pcu_gpuarray *self, int op,
                                          PyObject *const *items, Py_ssize_t n,
                                          PyObject *value, CUstream stream);

#endif
