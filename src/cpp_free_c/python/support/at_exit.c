/* Functions of the extension that run when the interpreter ends. The module atexit
 * calls them before the interpreter stops other threads, the last one first. */
#include "python/support/at_exit.h"

int
pcu_at_exit(PyMethodDef *method, PyObject *self)
{
    PyObject *module = PyImport_ImportModule("atexit");
    PyObject *function = PyCFunction_New(method, self);
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

/* -- the last collection of garbage ------------------------------------------------ */

/* The software device checks for leaks. What a collection frees at exit was in
 * reference cycles that no name leads to: it held memory of the device for as long as
 * Python saw no reason to collect. The software device compares what is alive before
 * and after it (device/api/context/leak.h). */

static PyObject *
last_collection_run(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(ignored))
{
    if (pcu_drv_info.device->before_collection()) {
        (void)PyGC_Collect();
        pcu_drv_info.device->after_collection();
    }
    Py_RETURN_NONE;
}

static PyMethodDef last_collection_method = {"last_collection", last_collection_run,
                                             METH_NOARGS, NULL};

/* Whether PYCUDA_CHECK has the word. The driver has checked all words. */
static bool
last_collection_is_wanted(void)
{
    const char *words = getenv("PYCUDA_CHECK");
    return pcu_drv_info.device != NULL && words != NULL &&
           (strstr(words, "leak") != NULL || strstr(words, "all") != NULL);
}

int
pcu_last_collection_setup(pcu_state *st)
{
    if (st->has_last_collection || !last_collection_is_wanted()) {
        return 0;
    }
    (void)PyGC_Collect(); /* so that the objects of imports soon start no collection */
    st->has_last_collection = pcu_at_exit(&last_collection_method, NULL) == 0;
    return st->has_last_collection ? 0 : -1;
}
