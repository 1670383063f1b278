/* Reading handles of other libraries' objects. See foreign_handle.h. */
#include "python/driver/foreign_handle.h"

#include "python/support/convert.h"
#include "python/support/errors.h"

/* The attribute, NULL without an exception if the object does not have it. */
static PyObject *
foreign_attribute_new(PyObject *object, const char *name)
{
    PyObject *value = PyObject_GetAttrString(object, name);
    if (value == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear(); /* the object is of another kind */
    }
    return value;
}

/* The int behind a handle: itself, a ctypes pointer's value, or the result of __int__.
 * NULL without an exception if it is none of these. */
static PyObject *
foreign_number_new(PyObject *handle)
{
    if (PyIndex_Check(handle)) {
        return PyNumber_Index(handle);
    }
    PyObject *value = foreign_attribute_new(handle, "value");
    if (value != NULL && PyIndex_Check(value)) {
        PyObject *number = PyNumber_Index(value);
        Py_DECREF(value);
        return number;
    }
    Py_XDECREF(value);
    if (PyErr_Occurred() || PyFloat_Check(handle) || PyUnicode_Check(handle) ||
        Py_TYPE(handle)->tp_as_number == NULL ||
        Py_TYPE(handle)->tp_as_number->nb_int == NULL) {
        return NULL;
    }
    return PyNumber_Long(handle);
}

int
pcu_foreign_handle(PyObject *object, const char *const *names,
                   unsigned long long *handle)
{
    *handle = 0;
    for (size_t i = 0; names[i] != NULL && *handle == 0; i++) {
        PyObject *value = foreign_attribute_new(object, names[i]);
        PyObject *number = NULL;
        if (value != NULL) {
            number = foreign_number_new(value);
            Py_DECREF(value);
        }
        if (number != NULL) {
            *handle = PyLong_AsUnsignedLongLong(number);
            Py_DECREF(number);
        }
        if (PyErr_Occurred()) {
            return -1;
        }
    }
    return *handle != 0;
}

int
pcu_as_foreign_handle(PyObject *value, const char *const *names, const char *what,
                      unsigned long long *handle)
{
    if (PyIndex_Check(value)) {
        return pcu_as_integer(value, 1, UINT64_MAX, handle, "handle");
    }
    int found = pcu_foreign_handle(value, names, handle);
    if (found == 0) {
        PyErr_Format(PyExc_TypeError,
                     "handle must be a %s as an int, or an object of another library "
                     "with a handle, not %s",
                     what, Py_TYPE(value)->tp_name);
    }
    if (found <= 0) {
        return -1;
    }
    return 0;
}

PyObject *
pcu_foreign_owner(PyObject *owner, PyObject *given)
{
    if (owner != NULL && owner != Py_None) {
        return owner;
    }
    if (PyIndex_Check(given)) {
        return NULL;
    }
    return given;
}

/* -- handles of other processes ---------------------------------------------------- */

_Static_assert(sizeof(CUipcMemHandle) == PCU_IPC_BYTES, "IPC handles have 64 bytes");
_Static_assert(sizeof(CUipcEventHandle) == PCU_IPC_BYTES, "IPC handles have 64 bytes");

PyObject *
pcu_ipc_bytes_new(const void *handle)
{
    return PyByteArray_FromStringAndSize(handle, PCU_IPC_BYTES);
}

int
pcu_ipc_bytes(pcu_state *st, PyObject *value, const char *routine, void *handle)
{
    const char *bytes = NULL;
    if (PyByteArray_Check(value)) {
        bytes = PyByteArray_AS_STRING(value);
    }
    else if (PyBytes_Check(value)) {
        bytes = PyBytes_AS_STRING(value);
    }
    else {
        return pcu_raise_detail(st, routine, CUDA_ERROR_INVALID_VALUE,
                                "the handle must be a bytearray or bytes, not %s",
                                Py_TYPE(value)->tp_name);
    }
    if (Py_SIZE(value) != PCU_IPC_BYTES) {
        return pcu_raise_detail(st, routine, CUDA_ERROR_INVALID_VALUE,
                                "the handle has %zd bytes; it must have %d",
                                Py_SIZE(value), PCU_IPC_BYTES);
    }
    memcpy(handle, bytes, PCU_IPC_BYTES);
    return 0;
}
