/* Index arrays of the host: lists, NumPy's arrays and masks.
 *
 * Called by items.c and take.c. */
#ifndef PYTHON_ARRAY_INDEX_HOST_INDICES_H
#define PYTHON_ARRAY_INDEX_HOST_INDICES_H

#include "python/driver/memory/gpuarray.h"

/* An array of integers or bool, of anything of which NumPy makes one: IndexError if it
 * has another dtype. An empty list is one of integers. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_host_indices_new(PyObject *item);

/* Check integers against the length of an axis and copy them to the device, as int64
 * that are not negative. IndexError for one out of bounds. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_host_indices_upload(pcu_state *st, PyObject *array,
                                                        size_t length, int axis,
                                                        CUstream stream);

#endif
