/* Assignment to the elements of a GPUArray: see assign.h. */

#include "python/array/ops/assign.h"

#include "python/array/element_type.h"
#include "python/array/host_array.h"
#include "python/array/memory.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/host_transfer.h"
#include "python/array/ops/operations.h"
#include "python/array/ops/overlap.h"
#include "python/array/recording.h"
#include "python/array/scalar.h"
#include "python/driver/memory/copy.h"
#include "python/support/convert.h"

/* -- one value --------------------------------------------------------------------- */

/* Copy a host array to the device, and from there into target: broadcast, converted. */
static int
assign_through_device(pcu_gpuarray *target, PyObject *host, CUstream stream)
{
    PyObject *device = pcu_host_transfer_new(target->st, host, NULL, stream, false);
    if (device == NULL) {
        return -1;
    }
    int rc = pcu_device_copy(target, (pcu_gpuarray *)device, stream);
    Py_DECREF(device);
    return rc;
}

static int
assign_record(pcu_gpuarray *target, PyObject *value, CUstream stream)
{
    PyArray_Descr *dtype = (PyArray_Descr *)Py_NewRef((PyObject *)target->dtype);
    PyObject *host = PyArray_FromAny(value, dtype, 0, 0, NPY_ARRAY_FORCECAST, NULL);
    if (host == NULL) {
        return -1;
    }
    int rc = assign_through_device(target, host, stream);
    Py_DECREF(host);
    return rc;
}

static int
assign_zeros(pcu_gpuarray *target, CUstream stream)
{
    int rc;
    CUdeviceptr to = target->address;
    size_t nbytes = pcu_gpuarray_nbytes(target);
    PCU_CALL_COPY(rc, target->st, MemsetD8Async, (to, 0, nbytes, stream),
                  {"the array", to, nbytes});
    return rc;
}

int
pcu_gpuarray_fill(pcu_gpuarray *target, PyObject *value, CUstream stream)
{
    static const unsigned char zeros[PCU_SCALAR_BYTES] = {0};
    pcu_operand input = {.array = NULL, .type = target->type};
    if (!pcu_type_is_number(target->type)) {
        return assign_record(target, value, stream);
    }
    if (pcu_scalar_pack(value, target->type, PCU_SCALAR_ASSIGNED, input.value) < 0) {
        return -1;
    }
    if (target->count == 0) {
        return 0;
    }
    if (!pcu_is_recording(target->st) && target->contiguous &&
        memcmp(input.value, zeros, sizeof(zeros)) == 0) {
        if (pcu_gpuarray_check_current(target) < 0) {
            return -1;
        }
        if (target->inside) { /* the driver refuses other bytes; a kernel uses them */
            return assign_zeros(target, stream);
        }
    }
    return pcu_elementwise_enqueue(target->st, PCU_OP_COPY, 1, &input, 1, &target,
                                   PCU_T_RAW, stream);
}

/* -- host data --------------------------------------------------------------------- */

/* The array in this machine's byte order, unless it has target's dtype already. Steals
 * the reference. */
static PyObject *
assign_native_new(PyObject *host, const pcu_gpuarray *target)
{
    PyArray_Descr *dtype = PyArray_DESCR((PyArrayObject *)host);
    if (PyArray_ISNBO(dtype->byteorder) || PyArray_EquivTypes(dtype, target->dtype)) {
        return host;
    }
    PyObject *swapped = NULL;
    PyArray_Descr *native = PyArray_DescrNewByteorder(dtype, NPY_NATIVE);
    if (native != NULL) {
        swapped = PyArray_FromArray((PyArrayObject *)host, native, NPY_ARRAY_FORCECAST);
    }
    Py_DECREF(host);
    return swapped;
}

PyObject *
pcu_assigned_array_new(const pcu_gpuarray *target, PyObject *value)
{
    PyArray_Descr *dtype = NULL;
    if (!PyArray_Check(value)) {
        dtype = (PyArray_Descr *)Py_NewRef((PyObject *)target->dtype);
    }
    PyObject *host = PyArray_FromAny(value, dtype, 0, 0, NPY_ARRAY_FORCECAST, NULL);
    if (host == NULL) {
        return NULL;
    }
    host = assign_native_new(host, target);
    if (host == NULL) {
        return NULL;
    }
    if (!PyArray_CheckExact(host) &&
        pcu_array_check_meaning((PyArrayObject *)host, "the value") < 0) {
        Py_DECREF(host);
        return NULL;
    }
    return host;
}

static int
assign_host(pcu_gpuarray *target, PyObject *value, CUstream stream)
{
    PyObject *host = pcu_assigned_array_new(target, value);
    if (host == NULL) {
        return -1;
    }
    PyArrayObject *array = (PyArrayObject *)host;
    int rc;
    if (PyArray_SIZE(array) > 1 && pcu_gpuarray_check_target(target) < 0) {
        rc = -1;
    }
    else if (pcu_host_has_shape(array, target) &&
             PyArray_EquivTypes(PyArray_DESCR(array), target->dtype)) {
        rc = pcu_host_transfer_set(target, array, stream, false);
    }
    else {
        rc = assign_through_device(target, host, stream);
    }
    Py_DECREF(host);
    return rc;
}

int
pcu_gpuarray_assign(pcu_gpuarray *target, PyObject *source, CUstream stream)
{
    if (pcu_gpuarray_ready(target) < 0) {
        return -1;
    }
    if (pcu_is_array(target->st, source)) {
        pcu_gpuarray *array = (pcu_gpuarray *)source;
        if (array->count > 1 && pcu_gpuarray_check_target(target) < 0) {
            return -1;
        }
        return pcu_device_copy(target, array, stream);
    }
    if (pcu_is_scalar(source)) {
        return pcu_gpuarray_fill(target, source, stream);
    }
    return assign_host(target, source, stream);
}
