/* NumPy arrays for the host's side of a transfer: see host_array.h. */

#include "python/array/host_array.h"

#include "python/array/layout.h"
#include "driver/shape.h"
#include "python/support/convert.h"

bool
pcu_host_is_alike(PyArrayObject *host, const pcu_gpuarray *device)
{
    if (PyArray_NDIM(host) != device->ndim ||
        (size_t)PyArray_ITEMSIZE(host) != pcu_gpuarray_itemsize(device) ||
        !pcu_gpuarray_is_packed(device)) {
        return false;
    }
    for (int i = 0; i < device->ndim; i++) {
        if ((size_t)PyArray_DIM(host, i) != device->shape[i] ||
            (device->shape[i] > 1 && PyArray_STRIDE(host, i) != device->strides[i])) {
            return false;
        }
    }
    return true;
}

bool
pcu_host_has_shape(PyArrayObject *host, const pcu_gpuarray *self)
{
    if (PyArray_NDIM(host) != self->ndim) {
        return false;
    }
    for (int i = 0; i < self->ndim; i++) {
        if ((size_t)PyArray_DIM(host, i) != self->shape[i]) {
            return false;
        }
    }
    return true;
}

/* The axes of a packed array, that of the longest stride first. */
static void
host_axes_in_memory(int ndim, const ptrdiff_t *strides, int *order)
{
    for (int i = 0; i < ndim; i++) {
        int k = i;
        for (; k > 0 && strides[order[k - 1]] < strides[i]; k--) {
            order[k] = order[k - 1];
        }
        order[k] = i;
    }
}

PyObject *
pcu_host_new(const pcu_gpuarray *self)
{
    npy_intp dims[PCU_MAX_NDIM];
    npy_intp axes[PCU_MAX_NDIM];
    int order[PCU_MAX_NDIM];
    ptrdiff_t packed[PCU_MAX_NDIM];
    for (int i = 0; i < self->ndim; i++) {
        dims[i] = (npy_intp)self->shape[i];
    }
    PyArray_Descr *dtype = (PyArray_Descr *)Py_NewRef((PyObject *)self->dtype);
    if (self->contiguous) {
        return PyArray_Empty(self->ndim, dims, dtype, self->contiguous == PCU_ARRAY_F);
    }
    if (pcu_gpuarray_packed_strides(self, pcu_gpuarray_itemsize(self), packed) < 0) {
        Py_DECREF(dtype);
        return NULL;
    }
    host_axes_in_memory(self->ndim, packed, order);
    for (int i = 0; i < self->ndim; i++) {
        dims[i] = (npy_intp)self->shape[order[i]];
        axes[order[i]] = i;
    }
    PyArrayObject *array = (PyArrayObject *)PyArray_Empty(self->ndim, dims, dtype, 0);
    if (array == NULL) {
        return NULL;
    }
    PyArray_Dims permutation = {axes, self->ndim};
    PyObject *result = PyArray_Transpose(array, &permutation);
    Py_DECREF(array);
    return result;
}

PyObject *
pcu_host_pagelocked_new(pcu_gpuarray *self)
{
    PyObject *result = NULL;
    const char *order = "C";
    PyObject *module = PyImport_ImportModule("pycuda.driver");
    if (module == NULL) {
        return NULL;
    }
    if (self->contiguous == PCU_ARRAY_F) {
        order = "F";
    }
    PyObject *shape = pcu_shape_tuple_new(self->ndim, self->shape);
    if (shape == NULL) {
        goto done;
    }
    result = PyObject_CallMethod(module, "pagelocked_empty", "OOs", shape,
                                 (PyObject *)self->dtype, order);
    if (result != NULL && !PyArray_Check(result)) {
        PyErr_Format(PyExc_TypeError,
                     "pycuda.driver.pagelocked_empty returned a %s, not a numpy array",
                     Py_TYPE(result)->tp_name);
        Py_CLEAR(result);
    }
done:
    Py_XDECREF(shape);
    Py_DECREF(module);
    return result;
}

PyArrayObject *
pcu_host_checked_new(pcu_gpuarray *self, PyObject *host, PyObject *dtype_error,
                     PyObject *warning)
{
    if (!PyArray_Check(host)) {
        PyErr_Format(PyExc_TypeError, "ary must be a numpy array, not %s",
                     Py_TYPE(host)->tp_name);
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)host;
    if (!PyArray_CheckExact(host) && pcu_array_check_meaning(array, "ary") < 0) {
        return NULL;
    }
    if ((size_t)PyArray_SIZE(array) != self->count) {
        PyErr_Format(PyExc_ValueError, "ary has %zd elements, the GPUArray has %zu",
                     (Py_ssize_t)PyArray_SIZE(array), self->count);
        return NULL;
    }
    if (!PyArray_EquivTypes(PyArray_DESCR(array), self->dtype)) {
        const char *order = "";
        if (!PyArray_ISNBO(PyArray_DESCR(array)->byteorder)) {
            order = ", in the byte order of other machines";
        }
        PyErr_Format(dtype_error, "ary has dtype %S%s, the GPUArray has %S",
                     (PyObject *)PyArray_DESCR(array), order, (PyObject *)self->dtype);
        return NULL;
    }
    if (pcu_host_has_shape(array, self)) {
        return (PyArrayObject *)Py_NewRef(host);
    }
    npy_intp dims[PCU_MAX_NDIM];
    PyArray_Dims shape = {dims, self->ndim};
    for (int i = 0; i < self->ndim; i++) {
        dims[i] = (npy_intp)self->shape[i];
    }
    if (PyErr_WarnEx(warning,
                     "the numpy array has another shape than the GPUArray; it is "
                     "reshaped",
                     1) < 0) {
        return NULL;
    }
    NPY_ORDER order = NPY_CORDER;
    if (self->contiguous == PCU_ARRAY_F) {
        order = NPY_FORTRANORDER;
    }
    return (PyArrayObject *)PyArray_Newshape(array, &shape, order);
}

bool
pcu_host_is_arranged(PyArrayObject *host, const pcu_gpuarray *like)
{
    return pcu_host_is_alike(host, like) &&
           PyArray_ISNBO(PyArray_DESCR(host)->byteorder) ==
               PyArray_ISNBO(like->dtype->byteorder);
}

bool
pcu_host_view(PyArrayObject *host, const pcu_gpuarray *like, pcu_staging_view *view)
{
    size_t itemsize = pcu_gpuarray_itemsize(like);
    if (!pcu_host_has_shape(host, like) || !pcu_gpuarray_is_packed(like) ||
        (size_t)PyArray_ITEMSIZE(host) != itemsize ||
        PyArray_ISNBO(PyArray_DESCR(host)->byteorder) !=
            PyArray_ISNBO(like->dtype->byteorder)) {
        return false;
    }
    int order[PCU_MAX_NDIM];
    host_axes_in_memory(like->ndim, like->strides, order);
    for (int i = 0; i < like->ndim; i++) {
        view->shape[i] = like->shape[order[i]];
        view->strides[i] = PyArray_STRIDE(host, order[i]);
    }
    view->data = PyArray_BYTES(host);
    view->itemsize = itemsize;
    view->ndim = like->ndim;
    return true;
}

PyObject *
pcu_host_packed_like(PyObject *ary)
{
    PyArrayObject *array = (PyArrayObject *)ary;
    if (PyArray_IS_C_CONTIGUOUS(array) || PyArray_IS_F_CONTIGUOUS(array)) {
        return Py_NewRef(ary);
    }
    return PyArray_NewLikeArray(array, NPY_KEEPORDER, NULL, 0);
}
