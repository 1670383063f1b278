/* Copies and fills of linear memory: memcpy_*, memset_*, from_device.
 *
 * All release the interpreter lock. Host buffers of the _async forms are not kept
 * alive: they are the caller's until the stream has passed. */

#include "pcu.h"

typedef struct {
    CUdeviceptr dest;
    CUdeviceptr src;
    PyObject *host; /* borrowed */
    size_t size;
    CUstream stream;
    PyObject *dest_context; /* borrowed; NULL: the current one */
    PyObject *src_context;
} copy_args;

#define COPY_DEST                                         \
    {                                                     \
        "dest", pcu_as_pointer, offsetof(copy_args, dest) \
    }
#define COPY_SRC                                        \
    {                                                   \
        "src", pcu_as_pointer, offsetof(copy_args, src) \
    }
#define COPY_HOST(name)                                \
    {                                                  \
        name, pcu_as_object, offsetof(copy_args, host) \
    }
#define COPY_SIZE                                      \
    {                                                  \
        "size", pcu_as_size, offsetof(copy_args, size) \
    }
#define COPY_STREAM                                          \
    {                                                        \
        "stream", pcu_as_stream, offsetof(copy_args, stream) \
    }

static const pcu_argspec copy_htod_specs[] = {COPY_DEST, COPY_HOST("src"), COPY_STREAM};
static const pcu_argspec copy_dtoh_specs[] = {COPY_HOST("dest"), COPY_SRC, COPY_STREAM};
static const pcu_argspec copy_dtod_specs[] = {COPY_DEST, COPY_SRC, COPY_SIZE,
                                              COPY_STREAM};

int
pcu_copy_to_device(pcu_state *st, CUdeviceptr dest, PyObject *source, const char *name)
{
    pcu_buffer buffer = {0};
    int rc;
    if (pcu_buffer_acquire(&buffer, source, 0, name) < 0) {
        return -1;
    }
    PCU_CALL(rc, st, MemcpyHtoD, (dest, buffer.data, buffer.size));
    pcu_buffer_release(&buffer);
    return rc;
}

int
pcu_copy_from_device(pcu_state *st, PyObject *dest, CUdeviceptr source,
                     const char *name)
{
    pcu_buffer buffer = {0};
    int rc;
    if (pcu_buffer_acquire(&buffer, dest, 1, name) < 0) {
        return -1;
    }
    PCU_CALL(rc, st, MemcpyDtoH, (buffer.data, source, buffer.size));
    pcu_buffer_release(&buffer);
    return rc;
}

PyDoc_STRVAR(copy_memcpy_htod_doc,
             "memcpy_htod($module, /, dest, src)\n--\n\n"
             "Copy a host buffer to device memory; its size is the number of bytes.");

static PyObject *
copy_memcpy_htod(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    static const pcu_argtable table = {"memcpy_htod", copy_htod_specs, 2, 2, 0};
    pcu_state *st = pcu_state_of_module(m);
    copy_args a = {0};
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0 ||
        pcu_copy_to_device(st, a.dest, a.host, "src") < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(
    copy_memcpy_htod_async_doc,
    "memcpy_htod_async($module, /, dest, src, stream=None)\n--\n\n"
    "Queue a copy of a host buffer, which should be page-locked, to the device.\n\n"
    "Keep the buffer alive and unchanged until the stream has passed.");

static PyObject *
copy_memcpy_htod_async(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames)
{
    static const pcu_argtable table = {"memcpy_htod_async", copy_htod_specs, 3, 2, 0};
    pcu_state *st = pcu_state_of_module(m);
    copy_args a = {0};
    pcu_buffer buffer = {0};
    int rc;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0 ||
        pcu_buffer_acquire(&buffer, a.host, 0, "src") < 0) {
        return NULL;
    }
    PCU_CALL(rc, st, MemcpyHtoDAsync, (a.dest, buffer.data, buffer.size, a.stream));
    pcu_buffer_release(&buffer);
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(copy_memcpy_dtoh_doc,
             "memcpy_dtoh($module, /, dest, src)\n--\n\n"
             "Copy device memory to a writable host buffer; its size is the number of "
             "bytes.");

static PyObject *
copy_memcpy_dtoh(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    static const pcu_argtable table = {"memcpy_dtoh", copy_dtoh_specs, 2, 2, 0};
    pcu_state *st = pcu_state_of_module(m);
    copy_args a = {0};
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0 ||
        pcu_copy_from_device(st, a.host, a.src, "dest") < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(
    copy_memcpy_dtoh_async_doc,
    "memcpy_dtoh_async($module, /, dest, src, stream=None)\n--\n\n"
    "Queue a copy of device memory to a host buffer, which should be page-locked.\n\n"
    "Keep the buffer alive until the stream has passed.");

static PyObject *
copy_memcpy_dtoh_async(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames)
{
    static const pcu_argtable table = {"memcpy_dtoh_async", copy_dtoh_specs, 3, 2, 0};
    pcu_state *st = pcu_state_of_module(m);
    copy_args a = {0};
    pcu_buffer buffer = {0};
    int rc;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0 ||
        pcu_buffer_acquire(&buffer, a.host, 1, "dest") < 0) {
        return NULL;
    }
    PCU_CALL(rc, st, MemcpyDtoHAsync, (buffer.data, a.src, buffer.size, a.stream));
    pcu_buffer_release(&buffer);
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(copy_memcpy_dtod_doc,
             "memcpy_dtod($module, /, dest, src, size)\n--\n\n"
             "Copy size bytes from device memory to device memory.");

static PyObject *
copy_memcpy_dtod(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    static const pcu_argtable table = {"memcpy_dtod", copy_dtod_specs, 3, 3, 0};
    pcu_state *st = pcu_state_of_module(m);
    copy_args a = {0};
    int rc;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    PCU_CALL(rc, st, MemcpyDtoD, (a.dest, a.src, a.size));
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(copy_memcpy_dtod_async_doc,
             "memcpy_dtod_async($module, /, dest, src, size, stream=None)\n--\n\n"
             "Queue a copy of size bytes from device memory to device memory.");

static PyObject *
copy_memcpy_dtod_async(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames)
{
    static const pcu_argtable table = {"memcpy_dtod_async", copy_dtod_specs, 4, 3, 0};
    pcu_state *st = pcu_state_of_module(m);
    copy_args a = {0};
    int rc;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    PCU_CALL(rc, st, MemcpyDtoDAsync, (a.dest, a.src, a.size, a.stream));
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

/* -- between contexts -------------------------------------------------------------- */

static const pcu_argspec copy_peer_specs[] = {
    COPY_DEST,
    COPY_SRC,
    COPY_SIZE,
    {"dest_context", pcu_as_context_or_none, offsetof(copy_args, dest_context)},
    {"src_context", pcu_as_context_or_none, offsetof(copy_args, src_context)},
    COPY_STREAM,
};

/* The handles of the two contexts. */
static int
copy_peer_contexts(pcu_state *st, const copy_args *a, const char *routine,
                   CUcontext *dest, CUcontext *src)
{
    CUcontext current = NULL;
    int rc = 0;
    if (a->dest_context == NULL || a->src_context == NULL) {
        PCU_CALL(rc, st, CtxGetCurrent, (&current));
    }
    *dest = *src = current;
    if (rc == 0 && a->dest_context != NULL) {
        *dest = pcu_context_handle(st, a->dest_context, routine, "dest_context");
        rc = *dest == NULL ? -1 : 0;
    }
    if (rc == 0 && a->src_context != NULL) {
        *src = pcu_context_handle(st, a->src_context, routine, "src_context");
        rc = *src == NULL ? -1 : 0;
    }
    return rc;
}

PyDoc_STRVAR(
    copy_memcpy_peer_doc,
    "memcpy_peer($module, /, dest, src, size, dest_context=None, "
    "src_context=None)\n--\n\n"
    "Copy size bytes between the memories of two contexts; None is the current "
    "one.");

static PyObject *
copy_memcpy_peer(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    static const pcu_argtable table = {"memcpy_peer", copy_peer_specs, 5, 3, 0};
    pcu_state *st = pcu_state_of_module(m);
    copy_args a = {0};
    CUcontext dest = NULL;
    CUcontext src = NULL;
    int rc;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0 ||
        copy_peer_contexts(st, &a, "cuMemcpyPeer", &dest, &src) < 0) {
        return NULL;
    }
    PCU_CALL(rc, st, MemcpyPeer, (a.dest, dest, a.src, src, a.size));
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(copy_memcpy_peer_async_doc,
             "memcpy_peer_async($module, /, dest, src, size, dest_context=None, "
             "src_context=None, stream=None)\n--\n\n"
             "Queue a copy of size bytes between the memories of two contexts.");

static PyObject *
copy_memcpy_peer_async(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames)
{
    static const pcu_argtable table = {"memcpy_peer_async", copy_peer_specs, 6, 3, 0};
    pcu_state *st = pcu_state_of_module(m);
    copy_args a = {0};
    CUcontext dest = NULL;
    CUcontext src = NULL;
    int rc;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0 ||
        copy_peer_contexts(st, &a, "cuMemcpyPeerAsync", &dest, &src) < 0) {
        return NULL;
    }
    PCU_CALL(rc, st, MemcpyPeerAsync, (a.dest, dest, a.src, src, a.size, a.stream));
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

/* -- fills ------------------------------------------------------------------------- */

typedef struct {
    CUdeviceptr dest;
    union {
        unsigned char d8;
        unsigned short d16;
        unsigned int d32;
    } data;
    size_t size;
    CUstream stream;
} fill_args;

#define FILL(bits, Bits, convert)                                                     \
    static const pcu_argspec fill_d##bits##_specs[] = {                               \
        {"dest", pcu_as_pointer, offsetof(fill_args, dest)},                          \
        {"data", convert, offsetof(fill_args, data)},                                 \
        {"size", pcu_as_size, offsetof(fill_args, size)},                             \
        {"stream", pcu_as_stream, offsetof(fill_args, stream)},                       \
    };                                                                                \
    PyDoc_STRVAR(copy_memset_d##bits##_doc,                                           \
                 "memset_d" #bits                                                     \
                 "($module, /, dest, data, size)\n--\n\n"                             \
                 "Set size elements of " #bits " bits to data.");                     \
    static PyObject *copy_memset_d##bits(PyObject *m, PyObject *const *args,          \
                                         Py_ssize_t nargs, PyObject *kwnames)         \
    {                                                                                 \
        static const pcu_argtable table = {"memset_d" #bits, fill_d##bits##_specs, 3, \
                                           3, 0};                                     \
        pcu_state *st = pcu_state_of_module(m);                                       \
        fill_args a = {0};                                                            \
        int rc;                                                                       \
        if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {               \
            return NULL;                                                              \
        }                                                                             \
        PCU_CALL(rc, st, MemsetD##bits, (a.dest, a.data.d##bits, a.size));            \
        return rc < 0 ? NULL : Py_NewRef(Py_None);                                    \
    }                                                                                 \
    PyDoc_STRVAR(copy_memset_d##bits##_async_doc,                                     \
                 "memset_d" #bits                                                     \
                 "_async($module, /, dest, data, size, stream=None)\n"                \
                 "--\n\nQueue setting size elements of " #bits " bits to data.");     \
    static PyObject *copy_memset_d##bits##_async(PyObject *m, PyObject *const *args,  \
                                                 Py_ssize_t nargs, PyObject *kwnames) \
    {                                                                                 \
        static const pcu_argtable table = {"memset_d" #bits "_async",                 \
                                           fill_d##bits##_specs, 4, 3, 0};            \
        pcu_state *st = pcu_state_of_module(m);                                       \
        fill_args a = {0};                                                            \
        int rc;                                                                       \
        if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {               \
            return NULL;                                                              \
        }                                                                             \
        PCU_CALL(rc, st, MemsetD##bits##Async,                                        \
                 (a.dest, a.data.d##bits, a.size, a.stream));                         \
        return rc < 0 ? NULL : Py_NewRef(Py_None);                                    \
    }
FILL(8, D8, pcu_as_uint8)
FILL(16, D16, pcu_as_uint16)
FILL(32, D32, pcu_as_uint)

/* -- new host arrays from the device ----------------------------------------------- */

typedef struct {
    CUdeviceptr devptr;
    pcu_shape shape;
    PyArray_Descr *dtype; /* new reference once parsed */
    NPY_ORDER order;
} fetch_args;

PyDoc_STRVAR(
    copy_from_device_doc,
    "from_device($module, /, devptr, shape, dtype, order='C')\n--\n\n"
    "A new numpy array of that shape, dtype and order, filled from device memory.");

static PyObject *
copy_from_device(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"devptr", pcu_as_pointer, offsetof(fetch_args, devptr)},
        {"shape", pcu_as_shape, offsetof(fetch_args, shape)},
        {"dtype", pcu_as_dtype, offsetof(fetch_args, dtype)},
        {"order", pcu_as_order, offsetof(fetch_args, order)},
    };
    static const pcu_argtable table = {"from_device", specs, 4, 3, 0};
    pcu_state *st = pcu_state_of_module(m);
    fetch_args a = {.order = NPY_CORDER};
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
        Py_XDECREF(a.dtype);
        return NULL;
    }
    PyObject *array =
        PyArray_Empty(a.shape.ndim, a.shape.dims, a.dtype, a.order == NPY_FORTRANORDER);
    if (array != NULL && pcu_copy_from_device(st, array, a.devptr, "dtype") < 0) {
        Py_CLEAR(array);
    }
    return array;
}

PyDoc_STRVAR(copy_from_device_like_doc,
             "from_device_like($module, /, devptr, other_ary)\n--\n\n"
             "A new numpy array like another, filled from device memory.");

static PyObject *
copy_from_device_like(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"devptr", pcu_as_pointer, offsetof(copy_args, src)},
        {"other_ary", pcu_as_object, offsetof(copy_args, host)},
    };
    static const pcu_argtable table = {"from_device_like", specs, 2, 2, 0};
    pcu_state *st = pcu_state_of_module(m);
    copy_args a = {0};
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (!PyArray_Check(a.host)) {
        PyErr_Format(PyExc_TypeError, "other_ary must be a numpy array, not %s",
                     Py_TYPE(a.host)->tp_name);
        return NULL;
    }
    PyObject *array =
        PyArray_NewLikeArray((PyArrayObject *)a.host, NPY_KEEPORDER, NULL, 0);
    if (array != NULL && pcu_copy_from_device(st, array, a.src, "other_ary") < 0) {
        Py_CLEAR(array);
    }
    return array;
}

#define COPY_FUNCTION(name)                                  \
    {                                                        \
#        name, (PyCFunction)(void (*)(void))copy_##name,     \
            METH_FASTCALL | METH_KEYWORDS, copy_##name##_doc \
    }

static PyMethodDef copy_functions[] = {
    COPY_FUNCTION(memcpy_htod), COPY_FUNCTION(memcpy_htod_async),
    COPY_FUNCTION(memcpy_dtoh), COPY_FUNCTION(memcpy_dtoh_async),
    COPY_FUNCTION(memcpy_dtod), COPY_FUNCTION(memcpy_dtod_async),
    COPY_FUNCTION(memcpy_peer), COPY_FUNCTION(memcpy_peer_async),
    COPY_FUNCTION(memset_d8),   COPY_FUNCTION(memset_d8_async),
    COPY_FUNCTION(memset_d16),  COPY_FUNCTION(memset_d16_async),
    COPY_FUNCTION(memset_d32),  COPY_FUNCTION(memset_d32_async),
    COPY_FUNCTION(from_device), COPY_FUNCTION(from_device_like),
    {NULL, NULL, 0, NULL},
};

int
pcu_memcpy_setup(PyObject *m, pcu_state *Py_UNUSED(st))
{
    return PyModule_AddFunctions(m, copy_functions);
}
