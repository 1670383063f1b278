/* Calls of a program's own kernels while the thread records: see recording.h. */

#include "python/support/recording.h"

PyObject *
pcu_record_kernel(const pcu_state *st, PyObject *kernel, PyObject *const *args,
                  Py_ssize_t nargs, PyObject *kwnames)
{
    Py_ssize_t count = nargs + (kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames));
    PyObject **all = PyMem_New(PyObject *, (size_t)count + 1);
    if (all == NULL) {
        return PyErr_NoMemory();
    }
    all[0] = kernel;
    for (Py_ssize_t i = 0; i < count; i++) {
        all[i + 1] = args[i];
    }
    PyObject *result = PyObject_Vectorcall(pcu_recorder_item(st, PCU_RECORDER_KERNEL),
                                           all, (size_t)nargs + 1, kwnames);
    PyMem_Free(all);
    return result;
}
