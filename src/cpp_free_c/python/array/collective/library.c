/* Opening NCCL: see library.h. */

#include "python/array/collective/library.h"

enum { LIBRARY_REASON = 400 };

/* Try a list of paths. Return 1 if the library was opened. The first reason is kept:
 * the others are mostly files that are not there. */
static int
library_try_paths(PyObject *paths, char *reason)
{
    char detail[LIBRARY_REASON];
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(paths); i++) {
        const char *path = PyUnicode_AsUTF8(PyList_GET_ITEM(paths, i));
        if (path == NULL) {
            return -1;
        }
        if (pcu_nccl_load(path, detail, sizeof(detail)) == 0) {
            return 1;
        }
        if (reason[0] == '\0') {
            memcpy(reason, detail, sizeof(detail));
        }
    }
    return 0;
}

static int
library_load(char *reason)
{
    PyObject *module = PyImport_ImportModule("pycuda._array.nccl_paths");
    if (module == NULL) {
        return -1;
    }
    int loaded = -1;
    PyObject *paths = PyObject_CallMethod(module, "paths", NULL);
    Py_DECREF(module);
    if (paths != NULL && PyList_Check(paths)) {
        loaded = library_try_paths(paths, reason);
    }
    else if (paths != NULL) {
        PyErr_SetString(PyExc_TypeError, "the paths of NCCL must be a list");
    }
    Py_XDECREF(paths);
    return loaded;
}

int
pcu_nccl_require(pcu_state *st)
{
    char reason[LIBRARY_REASON] = "";
    if (pcu_nccl_is_loaded()) {
        return 0;
    }
    int loaded = library_load(reason);
    if (loaded < 0) {
        return -1;
    }
    if (!loaded) {
        PyErr_Format(st->exc_RuntimeError,
                     "NCCL was not found: %s; install the extra pycuda[nccl], or set "
                     "PYCUDA_NCCL to the path of libnccl.so.2",
                     reason[0] == '\0' ? "there is no path to try" : reason);
        return -1;
    }
    return 0;
}

int
pcu_nccl_raise(pcu_state *st, const char *routine, int status)
{
    const char *text = NULL;
    PyObject *kind = st->exc_RuntimeError;
    if (status == PCU_NCCL_INVALID_ARGUMENT || status == PCU_NCCL_INVALID_USAGE) {
        kind = st->exc_LogicError;
    }
    if (pcu_nccl.GetLastError != NULL) {
        text = pcu_nccl.GetLastError(NULL);
    }
    if (text == NULL || text[0] == '\0') {
        text = "set NCCL_DEBUG=WARN for NCCL's report";
    }
    PyErr_Format(kind, "%s failed: %s: %s", routine, pcu_nccl_status_name(status),
                 text);
    return -1;
}
