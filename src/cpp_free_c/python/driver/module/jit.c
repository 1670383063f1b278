/* The JIT compiler's options and logs. See module.h. */
#include "python/driver/module/module.h"

#include "python/support/convert.h"
#include "python/support/enums.h"
#include "python/support/errors.h"

static void
jit_add(pcu_jit *jit, CUjit_option key, uintptr_t value)
{
    jit->keys[jit->count] = key;
    jit->values[jit->count] = (void *)value;
    jit->count++;
}

static int
jit_add_pair(pcu_state *st, pcu_jit *jit, PyObject *pair)
{
    unsigned int key = 0;
    unsigned long long value = 0;
    PyObject *items = PySequence_Tuple(pair);
    if (items == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_SetString(PyExc_TypeError, "options must be pairs (jit_option, int)");
        }
        return -1;
    }
    int rc = -1;
    if (PyTuple_GET_SIZE(items) != 2) {
        PyErr_SetString(PyExc_TypeError, "options must be pairs (jit_option, int)");
    }
    else if (jit->count >= PCU_JIT_OPTIONS_MAX) {
        PyErr_Format(PyExc_ValueError, "at most %d options are possible",
                     PCU_JIT_OPTIONS_MAX);
    }
    else if (pcu_enum_value(st->enum_jit_option, PyTuple_GET_ITEM(items, 0), &key,
                            "option") == 0 &&
             pcu_as_integer(PyTuple_GET_ITEM(items, 1), 0, UINT_MAX, &value,
                            "option value") == 0) {
        jit_add(jit, key, (uintptr_t)value);
        rc = 0;
    }
    Py_DECREF(items);
    return rc;
}

static int
jit_add_pairs(pcu_state *st, pcu_jit *jit, PyObject *options)
{
    PyObject *pair;
    PyObject *iterator = PyObject_GetIter(options);
    if (iterator == NULL) {
        return -1;
    }
    while ((pair = PyIter_Next(iterator)) != NULL) {
        int rc = jit_add_pair(st, jit, pair);
        Py_DECREF(pair);
        if (rc < 0) {
            break;
        }
    }
    Py_DECREF(iterator);
    if (PyErr_Occurred()) {
        return -1;
    }
    return 0;
}

int
pcu_jit_init(pcu_state *st, pcu_jit *jit, PyObject *options, bool verbose)
{
    memset(jit, 0, sizeof(*jit));
    jit->info = PyMem_Calloc(2, PCU_JIT_LOG_BYTES);
    if (jit->info == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    jit->error = jit->info + PCU_JIT_LOG_BYTES;
    if (options != NULL && options != Py_None && jit_add_pairs(st, jit, options) < 0) {
        return -1;
    }
    if (verbose) {
        jit_add(jit, CU_JIT_LOG_VERBOSE, 1);
    }
    jit_add(jit, CU_JIT_INFO_LOG_BUFFER, (uintptr_t)jit->info);
    jit_add(jit, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, PCU_JIT_LOG_BYTES);
    jit_add(jit, CU_JIT_ERROR_LOG_BUFFER, (uintptr_t)jit->error);
    jit_add(jit, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, PCU_JIT_LOG_BYTES);
    return 0;
}

void
pcu_jit_finish(pcu_jit *jit)
{
    PyMem_Free(jit->info);
    jit->info = jit->error = NULL;
}

/* The text of a log, up to its NUL. The driver reports the size of the log only for
 * some calls of a link. */
static PyObject *
jit_log_new(const char *log)
{
    const char *end = memchr(log, '\0', PCU_JIT_LOG_BYTES);
    Py_ssize_t length = PCU_JIT_LOG_BYTES;
    if (end != NULL) {
        length = (Py_ssize_t)(end - log);
    }
    return PyUnicode_DecodeUTF8(log, length, "replace");
}

static int
jit_call_handler(PyObject *handler, bool success, PyObject *info, PyObject *error)
{
    if (handler == NULL || handler == Py_None) {
        return 0;
    }
    PyObject *loaded = Py_False;
    if (success) {
        loaded = Py_True;
    }
    Py_INCREF(handler); /* its owner may release it meanwhile */
    PyObject *result = PyObject_CallFunctionObjArgs(handler, loaded, info, error, NULL);
    Py_DECREF(handler);
    Py_XDECREF(result);
    if (result == NULL) {
        return -1;
    }
    return 0;
}

int
pcu_jit_report(pcu_state *st, const pcu_jit *jit, PyObject *handler,
               const char *routine, CUresult status)
{
    if (status == CUDA_ERROR_TIMEOUT) { /* a signal ended the wait for the call */
        return pcu_raise(st, routine, status);
    }
    PyObject *info = jit_log_new(jit->info);
    PyObject *error = jit_log_new(jit->error);
    int rc = -1;
    if (info != NULL && error != NULL) {
        rc = jit_call_handler(handler, status == CUDA_SUCCESS, info, error);
    }
    if (rc == 0 && status != CUDA_SUCCESS) {
        if (PyUnicode_GET_LENGTH(error) != 0) {
            rc = pcu_raise_detail(st, routine, status, "%U", error);
        }
        else {
            rc = pcu_raise(st, routine, status);
        }
        pcu_error_attach_jit_log(error);
    }
    Py_XDECREF(info);
    Py_XDECREF(error);
    return rc;
}
