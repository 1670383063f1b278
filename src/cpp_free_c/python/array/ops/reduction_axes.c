/* The axes of a reduction: see reduction_axes.h. */

#include "python/array/ops/reduction_axes.h"

#include "python/array/layout.h"
#include "python/support/convert.h"

/* -- the argument axis ------------------------------------------------------------- */

static int
axes_read_number(PyObject *item, int *number)
{
    unsigned long long bits = 0;
    if (pcu_as_integer(item, INT_MIN, INT_MAX, &bits, "axis") < 0) {
        return -1;
    }
    *number = (int)bits;
    return 0;
}

static int
axes_mark(const char *name, int number, int ndim, unsigned char *mask)
{
    int place = number;
    if (pcu_axis_place(name, &place, ndim) < 0) {
        return -1;
    }
    if (mask[place]) {
        PyErr_Format(PyExc_ValueError, "%s: axis %d is there twice", name, number);
        return -1;
    }
    mask[place] = 1;
    return 0;
}

static int
axes_read_tuple(const char *name, PyObject *axis, int ndim, unsigned char *mask)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(axis); i++) {
        int number = 0;
        if (axes_read_number(PyTuple_GET_ITEM(axis, i), &number) < 0 ||
            axes_mark(name, number, ndim, mask) < 0) {
            return -1;
        }
    }
    return 0;
}

int
pcu_reduction_axes_read(const char *name, PyObject *axis, int ndim, unsigned char *mask)
{
    int number = 0;
    memset(mask, axis == Py_None, (size_t)ndim + 1);
    if (axis == Py_None) {
        return 0;
    }
    if (PyTuple_Check(axis)) {
        return axes_read_tuple(name, axis, ndim, mask);
    }
    if (axes_read_number(axis, &number) < 0) {
        return -1;
    }
    if (ndim == 0 && number >= -1 && number <= 0) {
        return 0;
    }
    return axes_mark(name, number, ndim, mask);
}

/* -- splitting and joining --------------------------------------------------------- */

static void
axes_add(pcu_reduction_axes *axes, size_t length, ptrdiff_t first, ptrdiff_t second)
{
    axes->shape[axes->ndim] = length;
    axes->strides[0][axes->ndim] = first;
    axes->strides[1][axes->ndim] = second;
    axes->count *= length;
    axes->ndim++;
}

/* Whether axis i continues the axis `before` in all inputs. */
static bool
axes_continue(const pcu_reduction_axes *axes, int nin, int before, int i)
{
    for (int k = 0; k < nin; k++) {
        if (axes->strides[k][before] !=
            axes->strides[k][i] * (ptrdiff_t)axes->shape[i]) {
            return false;
        }
    }
    return true;
}

/* Join neighbouring axes and keep their order. Drop axes of length 1. */
static void
axes_join(pcu_reduction_axes *axes, int nin)
{
    int n = 0;
    for (int i = 0; i < axes->ndim; i++) {
        size_t length = axes->shape[i];
        if (length == 1) {
            continue;
        }
        if (n > 0 && axes_continue(axes, nin, n - 1, i)) {
            n--;
            length *= axes->shape[n];
        }
        axes->shape[n] = length;
        axes->strides[0][n] = axes->strides[0][i];
        axes->strides[1][n] = axes->strides[1][i];
        n++;
    }
    axes->ndim = n;
}

int
pcu_reduction_axes_split(pcu_gpuarray *const *inputs, int nin,
                         const unsigned char *mask, bool in_order,
                         pcu_reduction_axes *kept, pcu_reduction_axes *reduced)
{
    const pcu_gpuarray *x = inputs[0];
    ptrdiff_t second[PCU_MAX_NDIM] = {0};
    if (nin == 2 &&
        pcu_broadcast_strides(inputs[1]->ndim, inputs[1]->shape, inputs[1]->strides,
                              x->ndim, x->shape, second) < 0) {
        return -1;
    }
    kept->ndim = reduced->ndim = 0;
    kept->count = reduced->count = 1;
    for (int i = 0; i < x->ndim; i++) {
        pcu_reduction_axes *axes = kept;
        if (mask[i]) {
            axes = reduced;
        }
        axes_add(axes, x->shape[i], x->strides[i], second[i]);
    }
    axes_join(kept, nin);
    if (in_order) {
        axes_join(reduced, nin);
    }
    else {
        reduced->ndim =
            pcu_collapse(reduced->ndim, reduced->shape, nin, reduced->strides[0]);
    }
    return 0;
}

int
pcu_reduction_axes_shape(const pcu_gpuarray *x, const unsigned char *mask,
                         bool keepdims, size_t *shape)
{
    int ndim = 0;
    for (int i = 0; i < x->ndim; i++) {
        if (!mask[i]) {
            shape[ndim++] = x->shape[i];
        }
        else if (keepdims) {
            shape[ndim++] = 1;
        }
    }
    return ndim;
}
