/* Memory pressure. Invariant and callers: see out_of_memory.h. */
#include "python/driver/memory/out_of_memory.h"

void
pcu_collect_garbage(void)
{
    PyObject *gc = PyImport_ImportModule("gc");
    PyObject *collected = NULL;
    if (gc != NULL) {
        collected = PyObject_CallMethod(gc, "collect", NULL);
    }
    if (collected == NULL) {
        PyErr_Clear(); /* the allocation is tried again in any case */
    }
    Py_XDECREF(collected);
    Py_XDECREF(gc);
}

/* Ask pycuda.memory. NULL with an exception if that fails. */
static PyObject *
use_ask(size_t asked, int host)
{
    PyObject *module = PyImport_ImportModule("pycuda.memory._snapshot");
    PyObject *text = NULL;
    if (module != NULL) {
        text = PyObject_CallMethod(module, "explain", "nO", (Py_ssize_t)asked,
                                   host ? Py_True : Py_False);
    }
    Py_XDECREF(module);
    if (text != NULL && !PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "explain() returned no text");
        Py_CLEAR(text);
    }
    return text;
}

PyObject *
pcu_memory_use_new(size_t asked, int host)
{
    PyObject *text = NULL;
    if (!pcu_is_finalizing()) {
        text = use_ask(asked, host);
    }
    if (text == NULL && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) {
        return NULL;
    }
    if (text == NULL) {
        PyErr_Clear(); /* the error has its first line in any case */
        text = PyUnicode_FromString("");
    }
    return text;
}

int
pcu_out_of_memory_raise(pcu_state *st, const char *routine, CUresult status,
                        size_t size)
{
    size_t free_bytes = 0;
    size_t total = 0;
    if (status != CUDA_ERROR_OUT_OF_MEMORY) {
        if (size == 0) {
            return pcu_raise_detail(st, routine, status, "%zu bytes were asked for",
                                    size);
        }
        return pcu_raise(st, routine, status);
    }
    CUresult asked = drv.MemGetInfo(&free_bytes, &total);
    PyObject *use = pcu_memory_use_new(size, 0);
    if (use == NULL) {
        return -1;
    }
    if (asked == CUDA_SUCCESS) {
        pcu_raise_detail(st, routine, status,
                         "%zu bytes were asked for, %zu of %zu are free%U", size,
                         free_bytes, total, use);
    }
    else {
        pcu_raise_detail(st, routine, status, "%zu bytes were asked for%U", size, use);
    }
    Py_DECREF(use);
    return -1;
}

int
pcu_out_of_host_memory_raise(pcu_state *st, const char *routine, CUresult status,
                             size_t size)
{
    if (status != CUDA_ERROR_OUT_OF_MEMORY) {
        return pcu_raise_detail(st, routine, status, "%zu bytes were asked for", size);
    }
    PyObject *use = pcu_memory_use_new(size, 1);
    if (use != NULL) {
        pcu_raise_detail(st, routine, status, "%zu bytes were asked for%U", size, use);
    }
    Py_XDECREF(use);
    return -1;
}
