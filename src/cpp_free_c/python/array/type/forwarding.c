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

PyObject *
pcu_forward_by_name(const char *where, const char *function, const char *what,
                    PyObject *self, const pcu_signature *signature,
                    PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *stack[2 + PCU_ARGS_MAX] = {PyUnicode_FromString(what), self};
    Py_ssize_t leading = self == NULL ? 1 : 2;
    Py_ssize_t count = nargs;
    PyObject *result = NULL;
    if (kwnames != NULL) {
        count += PyTuple_GET_SIZE(kwnames);
    }
    PyObject *names = PyTuple_New(count);
    if (stack[0] != NULL && names != NULL) {
        for (Py_ssize_t i = 0; i < count; i++) {
            PyObject *name = i < nargs ? signature->parameters[i].name
                                       : PyTuple_GET_ITEM(kwnames, i - nargs);
            PyTuple_SET_ITEM(names, i, Py_NewRef(name));
            stack[leading + i] = args[i];
        }
        result = pcu_forward(where, function, stack, leading, names);
    }
    Py_XDECREF(stack[0]);
    Py_XDECREF(names);
    return result;
}
