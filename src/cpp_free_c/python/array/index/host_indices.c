/* Index arrays of the host: see host_indices.h. */

#include "python/array/index/host_indices.h"

#include "python/array/index/report.h"
#include "python/array/ops/host_transfer.h"
#include "python/support/recording.h"

PyObject *
pcu_host_indices_new(PyObject *item)
{
    PyObject *host = PyArray_FromAny(item, NULL, 0, 0, 0, NULL);
    if (host == NULL) {
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)host;
    if (PyArray_SIZE(array) == 0 && !PyArray_Check(item)) {
        PyArray_Descr *dtype = PyArray_DescrFromType(NPY_INTP);
        Py_SETREF(host, PyArray_FromArray(array, dtype, NPY_ARRAY_FORCECAST));
        return host;
    }
    if (!PyArray_ISINTEGER(array) && !PyArray_ISBOOL(array)) {
        PyErr_Format(
            PyExc_IndexError,
            "arrays used as indices must be of integer or boolean type, not %S",
            (PyObject *)PyArray_DESCR(array));
        Py_CLEAR(host);
    }
    return host;
}

/* Raise IndexError for a number of the array. */
static int
host_indices_raise(PyObject *array, Py_ssize_t place, int axis, size_t length)
{
    PyObject *number = PyObject_CallMethod(array, "item", "n", place);
    if (number != NULL) {
        pcu_raise_index(number, axis, length);
        Py_DECREF(number);
    }
    return -1;
}

/* Make the numbers of a packed int64 array places on the axis. `given` has the numbers
 * as the program wrote them. */
static int
host_indices_place(PyObject *packed, PyObject *given, size_t length, int axis)
{
    int64_t *numbers = PyArray_DATA((PyArrayObject *)packed);
    bool is_unsigned = PyArray_ISUNSIGNED((PyArrayObject *)given);
    Py_ssize_t count = PyArray_SIZE((PyArrayObject *)packed);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (numbers[i] < 0 && !is_unsigned) {
            numbers[i] += (int64_t)length;
        }
        if ((uint64_t)numbers[i] >= length) {
            return host_indices_raise(given, i, axis, length);
        }
    }
    return 0;
}

/* A copy on the device, which has memory also while the thread records. */
static PyObject *
host_indices_copy_new(pcu_state *st, PyObject *packed, CUstream stream)
{
    bool is_recording = pcu_is_recording(st);
    unsigned long thread = st->recording_thread;
    if (is_recording) {
        st->recording_thread = 0;
    }
    PyObject *result = pcu_host_transfer_new(st, packed, NULL, stream, false);
    if (is_recording) {
        st->recording_thread = thread;
    }
    return result;
}

PyObject *
pcu_host_indices_upload(pcu_state *st, PyObject *array, size_t length, int axis,
                        CUstream stream)
{
    PyObject *result = NULL;
    PyArray_Descr *dtype = PyArray_DescrFromType(NPY_INT64);
    PyObject *packed = PyArray_FromArray(
        (PyArrayObject *)array, dtype,
        NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ENSURECOPY | NPY_ARRAY_FORCECAST);
    if (packed == NULL) {
        return NULL;
    }
    if (host_indices_place(packed, array, length, axis) == 0) {
        result = host_indices_copy_new(st, packed, stream);
    }
    Py_DECREF(packed);
    return result;
}
