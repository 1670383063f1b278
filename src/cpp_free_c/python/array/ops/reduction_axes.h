/* The axes of a reduction: those that the result keeps and those that are reduced, each
 * joined where the strides allow it.
 *
 * Arithmetic on lengths and strides; no kernel. Called by reduction.c. */
#ifndef PYTHON_ARRAY_OPS_REDUCTION_AXES_H
#define PYTHON_ARRAY_OPS_REDUCTION_AXES_H

#include "driver/shape.h"
#include "python/driver/memory/gpuarray.h"

/* A set of axes with the strides of both inputs. */
typedef struct {
    int ndim;
    size_t count; /* the product of the lengths */
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[2][PCU_MAX_NDIM];
} pcu_reduction_axes;

/* Read the argument `axis`: None, an int or a tuple of ints. mask[i] becomes 1 if axis
 * i is reduced. An array without axes takes 0 and -1, as in NumPy. */
PCU_HIDDEN PCU_RAISES int pcu_reduction_axes_read(const char *name, PyObject *axis,
                                                  int ndim, unsigned char *mask);

/* Split the axes of the inputs, of which the second broadcasts to the first. in_order:
 * 1 if the reduced elements must be visited in the order of their indices. 0, or -1
 * without an exception if the second input does not broadcast. */
PCU_HIDDEN int pcu_reduction_axes_split(pcu_gpuarray *const *inputs, int nin,
                                        const unsigned char *mask, bool in_order,
                                        pcu_reduction_axes *kept,
                                        pcu_reduction_axes *reduced);

/* The shape of the result; returns its number of axes. */
PCU_HIDDEN int pcu_reduction_axes_shape(const pcu_gpuarray *x,
                                        const unsigned char *mask, bool keepdims,
                                        size_t *shape);

#endif
