/* What pycuda's own modules ask about arrays before and after their kernels: may these
 * arrays be used here, has a stream passed, and, after an array was fetched, did a
 * kernel that nobody waited for meet an index that is not there. */

#include "gpuarray.h"

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
    PCU_CALL(rc, st, StreamSynchronize, (stream));
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

PyMethodDef pcu_gpuarray_check_functions[] = {
    {"_check_arrays", (PyCFunction)(void (*)(void))checks_arrays, METH_FASTCALL,
     checks_arrays_doc},
    {"_plain_array", checks_plain, METH_O, checks_plain_doc},
    {"_wait_unless_captured", checks_wait, METH_O, checks_wait_doc},
    {"_call_after_get", checks_call_after_get, METH_O, checks_after_get_doc},
    {NULL, NULL, 0, NULL},
};
