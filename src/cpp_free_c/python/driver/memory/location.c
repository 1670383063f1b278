/* Places of memory. Invariant and callers: see location.h. */
#include "python/driver/memory/location.h"

#include "python/support/convert.h"
#include "python/driver/current_context.h"
#include "python/driver/device.h"

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
