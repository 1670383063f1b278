/* The methods that move elements between host and device: get, set, _move_file, and the
 * functions to_gpu and to_gpu_async. */

#include "python/array/type/transfer_methods.h"

#include "python/array/host_array.h"
#include "python/array/index/report.h"
#include "python/array/memory.h"
#include "python/array/ops/assign.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/host_transfer.h"
#include "python/array/type/members.h"
#include "python/array/type/views.h"
#include "python/driver/memory/copy.h"
#include "python/driver/memory/pool.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"
#include "python/support/docs.h"

typedef struct {
    PyObject *ary; /* borrowed */
    CUstream stream;
    bool pagelocked;
    bool async;
} transfer_args;

/* -- get --------------------------------------------------------------------------- */

/* The host array that the program gives, as an array of self's shape. */
static PyArrayObject *
transfer_given_new(pcu_gpuarray *self, PyObject *ary)
{
    PyArrayObject *host =
        pcu_host_checked_new(self, ary, PyExc_TypeError, PyExc_DeprecationWarning);
    if (host != NULL && !PyArray_ISWRITEABLE(host)) {
        PyErr_SetString(PyExc_ValueError, "ary is read-only");
        Py_CLEAR(host);
    }
    return host;
}

static PyObject *
transfer_get_array(pcu_gpuarray *self, const transfer_args *a)
{
    PyObject *host;
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    if (a->ary != Py_None) {
        host = (PyObject *)transfer_given_new(self, a->ary);
    }
    else if (a->pagelocked) {
        host = pcu_host_pagelocked_new(self);
    }
    else {
        host = pcu_host_new(self);
    }
    if (host == NULL) {
        return NULL;
    }
    int rc = pcu_host_transfer_get(self, (PyArrayObject *)host, a->stream, a->async);
    if (rc == 0 && !a->async) {
        rc = pcu_index_report_check(self->st);
    }
    if (rc < 0) {
        Py_DECREF(host);
        return NULL;
    }
    if (a->ary != Py_None) {
        Py_SETREF(host, Py_NewRef(a->ary));
    }
    return host;
}

PyObject *
pcu_gpuarray_get(pcu_gpuarray *self)
{
    transfer_args a = {.ary = Py_None, .stream = pcu_stream_current()};
    return transfer_get_array(self, &a);
}

static const pcu_word transfer_words[] = {
    PCU_WORD("ary", pcu_as_object, transfer_args, ary),
    PCU_WORD("pagelocked", pcu_as_bool, transfer_args, pagelocked),
    PCU_WORD("async_", pcu_as_bool, transfer_args, async),
    PCU_WORD("stream", pcu_as_stream, transfer_args, stream),
};

PCU_SIGNATURE(transfer_get, transfer_words,
              "get($self, /, ary=None, pagelocked=False, async_=False, stream=None)\n"
              "--\n\n"
              "Copy the array to the host and return the NumPy array.\n"
              "\nParameters\n----------\n"
              "ary : numpy.ndarray, optional\n"
              "    Target of the same size and dtype. The default is a new array.\n"
              "pagelocked : bool, optional\n"
              "    If true, the new array is in page-locked memory.\n"
              "async_ : bool, optional\n"
              "    If true, only enqueue the copy. Use the result after the\n"
              "    stream has reached this point.\n" PCU_DOC_STREAM
              "\nReturns\n-------\n"
              "numpy.ndarray\n"
              "    The target, or a new array.\n"
              "\nRaises\n------\n"
              "TypeError\n"
              "    If the target has another dtype.\n"
              "ValueError\n"
              "    If the target has another size.\n"
              "\nSee Also\n--------\n"
              "get_async : The same as ``async_``.\n"
              "set : The way back.\n"
              "\nNotes\n-----\n"
              "The call waits for the stream, unless ``async_`` is\n"
              "true.\n" PCU_DOC_STAGED
              "\nExamples\n--------\n"
              ">>> gpuarray.to_gpu(np.array([1, 2, 3])).get()\n"
              "array([1, 2, 3])")

static PyObject *
transfer_get(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    transfer_args a = {.ary = Py_None, .stream = pcu_stream_current()};
    if (pcu_args_parse(self->st, &transfer_get_signature, args, nargs, kwnames, &a) <
        0) {
        return NULL;
    }
    return transfer_get_array(self, &a);
}

PCU_SIGNATURE(transfer_get_async, transfer_words,
              "get_async($self, /, stream=None, ary=None)\n"
              "--\n\n"
              "Enqueue a copy to the host and return its NumPy array.\n"
              "\nParameters\n----------\n" PCU_DOC_STREAM
              "ary : numpy.ndarray, optional\n"
              "    Target of the same size and dtype. The default is a new array.\n"
              "\nReturns\n-------\n"
              "numpy.ndarray\n"
              "    The target, or a new array. Use it after the stream has\n"
              "    reached this point.\n"
              "\nRaises\n------\n"
              "TypeError\n"
              "    If the target has another dtype.\n"
              "ValueError\n"
              "    If the target has another size.\n"
              "\nSee Also\n--------\n"
              "get : Wait for the copy.\n"
              "\nExamples\n--------\n"
              ">>> stream = drv.Stream()\n"
              ">>> x = gpuarray.to_gpu(np.array([1, 2, 3]))\n"
              ">>> host = x.get_async(stream)\n"
              ">>> stream.synchronize()\n"
              ">>> host\n"
              "array([1, 2, 3])")

static PyObject *
transfer_get_async(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    transfer_args a = {.ary = Py_None, .stream = pcu_stream_current(), .async = true};
    if (pcu_args_parse(self->st, &transfer_get_async_signature, args, nargs, kwnames,
                       &a) < 0) {
        return NULL;
    }
    return transfer_get_array(self, &a);
}

/* -- set --------------------------------------------------------------------------- */

/* Copy another GPUArray of the same size and dtype; its shape may differ. */
static int
transfer_set_from_device(pcu_gpuarray *self, pcu_gpuarray *source, CUstream stream)
{
    if (pcu_gpuarray_ready(source) < 0) {
        return -1;
    }
    if (source->count != self->count) {
        PyErr_Format(PyExc_ValueError, "ary has %zu elements, the GPUArray has %zu",
                     source->count, self->count);
        return -1;
    }
    if (!PyArray_EquivTypes(source->dtype, self->dtype)) {
        PyErr_Format(PyExc_ValueError, "ary has dtype %S, the GPUArray has %S",
                     (PyObject *)source->dtype, (PyObject *)self->dtype);
        return -1;
    }
    if (pcu_gpuarray_has_shape(source, self->ndim, self->shape)) {
        return pcu_device_copy(self, source, stream);
    }
    if (PyErr_WarnEx(PyExc_UserWarning,
                     "the array to set from has another shape; it is reshaped",
                     1) < 0) {
        return -1;
    }
    PyObject *reshaped =
        pcu_gpuarray_reshape_new(source, self->ndim, self->shape, false, stream);
    if (reshaped == NULL) {
        return -1;
    }
    int rc = pcu_device_copy(self, (pcu_gpuarray *)reshaped, stream);
    Py_DECREF(reshaped);
    return rc;
}

static int
transfer_set_from_host(pcu_gpuarray *self, const transfer_args *a)
{
    PyArrayObject *host =
        pcu_host_checked_new(self, a->ary, PyExc_ValueError, PyExc_UserWarning);
    if (host == NULL) {
        return -1;
    }
    int rc = pcu_host_transfer_set(self, host, a->stream, a->async);
    Py_DECREF(host);
    return rc;
}

static PyObject *
transfer_set_array(pcu_gpuarray *self, const transfer_args *a)
{
    int rc;
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    if (pcu_is_array(self->st, a->ary)) {
        rc = transfer_set_from_device(self, (pcu_gpuarray *)a->ary, a->stream);
    }
    else {
        rc = transfer_set_from_host(self, a);
    }
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PCU_SIGNATURE(transfer_set, transfer_words,
              "set($self, /, ary, async_=False, stream=None)\n"
              "--\n\n"
              "Copy an array into this one.\n"
              "\nParameters\n----------\n"
              "ary : numpy.ndarray or GPUArray\n"
              "    Array of the same size and dtype. Another shape gives a\n"
              "    warning.\n"
              "async_ : bool, optional\n"
              "    If true, only enqueue the copy.\n" PCU_DOC_STREAM
              "\nRaises\n------\n"
              "ValueError\n"
              "    If size or dtype differ.\n"
              "\nSee Also\n--------\n"
              "set_async : The same as ``async_``.\n"
              "get : The way back.\n"
              "\nNotes\n-----\n"
              "The call waits until the elements have been read, unless\n"
              "``async_`` is true.\n" PCU_DOC_STAGED
              "\nExamples\n--------\n"
              ">>> x = gpuarray.empty(3, np.float32)\n"
              ">>> x.set(np.array([1, 2, 3], np.float32))\n"
              ">>> x\n"
              "array([1., 2., 3.], dtype=float32)")

static PyObject *
transfer_set(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    transfer_args a = {.stream = pcu_stream_current()};
    if (pcu_args_parse(self->st, &transfer_set_signature, args, nargs, kwnames, &a) <
        0) {
        return NULL;
    }
    return transfer_set_array(self, &a);
}

PCU_SIGNATURE(transfer_set_async, transfer_words,
              "set_async($self, /, ary, stream=None)\n"
              "--\n\n"
              "Enqueue a copy of an array into this one.\n"
              "\nParameters\n----------\n"
              "ary : numpy.ndarray or GPUArray\n"
              "    Array of the same size and dtype. Do not change it before the\n"
              "    stream has reached this point.\n" PCU_DOC_STREAM
              "\nRaises\n------\n"
              "ValueError\n"
              "    If size or dtype differ.\n"
              "\nSee Also\n--------\n"
              "set : Wait for the copy.")

static PyObject *
transfer_set_async(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    transfer_args a = {.stream = pcu_stream_current(), .async = true};
    if (pcu_args_parse(self->st, &transfer_set_async_signature, args, nargs, kwnames,
                       &a) < 0) {
        return NULL;
    }
    return transfer_set_array(self, &a);
}

/* -- files ------------------------------------------------------------------------- */

typedef struct {
    int fd;
    size_t offset;
    size_t begin;
    size_t size;
    bool writes;
} file_args;

static const pcu_word file_words[] = {
    PCU_WORD("fd", pcu_as_int, file_args, fd),
    PCU_WORD("offset", pcu_as_size, file_args, offset),
    PCU_WORD("begin", pcu_as_size, file_args, begin),
    PCU_WORD("size", pcu_as_size, file_args, size),
    PCU_WORD("writes", pcu_as_bool, file_args, writes),
};

PCU_SIGNATURE(
    transfer__move_file, file_words,
    "_move_file($self, /, fd, offset, begin, size, writes)\n"
    "--\n\n"
    "Move bytes of the array's memory from or to a regular file.\n"
    "\n"
    "The bytes begin at `begin`, and at `offset` in the file. False: nothing\n"
    "was moved, because the copy cannot use the page-locked pieces.")

static int
transfer_check_bytes(pcu_gpuarray *self, const file_args *a)
{
    if (pcu_gpuarray_ready(self) < 0 || pcu_gpuarray_check_current(self) < 0) {
        return -1;
    }
    size_t nbytes = pcu_gpuarray_nbytes(self);
    if (!self->contiguous || a->begin > nbytes || a->size > nbytes - a->begin) {
        PyErr_Format(PyExc_ValueError,
                     "no %zu bytes from byte %zu on in a contiguous array of %zu",
                     a->size, a->begin, nbytes);
        return -1;
    }
    return pcu_current_context_ready(self->st);
}

static PyObject *
transfer__move_file(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    file_args a = {0};
    if (pcu_args_parse(self->st, &transfer__move_file_signature, args, nargs, kwnames,
                       &a) < 0 ||
        transfer_check_bytes(self, &a) < 0) {
        return NULL;
    }
    pcu_staging_file file = {.fd = a.fd, .offset = a.offset};
    CUdeviceptr address = self->address + a.begin;
    CUstream stream = pcu_stream_current();
    PyObject *memory = Py_XNewRef(self->memory);
    PyThreadState *thread = pcu_unlock();
    CUresult status = pcu_staging_file_copy(address, &file, a.size, !a.writes, stream);
    pcu_lock(thread);
    Py_XDECREF(memory);
    if (status == CUDA_ERROR_NOT_FOUND) {
        Py_RETURN_FALSE;
    }
    if (file.error != 0) {
        errno = file.error;
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    if (status != CUDA_SUCCESS) {
        const char *routine = a.writes ? "cuMemcpyDtoH" : "cuMemcpyHtoD";
        const pcu_copy_range range = {"the array", address, a.size};
        pcu_copy_raise(self->st, routine, status, &range, 1);
        return NULL;
    }
    if (a.writes && pcu_index_report_check(self->st) < 0) {
        return NULL;
    }
    Py_RETURN_TRUE;
}

/* -- to_gpu ------------------------------------------------------------------------ */

typedef struct {
    PyObject *ary;       /* borrowed */
    PyObject *allocator; /* borrowed */
    CUstream stream;
} upload_args;

/* A GPUArray of a numpy array or scalar. */
static PyObject *
transfer_upload_host(pcu_state *st, const upload_args *a, PyObject *allocator,
                     bool async)
{
    PyObject *array = a->ary;
    if (PyArray_Check(array)) {
        Py_INCREF(array);
    }
    else if (PyArray_IsScalar(array, Generic)) {
        array = PyArray_FromScalar(array, NULL);
        async = false; /* the array is a temporary, which must outlive the transfer */
    }
    else {
        PyErr_Format(PyExc_TypeError, "ary must be a numpy array or a GPUArray, not %s",
                     Py_TYPE(array)->tp_name);
        return NULL;
    }
    if (array == NULL) {
        return NULL;
    }
    PyObject *result = NULL;
    if (pcu_array_check_meaning((PyArrayObject *)array, "ary") == 0) {
        result = pcu_host_transfer_new(st, array, allocator, a->stream, async);
    }
    Py_DECREF(array);
    return result;
}

static PyObject *
transfer_upload(pcu_state *st, const upload_args *a, bool async)
{
    PyObject *allocator = NULL;
    if (a->allocator != Py_None) {
        allocator = a->allocator;
    }
    if (!pcu_is_array(st, a->ary)) {
        return transfer_upload_host(st, a, allocator, async);
    }
    pcu_gpuarray *source = (pcu_gpuarray *)a->ary;
    if (pcu_gpuarray_ready(source) < 0) {
        return NULL;
    }
    return pcu_gpuarray_copy_new(source, allocator, a->stream);
}

static const pcu_word upload_words[] = {
    PCU_WORD("ary", pcu_as_object, upload_args, ary),
    PCU_WORD("allocator", pcu_as_allocator, upload_args, allocator),
    PCU_WORD("stream", pcu_as_stream, upload_args, stream),
};

PCU_SIGNATURE(transfer_to_gpu, upload_words,
              "to_gpu($module, /, ary, allocator=None)\n"
              "--\n\n"
              "Copy an array to the device.\n"
              "\nParameters\n----------\n"
              "ary : numpy.ndarray or GPUArray\n"
              "    The array.\n" PCU_DOC_ALLOCATOR
              "\nReturns\n-------\n"
              "GPUArray\n"
              "    A new array. The order of the axes is kept, gaps are not.\n"
              "\nRaises\n------\n" PCU_DOC_NO_MEMORY
              "\nSee Also\n--------\n"
              "to_gpu_async : Without waiting.\n"
              "GPUArray.get : The way back.\n"
              "\nNotes\n-----\n"
              "The call waits until the elements have been read.\n"
              "\nExamples\n--------\n"
              ">>> x = gpuarray.to_gpu(np.array([1.0, 2, 3]))\n"
              ">>> x * 2\n"
              "array([2., 4., 6.])")

static PyObject *
transfer_to_gpu(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    upload_args a = {.allocator = Py_None, .stream = pcu_stream_current()};
    if (pcu_args_parse(st, &transfer_to_gpu_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    return transfer_upload(st, &a, false);
}

PCU_SIGNATURE(transfer_to_gpu_async, upload_words,
              "to_gpu_async($module, /, ary, allocator=None, stream=None)\n"
              "--\n\n"
              "Enqueue a copy of an array to the device.\n"
              "\nParameters\n----------\n"
              "ary : numpy.ndarray or GPUArray\n"
              "    The array. Do not change it before the stream has reached this\n"
              "    point.\n" PCU_DOC_ALLOCATOR PCU_DOC_STREAM
              "\nReturns\n-------\n"
              "GPUArray\n"
              "    A new array. The order of the axes is kept, gaps are not.\n"
              "\nRaises\n------\n" PCU_DOC_NO_MEMORY
              "\nSee Also\n--------\n"
              "to_gpu : Wait for the copy.\n"
              "\nNotes\n-----\n"
              "The copy overlaps with other work only if ``ary`` is in\n"
              "page-locked memory.\n" PCU_DOC_STAGED
              "\nExamples\n--------\n"
              ">>> host = drv.pagelocked_zeros(3, np.float32)\n"
              ">>> stream = drv.Stream()\n"
              ">>> x = gpuarray.to_gpu_async(host, stream=stream)\n"
              ">>> stream.synchronize()\n"
              ">>> x\n"
              "array([0., 0., 0.], dtype=float32)")

static PyObject *
transfer_to_gpu_async(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    upload_args a = {.allocator = Py_None, .stream = pcu_stream_current()};
    if (pcu_args_parse(st, &transfer_to_gpu_async_signature, args, nargs, kwnames, &a) <
        0) {
        return NULL;
    }
    return transfer_upload(st, &a, true);
}

#define TRANSFER_ROW(name) PCU_METHOD(#name, transfer_##name)

PyMethodDef pcu_transfer_methods[] = {
    TRANSFER_ROW(get),       TRANSFER_ROW(get_async),  TRANSFER_ROW(set),
    TRANSFER_ROW(set_async), TRANSFER_ROW(_move_file), {NULL, NULL, 0, NULL},
};

PyMethodDef pcu_transfer_functions[] = {
    TRANSFER_ROW(to_gpu),
    TRANSFER_ROW(to_gpu_async),
    {NULL, NULL, 0, NULL},
};
