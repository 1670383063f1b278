/* Moving the elements of a GPUArray: to and from the host, to another array, fills.
 *
 * Memory that is packed alike on both sides is copied in one piece. Otherwise elements
 * go where their indices say: a kernel packs or spreads them on the device, NumPy does
 * so on the host. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/driver/memory/pool.h"
#include "python/driver/memory/copy_error.h"
#include "python/array/gpuarray.h"

/* -- between device and host, packed alike ----------------------------------------- */

static int
copy_wait(pcu_state *st, CUstream stream)
{
    int rc;
    PCU_CALL_CURRENT(rc, st, StreamSynchronize, (stream));
    return rc;
}

/* The bytes of both arrays. Allocating, warning and waiting run Python code, which may
 * have given one of them another layout since they were compared. */
static int
copy_bytes(PyArrayObject *host, const pcu_gpuarray *device, size_t *nbytes)
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

/* A packed array to the host; returns when it is there unless `async`. The lock of the
 * interpreter is released meanwhile, so the memory is held. */
static int
copy_down(PyArrayObject *host, const pcu_gpuarray *device, CUstream stream, int async)
{
    pcu_state *st = device->st;
    size_t nbytes = 0;
    int rc;
    if (copy_bytes(host, device, &nbytes) < 0) {
        return -1;
    }
    void *data = PyArray_DATA(host);
    CUdeviceptr address = device->address;
    PyObject *memory = Py_XNewRef(device->memory);
    if (stream == NULL && !async) {
        PCU_CALL_COPY(rc, st, MemcpyDtoH, (data, address, nbytes),
                      {"the array", address, nbytes});
    }
    else {
        PCU_CALL_COPY(rc, st, MemcpyDtoHAsync, (data, address, nbytes, stream),
                      {"the array", address, nbytes});
        rc = rc < 0 || async ? rc : copy_wait(st, stream);
    }
    Py_XDECREF(memory);
    return rc;
}

/* The opposite way. */
static int
copy_up(const pcu_gpuarray *device, PyArrayObject *host, CUstream stream, int async)
{
    pcu_state *st = device->st;
    size_t nbytes = 0;
    int rc;
    if (copy_bytes(host, device, &nbytes) < 0) {
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
        PCU_CALL_COPY(rc, st, MemcpyHtoDAsync, (address, data, nbytes, stream),
                      {"the array", address, nbytes});
        rc = rc < 0 || async ? rc : copy_wait(st, stream);
    }
    Py_XDECREF(memory);
    return rc;
}

/* The current context may be given work on the array. */
static int
copy_check(pcu_gpuarray *self)
{
    pcu_context *ctx = pcu_gpuarray_context(self->st);
    return ctx == NULL ? -1 : pcu_gpuarray_check(self, ctx);
}

PyObject *
pcu_gpuarray_copy_new(pcu_gpuarray *self, CUstream stream)
{
    ptrdiff_t strides[PCU_MAX_NDIM];
    pcu_state *st = self->st;
    if (copy_check(self) < 0 ||
        pcu_gpuarray_packed_strides(self, pcu_gpuarray_itemsize(self), strides) < 0) {
        return NULL;
    }
    PyObject *copy = pcu_gpuarray_new(st, NULL, self->ndim, self->shape, strides,
                                      self->dtype, self->allocator);
    if (copy != NULL &&
        pcu_gpuarray_assign((pcu_gpuarray *)copy, (PyObject *)self, stream) < 0) {
        Py_CLEAR(copy);
    }
    if (copy != NULL) {
        ((pcu_gpuarray *)copy)->counts_as = self->counts_as;
    }
    return copy;
}

/* -- get --------------------------------------------------------------------------- */

/* Copy a device array into a host array of its shape and dtype. */
static int
copy_get_into(pcu_gpuarray *self, PyArrayObject *host, CUstream stream, int async)
{
    PyObject *packed = NULL;
    PyObject *between = NULL;
    int rc = -1;
    if (self->count == 0 || pcu_gpuarray_itemsize(self) == 0) {
        return 0;
    }
    if (copy_check(self) < 0) {
        return -1;
    }
    packed = pcu_gpuarray_is_packed(self) ? Py_NewRef((PyObject *)self)
                                          : pcu_gpuarray_copy_new(self, stream);
    if (packed == NULL) {
        return -1;
    }
    pcu_gpuarray *source = (pcu_gpuarray *)packed;
    if (pcu_host_is_alike(host, source)) {
        /* a temporary copy must outlive the transfer */
        rc = copy_down(host, source, stream, async && source == self);
    }
    else {
        between = pcu_host_new(source);
        if (between != NULL &&
            copy_down((PyArrayObject *)between, source, stream, 0) == 0) {
            rc = PyArray_CopyInto(host, (PyArrayObject *)between);
        }
    }
    Py_DECREF(packed);
    Py_XDECREF(between);
    return rc;
}

typedef struct {
    PyObject *ary;
    CUstream stream;
    int has_stream;
    int pagelocked;
    int async;
} transfer_args;

static PyObject *
copy_get_array(pcu_gpuarray *self, const transfer_args *a)
{
    PyArrayObject *host = NULL;
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    if (a->ary != Py_None) {
        host = pcu_host_checked_new(self, a->ary, PyExc_TypeError,
                                    PyExc_DeprecationWarning);
        if (host != NULL && !PyArray_ISWRITEABLE(host)) {
            PyErr_SetString(PyExc_ValueError, "ary is read-only");
            Py_CLEAR(host);
        }
    }
    else {
        host = (PyArrayObject *)(a->pagelocked ? pcu_host_pagelocked_new(self)
                                               : pcu_host_new(self));
    }
    if (host != NULL && (copy_get_into(self, host, a->stream, a->async) < 0 ||
                         (!a->async && pcu_gpuarray_after_get(self->st) < 0))) {
        Py_CLEAR(host);
    }
    if (host != NULL && a->ary != Py_None) {
        Py_DECREF(host);
        return Py_NewRef(a->ary);
    }
    return (PyObject *)host;
}

/* stream=None means the current stream, so that must be told from a stream given. */
static int
copy_as_stream(pcu_state *st, PyObject *value, void *out, const char *name)
{
    if (value == Py_None) {
        *(CUstream *)out = pcu_gpuarray_stream(st);
        return 0;
    }
    return pcu_as_stream(st, value, out, name);
}

PyDoc_STRVAR(
    copy_get_doc,
    "get($self, /, ary=None, pagelocked=False, async_=False, stream=None)\n--\n\n"
    "Copy the array to the host and return the numpy array.\n\n"
    "ary: where to; of the same size (ValueError) and dtype (TypeError). Without it a\n"
    "new array, in page-locked memory if pagelocked. With async_ the copy is queued\n"
    "only, and the result must not be looked at before the stream has passed.");

static PyObject *
copy_get(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"ary", pcu_as_object, offsetof(transfer_args, ary)},
        {"pagelocked", pcu_as_bool, offsetof(transfer_args, pagelocked)},
        {"async_", pcu_as_bool, offsetof(transfer_args, async)},
        {"stream", copy_as_stream, offsetof(transfer_args, stream)},
    };
    static const pcu_argtable table = {"get", specs, 4, 0, 0};
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    transfer_args a = {.ary = Py_None, .stream = pcu_gpuarray_stream(self->st)};
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    return copy_get_array(self, &a);
}

PyDoc_STRVAR(copy_get_async_doc,
             "get_async($self, /, stream=None, ary=None)\n--\n\n"
             "Queue a copy to the host and return the numpy array it goes to.\n\n"
             "Its elements are there when the stream has passed.");

static PyObject *
copy_get_async(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"stream", copy_as_stream, offsetof(transfer_args, stream)},
        {"ary", pcu_as_object, offsetof(transfer_args, ary)},
    };
    static const pcu_argtable table = {"get_async", specs, 2, 0, 0};
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    transfer_args a = {
        .ary = Py_None, .stream = pcu_gpuarray_stream(self->st), .async = 1};
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    return copy_get_array(self, &a);
}

/* -- set --------------------------------------------------------------------------- */

/* Copy a host array of self's shape and dtype to the device. */
static int
copy_set_from(pcu_gpuarray *self, PyArrayObject *host, CUstream stream, int async)
{
    ptrdiff_t strides[PCU_MAX_NDIM];
    PyObject *packed = NULL;
    int rc = -1;
    if (self->count == 0 || pcu_gpuarray_itemsize(self) == 0) {
        return 0;
    }
    if (copy_check(self) < 0) {
        return -1;
    }
    if (pcu_gpuarray_is_packed(self)) {
        packed = Py_NewRef((PyObject *)self);
    }
    else if (pcu_gpuarray_packed_strides(self, pcu_gpuarray_itemsize(self), strides) ==
             0) {
        packed = pcu_gpuarray_new(self->st, NULL, self->ndim, self->shape, strides,
                                  self->dtype, self->allocator);
    }
    if (packed == NULL) {
        return -1;
    }
    pcu_gpuarray *target = (pcu_gpuarray *)packed;
    PyObject *arranged = pcu_host_arranged_new(host, target);
    if (arranged != NULL) {
        /* what is temporary must outlive the transfer */
        int later = async && arranged == (PyObject *)host && target == self;
        rc = copy_up(target, (PyArrayObject *)arranged, stream, later);
    }
    if (rc == 0 && target != self) {
        rc = pcu_gpuarray_assign(self, packed, stream);
    }
    Py_DECREF(packed);
    Py_XDECREF(arranged);
    return rc;
}

/* Another GPUArray as the source of set(): same size and dtype; the shape may differ.
 */
static int
copy_set_from_device(pcu_gpuarray *self, pcu_gpuarray *source, CUstream stream)
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
    if (source->ndim == self->ndim &&
        memcmp(source->shape, self->shape, (size_t)self->ndim * sizeof(size_t)) == 0) {
        return pcu_gpuarray_assign(self, (PyObject *)source, stream);
    }
    if (PyErr_WarnEx(PyExc_UserWarning,
                     "the array to set from has another shape; it is reshaped",
                     1) < 0) {
        return -1;
    }
    PyObject *reshaped =
        pcu_gpuarray_reshape_new(source, self->ndim, self->shape, 0, stream);
    int rc = reshaped == NULL ? -1 : pcu_gpuarray_assign(self, reshaped, stream);
    Py_XDECREF(reshaped);
    return rc;
}

static PyObject *
copy_set_array(pcu_gpuarray *self, const transfer_args *a)
{
    int rc = -1;
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    if (pcu_is_array(self->st, a->ary)) {
        rc = copy_set_from_device(self, (pcu_gpuarray *)a->ary, a->stream);
    }
    else {
        PyArrayObject *host =
            pcu_host_checked_new(self, a->ary, PyExc_ValueError, PyExc_UserWarning);
        if (host != NULL) {
            rc = copy_set_from(self, host, a->stream, a->async);
        }
        Py_XDECREF(host);
    }
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(copy_set_doc,
             "set($self, /, ary, async_=False, stream=None)\n--\n\n"
             "Copy a numpy array or a GPUArray into this one.\n\n"
             "ValueError if size or dtype differ; another shape is a warning. With "
             "async_ the\ncopy is queued only.");

static PyObject *
copy_set(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"ary", pcu_as_object, offsetof(transfer_args, ary)},
        {"async_", pcu_as_bool, offsetof(transfer_args, async)},
        {"stream", copy_as_stream, offsetof(transfer_args, stream)},
    };
    static const pcu_argtable table = {"set", specs, 3, 1, 0};
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    transfer_args a = {.stream = pcu_gpuarray_stream(self->st)};
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    return copy_set_array(self, &a);
}

PyDoc_STRVAR(copy_set_async_doc,
             "set_async($self, /, ary, stream=None)\n--\n\n"
             "Queue a copy of a numpy array or a GPUArray into this one.");

static PyObject *
copy_set_async(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"ary", pcu_as_object, offsetof(transfer_args, ary)},
        {"stream", copy_as_stream, offsetof(transfer_args, stream)},
    };
    static const pcu_argtable table = {"set_async", specs, 2, 1, 0};
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    transfer_args a = {.stream = pcu_gpuarray_stream(self->st), .async = 1};
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    return copy_set_array(self, &a);
}

/* -- to_gpu ------------------------------------------------------------------------ */

typedef struct {
    PyObject *ary;
    PyObject *allocator;
    CUstream stream;
    int checks; /* ary is a program's: its elements must mean the same here */
} upload_args;

/* A copy of a GPUArray, on the device; like that of a numpy array it is packed, and its
 * memory comes from the allocator given, not from that of the source. */
static PyObject *
copy_of_array(pcu_state *st, const upload_args *a)
{
    ptrdiff_t strides[PCU_MAX_NDIM];
    pcu_gpuarray *source = (pcu_gpuarray *)a->ary;
    PyObject *allocator = a->allocator == Py_None ? NULL : a->allocator;
    if (pcu_gpuarray_ready(source) < 0 || copy_check(source) < 0 ||
        pcu_gpuarray_packed_strides(source, pcu_gpuarray_itemsize(source), strides) <
            0) {
        return NULL;
    }
    PyObject *copy = pcu_gpuarray_new(st, NULL, source->ndim, source->shape, strides,
                                      source->dtype, allocator);
    if (copy != NULL &&
        pcu_gpuarray_assign((pcu_gpuarray *)copy, a->ary, a->stream) < 0) {
        Py_CLEAR(copy);
    }
    if (copy != NULL) {
        ((pcu_gpuarray *)copy)->counts_as = ((pcu_gpuarray *)a->ary)->counts_as;
    }
    return copy;
}

static PyObject *
copy_upload(pcu_state *st, const upload_args *a, int async)
{
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    if (pcu_is_array(st, a->ary)) {
        return copy_of_array(st, a);
    }
    if (!PyArray_Check(a->ary) && !PyArray_IsScalar(a->ary, Generic)) {
        PyErr_Format(PyExc_TypeError, "ary must be a numpy array or a GPUArray, not %s",
                     Py_TYPE(a->ary)->tp_name);
        return NULL;
    }
    PyObject *array =
        PyArray_Check(a->ary) ? Py_NewRef(a->ary) : PyArray_FromScalar(a->ary, NULL);
    if (array == NULL ||
        (a->checks && pcu_array_check_meaning((PyArrayObject *)array, "ary") < 0)) {
        Py_XDECREF(array);
        return NULL;
    }
    PyObject *packed = pcu_host_packed_new(array);
    Py_DECREF(array);
    if (packed == NULL) {
        return NULL;
    }
    PyArrayObject *host = (PyArrayObject *)packed;
    int ndim = PyArray_NDIM(host);
    PyObject *result = NULL;
    if (PyDataType_REFCHK(PyArray_DESCR(host))) {
        pcu_refuse_objects(PyArray_DESCR(host), "ary");
        goto done;
    }
    for (int i = 0; i < ndim; i++) {
        shape[i] = (size_t)PyArray_DIM(host, i);
        strides[i] = PyArray_STRIDE(host, i);
    }
    result = pcu_gpuarray_new(st, NULL, ndim, shape, strides, PyArray_DESCR(host),
                              a->allocator == Py_None ? NULL : a->allocator);
    pcu_gpuarray *target = (pcu_gpuarray *)result;
    if (result != NULL && pcu_gpuarray_nbytes(target) != 0 &&
        (pcu_gpuarray_check(target, NULL) < 0 ||
         copy_up(target, host, a->stream, async && packed == a->ary) < 0)) {
        Py_CLEAR(result);
    }
done:
    Py_DECREF(packed);
    return result;
}

PyDoc_STRVAR(copy_to_gpu_doc,
             "to_gpu($module, /, ary, allocator=None)\n--\n\n"
             "Copy a numpy array, or a GPUArray, to a new GPUArray.\n\n"
             "The order of the axes is kept, gaps are not.");

static PyObject *
copy_to_gpu(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"ary", pcu_as_object, offsetof(upload_args, ary)},
        {"allocator", pcu_as_allocator, offsetof(upload_args, allocator)},
    };
    static const pcu_argtable table = {"to_gpu", specs, 2, 1, 0};
    pcu_state *st = pcu_state_of_module(m);
    upload_args a = {
        .allocator = Py_None, .stream = pcu_gpuarray_stream(st), .checks = 1};
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    return copy_upload(st, &a, 0);
}

PyDoc_STRVAR(copy_to_gpu_async_doc,
             "to_gpu_async($module, /, ary, allocator=None, stream=None)\n--\n\n"
             "Queue a copy of a numpy array, or of a GPUArray, to a new GPUArray.\n\n"
             "Keep ary unchanged until the stream has passed.");

static PyObject *
copy_to_gpu_async(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"ary", pcu_as_object, offsetof(upload_args, ary)},
        {"allocator", pcu_as_allocator, offsetof(upload_args, allocator)},
        {"stream", copy_as_stream, offsetof(upload_args, stream)},
    };
    static const pcu_argtable table = {"to_gpu_async", specs, 3, 1, 0};
    pcu_state *st = pcu_state_of_module(m);
    upload_args a = {
        .allocator = Py_None, .stream = pcu_gpuarray_stream(st), .checks = 1};
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    return copy_upload(st, &a, 1);
}

/* -- on the device ----------------------------------------------------------------- */

/* Moving without conversion goes by size, so that fewer kernels are needed. */
static int
copy_moved_type(const pcu_gpuarray *array)
{
    switch (array->type) {
        case PCU_T_BOOL:
        case PCU_T_INT8:
            return PCU_T_UINT8;
        case PCU_T_INT16:
        case PCU_T_FLOAT16:
            return PCU_T_UINT16;
        case PCU_T_INT32:
        case PCU_T_FLOAT32:
            return PCU_T_UINT32;
        case PCU_T_INT64:
        case PCU_T_FLOAT64:
            return PCU_T_UINT64;
        default:
            return array->type;
    }
}

static int
copy_no_conversion(const pcu_gpuarray *from, const pcu_gpuarray *to)
{
    PyErr_Format(PyExc_TypeError, "elements of dtype %S cannot become dtype %S",
                 (PyObject *)from->dtype, (PyObject *)to->dtype);
    return -1;
}

/* How many axes of length 1 the source has in front of as many axes as dest has. */
static int
copy_extra_axes(const pcu_gpuarray *dest, const pcu_gpuarray *src)
{
    int extra = src->ndim - dest->ndim;
    for (int i = 0; i < extra; i++) {
        if (src->shape[i] != 1) {
            return 0;
        }
    }
    return extra < 0 ? 0 : extra;
}

static int
copy_from_array(pcu_gpuarray *dest, pcu_gpuarray *src, CUstream stream)
{
    pcu_state *st = dest->st;
    pcu_operand input = {.array = src, .type = src->type};
    int rc;
    if (pcu_gpuarray_ready(src) < 0) {
        return -1;
    }
    int extra = copy_extra_axes(dest, src);
    if (extra > 0) {
        pcu_gpuarray *view = pcu_gpuarray_view_new(
            src, src->ndim - extra, src->shape + extra, src->strides + extra, 0, NULL);
        rc = view == NULL ? -1 : copy_from_array(dest, view, stream);
        Py_XDECREF(view);
        return rc;
    }
    if (!PyArray_EquivTypes(src->dtype, dest->dtype)) {
        if (src->type >= PCU_T_RAW || dest->type >= PCU_T_RAW) {
            return copy_no_conversion(src, dest);
        }
        return pcu_elementwise(st, PCU_OP_COPY, 1, &input, 1, &dest, PCU_T_RAW, stream);
    }
    if (dest->count == 0) {
        return pcu_elementwise(st, PCU_OP_COPY, 1, &input, 1, &dest, PCU_T_RAW, stream);
    }
    int alike =
        dest->contiguous & src->contiguous && dest->ndim == src->ndim &&
        memcmp(dest->shape, src->shape, (size_t)dest->ndim * sizeof(size_t)) == 0;
    /* The driver does not define a copy between ranges that overlap. */
    if (alike && !pcu_gpuarray_conflicts(src, dest)) {
        if (copy_check(dest) < 0 || copy_check(src) < 0) {
            return -1;
        }
        if (dest->address == src->address) {
            return 0;
        }
        CUdeviceptr to = dest->address;
        CUdeviceptr from = src->address;
        size_t nbytes = pcu_gpuarray_nbytes(dest);
        PCU_CALL_COPY(rc, st, MemcpyDtoDAsync, (to, from, nbytes, stream),
                      {"the target", to, nbytes}, {"the source", from, nbytes});
        return rc;
    }
    /* The same elements under another type, without a new object: other threads may
     * look at dest while a kernel is compiled. */
    pcu_gpuarray moved = *dest;
    pcu_gpuarray *target = &moved;
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    moved.shape = memcpy(shape, dest->shape, (size_t)dest->ndim * sizeof(*shape));
    moved.strides =
        memcpy(strides, dest->strides, (size_t)dest->ndim * sizeof(*strides));
    input.type = copy_moved_type(src);
    moved.type = (unsigned char)input.type;
    return pcu_elementwise(st, PCU_OP_COPY, 1, &input, 1, &target, PCU_T_RAW, stream);
}

/* A value that only an element's own dtype can hold (a record): through the device. */
static int
copy_from_record(pcu_gpuarray *dest, PyObject *value, CUstream stream)
{
    PyArray_Descr *dtype = (PyArray_Descr *)Py_NewRef((PyObject *)dest->dtype);
    PyObject *host = PyArray_FromAny(value, dtype, 0, 0, NPY_ARRAY_FORCECAST, NULL);
    if (host == NULL) {
        return -1;
    }
    upload_args a = {.ary = host, .allocator = Py_None, .stream = stream};
    PyObject *device = copy_upload(dest->st, &a, 0);
    Py_DECREF(host);
    int rc =
        device == NULL ? -1 : copy_from_array(dest, (pcu_gpuarray *)device, stream);
    Py_XDECREF(device);
    return rc;
}

static int
copy_from_scalar(pcu_gpuarray *dest, PyObject *value, CUstream stream)
{
    static const unsigned char zeros[16] = {0};
    pcu_state *st = dest->st;
    pcu_operand input = {.array = NULL, .type = dest->type};
    int rc;
    if (dest->type >= PCU_T_RAW) {
        return copy_from_record(dest, value, stream);
    }
    if (pcu_scalar_pack(value, dest->type, 1, input.value) < 0) {
        return -1;
    }
    if (dest->count == 0) {
        return 0;
    }
    if (dest->contiguous && memcmp(input.value, zeros, sizeof(zeros)) == 0) {
        if (copy_check(dest) < 0) {
            return -1;
        }
        CUdeviceptr to = dest->address;
        size_t nbytes = pcu_gpuarray_nbytes(dest);
        PCU_CALL_COPY(rc, st, MemsetD8Async, (to, 0, nbytes, stream),
                      {"the array", to, nbytes});
        return rc;
    }
    return pcu_elementwise(st, PCU_OP_COPY, 1, &input, 1, &dest, PCU_T_RAW, stream);
}

/* An array, a list, ... of the host: in one piece where it fits, else by way of the
 * device. */
static int
copy_from_host(pcu_gpuarray *dest, PyObject *value, CUstream stream)
{
    PyArray_Descr *dtype = NULL;
    if (!PyArray_Check(value)) {
        dtype = (PyArray_Descr *)Py_NewRef((PyObject *)dest->dtype);
    }
    PyObject *host = PyArray_FromAny(value, dtype, 0, 0, NPY_ARRAY_FORCECAST, NULL);
    if (host == NULL) {
        return -1;
    }
    if (!PyArray_ISNBO(PyArray_DESCR((PyArrayObject *)host)->byteorder) &&
        !PyArray_EquivTypes(PyArray_DESCR((PyArrayObject *)host), dest->dtype)) {
        PyArray_Descr *native =
            PyArray_DescrNewByteorder(PyArray_DESCR((PyArrayObject *)host), NPY_NATIVE);
        PyObject *swapped =
            native == NULL
                ? NULL
                : PyArray_FromArray((PyArrayObject *)host, native, NPY_ARRAY_FORCECAST);
        Py_DECREF(host);
        if (swapped == NULL) {
            return -1;
        }
        host = swapped;
    }
    PyArrayObject *array = (PyArrayObject *)host;
    if (!PyArray_CheckExact(host) && pcu_array_check_meaning(array, "the value") < 0) {
        Py_DECREF(host);
        return -1;
    }
    int same = PyArray_NDIM(array) == dest->ndim &&
               PyArray_EquivTypes(PyArray_DESCR(array), dest->dtype);
    for (int i = 0; same && i < dest->ndim; i++) {
        same = (size_t)PyArray_DIM(array, i) == dest->shape[i];
    }
    int rc = -1;
    if (same) {
        rc = copy_set_from(dest, array, stream, 0);
    }
    else {
        upload_args a = {.ary = host, .allocator = Py_None, .stream = stream};
        PyObject *device = copy_upload(dest->st, &a, 0);
        if (device != NULL) {
            rc = copy_from_array(dest, (pcu_gpuarray *)device, stream);
        }
        Py_XDECREF(device);
    }
    Py_DECREF(host);
    return rc;
}

int
pcu_gpuarray_assign(pcu_gpuarray *dest, PyObject *src, CUstream stream)
{
    if (pcu_gpuarray_ready(dest) < 0) {
        return -1;
    }
    if (pcu_is_array(dest->st, src)) {
        return copy_from_array(dest, (pcu_gpuarray *)src, stream);
    }
    if (pcu_is_scalar(src)) {
        return copy_from_scalar(dest, src, stream);
    }
    return copy_from_host(dest, src, stream);
}

PyDoc_STRVAR(copy_copy_doc,
             "copy($self, /)\n--\n\n"
             "A copy in new memory: the order of the axes is kept, gaps are not.");

static PyObject *
copy_copy(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    return pcu_gpuarray_ready(self) < 0
               ? NULL
               : pcu_gpuarray_copy_new(self, pcu_gpuarray_stream(self->st));
}

PyDoc_STRVAR(copy_dunder_copy_doc, "__copy__($self, /)\n--\n\nThe same as copy().");
PyDoc_STRVAR(copy_deepcopy_doc,
             "__deepcopy__($self, memo, /)\n--\n\nThe same as copy().");

static PyObject *
copy_deepcopy(PyObject *op, PyObject *Py_UNUSED(memo))
{
    return copy_copy(op, NULL);
}

PyDoc_STRVAR(copy_fill_doc,
             "fill($self, /, value, stream=None)\n--\n\n"
             "Set every element to a value; returns the array itself.\n\n"
             "OverflowError for an integer that the dtype cannot hold.");

static PyObject *
copy_fill(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"value", pcu_as_object, offsetof(transfer_args, ary)},
        {"stream", copy_as_stream, offsetof(transfer_args, stream)},
    };
    static const pcu_argtable table = {"fill", specs, 2, 1, 0};
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    transfer_args a = {.stream = pcu_gpuarray_stream(self->st)};
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0 ||
        pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    if (!pcu_is_scalar(a.ary) && self->type < PCU_T_RAW) {
        PyErr_Format(PyExc_TypeError, "value must be a number, not %s",
                     Py_TYPE(a.ary)->tp_name);
        return NULL;
    }
    return copy_from_scalar(self, a.ary, a.stream) < 0 ? NULL : Py_NewRef(op);
}

typedef struct {
    PyArray_Descr *dtype; /* new reference once parsed */
    CUstream stream;
} astype_args;

PyDoc_STRVAR(copy_astype_doc,
             "astype($self, /, dtype, stream=None)\n--\n\n"
             "A copy with its elements converted to another dtype.");

static PyObject *
copy_astype(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"dtype", pcu_as_dtype, offsetof(astype_args, dtype)},
        {"stream", copy_as_stream, offsetof(astype_args, stream)},
    };
    static const pcu_argtable table = {"astype", specs, 2, 1, 0};
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    astype_args a = {.stream = pcu_gpuarray_stream(self->st)};
    PyObject *result = NULL;
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) == 0 &&
        pcu_gpuarray_ready(self) == 0) {
        result = PyArray_EquivTypes(a.dtype, self->dtype)
                     ? pcu_gpuarray_copy_new(self, a.stream)
                     : pcu_gpuarray_like_new(self, 0, NULL, a.dtype, NULL);
        if (result != NULL && !PyArray_EquivTypes(a.dtype, self->dtype) &&
            copy_from_array((pcu_gpuarray *)result, self, a.stream) < 0) {
            Py_CLEAR(result);
        }
    }
    Py_XDECREF(a.dtype);
    return result;
}

/* -- pickling ---------------------------------------------------------------------- */

PyDoc_STRVAR(copy_reduce_doc,
             "__reduce__($self, /)\n--\n\n"
             "How pickle stores the array: by its elements, as a numpy array.");

static PyObject *
copy_reduce(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    PyObject *result = NULL;
    PyObject *module = PyImport_ImportModule("pycuda.gpuarray");
    PyObject *rebuild =
        module == NULL ? NULL : PyObject_GetAttrString(module, "_unpickle");
    transfer_args a = {.ary = Py_None, .stream = pcu_gpuarray_stream(self->st)};
    PyObject *host = rebuild == NULL ? NULL : copy_get_array(self, &a);
    if (host != NULL) {
        PyObject *state = self->dict == NULL ? Py_None : self->dict;
        result =
            Py_BuildValue("(O(OO)O)", rebuild, (PyObject *)Py_TYPE(op), host, state);
    }
    Py_XDECREF(host);
    Py_XDECREF(rebuild);
    Py_XDECREF(module);
    return result;
}

#define COPY_METHOD(name)                                    \
    {                                                        \
#        name, (PyCFunction)(void (*)(void))copy_##name,     \
            METH_FASTCALL | METH_KEYWORDS, copy_##name##_doc \
    }

PyMethodDef pcu_gpuarray_copy_methods[] = {
    COPY_METHOD(get),
    COPY_METHOD(get_async),
    COPY_METHOD(set),
    COPY_METHOD(set_async),
    COPY_METHOD(fill),
    COPY_METHOD(astype),
    {"copy", copy_copy, METH_NOARGS, copy_copy_doc},
    {"__copy__", copy_copy, METH_NOARGS, copy_dunder_copy_doc},
    {"__deepcopy__", copy_deepcopy, METH_O, copy_deepcopy_doc},
    {"__reduce__", copy_reduce, METH_NOARGS, copy_reduce_doc},
    {NULL, NULL, 0, NULL},
};

PyMethodDef pcu_gpuarray_copy_functions[] = {
    COPY_METHOD(to_gpu),
    COPY_METHOD(to_gpu_async),
    {NULL, NULL, 0, NULL},
};
