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

PyMethodDef pcu_gpuarray_check_functions[] = {
    {"_check_arrays", (PyCFunction)(void (*)(void))checks_arrays, METH_FASTCALL,
     checks_arrays_doc},
    {"_wait_unless_captured", checks_wait, METH_O, checks_wait_doc},
    {"_call_after_get", checks_call_after_get, METH_O, checks_after_get_doc},
    {NULL, NULL, 0, NULL},
};
