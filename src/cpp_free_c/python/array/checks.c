/* What pycuda's own modules ask about arrays before and after their kernels: may these
 * arrays be used here, has a stream passed, and, after an array was fetched, did a
 * kernel that nobody waited for meet an index that is not there. */
#include "python/support/base.h"

#include "python/driver/context_stack.h"
#include "python/array/gpuarray.h"

PyDoc_STRVAR(checks_arrays_doc,
             "_check_arrays($module, /, *arrays)\n--\n\n"
             "Raise unless work in the current context may use these GPUArrays.");

static PyObject *
checks_arrays(PyObject *m, PyObject *const *args, Py_ssize_t nargs)
{
    pcu_state *st = pcu_state_of_module(m);
    const pcu_context *ctx = pcu_gpuarray_context(st);
    if (ctx == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < nargs; i++) {
        if (!pcu_is_array(st, args[i])) {
            PyErr_Format(PyExc_TypeError, "this takes GPUArrays, not %s",
                         Py_TYPE(args[i])->tp_name);
            return NULL;
        }
        if (pcu_gpuarray_check((pcu_gpuarray *)args[i], ctx) < 0) {
            return NULL;
        }
    }
    Py_RETURN_NONE;
}

/* 1 if the attributes that programs assign, or replace in a subclass, say what is true.
 */
static int
checks_labels(const pcu_gpuarray *self)
{
    pcu_state *st = self->st;
    return Py_IS_TYPE((PyObject *)self, st->GPUArray) && self->size == self->count &&
           self->mem_size == self->count && self->nbytes == pcu_gpuarray_nbytes(self) &&
           pcu_gpuarray_flags_are_true(self);
}

/* What a program assigned to _grid and _block holds for the view too. */
static int
checks_copy_launch_shape(pcu_gpuarray *view, PyObject *dict)
{
    static const char *const names[] = {"_grid", "_block"};
    for (size_t i = 0; dict != NULL && i < Py_ARRAY_LENGTH(names); i++) {
        PyObject *value = PyDict_GetItemString(dict, names[i]);
        if (value != NULL &&
            PyObject_SetAttrString((PyObject *)view, names[i], value) < 0) {
            return -1;
        }
    }
    return 0;
}

PyDoc_STRVAR(
    checks_plain_doc,
    "_plain_array($module, array, /)\n--\n\n"
    "Return a GPUArray whose size, nbytes, flags and strides are the true ones.\n\n"
    "That is the array itself, or a plain view of it if it is of a subclass or a\n"
    "program assigned one of these. Raises for memory that was released or is too\n"
    "small. Other objects are returned as they are.");

static PyObject *
checks_plain(PyObject *m, PyObject *value)
{
    pcu_state *st = pcu_state_of_module(m);
    if (!pcu_is_array(st, value)) {
        return Py_NewRef(value);
    }
    pcu_gpuarray *self = (pcu_gpuarray *)value;
    if (pcu_gpuarray_check(self, NULL) < 0) {
        return NULL;
    }
    if (checks_labels(self)) {
        return Py_NewRef(value);
    }
    pcu_gpuarray *view =
        pcu_gpuarray_view_new(self, self->ndim, self->shape, self->strides, 0, NULL);
    if (view != NULL && self->gpudata != NULL) {
        Py_XSETREF(view->gpudata, Py_NewRef(self->gpudata));
    }
    if (view != NULL && checks_copy_launch_shape(view, self->dict) < 0) {
        Py_CLEAR(view);
    }
    return (PyObject *)view;
}

PyDoc_STRVAR(
    checks_wait_doc,
    "_wait_unless_captured($module, stream, /)\n--\n\n"
    "Wait for a stream (None: the current one); False if it is being captured,\n"
    "when nothing runs that could be waited for.");

static PyObject *
checks_wait(PyObject *m, PyObject *value)
{
    enum { CAPTURE_ACTIVE = 1 };
    pcu_state *st = pcu_state_of_module(m);
    CUstream stream = pcu_gpuarray_stream(st);
    CUstreamCaptureStatus status = 0;
    int rc;
    if (value != Py_None && pcu_as_stream(st, value, &stream, "stream") < 0) {
        return NULL;
    }
    if (stream != NULL && drv.StreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
        status == CAPTURE_ACTIVE) {
        Py_RETURN_FALSE;
    }
    PCU_CALL_CURRENT(rc, st, StreamSynchronize, (stream));
    return rc < 0 ? NULL : Py_NewRef(Py_True);
}

PyDoc_STRVAR(
    checks_after_get_doc,
    "_call_after_get($module, function, /)\n--\n\n"
    "Call this after each get() that has waited; what it raises, get() raises.");

static PyObject *
checks_call_after_get(PyObject *m, PyObject *function)
{
    pcu_state *st = pcu_state_of_module(m);
    Py_XSETREF(st->after_get, Py_NewRef(function));
    Py_RETURN_NONE;
}

int
pcu_gpuarray_after_get(pcu_state *st)
{
    if (st->after_get == NULL) {
        return 0;
    }
    PyObject *function = Py_NewRef(st->after_get);
    PyObject *result = PyObject_CallNoArgs(function);
    Py_DECREF(function);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

/* -- arguments of kernels ---------------------------------------------------------- */

/* How a parameter uses its argument. */
enum { GATHER_SCALAR, GATHER_POINTER, GATHER_ELEMENTS };

static int
gather_is_integer(int type)
{
    return type >= PCU_T_INT8 && type <= PCU_T_UINT64;
}

/* 1 if elements of the array are certainly what the kernel declares. Integers may have
 * another sign. */
static int
gather_matches(const pcu_gpuarray *array, PyArray_Descr *declared)
{
    if (array->dtype == declared) {
        return 1;
    }
    int type = pcu_type_of_dtype(declared);
    if (type >= PCU_T_COUNT || !gather_is_integer(type)) {
        return type < PCU_T_COUNT && type == array->type;
    }
    return gather_is_integer(array->type) &&
           PyDataType_ELSIZE(declared) == PyDataType_ELSIZE(array->dtype);
}

/* What the kernel is given for an array: an allocation or an address. NULL without an
 * exception if Python must look at the array. */
static PyObject *
gather_array(pcu_state *st, PyObject *value, PyObject *declared, int use,
             const pcu_gpuarray *first, size_t extent)
{
    pcu_gpuarray *array = (pcu_gpuarray *)value;
    if (!pcu_is_array(st, value) || array->dtype == NULL || !checks_labels(array) ||
        !PyArray_DescrCheck(declared) || (array->contiguous & first->contiguous) == 0 ||
        (use == GATHER_ELEMENTS && array->count < extent) ||
        !gather_matches(array, (PyArray_Descr *)declared)) {
        return NULL;
    }
    if (!array->inside && pcu_gpuarray_check(array, NULL) < 0) {
        return NULL;
    }
    if (array->gpudata == NULL) {
        array->gpudata = PyLong_FromUnsignedLongLong(array->address);
    }
    return array->gpudata == Py_None ? PyLong_FromLong(0) : Py_XNewRef(array->gpudata);
}

PyDoc_STRVAR(
    checks_gather_doc,
    "_gather($module, args, dtypes, uses, first, extent, /)\n--\n\n"
    "A list of what a prepared kernel is given for these arguments.\n\n"
    "None if an array is not plainly what the kernel declares. uses has a byte "
    "for each argument: 0 for a number, 1 for an array, 2 for one of which "
    "elements 0 to extent - 1 are used (-1: as many as the first array has).");

static PyObject *
checks_gather(PyObject *m, PyObject *const *args, Py_ssize_t nargs)
{
    pcu_state *st = pcu_state_of_module(m);
    if (nargs != 5 || !PyTuple_Check(args[0]) || !PyTuple_Check(args[1]) ||
        !PyBytes_Check(args[2]) || !PyLong_Check(args[3]) || !PyLong_Check(args[4]) ||
        PyTuple_GET_SIZE(args[0]) != PyTuple_GET_SIZE(args[1]) ||
        PyTuple_GET_SIZE(args[0]) != PyBytes_GET_SIZE(args[2])) {
        PyErr_SetString(PyExc_TypeError,
                        "_gather takes two tuples, bytes and two ints");
        return NULL;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(args[0]);
    Py_ssize_t number = PyLong_AsSsize_t(args[3]);
    Py_ssize_t asked = PyLong_AsSsize_t(args[4]);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (number < 0 || number >= count ||
        !Py_IS_TYPE(PyTuple_GET_ITEM(args[0], number), st->GPUArray)) {
        Py_RETURN_NONE;
    }
    pcu_gpuarray *first = (pcu_gpuarray *)PyTuple_GET_ITEM(args[0], number);
    size_t extent = asked < 0 ? first->count : (size_t)asked;
    const char *uses = PyBytes_AS_STRING(args[2]);
    PyObject *values = PyList_New(count);
    for (Py_ssize_t i = 0; values != NULL && i < count; i++) {
        PyObject *value = PyTuple_GET_ITEM(args[0], i);
        PyObject *given = uses[i] == GATHER_SCALAR
                              ? Py_NewRef(value)
                              : gather_array(st, value, PyTuple_GET_ITEM(args[1], i),
                                             uses[i], first, extent);
        if (given == NULL) {
            Py_CLEAR(values);
            if (!PyErr_Occurred()) {
                Py_RETURN_NONE;
            }
        }
        else {
            PyList_SET_ITEM(values, i, given);
        }
    }
    return values;
}

PyMethodDef pcu_gpuarray_check_functions[] = {
    {"_gather", (PyCFunction)(void (*)(void))checks_gather, METH_FASTCALL,
     checks_gather_doc},
    {"_check_arrays", (PyCFunction)(void (*)(void))checks_arrays, METH_FASTCALL,
     checks_arrays_doc},
    {"_plain_array", checks_plain, METH_O, checks_plain_doc},
    {"_wait_unless_captured", checks_wait, METH_O, checks_wait_doc},
    {"_call_after_get", checks_call_after_get, METH_O, checks_after_get_doc},
    {NULL, NULL, 0, NULL},
};
