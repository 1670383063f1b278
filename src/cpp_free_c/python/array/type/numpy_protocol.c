/* NumPy's protocols: __array_ufunc__, __array_function__, __array__.
 *
 * Plain calls of functions that the device has are enqueued here; Python modules do the
 * rest. */

#include "python/array/type/members.h"

#include "python/array/element_type.h"
#include "python/array/index/items.h"
#include "python/array/ops/ufunc.h"
#include "python/array/type/forwarding.h"
#include "python/driver/stream.h"

/* 1 if the keyword is understood here, 0 if not, -1 on error. */
static int
protocol_read_keyword(pcu_state *st, PyObject *name, PyObject *value,
                      pcu_ufunc_options *options)
{
    int rc = -1;
    if (PyUnicode_CompareWithASCIIString(name, "out") == 0) {
        rc = pcu_ufunc_read_outs(value, "out", options->outs);
    }
    else if (PyUnicode_CompareWithASCIIString(name, "dtype") == 0) {
        rc = pcu_as_type(st, value, &options->dtype, "dtype");
    }
    else {
        return PyUnicode_CompareWithASCIIString(name, "where") == 0 && value == Py_True;
    }
    if (rc < 0) {
        return -1;
    }
    return 1;
}

/* The same for all keywords of a call. */
static int
protocol_read_keywords(pcu_state *st, PyObject *const *values, PyObject *kwnames,
                       pcu_ufunc_options *options)
{
    Py_ssize_t count = 0;
    if (kwnames != NULL) {
        count = PyTuple_GET_SIZE(kwnames);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        int known =
            protocol_read_keyword(st, PyTuple_GET_ITEM(kwnames, i), values[i], options);
        if (known <= 0) {
            return known;
        }
    }
    return 1;
}

/* The number of the operation with a ufunc's name: 1 and *op, 0 if the device has no
 * such operation, -1 on error. */
static int
protocol_find_number(pcu_state *st, PyObject *ufunc, int *op)
{
    PyObject *name = PyObject_GetAttrString(ufunc, "__name__");
    if (name == NULL) {
        return -1;
    }
    PyObject *number = PyDict_GetItemWithError(st->array_ops, name);
    Py_DECREF(name);
    if (number == NULL) {
        if (PyErr_Occurred()) {
            return -1;
        }
        return 0;
    }
    *op = (int)PyLong_AsLong(number);
    return 1;
}

static bool
protocol_is_method(PyObject *method, const char *name)
{
    return PyUnicode_Check(method) &&
           PyUnicode_CompareWithASCIIString(method, name) == 0;
}

/* Find the operation of a plain call ufunc(*inputs). Returns as above. */
static int
protocol_find_operation(pcu_state *st, PyObject *const *args, Py_ssize_t nargs, int *op)
{
    int found = protocol_find_number(st, args[0], op);
    if (found <= 0) {
        return found;
    }
    return protocol_is_method(args[1], "__call__") && nargs - 2 == pcu_ops[*op].inputs;
}

/* Whether the kernels of index arrays apply an operation to elements of a type: a word
 * of up to 8 bytes is exchanged as one, and sums are added part by part. */
static bool
protocol_is_applied(int op, int type)
{
    if (!pcu_type_is_number(type) || pcu_types[type].size == 1) {
        return false;
    }
    if (op == PCU_OP_ADD) {
        return true;
    }
    return (op == PCU_OP_MAXIMUM || op == PCU_OP_MINIMUM) && pcu_types[type].size <= 8;
}

/* Enqueue ufunc.at(array, index, values) for the frequent operations and two arrays of
 * one dtype. Returns 1, 0 if Python has to do it, -1 on error. */
static int
protocol_apply_at(pcu_state *st, PyObject *const *args, Py_ssize_t nargs)
{
    int op = 0;
    if (nargs != 5 || !protocol_is_method(args[1], "at") ||
        !Py_IS_TYPE(args[2], st->GPUArray) || !Py_IS_TYPE(args[4], st->GPUArray)) {
        return 0;
    }
    pcu_gpuarray *array = (pcu_gpuarray *)args[2];
    int type = array->type;
    int found = protocol_find_number(st, args[0], &op);
    if (found <= 0) {
        return found;
    }
    if (type != ((pcu_gpuarray *)args[4])->type || !protocol_is_applied(op, type)) {
        return 0;
    }
    PyObject *const *items = &args[3];
    Py_ssize_t n = 1;
    if (PyTuple_Check(args[3])) {
        items = ((PyTupleObject *)args[3])->ob_item;
        n = PyTuple_GET_SIZE(args[3]);
    }
    if (pcu_index_apply(array, op, items, n, args[4], pcu_stream_current()) < 0) {
        return -1;
    }
    return 1;
}

PyDoc_STRVAR(protocol_array_ufunc_doc,
             "__array_ufunc__($self, ufunc, method, /, *inputs, **kwargs)\n--\n\n"
             "Run a universal function of NumPy on the device.");

static PyObject *
protocol_array_ufunc(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                     PyObject *kwnames)
{
    pcu_state *st = ((pcu_gpuarray *)self)->st;
    pcu_ufunc_options options = {.outs = {NULL, NULL}, .dtype = PCU_T_NONE};
    int op = 0;
    if (nargs < 3) {
        PyErr_SetString(PyExc_TypeError,
                        "__array_ufunc__ takes a ufunc, a method and inputs");
        return NULL;
    }
    if (kwnames == NULL) {
        int applied = protocol_apply_at(st, args, nargs);
        if (applied < 0) {
            return NULL;
        }
        if (applied) {
            Py_RETURN_NONE;
        }
    }
    options.stream = pcu_stream_current();
    int known = protocol_find_operation(st, args, nargs, &op);
    if (known > 0) {
        known = protocol_read_keywords(st, args + nargs, kwnames, &options);
    }
    if (known < 0) {
        return NULL;
    }
    if (known) {
        PyObject *result = pcu_ufunc_call(st, op, args + 2, &options);
        if (result != NULL || PyErr_Occurred()) {
            return result;
        }
    }
    return pcu_gpuarray_forward(self, "pycuda._array.numpy_protocol.ufuncs",
                                "array_ufunc", args, nargs, kwnames);
}

PyDoc_STRVAR(protocol_array_function_doc,
             "__array_function__($self, func, types, args, kwargs, /)\n--\n\n"
             "Run a function of NumPy that is no universal function on the device.");

/* Whether a keyword has the value by which NumPy's wrappers say that it was not given.
 */
static bool
protocol_lacks_value(PyObject *kwargs)
{
    Py_ssize_t place = 0;
    PyObject *value;
    while (PyDict_Next(kwargs, &place, NULL, &value)) {
        if (strstr(Py_TYPE(value)->tp_name, "_NoValueType") != NULL) {
            return true;
        }
    }
    return false;
}

/* Call a function with all arguments but the first by name. NULL without an exception
 * if there are more than names. */
static PyObject *
protocol_call_by_name(PyObject *function, PyObject *names, PyObject *args,
                      PyObject *kwargs)
{
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    PyObject *first = NULL;
    PyObject *result = NULL;
    if (count > PyTuple_GET_SIZE(names)) {
        return NULL;
    }
    PyObject *named = PyDict_Copy(kwargs);
    int rc = named == NULL ? -1 : 0;
    for (Py_ssize_t i = 1; i < count && rc == 0; i++) {
        rc = PyDict_SetItem(named, PyTuple_GET_ITEM(names, i),
                            PyTuple_GET_ITEM(args, i));
    }
    if (rc == 0) {
        first = PyTuple_GetSlice(args, 0, 1);
    }
    if (first != NULL) {
        result = PyObject_Call(function, first, named);
    }
    Py_XDECREF(first);
    Py_XDECREF(named);
    return result;
}

/* Call a function of _array_functions. It has the parameters of NumPy's function, or is
 * in a tuple with the names of these, because the order of its own is another one. NULL
 * without an exception: Python has to do it, or to say what is wrong. */
static PyObject *
protocol_array_function_quick(PyObject *op, PyObject *const *args, Py_ssize_t nargs)
{
    pcu_state *st = ((pcu_gpuarray *)op)->st;
    if (nargs != 4 || !Py_IS_TYPE(op, st->GPUArray) || !PyTuple_Check(args[2]) ||
        !PyDict_Check(args[3]) || PyObject_Size(args[1]) != 1 ||
        protocol_lacks_value(args[3])) {
        return NULL;
    }
    PyObject *function = PyDict_GetItemWithError(st->array_functions, args[0]);
    if (function == NULL) {
        return NULL;
    }
    Py_INCREF(function);
    PyObject *result = NULL;
    if (!PyTuple_Check(function)) {
        result = PyObject_Call(function, args[2], args[3]);
    }
    else {
        result = protocol_call_by_name(PyTuple_GET_ITEM(function, 0),
                                       PyTuple_GET_ITEM(function, 1), args[2], args[3]);
    }
    Py_DECREF(function);
    if (result == NULL && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear(); /* Python raises it again, with the name of NumPy's function */
    }
    return result;
}

static PyObject *
protocol_array_function(PyObject *op, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *result = protocol_array_function_quick(op, args, nargs);
    if (result != NULL || PyErr_Occurred()) {
        return result;
    }
    return pcu_gpuarray_forward(op, "pycuda._array.numpy_protocol.functions",
                                "array_function", args, nargs, NULL);
}

PyDoc_STRVAR(protocol_array_doc,
             "__array__($self, /, dtype=None, copy=None)\n--\n\n"
             "Raise TypeError: only get() copies an array to the host.");

static PyObject *
protocol_array(PyObject *Py_UNUSED(op), PyObject *const *Py_UNUSED(args),
               Py_ssize_t Py_UNUSED(nargs), PyObject *Py_UNUSED(kwnames))
{
    PyErr_SetString(PyExc_TypeError,
                    "a GPUArray does not become a numpy array implicitly: call .get()");
    return NULL;
}

PyMethodDef pcu_numpy_protocol_methods[] = {
    PCU_METHOD("__array__", protocol_array),
    PCU_METHOD("__array_ufunc__", protocol_array_ufunc),
    {"__array_function__", (PyCFunction)(void (*)(void))protocol_array_function,
     METH_FASTCALL, protocol_array_function_doc},
    {NULL, NULL, 0, NULL},
};
