/* What all kinds of memory use: converters of addresses and places, allocation under
 * memory pressure, notes of the lines that allocate. See memory.h. */
#include "python/driver/memory/memory.h"

#include "python/support/convert.h"
#include "python/driver/current_context.h"
#include "python/driver/context.h"
#include "python/driver/resource.h"

/* -- addresses --------------------------------------------------------------------- */

/* An allocation of this package is accepted only while it is live and its context is
 * alive; the exact types are checked first, since they are the usual case. */

/* The address of an object with gpudata, such as a GPUArray. gpudata is None for an
 * empty array. */
static int
pointer_of_gpudata(pcu_state *st, PyObject *value, CUdeviceptr *out, const char *name)
{
    PyObject *gpudata = pcu_attribute_new(value, st->str_gpudata);
    if (gpudata == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_Format(PyExc_TypeError,
                         "%s must be a device pointer (an int, a DeviceAllocation, a "
                         "PointerHolderBase, ...), not %s",
                         name, Py_TYPE(value)->tp_name);
        }
        return -1;
    }
    *out = 0;
    int rc = 0;
    if (gpudata != Py_None) {
        rc = pcu_as_address(gpudata, out, name);
    }
    Py_DECREF(gpudata);
    return rc;
}

int
pcu_as_pointer(pcu_state *st, PyObject *value, void *out, const char *name)
{
    static const char routine[] = "cuPointerGetAttribute";
    CUdeviceptr *pointer = (CUdeviceptr *)out;
    unsigned long long bits = 0;
    if (Py_IS_TYPE(value, st->DeviceAllocation) ||
        Py_IS_TYPE(value, st->PooledDeviceAllocation)) {
        *pointer = ((pcu_resource *)value)->handle.memory;
        return pcu_resource_check((pcu_resource *)value, routine);
    }
    PyObject *managed = NULL;
    if (PyArray_Check(value)) {
        managed = pcu_managed_of_array(st, (PyArrayObject *)value);
    }
    if (managed != NULL) {
        *pointer = (uintptr_t)PyArray_DATA((PyArrayObject *)value);
        return pcu_resource_check((pcu_resource *)managed, routine);
    }
    if (PyObject_TypeCheck(value, st->DeviceAllocation)) {
        /* a subclass: its address is used even if it redefines __index__ */
        *pointer = ((pcu_resource *)value)->handle.memory;
        return pcu_resource_check((pcu_resource *)value, routine);
    }
    /* __index__ of an array is its element, not its address */
    if (!pcu_is_one_integer(value) || PyObject_TypeCheck(value, st->GPUArray)) {
        return pointer_of_gpudata(st, value, pointer, name);
    }
    int rc = pcu_as_integer(value, 0, UINT64_MAX, &bits, name);
    *pointer = bits;
    return rc;
}

/* -- places: a device, or the host ------------------------------------------------- */

/* The device of the current context. */
static int
location_current_device(pcu_state *st, CUdevice *device)
{
    int rc;
    PCU_CALL_CURRENT(rc, st, CtxGetDevice, (device));
    return rc;
}

int
pcu_as_device(pcu_state *st, PyObject *value, void *out, const char *name)
{
    if (value == Py_None) {
        return location_current_device(st, (CUdevice *)out);
    }
    if (PyObject_TypeCheck(value, st->Device)) {
        *(CUdevice *)out = pcu_device_handle(value);
        return 0;
    }
    if (!PyIndex_Check(value)) {
        PyErr_Format(PyExc_TypeError,
                     "%s must be a Device, the number of a device or None, not %s",
                     name, Py_TYPE(value)->tp_name);
        return -1;
    }
    return pcu_as_int(st, value, out, name);
}

static int
location_of_name(PyObject *value, CUmemLocation *location, const char *name)
{
    if (PyUnicode_CompareWithASCIIString(value, "host") == 0) {
        *location = (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0};
        return 0;
    }
    if (PyUnicode_CompareWithASCIIString(value, "host_numa_current") == 0) {
        *location = (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0};
        return 0;
    }
    PyErr_Format(PyExc_ValueError,
                 "%s must be a Device, its number, None, 'host', 'host_numa_current' "
                 "or ('host_numa', node), not %R",
                 name, value);
    return -1;
}

int
pcu_as_location(pcu_state *st, PyObject *value, void *out, const char *name)
{
    CUmemLocation *location = (CUmemLocation *)out;
    if (PyUnicode_Check(value)) {
        return location_of_name(value, location, name);
    }
    if (PyTuple_Check(value) && PyTuple_GET_SIZE(value) == 2 &&
        PyUnicode_Check(PyTuple_GET_ITEM(value, 0)) &&
        PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(value, 0), "host_numa") ==
            0) {
        location->type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
        return pcu_as_int(st, PyTuple_GET_ITEM(value, 1), &location->id, name);
    }
    location->type = CU_MEM_LOCATION_TYPE_DEVICE;
    return pcu_as_device(st, value, &location->id, name);
}

/* -- memory pressure --------------------------------------------------------------- */

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
use_ask(size_t asked, bool host)
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
pcu_memory_use_new(size_t asked, bool host)
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
    PyObject *use = pcu_memory_use_new(size, false);
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
    PyObject *use = pcu_memory_use_new(size, true);
    if (use != NULL) {
        pcu_raise_detail(st, routine, status, "%zu bytes were asked for%U", size, use);
    }
    Py_XDECREF(use);
    return -1;
}

/* -- notes ------------------------------------------------------------------------- */

PyObject *
pcu_memory_noted(PyObject *self, pcu_memory_kind kind, size_t size)
{
    if (self != NULL && pcu_memory_map.recording) {
        pcu_resource *resource = (pcu_resource *)self;
        pcu_memory_record(kind, pcu_handle_address(resource->kind, resource->handle),
                          size, pcu_call_site(resource->st),
                          pcu_context_rec(resource->ctx));
    }
    return self;
}
