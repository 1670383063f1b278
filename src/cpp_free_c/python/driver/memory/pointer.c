/* The converter of device addresses.
 *
 * Invariant: an allocation of this package is accepted only while it is live and its
 * context is alive; the exact types are checked first, since they are the usual case.
 * Callers: see pointer.h. */
#include "python/driver/memory/pointer.h"

#include "python/support/convert.h"
#include "python/driver/memory/managed.h"
#include "python/driver/resource.h"

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
