/* The counts of the software device: _write_counts, _clear_counts. pycuda._counts asks
 * for them with PYCUDA_EMULATOR_COUNT and reads the file.
 *
 * Invariant: nothing is kept here. Python is the only caller. */
#include "python/support/base.h"

#include <errno.h>

#include "python/support/convert.h"
#include "python/support/setup.h"

PyDoc_STRVAR(counts_write_doc,
             "_write_counts($module, path, /)\n--\n\n"
             "Write what the software device has counted, as JSON lines. Return False\n"
             "if it is not in use.");

static PyObject *
counts_write(PyObject *Py_UNUSED(m), PyObject *given)
{
    if (pcu_drv_info.device == NULL) {
        Py_RETURN_FALSE;
    }
    PyObject *path = pcu_as_path_new(given, "path");
    if (path == NULL) {
        return NULL;
    }
    errno = pcu_drv_info.device->write_counts(PyBytes_AS_STRING(path));
    Py_DECREF(path);
    if (errno != 0) {
        return PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, given);
    }
    Py_RETURN_TRUE;
}

PyDoc_STRVAR(counts_clear_doc,
             "_clear_counts($module, /)\n--\n\n"
             "Let the software device count from zero on.");

static PyObject *
counts_clear(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored))
{
    if (pcu_drv_info.device != NULL) {
        pcu_drv_info.device->clear_counts();
    }
    Py_RETURN_NONE;
}

static PyMethodDef counts_functions[] = {
    {"_write_counts", counts_write, METH_O, counts_write_doc},
    {"_clear_counts", counts_clear, METH_NOARGS, counts_clear_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_counts_setup(PyObject *m, pcu_state *Py_UNUSED(st))
{
    return PyModule_AddFunctions(m, counts_functions);
}
