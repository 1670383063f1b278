/* Opening one of NVIDIA's libraries: see library_paths.h. */
#include "python/support/library_paths.h"

static int
library_try(PyObject *paths, pcu_library_opener open, char *reason)
{
    char detail[PCU_LIBRARY_REASON];
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(paths); i++) {
        const char *path = PyUnicode_AsUTF8(PyList_GET_ITEM(paths, i));
        if (path == NULL) {
            return -1;
        }
        if (open(path, detail, sizeof(detail)) == 0) {
            return 1;
        }
        if (reason[0] == '\0') {
            memcpy(reason, detail, sizeof(detail));
        }
    }
    return 0;
}

int
pcu_library_open(const char *name, pcu_library_opener open, char *reason)
{
    int opened = -1;
    PyObject *finder = PyImport_ImportModule("pycuda._libraries");
    reason[0] = '\0';
    if (finder == NULL) {
        return -1;
    }
    PyObject *paths = PyObject_CallMethod(finder, "paths", "s", name);
    Py_DECREF(finder);
    if (paths != NULL && PyList_Check(paths)) {
        opened = library_try(paths, open, reason);
    }
    else if (paths != NULL) {
        PyErr_SetString(PyExc_TypeError, "paths() must return a list");
    }
    Py_XDECREF(paths);
    return opened;
}
