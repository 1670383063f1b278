/* _plain_array and _check_arrays: arrays as pycuda's Python modules need them before
 * they compute sizes or launch kernels. */

#include "python/array/type/plain_array.h"

#include "python/array/construction.h"
#include "python/array/flags.h"
#include "python/array/memory.h"
#include "python/array/recording.h"
#include "python/array/type/members.h"
#include "python/driver/context.h"

PyDoc_STRVAR(plain_check_arrays_doc,
             "_check_arrays($module, /, *arrays)\n--\n\n"
             "Raise unless work in the current context may use these GPUArrays.");

static PyObject *
plain_check_arrays(PyObject *m, PyObject *const *args, Py_ssize_t nargs)
{
    pcu_state *st = pcu_state_of_module(m);
    const pcu_context *ctx = pcu_context_launch_borrow(st);
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

bool
pcu_gpuarray_is_plain(const pcu_gpuarray *self)
{
    pcu_state *st = self->st;
    return Py_IS_TYPE((PyObject *)self, st->GPUArray) && self->size == self->count &&
           self->mem_size == self->count && self->nbytes == pcu_gpuarray_nbytes(self) &&
           pcu_array_flags_are_true(self);
}

/* Give a view the _grid and _block that a program assigned to its array. */
static int
plain_copy_launch_shape(pcu_gpuarray *view, PyObject *dict)
{
    static const char *const names[] = {"_grid", "_block"};
    if (dict == NULL) {
        return 0;
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(names); i++) {
        PyObject *value = PyDict_GetItemString(dict, names[i]);
        if (value != NULL &&
            PyObject_SetAttrString((PyObject *)view, names[i], value) < 0) {
            return -1;
        }
    }
    return 0;
}

static pcu_gpuarray *
plain_view_new(pcu_gpuarray *self)
{
    pcu_gpuarray *view =
        pcu_gpuarray_view_new(self, self->ndim, self->shape, self->strides, 0, NULL);
    if (view == NULL) {
        return NULL;
    }
    if (self->gpudata != NULL) {
        Py_XSETREF(view->gpudata, Py_NewRef(self->gpudata));
    }
    if (plain_copy_launch_shape(view, self->dict) < 0) {
        Py_CLEAR(view);
    }
    return view;
}

PyDoc_STRVAR(
    plain_array_doc,
    "_plain_array($module, array, /)\n--\n\n"
    "Return a GPUArray whose size, nbytes, flags and strides are the true ones.\n\n"
    "That is the array itself, or a plain view of it if it is of a subclass or a\n"
    "program assigned one of these. Raises for memory that was released or is too\n"
    "small. Stand-ins of a recording and other objects are returned as they are.");

static PyObject *
plain_array(PyObject *m, PyObject *value)
{
    pcu_state *st = pcu_state_of_module(m);
    if (!pcu_is_array(st, value)) {
        return Py_NewRef(value);
    }
    pcu_gpuarray *self = (pcu_gpuarray *)value;
    if (pcu_is_recording(st) && pcu_is_stand_in(self)) {
        return Py_NewRef(value);
    }
    if (pcu_gpuarray_check(self, NULL) < 0) {
        return NULL;
    }
    if (pcu_gpuarray_is_plain(self)) {
        return Py_NewRef(value);
    }
    return (PyObject *)plain_view_new(self);
}

PyMethodDef pcu_plain_array_functions[] = {
    {"_check_arrays", (PyCFunction)(void (*)(void))plain_check_arrays, METH_FASTCALL,
     plain_check_arrays_doc},
    {"_plain_array", plain_array, METH_O, plain_array_doc},
    {NULL, NULL, 0, NULL},
};
