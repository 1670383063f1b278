/* The array of a TensorMap: its address and layout, from __cuda_array_interface__.
 *
 * Callers: tensor_map.c. */
#ifndef PYTHON_DRIVER_LAUNCH_TENSOR_ARRAY_H
#define PYTHON_DRIVER_LAUNCH_TENSOR_ARRAY_H

#include "python/support/base.h"

/* The dimensions of a map, and those of an array, of which an interleaved layout has
 * one more. */
enum { PCU_TENSOR_RANK = 5, PCU_TENSOR_DIMENSIONS = 6 };

/* An array as its interface describes it, dimensions in the order of the shape. */
typedef struct {
    CUdeviceptr address;
    int rank;
    unsigned long long shape[PCU_TENSOR_DIMENSIONS];
    long long strides[PCU_TENSOR_DIMENSIONS]; /* bytes */
    PyArray_Descr *dtype;                     /* strong */
} pcu_tensor_array;

/* Read the interface of an array. On failure dtype may be set too. */
PCU_HIDDEN PCU_RAISES int pcu_tensor_array_read(pcu_state *st, PyObject *array,
                                                pcu_tensor_array *a);

/* Read a tuple of `rank` integers, which may be negative if `low` is. */
PCU_HIDDEN PCU_RAISES int pcu_tensor_read_tuple(PyObject *value, int rank,
                                                long long low, unsigned long long high,
                                                unsigned long long *out,
                                                const char *name);

#endif
