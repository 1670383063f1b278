/* Functions of the extension that run when the interpreter ends. The module atexit
 * calls them before the interpreter stops other threads, the last one first. */
#include "python/support/at_exit.h"

int
pcu_at_exit(PyMethodDef *method)
{
    PyObject *module = PyImport_ImportModule("atexit");
    PyObject *function = PyCFunction_New(method, NULL);
    PyObject *result = NULL;
    if (module != NULL && function != NULL) {
        result = PyObject_CallMethod(module, "register", "O", function);
    }
    int rc = result == NULL ? -1 : 0;
    Py_XDECREF(result);
    Py_XDECREF(function);
    Py_XDECREF(module);
    return rc;
}
