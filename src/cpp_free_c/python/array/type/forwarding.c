/* Calls of Python functions in pycuda/_array: see forwarding.h. */

#include "python/array/type/forwarding.h"

enum { FORWARDING_ARGS_MAX = 15 };

static PyObject *
forwarding_find_new(const char *where, const char *function)
{
    PyObject *module = PyImport_ImportModule(where);
    if (module == NULL) {
        return NULL;
    }
    PyObject *callable = PyObject_GetAttrString(module, function);
    Py_DECREF(module);
    return callable;
}

PyObject *
pcu_forward(const char *where, const char *function, PyObject *const *args,
            Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *callable = forwarding_find_new(where, function);
    if (callable == NULL) {
        return NULL;
    }
    PyObject *result = PyObject_Vectorcall(callable, args, (size_t)nargs, kwnames);
    Py_DECREF(callable);
    return result;
}

PyObject *
pcu_gpuarray_forward(PyObject *op, const char *where, const char *function,
                     PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *stack[1 + FORWARDING_ARGS_MAX];
    Py_ssize_t n = nargs;
    if (kwnames != NULL) {
        n += PyTuple_GET_SIZE(kwnames);
    }
    if (n > FORWARDING_ARGS_MAX) {
        PyErr_Format(PyExc_TypeError, "%s() was given %zd arguments", function, n);
        return NULL;
    }
    PyObject *callable = forwarding_find_new(where, function);
    if (callable == NULL) {
        return NULL;
    }
    stack[0] = op;
    for (Py_ssize_t i = 0; i < n; i++) {
        stack[1 + i] = args[i];
    }
    PyObject *result = PyObject_Vectorcall(callable, stack, (size_t)nargs + 1, kwnames);
    Py_DECREF(callable);
    return result;
}
