/* Arrays cut off or padded with zeros: see fit.h. */

#include "python/array/fourier/fit.h"

#include "driver/shape.h"
#include "python/array/construction.h"
#include "python/array/ops/assign.h"
#include "python/array/ops/device_copy.h"

/* Store zeros behind the first `length` elements of an axis. */
static int
fit_clear(pcu_gpuarray *target, int axis, size_t length, CUstream stream)
{
    size_t shape[PCU_MAX_NDIM];
    memcpy(shape, target->shape, (size_t)target->ndim * sizeof(*shape));
    shape[axis] -= length;
    pcu_gpuarray *tail =
        pcu_gpuarray_view_new(target, target->ndim, shape, target->strides,
                              (ptrdiff_t)length * target->strides[axis], NULL);
    PyObject *zero = PyLong_FromLong(0);
    int rc = -1;
    if (tail != NULL && zero != NULL) {
        rc = pcu_gpuarray_fill(tail, zero, stream);
    }
    Py_XDECREF((PyObject *)tail);
    Py_XDECREF(zero);
    return rc;
}

/* Copy the elements that both arrays have. */
static int
fit_copy(pcu_gpuarray *target, pcu_gpuarray *array, const size_t *common,
         CUstream stream)
{
    pcu_gpuarray *to =
        pcu_gpuarray_view_new(target, target->ndim, common, target->strides, 0, NULL);
    pcu_gpuarray *from =
        pcu_gpuarray_view_new(array, array->ndim, common, array->strides, 0, NULL);
    int rc = -1;
    if (to != NULL && from != NULL) {
        rc = pcu_device_copy(to, from, stream);
    }
    Py_XDECREF((PyObject *)to);
    Py_XDECREF((PyObject *)from);
    return rc;
}

PyObject *
pcu_fourier_fit_new(pcu_state *st, pcu_gpuarray *array, const size_t *shape,
                    PyObject *allocator, CUstream stream)
{
    size_t common[PCU_MAX_NDIM];
    bool is_padded = false;
    if (pcu_gpuarray_has_shape(array, array->ndim, shape)) {
        return Py_NewRef((PyObject *)array);
    }
    for (int k = 0; k < array->ndim; k++) {
        common[k] = Py_MIN(array->shape[k], shape[k]);
        is_padded = is_padded || shape[k] > array->shape[k];
    }
    if (!is_padded) {
        return (PyObject *)pcu_gpuarray_view_new(array, array->ndim, common,
                                                 array->strides, 0, NULL);
    }
    PyObject *target =
        pcu_gpuarray_new(st, NULL, array->ndim, shape, NULL, array->dtype, allocator);
    if (target == NULL) {
        return NULL;
    }
    int rc = fit_copy((pcu_gpuarray *)target, array, common, stream);
    for (int k = 0; rc == 0 && k < array->ndim; k++) {
        if (shape[k] > common[k]) {
            rc = fit_clear((pcu_gpuarray *)target, k, common[k], stream);
        }
    }
    if (rc < 0) {
        Py_CLEAR(target);
    }
    return target;
}
