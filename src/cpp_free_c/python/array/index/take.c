/* Elements at index arrays along an axis: see take.h. */

#include "python/array/index/take.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/index/host_indices.h"
#include "python/array/index/values.h"
#include "python/array/layout.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/host_transfer.h"
#include "python/array/ops/overlap.h"

/* -- index arrays ------------------------------------------------------------------ */

static int
take_check_integers(const char *name, bool is_bool, bool is_integer, PyObject *dtype)
{
    if (is_bool) {
        PyErr_Format(PyExc_IndexError, "%s: indices must be integers, not bool", name);
        return -1;
    }
    if (!is_integer) {
        PyErr_Format(
            PyExc_IndexError,
            "arrays used as indices must be of integer or boolean type, not %S", dtype);
        return -1;
    }
    return 0;
}

/* The indices on the device. Those of the host are checked against the axis if an index
 * out of bounds is an error. */
static PyObject *
take_indices_new(pcu_selection *selection, PyObject *indices, const char *name,
                 size_t length, int axis, CUstream stream)
{
    pcu_state *st = selection->array->st;
    if (pcu_is_array(st, indices)) {
        const pcu_gpuarray *array = (pcu_gpuarray *)indices;
        if (pcu_gpuarray_ready(array) < 0 ||
            take_check_integers(name, array->type == PCU_T_BOOL,
                                pcu_type_is_integer(array->type),
                                (PyObject *)array->dtype) < 0) {
            return NULL;
        }
        return Py_NewRef(indices);
    }
    PyObject *host = pcu_host_indices_new(indices);
    if (host == NULL) {
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)host;
    PyObject *result = NULL;
    if (take_check_integers(name, PyArray_ISBOOL(array), true,
                            (PyObject *)PyArray_DESCR(array)) == 0) {
        if (selection->bounds == PCU_BOUNDS_NOTE) {
            result = pcu_host_indices_upload(st, host, length, axis, stream);
        }
        else {
            result = pcu_host_transfer_new(st, host, NULL, stream, false);
        }
    }
    Py_DECREF(host);
    return result;
}

/* Add indices to a selection. */
static int
take_add_indices(pcu_selection *selection, PyObject *indices, const char *name,
                 int axis, size_t length, ptrdiff_t stride, CUstream stream)
{
    bool is_checked = !pcu_is_array(selection->array->st, indices);
    PyObject *index = take_indices_new(selection, indices, name, length, axis, stream);
    if (index == NULL) {
        return -1;
    }
    int rc = pcu_selection_add(selection, (pcu_gpuarray *)index, axis, length, stride,
                               is_checked);
    Py_DECREF(index);
    return rc;
}

static int
take_raise_axes(void)
{
    PyErr_Format(PyExc_IndexError, "the result would have more than %d axes",
                 PCU_MAX_NDIM);
    return -1;
}

/* -- flat indices and those along an axis ------------------------------------------ */

/* The shape of the selection: the array's, with the axes of the indices in the place of
 * one axis, or of all. */
static int
take_fill_shape(pcu_selection *selection, int axis)
{
    const pcu_gpuarray *self = selection->array;
    const pcu_gpuarray *index = selection->indices[0].array;
    int before = 0;
    int after = 0;
    if (axis != PCU_AXIS_FLAT) {
        before = axis;
        after = self->ndim - axis - 1;
    }
    if (before + index->ndim + after > PCU_MAX_NDIM) {
        return take_raise_axes();
    }
    int n = 0;
    for (int i = 0; i < before; i++, n++) {
        selection->shape[n] = self->shape[i];
        selection->strides[n] = self->strides[i];
    }
    selection->begin = n;
    for (int i = 0; i < index->ndim; i++, n++) {
        selection->shape[n] = index->shape[i];
        selection->strides[n] = 0;
    }
    selection->end = n;
    for (int i = self->ndim - after; i < self->ndim; i++, n++) {
        selection->shape[n] = self->shape[i];
        selection->strides[n] = self->strides[i];
    }
    selection->ndim = n;
    return pcu_selection_count(selection);
}

/* Select the elements of an array at indices along an axis, or of one that is packed at
 * flat indices. */
static int
take_select(pcu_selection *selection, PyObject *indices, const char *name, int axis,
            CUstream stream)
{
    const pcu_gpuarray *self = selection->array;
    int number = 0;
    size_t length = self->count;
    ptrdiff_t stride = (ptrdiff_t)pcu_gpuarray_itemsize(self);
    if (axis != PCU_AXIS_FLAT) {
        number = axis;
        length = self->shape[axis];
        stride = self->strides[axis];
    }
    if (take_add_indices(selection, indices, name, number, length, stride, stream) <
        0) {
        return -1;
    }
    return take_fill_shape(selection, axis);
}

/* -- take -------------------------------------------------------------------------- */

static int
take_check_out(const pcu_selection *selection, PyObject *out)
{
    const pcu_gpuarray *self = selection->array;
    const pcu_gpuarray *array = (pcu_gpuarray *)out;
    if (!pcu_is_array(self->st, out)) {
        PyErr_Format(PyExc_TypeError, "take: out must be a GPUArray, not %s",
                     Py_TYPE(out)->tp_name);
        return -1;
    }
    if (pcu_gpuarray_ready(array) < 0) {
        return -1;
    }
    if (pcu_gpuarray_has_shape(array, selection->ndim, selection->shape) &&
        PyArray_EquivTypes(array->dtype, self->dtype)) {
        return 0;
    }
    PyObject *shape = pcu_shape_tuple_new(selection->ndim, selection->shape);
    PyObject *given = pcu_shape_tuple_new(array->ndim, array->shape);
    if (shape != NULL && given != NULL) {
        PyErr_Format(PyExc_ValueError,
                     "take: the result has shape %S and dtype %S, out has %S and %S",
                     shape, (PyObject *)self->dtype, given, (PyObject *)array->dtype);
    }
    Py_XDECREF(shape);
    Py_XDECREF(given);
    return -1;
}

/* The elements in the array that the program gives. */
static PyObject *
take_into(pcu_selection *selection, PyObject *out, CUstream stream)
{
    pcu_gpuarray *target = (pcu_gpuarray *)out;
    if (take_check_out(selection, out) < 0 ||
        pcu_selection_separate(selection, target, stream) < 0) {
        return NULL;
    }
    if (!pcu_gpuarray_may_overlap(selection->array, target)) {
        if (pcu_selection_gather(selection, target, stream) < 0) {
            return NULL;
        }
        return Py_NewRef(out);
    }
    PyObject *result =
        pcu_selection_get(selection, selection->array->allocator, stream);
    if (result == NULL) {
        return NULL;
    }
    int rc = pcu_device_copy(target, (pcu_gpuarray *)result, stream);
    Py_DECREF(result);
    if (rc < 0) {
        return NULL;
    }
    return Py_NewRef(out);
}

/* The array, or a packed copy for flat indices into an array with gaps. */
static PyObject *
take_source_new(pcu_gpuarray *self, int axis, CUstream stream)
{
    if (axis != PCU_AXIS_FLAT || self->contiguous) {
        return Py_NewRef((PyObject *)self);
    }
    return pcu_gpuarray_ordered_copy_new(self, false, stream);
}

PyObject *
pcu_take(pcu_gpuarray *self, PyObject *indices, int axis, PyObject *out,
         pcu_bounds bounds, CUstream stream)
{
    pcu_selection selection;
    PyObject *result = NULL;
    PyObject *source = take_source_new(self, axis, stream);
    if (source == NULL) {
        return NULL;
    }
    pcu_selection_init(&selection, (pcu_gpuarray *)source);
    selection.bounds = bounds;
    if (take_select(&selection, indices, "take", axis, stream) == 0) {
        if (out == Py_None) {
            result = pcu_selection_get(&selection, self->allocator, stream);
        }
        else {
            result = take_into(&selection, out, stream);
        }
    }
    pcu_selection_clear(&selection);
    Py_DECREF(source);
    return result;
}

/* -- put --------------------------------------------------------------------------- */

/* The values in C order, with self's dtype, apart from self's memory. */
static PyObject *
put_values_new(pcu_gpuarray *self, pcu_gpuarray *values, CUstream stream)
{
    if (PyArray_EquivTypes(values->dtype, self->dtype) &&
        (values->contiguous & PCU_ARRAY_C) && !pcu_gpuarray_may_overlap(values, self)) {
        return Py_NewRef((PyObject *)values);
    }
    PyObject *copy = pcu_gpuarray_new(self->st, NULL, values->ndim, values->shape, NULL,
                                      self->dtype, self->allocator);
    if (copy != NULL && pcu_device_copy((pcu_gpuarray *)copy, values, stream) < 0) {
        Py_CLEAR(copy);
    }
    return copy;
}

/* A view of packed values in the shape of the selection. */
static PyObject *
put_shaped_new(const pcu_selection *selection, pcu_gpuarray *values)
{
    ptrdiff_t strides[PCU_MAX_NDIM];
    bool one = values->count == 1 && selection->count != 1;
    if (one) {
        memset(strides, 0, sizeof(strides));
    }
    else if (pcu_strides_in_order(false, selection->ndim, selection->shape,
                                  pcu_gpuarray_itemsize(values), strides) < 0) {
        return NULL;
    }
    return (PyObject *)pcu_gpuarray_view_new(values, selection->ndim, selection->shape,
                                             strides, 0, NULL);
}

static int
put_selected(pcu_selection *selection, pcu_gpuarray *values, CUstream stream)
{
    pcu_gpuarray *self = selection->array;
    if (values->count != selection->count && values->count != 1) {
        PyErr_Format(PyExc_ValueError, "put: %zu values were given for %zu indices",
                     values->count, selection->count);
        return -1;
    }
    if (pcu_selection_separate(selection, self, stream) < 0) {
        return -1;
    }
    PyObject *packed = put_values_new(self, values, stream);
    if (packed == NULL) {
        return -1;
    }
    PyObject *shaped = put_shaped_new(selection, (pcu_gpuarray *)packed);
    Py_DECREF(packed);
    if (shaped == NULL) {
        return -1;
    }
    int rc = pcu_selection_scatter(selection, (pcu_gpuarray *)shaped, stream);
    Py_DECREF(shaped);
    return rc;
}

int
pcu_put(pcu_gpuarray *self, PyObject *indices, pcu_gpuarray *values, pcu_bounds bounds,
        CUstream stream)
{
    pcu_selection selection;
    int rc = -1;
    if (!self->contiguous) {
        PyErr_SetString(PyExc_ValueError,
                        "put: the array to put into must be contiguous");
        return -1;
    }
    pcu_selection_init(&selection, self);
    selection.bounds = bounds;
    if (take_select(&selection, indices, "put", PCU_AXIS_FLAT, stream) == 0) {
        rc = put_selected(&selection, values, stream);
    }
    pcu_selection_clear(&selection);
    return rc;
}

/* -- along an axis ----------------------------------------------------------------- */

/* The shape of the indices, with the other axes broadcast with the array's. */
static int
along_fill_shape(pcu_selection *selection, const char *name, int axis)
{
    const pcu_gpuarray *self = selection->array;
    const pcu_gpuarray *index = selection->indices[0].array;
    if (index->ndim != self->ndim) {
        PyErr_Format(PyExc_ValueError, "%s: the indices have %d axes, the array has %d",
                     name, index->ndim, self->ndim);
        return -1;
    }
    for (int i = 0; i < self->ndim; i++) {
        size_t own = self->shape[i];
        size_t length = index->shape[i];
        if (i == axis) {
            own = length;
        }
        if (own != length && own != 1 && length != 1) {
            PyErr_Format(PyExc_IndexError,
                         "%s: axis %d has %zu indices, the array has length %zu there",
                         name, i, length, own);
            return -1;
        }
        selection->shape[i] = length == 1 ? own : length;
        selection->strides[i] = i == axis || own == 1 ? 0 : self->strides[i];
    }
    selection->ndim = selection->end = self->ndim;
    return pcu_selection_count(selection);
}

static int
along_select(pcu_selection *selection, PyObject *indices, const char *name, int axis,
             CUstream stream)
{
    const pcu_gpuarray *self = selection->array;
    if (take_add_indices(selection, indices, name, axis, self->shape[axis],
                         self->strides[axis], stream) < 0) {
        return -1;
    }
    return along_fill_shape(selection, name, axis);
}

PyObject *
pcu_take_along_axis(pcu_gpuarray *self, PyObject *indices, int axis, CUstream stream)
{
    pcu_selection selection;
    PyObject *result = NULL;
    pcu_selection_init(&selection, self);
    if (along_select(&selection, indices, "take_along_axis", axis, stream) == 0) {
        result = pcu_selection_get(&selection, self->allocator, stream);
    }
    pcu_selection_clear(&selection);
    return result;
}

int
pcu_put_along_axis(pcu_gpuarray *self, PyObject *indices, PyObject *values, int axis,
                   CUstream stream)
{
    pcu_selection selection;
    int rc = -1;
    pcu_selection_init(&selection, self);
    if (along_select(&selection, indices, "put_along_axis", axis, stream) == 0) {
        rc = pcu_selection_assign(&selection, values, stream);
    }
    pcu_selection_clear(&selection);
    return rc;
}
