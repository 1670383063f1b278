/* Work that NumPy does on the software device: see host_work.h. */

#include "python/array/host_work.h"

#include "driver/capture.h"
#include "python/support/errors.h"

int
pcu_host_may_work(pcu_state *st, CUstream stream)
{
    pcu_capture capture;
    CUresult status = pcu_capture_ask(stream, &capture);
    if (status != CUDA_SUCCESS) {
        return pcu_raise(st, "cuStreamIsCapturing", status);
    }
    return capture == PCU_CAPTURE_NONE;
}

PyObject *
pcu_host_call_new(const char *name, PyObject *args)
{
    PyObject *result = NULL;
    PyObject *function = NULL;
    PyObject *module = NULL;
    if (args != NULL) {
        module = PyImport_ImportModule("pycuda._array.host");
    }
    if (module != NULL) {
        function = PyObject_GetAttrString(module, name);
        Py_DECREF(module);
    }
    if (function != NULL) {
        result = PyObject_CallObject(function, args);
        Py_DECREF(function);
    }
    Py_XDECREF(args);
    return result;
}

int
pcu_host_call(const char *name, PyObject *args)
{
    PyObject *result = pcu_host_call_new(name, args);
    if (result == NULL) {
        return -1;
    }
    Py_DECREF(result);
    return 0;
}
