/* Transfers between host and device: see host_transfer.h. */

#include "python/array/ops/host_transfer.h"

#include "python/array/construction.h"
#include "python/array/host_array.h"
#include "python/array/layout.h"
#include "python/array/memory.h"
#include "python/array/ops/device_copy.h"
#include "python/driver/launched.h"
#include "python/driver/memory/copy.h"
#include "python/driver/memory/memory.h"
#include "python/support/convert.h"

/* -- one piece --------------------------------------------------------------------- */

static int
transfer_wait(pcu_state *st, CUstream stream)
{
    return pcu_launched_wait(st, stream);
}

/* While a stream is captured: refuse a transfer that waits for its end, and keep the
 * host array of one that does not. */
static int
transfer_captured(pcu_state *st, PyObject *host, const char *routine, bool async)
{
    if (!async && pcu_captured_copy(st, routine) < 0) {
        return -1;
    }
    return pcu_captured_object(host);
}

/* The bytes that both arrays have. Allocations, warnings and waits run Python code,
 * which may have changed the layout of one array since the two were compared. */
static int
transfer_bytes(PyArrayObject *host, const pcu_gpuarray *device, size_t *nbytes)
{
    *nbytes = pcu_gpuarray_nbytes(device);
    if (*nbytes == (size_t)PyArray_NBYTES(host)) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError,
                 "the numpy array has %zu bytes, the GPUArray has %zu: one of them was "
                 "changed meanwhile",
                 (size_t)PyArray_NBYTES(host), *nbytes);
    return -1;
}

/* Copy a packed array to the host. The call releases the interpreter lock, so it holds
 * the memory. */
static int
transfer_down(PyArrayObject *host, const pcu_gpuarray *device, CUstream stream,
              bool async)
{
    pcu_state *st = device->st;
    size_t nbytes = 0;
    uint64_t number = pcu_launch_newest();
    int rc;
    if (transfer_bytes(host, device, &nbytes) < 0 ||
        pcu_host_array_check(st, (PyObject *)host, "cuMemcpyDtoH", "dest") < 0) {
        return -1;
    }
    void *data = PyArray_DATA(host);
    CUdeviceptr address = device->address;
    PyObject *memory = Py_XNewRef(device->memory);
    if (stream == NULL && !async) {
        PCU_CALL_COPY(rc, st, MemcpyDtoH, (data, address, nbytes),
                      {"the array", address, nbytes});
        if (rc == 0) { /* the copy waits for the work of the default stream */
            pcu_launches_passed(pcu_ctx_current, NULL, number);
        }
    }
    else {
        if (transfer_captured(st, (PyObject *)host, "cuMemcpyDtoH", async) < 0) {
            Py_XDECREF(memory);
            return -1;
        }
        PCU_CALL_COPY(rc, st, MemcpyDtoHAsync, (data, address, nbytes, stream),
                      {"the array", address, nbytes});
        if (rc == 0 && !async) {
            rc = transfer_wait(st, stream);
        }
    }
    Py_XDECREF(memory);
    return rc;
}

/* The opposite direction. */
static int
transfer_up(const pcu_gpuarray *device, PyArrayObject *host, CUstream stream,
            bool async)
{
    pcu_state *st = device->st;
    size_t nbytes = 0;
    int rc;
    if (transfer_bytes(host, device, &nbytes) < 0 ||
        pcu_host_array_check(st, (PyObject *)host, "cuMemcpyHtoD", "src") < 0) {
        return -1;
    }
    const void *data = PyArray_DATA(host);
    CUdeviceptr address = device->address;
    PyObject *memory = Py_XNewRef(device->memory);
    if (stream == NULL && !async) {
        PCU_CALL_COPY(rc, st, MemcpyHtoD, (address, data, nbytes),
                      {"the array", address, nbytes});
    }
    else {
        if (transfer_captured(st, (PyObject *)host, "cuMemcpyHtoD", async) < 0) {
            Py_XDECREF(memory);
            return -1;
        }
        PCU_CALL_COPY(rc, st, MemcpyHtoDAsync, (address, data, nbytes, stream),
                      {"the array", address, nbytes});
        if (rc == 0 && !async) {
            rc = transfer_wait(st, stream);
        }
    }
    Py_XDECREF(memory);
    return rc;
}

/* Copy a host array that is not arranged as the device array: let the threads of
 * driver/staging.h arrange the elements on the way, if they take the copy. Otherwise by
 * way of `between`, an uninitialised host array that is; NULL: make one. */
static int
transfer_up_arranged(const pcu_gpuarray *device, PyArrayObject *host,
                     PyArrayObject *between, CUstream stream)
{
    pcu_state *st = device->st;
    pcu_staging_view view;
    size_t nbytes = 0;
    CUresult status = CUDA_ERROR_NOT_FOUND;
    CUdeviceptr address = device->address;
    if (transfer_bytes(host, device, &nbytes) < 0 ||
        pcu_host_array_check(st, (PyObject *)host, "cuMemcpyHtoD", "src") < 0 ||
        pcu_current_context_ready(st) < 0) {
        return -1;
    }
    if (pcu_host_view(host, device, &view)) {
        PyObject *memory = Py_XNewRef(device->memory);
        PyThreadState *thread = pcu_unlock();
        status = pcu_staging_pack(address, &view, nbytes, stream);
        pcu_lock(thread);
        Py_XDECREF(memory);
    }
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    if (status != CUDA_ERROR_NOT_FOUND) {
        const pcu_copy_range range = {"the array", address, nbytes};
        return pcu_copy_raise(st, "cuMemcpyHtoD", status, &range, 1);
    }
    PyObject *arranged = Py_XNewRef((PyObject *)between);
    if (arranged == NULL) {
        arranged = pcu_host_new(device);
    }
    int rc = -1;
    if (arranged != NULL && PyArray_CopyInto((PyArrayObject *)arranged, host) == 0) {
        rc = transfer_up(device, (PyArrayObject *)arranged, stream, false);
    }
    Py_XDECREF(arranged);
    return rc;
}

static bool
transfer_has_bytes(const pcu_gpuarray *self)
{
    return self->count != 0 && pcu_gpuarray_itemsize(self) != 0;
}

/* -- to the host ------------------------------------------------------------------- */

/* Copy a packed array into a host array of another order, by way of a third array. */
static int
transfer_down_rearranged(PyArrayObject *host, pcu_gpuarray *packed, CUstream stream)
{
    PyObject *between = pcu_host_new(packed);
    if (between == NULL) {
        return -1;
    }
    int rc = transfer_down((PyArrayObject *)between, packed, stream, false);
    if (rc == 0) {
        rc = PyArray_CopyInto(host, (PyArrayObject *)between);
    }
    Py_DECREF(between);
    return rc;
}

int
pcu_host_transfer_get(pcu_gpuarray *self, PyArrayObject *host, CUstream stream,
                      bool async)
{
    PyObject *packed;
    int rc;
    if (!transfer_has_bytes(self)) {
        return 0;
    }
    if (pcu_gpuarray_check_current(self) < 0) {
        return -1;
    }
    if (pcu_gpuarray_is_packed(self)) {
        packed = Py_NewRef((PyObject *)self);
    }
    else {
        packed = pcu_gpuarray_copy_new(self, self->allocator, stream);
    }
    if (packed == NULL) {
        return -1;
    }
    pcu_gpuarray *source = (pcu_gpuarray *)packed;
    if (pcu_host_is_alike(host, source)) {
        /* wait if the source is a temporary: it must outlive the transfer */
        rc = transfer_down(host, source, stream, async && source == self);
    }
    else {
        rc = transfer_down_rearranged(host, source, stream);
    }
    Py_DECREF(packed);
    return rc;
}

/* -- to the device ----------------------------------------------------------------- */

/* The array itself if it is packed, or packed memory for its elements. */
static PyObject *
transfer_target_new(pcu_gpuarray *self)
{
    ptrdiff_t strides[PCU_MAX_NDIM];
    if (pcu_gpuarray_is_packed(self)) {
        return Py_NewRef((PyObject *)self);
    }
    if (pcu_gpuarray_packed_strides(self, pcu_gpuarray_itemsize(self), strides) < 0) {
        return NULL;
    }
    return pcu_gpuarray_new(self->st, NULL, self->ndim, self->shape, strides,
                            self->dtype, self->allocator);
}

int
pcu_host_transfer_set(pcu_gpuarray *self, PyArrayObject *host, CUstream stream,
                      bool async)
{
    int rc;
    if (!transfer_has_bytes(self)) {
        return 0;
    }
    if (pcu_gpuarray_check_current(self) < 0) {
        return -1;
    }
    PyObject *packed = transfer_target_new(self);
    if (packed == NULL) {
        return -1;
    }
    pcu_gpuarray *target = (pcu_gpuarray *)packed;
    if (pcu_host_is_arranged(host, target)) {
        /* wait if the target is a temporary: it must outlive the transfer */
        rc = transfer_up(target, host, stream, async && target == self);
    }
    else {
        rc = transfer_up_arranged(target, host, NULL, stream);
    }
    if (rc == 0 && target != self) {
        rc = pcu_device_copy(self, target, stream);
    }
    Py_DECREF(packed);
    return rc;
}

/* An uninitialised GPUArray with dtype, shape and strides of a packed host array. */
static PyObject *
transfer_like_host_new(pcu_state *st, PyArrayObject *host, PyObject *allocator)
{
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    int ndim = PyArray_NDIM(host);
    if (PyDataType_REFCHK(PyArray_DESCR(host))) {
        pcu_refuse_objects(PyArray_DESCR(host), "ary");
        return NULL;
    }
    for (int i = 0; i < ndim; i++) {
        shape[i] = (size_t)PyArray_DIM(host, i);
        strides[i] = PyArray_STRIDE(host, i);
    }
    return pcu_gpuarray_new(st, NULL, ndim, shape, strides, PyArray_DESCR(host),
                            allocator);
}

PyObject *
pcu_host_transfer_new(pcu_state *st, PyObject *array, PyObject *allocator,
                      CUstream stream, bool async)
{
    PyObject *packed = pcu_host_packed_like(array);
    if (packed == NULL) {
        return NULL;
    }
    PyArrayObject *host = (PyArrayObject *)packed;
    PyObject *result = transfer_like_host_new(st, host, allocator);
    pcu_gpuarray *target = (pcu_gpuarray *)result;
    int rc = 0;
    if (result == NULL || pcu_gpuarray_nbytes(target) == 0) {
        goto done;
    }
    rc = pcu_gpuarray_check(target, NULL);
    if (rc == 0 && packed == array) {
        rc = transfer_up(target, host, stream, async);
    }
    else if (rc == 0) {
        rc = transfer_up_arranged(target, (PyArrayObject *)array, host, stream);
    }
    if (rc < 0) {
        Py_CLEAR(result);
    }
done:
    Py_DECREF(packed);
    return result;
}
