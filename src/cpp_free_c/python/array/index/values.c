/* The values of an assignment to a selection: see values.h. */

#include "python/array/index/values.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/layout.h"
#include "python/array/ops/assign.h"
#include "python/array/ops/overlap.h"
#include "python/array/scalar.h"

PyObject *
pcu_values_new(pcu_gpuarray *self, PyObject *value, CUstream stream)
{
    size_t shape[PCU_MAX_NDIM];
    PyObject *source = NULL;
    int ndim;
    if (pcu_is_array(self->st, value)) {
        pcu_gpuarray *array = (pcu_gpuarray *)value;
        if (pcu_gpuarray_ready(array) < 0) {
            return NULL;
        }
        if (PyArray_EquivTypes(array->dtype, self->dtype) &&
            !pcu_gpuarray_may_overlap(array, self)) {
            return Py_NewRef(value);
        }
        source = Py_NewRef(value);
        ndim = array->ndim;
        memcpy(shape, array->shape, (size_t)ndim * sizeof(*shape));
    }
    else {
        source = pcu_assigned_array_new(self, value);
        if (source == NULL) {
            return NULL;
        }
        ndim = PyArray_NDIM((PyArrayObject *)source);
        for (int i = 0; i < ndim; i++) {
            shape[i] = (size_t)PyArray_DIM((PyArrayObject *)source, i);
        }
    }
    PyObject *values = pcu_gpuarray_new(self->st, NULL, ndim, shape, NULL, self->dtype,
                                        self->allocator);
    if (values != NULL &&
        pcu_gpuarray_assign((pcu_gpuarray *)values, source, stream) < 0) {
        Py_CLEAR(values);
    }
    Py_DECREF(source);
    return values;
}

/* A view of the values without axes of length 1 in front that the selection does not
 * have. ValueError if they cannot be broadcast to the selection. */
static PyObject *
values_fitting_new(const pcu_selection *selection, pcu_gpuarray *values)
{
    ptrdiff_t strides[PCU_MAX_NDIM];
    int extra = 0;
    while (values->ndim - extra > selection->ndim && values->shape[extra] == 1) {
        extra++;
    }
    if (pcu_broadcast_strides(values->ndim - extra, values->shape + extra,
                              values->strides + extra, selection->ndim,
                              selection->shape, strides) < 0) {
        PyObject *given = pcu_shape_tuple_new(values->ndim, values->shape);
        PyObject *wanted = pcu_shape_tuple_new(selection->ndim, selection->shape);
        if (given != NULL && wanted != NULL) {
            PyErr_Format(PyExc_ValueError,
                         "values of shape %S cannot be assigned to %S elements", given,
                         wanted);
        }
        Py_XDECREF(given);
        Py_XDECREF(wanted);
        return NULL;
    }
    if (extra == 0) {
        return Py_NewRef((PyObject *)values);
    }
    return (PyObject *)pcu_gpuarray_view_new(values, values->ndim - extra,
                                             values->shape + extra,
                                             values->strides + extra, 0, NULL);
}

/* The value as an array that fits the selection and shares no memory with its array. */
static PyObject *
values_for(const pcu_selection *selection, PyObject *value, CUstream stream)
{
    PyObject *values = pcu_values_new(selection->array, value, stream);
    if (values == NULL) {
        return NULL;
    }
    PyObject *fitting = values_fitting_new(selection, (pcu_gpuarray *)values);
    Py_DECREF(values);
    return fitting;
}

int
pcu_selection_assign(pcu_selection *selection, PyObject *value, CUstream stream)
{
    pcu_gpuarray *self = selection->array;
    unsigned char bytes[PCU_SCALAR_BYTES];
    if (pcu_selection_separate(selection, self, stream) < 0) {
        return -1;
    }
    if (pcu_type_is_number(self->type) && pcu_is_scalar(value)) {
        if (pcu_scalar_pack(value, self->type, PCU_SCALAR_ASSIGNED, bytes) < 0) {
            return -1;
        }
        return pcu_selection_fill(selection, bytes, stream);
    }
    PyObject *values = values_for(selection, value, stream);
    if (values == NULL) {
        return -1;
    }
    int rc = pcu_selection_scatter(selection, (pcu_gpuarray *)values, stream);
    Py_DECREF(values);
    return rc;
}

int
pcu_selection_apply_value(pcu_selection *selection, int op, PyObject *value,
                          CUstream stream)
{
    if (pcu_selection_separate(selection, selection->array, stream) < 0) {
        return -1;
    }
    PyObject *values = values_for(selection, value, stream);
    if (values == NULL) {
        return -1;
    }
    int rc = pcu_selection_apply(selection, op, (pcu_gpuarray *)values, stream);
    Py_DECREF(values);
    return rc;
}
