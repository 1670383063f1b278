/* Arrays that a TensorMap describes. See tensor_array.h. */
#include "python/driver/launch/tensor_array.h"

#include "python/support/convert.h"

/* The entry of the interface; NULL without an exception if there is none. */
static PyObject *
tensor_entry_new(PyObject *interface, const char *name)
{
    PyObject *value = PyMapping_GetItemString(interface, name);
    if (value == NULL && PyErr_ExceptionMatches(PyExc_KeyError)) {
        PyErr_Clear(); /* the entry is optional */
    }
    return value;
}

int
pcu_tensor_read_tuple(PyObject *value, int rank, long long low, unsigned long long high,
                      unsigned long long *out, const char *name)
{
    PyObject *items = PySequence_Tuple(value);
    int rc = 0;
    if (items == NULL) {
        return -1;
    }
    if (PyTuple_GET_SIZE(items) != rank) {
        PyErr_Format(PyExc_ValueError,
                     "%s has %zd items, but the array has %d dimensions", name,
                     PyTuple_GET_SIZE(items), rank);
        rc = -1;
    }
    for (int i = 0; i < rank && rc == 0; i++) {
        rc = pcu_as_integer(PyTuple_GET_ITEM(items, i), low, high, &out[i], name);
    }
    Py_DECREF(items);
    return rc;
}

/* Read shape and strides. Without strides the array is contiguous. */
static int
tensor_read_layout(PyObject *shape, PyObject *strides, pcu_tensor_array *a)
{
    Py_ssize_t rank = PySequence_Size(shape);
    if (rank < 0) {
        return -1;
    }
    if (rank < 1 || rank > PCU_TENSOR_DIMENSIONS) {
        PyErr_Format(PyExc_ValueError,
                     "a TensorMap has 1 to %d dimensions; the array has %zd",
                     PCU_TENSOR_RANK, rank);
        return -1;
    }
    a->rank = (int)rank;
    if (pcu_tensor_read_tuple(shape, a->rank, 0, LLONG_MAX, a->shape, "shape") < 0) {
        return -1;
    }
    if (strides != NULL && strides != Py_None) {
        return pcu_tensor_read_tuple(strides, a->rank, LLONG_MIN, LLONG_MAX,
                                     (unsigned long long *)a->strides, "strides");
    }
    long long stride = (long long)PyDataType_ELSIZE(a->dtype);
    for (int i = a->rank; i-- > 0;) {
        a->strides[i] = stride;
        stride *= (long long)a->shape[i];
    }
    return 0;
}

/* Read the address, the first item of the entry `data`. */
static int
tensor_read_address(PyObject *data, CUdeviceptr *address)
{
    PyObject *item = PySequence_GetItem(data, 0);
    int rc = -1;
    if (item != NULL) {
        rc = pcu_as_address(item, address, "__cuda_array_interface__['data'][0]");
        Py_DECREF(item);
    }
    return rc;
}

int
pcu_tensor_array_read(pcu_state *st, PyObject *array, pcu_tensor_array *a)
{
    PyObject *interface = pcu_attribute_new(array, st->str___cuda_array_interface__);
    PyObject *entries[4] = {NULL, NULL, NULL, NULL};
    static const char *const names[] = {"shape", "strides", "typestr", "data"};
    int rc = -1;
    if (interface == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_Format(PyExc_TypeError,
                         "array must be a GPUArray or another array on the device with "
                         "__cuda_array_interface__, not %s",
                         Py_TYPE(array)->tp_name);
        }
        return -1;
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(names); i++) {
        entries[i] = tensor_entry_new(interface, names[i]);
        if (entries[i] == NULL && (i != 1 || PyErr_Occurred())) {
            if (!PyErr_Occurred()) {
                PyErr_Format(PyExc_TypeError, "__cuda_array_interface__ has no '%s'",
                             names[i]);
            }
            goto done;
        }
    }
    if (PyArray_DescrConverter(entries[2], &a->dtype) == NPY_SUCCEED &&
        tensor_read_layout(entries[0], entries[1], a) == 0) {
        rc = tensor_read_address(entries[3], &a->address);
    }
done:
    for (size_t i = 0; i < Py_ARRAY_LENGTH(names); i++) {
        Py_XDECREF(entries[i]);
    }
    Py_DECREF(interface);
    return rc;
}
