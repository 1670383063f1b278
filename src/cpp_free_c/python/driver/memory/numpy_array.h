/* NumPy arrays in memory of this package. Callers: page_locked_pool.c and the functions
 * of numpy_array.c. Invariant: the array's base keeps the memory alive. */
#ifndef PYTHON_DRIVER_MEMORY_NUMPY_ARRAY_H
#define PYTHON_DRIVER_MEMORY_NUMPY_ARRAY_H

#include "python/support/base.h"

#include "python/support/convert.h"

/* The bytes of a shape of this dtype. ValueError if they exceed the address space. */
PCU_HIDDEN PCU_RAISES int pcu_numpy_array_bytes(const pcu_shape *shape,
                                                PyArray_Descr *dtype, size_t *bytes);

/* An array in the memory at `data`, which `base` keeps alive. Takes over the references
 * to dtype and base. */
PCU_HIDDEN PCU_NEWREF PCU_STEALS(2)
    PCU_STEALS(5) PyObject *pcu_numpy_array_new(const pcu_shape *shape,
                                                PyArray_Descr *dtype, NPY_ORDER order,
                                                void *data, PyObject *base);

#endif
