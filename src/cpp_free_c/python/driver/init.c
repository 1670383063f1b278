/* init(), the versions of the interface and the driver, and the counters of live
 * handles.
 *
 * Invariant: pcu_drv_info describes the loaded library; nothing else is kept here.
 * Python is the only caller. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/support/call_site.h"
#include "python/support/driver_call.h"
#include "python/support/interrupt.h"
#include "python/support/driver_thread.h"
#include "python/support/at_exit.h"
#include "python/support/device_warnings.h"
#include "python/support/setup.h"

#include "driver/driver_log.h"
#include "driver/release.h"

/* The CUDA release whose interface abi/cuda_abi.h declares. */
enum { INIT_MAJOR = 13, INIT_MINOR = 0 };

/* Warn, at the line of the program, that the software device replaces the driver. */
static int
init_warn_fallback(void)
{
    PyObject *module = NULL;
    PyObject *reason = NULL;
    PyObject *result = NULL;
    int rc = -1;
    if (!pcu_drv_info.fallback) {
        return 0;
    }
    pcu_drv_info.fallback = false; /* warn once */
    reason = PyUnicode_DecodeUTF8(pcu_drv_info.detail,
                                  (Py_ssize_t)strlen(pcu_drv_info.detail), "replace");
    module = PyImport_ImportModule("pycuda._warning");
    if (reason == NULL || module == NULL) {
        goto done;
    }
    result = PyObject_CallMethod(module, "warn_of_software_device", "O", reason);
    if (result != NULL) {
        rc = 0;
    }
done:
    Py_XDECREF(reason);
    Py_XDECREF(module);
    Py_XDECREF(result);
    return rc;
}

PCU_SIGNATURE_OF_ONE(
    init_init, "flags", pcu_as_uint,
    "init($module, /, flags=0)\n"
    "--\n\n"
    "Open the driver library and initialise it.\n"
    "\nParameters\n----------\n"
    "flags : int, optional\n"
    "    Must be 0.\n"
    "\nRaises\n------\n"
    "RuntimeError\n"
    "    If there is no driver or no device.\n"
    "LogicError\n"
    "    If the library is too old, or only a stub to link against.\n"
    "\nSee Also\n--------\n"
    "Device : Find a device then.\n"
    "get_driver_version : The version of the driver.\n"
    "\nNotes\n-----\n"
    "``import pycuda.autoinit`` calls it. A second call does nothing. The\n"
    "environment variable ``PYCUDA_DRIVER`` chooses the library: \"cuda\" or\n"
    "\"emulator\". If it is unset and no driver library exists, the software\n"
    "device is used, with a warning.\n"
    "\nExamples\n--------\n"
    ">>> drv.init()")

static PyObject *
init_init(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    unsigned int flags = 0;
    CUresult status;
    if (pcu_args_parse(st, &init_init_signature, args, nargs, kwnames,
                       PCU_ONLY(init_init, &flags)) < 0) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    status = pcu_drv_init(flags);
    Py_END_ALLOW_THREADS
    if (status != CUDA_SUCCESS) {
        pcu_raise(st, "cuInit", status);
        return NULL;
    }
    pcu_driver_log_begin();
    if (pcu_interrupt_setup() < 0 || pcu_driver_thread_setup(st) < 0 ||
        pcu_last_collection_setup(st) < 0 || pcu_device_warnings_setup(m) < 0) {
        return NULL;
    }
    pcu_device_sites_begin(st);
    if (init_warn_fallback() < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(init_get_version_doc,
             "get_version($module, /)\n"
             "--\n\n"
             "Return the CUDA release whose interface this package uses.\n"
             "\nReturns\n-------\n"
             "tuple of int\n"
             "    Major and minor number, and revision.\n"
             "\nSee Also\n--------\n"
             "get_driver_version : The version of the driver.\n"
             "\nNotes\n-----\n"
             "No toolkit is needed to build this package.");

static PyObject *
init_get_version(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored))
{
    return Py_BuildValue("(iii)", INIT_MAJOR, INIT_MINOR, 0);
}

PyDoc_STRVAR(init_get_driver_version_doc,
             "get_driver_version($module, /)\n"
             "--\n\n"
             "Return the newest CUDA version that the driver supports.\n"
             "\nReturns\n-------\n"
             "int\n"
             "    1000 times the major number and 10 times the minor one: 13000 is\n"
             "    13.0.\n"
             "\nRaises\n------\n"
             "RuntimeError\n"
             "    If there is no driver.\n"
             "\nSee Also\n--------\n"
             "get_version : The interface that this package uses.\n"
             "\nExamples\n--------\n"
             ">>> drv.get_driver_version() >= 11000\n"
             "True");

static PyObject *
init_get_driver_version(PyObject *m, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = pcu_state_of_module(m);
    int version = 0;
    int rc;
    CUresult status = pcu_drv_load();
    if (status != CUDA_SUCCESS) {
        pcu_raise(st, "cuDriverGetVersion", status);
        return NULL;
    }
    PCU_CALL(rc, st, DriverGetVersion, (&version));
    if (rc < 0) {
        return NULL;
    }
    return PyLong_FromLong(version);
}

PyDoc_STRVAR(
    init_live_counts_doc,
    "_live_counts($module, /)\n--\n\n"
    "Return a dictionary from kind of driver handle to the number of live handles.");

static PyObject *
init_live_counts(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored))
{
    PyObject *counts = PyDict_New();
    for (int kind = 0; counts != NULL && kind < PCU_HANDLE_KINDS; kind++) {
        PyObject *count = PyLong_FromLong(pcu_handle_live((pcu_handle_kind)kind));
        if (count == NULL ||
            PyDict_SetItemString(counts, pcu_handle_kind_name((pcu_handle_kind)kind),
                                 count) < 0) {
            Py_CLEAR(counts);
        }
        Py_XDECREF(count);
    }
    return counts;
}

PyDoc_STRVAR(init_is_emulated_doc,
             "_is_emulated($module, /)\n--\n\n"
             "Return True if the software device's library is loaded.");

static PyObject *
init_is_emulated(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored))
{
    return PyBool_FromLong(pcu_drv_info.device != NULL);
}

static PyMethodDef init_functions[] = {
    PCU_METHOD("init", init_init),
    {"get_version", init_get_version, METH_NOARGS, init_get_version_doc},
    {"get_driver_version", init_get_driver_version, METH_NOARGS,
     init_get_driver_version_doc},
    {"_live_counts", init_live_counts, METH_NOARGS, init_live_counts_doc},
    {"_is_emulated", init_is_emulated, METH_NOARGS, init_is_emulated_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_init_setup(PyObject *m, pcu_state *Py_UNUSED(st))
{
    return PyModule_AddFunctions(m, init_functions);
}
