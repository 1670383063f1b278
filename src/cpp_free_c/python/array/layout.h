/* The layout of a GPUArray: dtype, lengths, strides, order in memory.
 *
 * Invariant: dtype, shape, strides, count and contiguous change together, in
 * pcu_gpuarray_describe only. Called by all files of the array rooms. */
#ifndef PYTHON_ARRAY_LAYOUT_H
#define PYTHON_ARRAY_LAYOUT_H

#include "driver/shape.h"
#include "python/driver/memory/gpuarray.h"

/* Give the array another dtype, shape and strides (NULL: C order) and compute the
 * fields that follow from them. The arguments may be the array's own. Nothing changes
 * on failure. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_describe(pcu_gpuarray *self,
                                                PyArray_Descr *dtype, int ndim,
                                                const size_t *shape,
                                                const ptrdiff_t *strides);

/* The same with the dtype that the array has. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_set_layout(pcu_gpuarray *self, int ndim,
                                                  const size_t *shape,
                                                  const ptrdiff_t *strides);

/* Read strides that a program gives: one integer for each axis. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_read_strides(PyObject *value, int ndim,
                                                    ptrdiff_t *strides);

/* Tuples of ints. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_shape_tuple_new(int ndim, const size_t *shape);
PCU_HIDDEN PCU_NEWREF PyObject *pcu_numbers_tuple_new(int count,
                                                      const ptrdiff_t *numbers);

/* Raise ValueError about two shapes. The format takes %s for `name`, %S for the shape
 * given by ndim and `shape`, %S for the array's. Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_raise_shapes(const char *format, const char *name,
                                           int ndim, const size_t *shape,
                                           const pcu_gpuarray *array);

/* Count an axis of a function's argument from 0 on. AxisError, which is a ValueError
 * and an IndexError, if no array with that number of axes has it. */
PCU_HIDDEN PCU_RAISES int pcu_axis_place(const char *function, int *axis, int ndim);

/* Check the argument `out` of a function: an initialised GPUArray of this shape. */
PCU_HIDDEN PCU_RAISES int pcu_check_out(pcu_state *st, const char *name, PyObject *out,
                                        int ndim, const size_t *shape);

/* Check that elements of the type can be stored in `out` by the rule same_kind. */
PCU_HIDDEN PCU_RAISES int pcu_check_out_type(const char *name, const pcu_gpuarray *out,
                                             int type);

/* The strides of a packed array in C order, or in Fortran order if f_order is 1.
 * Inline: every reshape calls it. */
PCU_RAISES static inline int
pcu_strides_in_order(bool f_order, int ndim, const size_t *shape, size_t itemsize,
                     ptrdiff_t *strides)
{
    int rc;
    if (f_order) {
        rc = pcu_strides_f(ndim, shape, itemsize, strides);
    }
    else {
        rc = pcu_strides_c(ndim, shape, itemsize, strides);
    }
    if (rc < 0) {
        PyErr_SetString(PyExc_ValueError, "an array of that shape is too big");
    }
    return rc;
}

/* The strides of a packed array whose axes have the order in memory of self's. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_packed_strides(const pcu_gpuarray *self,
                                                      size_t itemsize,
                                                      ptrdiff_t *strides);

/* Whether the elements fill all bytes from the first to the last, in any order of axes.
 */
PCU_HIDDEN bool pcu_gpuarray_is_packed(const pcu_gpuarray *self);

#endif
