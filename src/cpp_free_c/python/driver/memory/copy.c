/* Copies and fills of linear memory, and copies of one-dimensional Arrays: memcpy_*,
 * memset_*, from_device. copy_nd.c copies rectangles and boxes.
 *
 * Invariant: all functions release the interpreter lock during the driver call. The
 * _async functions do not keep host buffers and Arrays alive: the program does, until
 * the stream has finished the copy. Callers: Python, and see copy.h. */
#include "python/driver/memory/copy.h"

#include "python/support/convert.h"
#include "python/support/setup.h"
#include "python/driver/context.h"
#include "python/driver/memory/memory.h"
#include "python/driver/memory/texture_array.h"
#include "python/driver/stream.h"
#include "driver/events.h"

/* The parsed arguments of all functions below; each function uses some of them. */
typedef struct {
    CUdeviceptr dest;
    CUdeviceptr src;
    PyObject *host;    /* borrowed */
    pcu_buffer buffer; /* the host object's memory during the call */
    size_t size;       /* bytes of a copy, elements of a fill */
    CUstream stream;
    PyObject *ary;     /* borrowed: the only Array, or the destination */
    PyObject *src_ary; /* borrowed */
    size_t index;      /* bytes into ary */
    size_t src_index;
    PyObject *dest_context; /* borrowed; NULL: the current context */
    PyObject *src_context;
    union {
        unsigned char d8;
        unsigned short d16;
        unsigned int d32;
    } data;
    size_t pitch; /* bytes from row to row of a 2D fill */
    size_t width; /* elements of a row */
    size_t height;
} copy_args;

/* The use of the host object. */
typedef enum { COPY_NO_HOST, COPY_READS_HOST, COPY_WRITES_HOST } copy_host;

/* One function of the module: its signature and the function that runs it. */
typedef struct {
    const pcu_signature *signature;
    copy_host host;
    int (*run)(pcu_state *st, copy_args *a);
} copy_row;

/* Check the Arrays again: converting the arguments may have run code that released one.
 */
static int
copy_check_arrays(pcu_state *st, copy_args *a)
{
    if (a->ary != NULL && pcu_as_texture_array(st, a->ary, &a->ary, "ary") < 0) {
        return -1;
    }
    if (a->src_ary != NULL &&
        pcu_as_texture_array(st, a->src_ary, &a->src_ary, "src") < 0) {
        return -1;
    }
    return 0;
}

/* A graph reads and writes the host object and the Arrays each time it is launched. */
static int
copy_captured(const copy_args *a)
{
    if (pcu_captured_object(a->host) < 0 || pcu_captured_object(a->ary) < 0) {
        return -1;
    }
    return pcu_captured_object(a->src_ary);
}

/* Whether the last parameter is a stream. Other copies are in the default stream. */
static bool
copy_takes_stream(const copy_row *row)
{
    const pcu_signature *s = row->signature;
    return s->parameters[s->count - 1].convert == pcu_as_stream;
}

/* The body of all functions of the table. */
static PyObject *
copy_call(PyObject *m, const copy_row *row, PyObject *const *args, Py_ssize_t nargs,
          PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    copy_args a = {.stream = pcu_stream_current()};
    if (pcu_args_parse(st, row->signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (row->host != COPY_NO_HOST &&
        pcu_buffer_acquire(&a.buffer, a.host, row->host == COPY_WRITES_HOST,
                           row->host == COPY_WRITES_HOST ? "dest" : "src") < 0) {
        return NULL;
    }
    int rc = -1;
    if (copy_check_arrays(st, &a) >= 0 && copy_captured(&a) >= 0) {
        if (!copy_takes_stream(row)) {
            pcu_stream_note(NULL);
        }
        rc = row->run(st, &a);
    }
    pcu_buffer_release(&a.buffer);
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* Define a function by its row: name, vocabulary, the use of the host object, the run
 * function, signature and docstring. */
#define COPY_ROW(name, words, host, run, signature, doc)                               \
    PCU_SIGNATURE(copy_##name, words, #name "($module, /, " signature ")\n--\n\n" doc) \
    static PyObject *copy_##name(PyObject *m, PyObject *const *args, Py_ssize_t nargs, \
                                 PyObject *kwnames)                                    \
    {                                                                                  \
        static const copy_row row = {&copy_##name##_signature, host, run};             \
        return copy_call(m, &row, args, nargs, kwnames);                               \
    }

/* Define a run function that makes one driver call. dest_bytes and src_bytes are the
 * bytes of device memory that the call accesses at dest and src. */
#define COPY_RUN(name, driver, values, dest_bytes, src_bytes)                  \
    static int copy_run_##name(pcu_state *st, copy_args *a)                    \
    {                                                                          \
        int rc;                                                                \
        PCU_CALL_COPY(rc, st, driver, values, {"dest", a->dest, (dest_bytes)}, \
                      {"src", a->src, (src_bytes)});                           \
        return rc;                                                             \
    }

#define COPY_WORD(name, convert, member) PCU_WORD(name, convert, copy_args, member)

/* -- host and device --------------------------------------------------------------- */

/* Names of copies within the memory of devices. */
static const pcu_word copy_device_words[] = {
    COPY_WORD("dest", pcu_as_pointer, dest),
    COPY_WORD("src", pcu_as_pointer, src),
    COPY_WORD("size", pcu_as_size, size),
    COPY_WORD("stream", pcu_as_stream, stream),
    COPY_WORD("dest_context", pcu_as_context_or_none, dest_context),
    COPY_WORD("src_context", pcu_as_context_or_none, src_context),
    COPY_WORD("ary", pcu_as_texture_array, ary),
    COPY_WORD("index", pcu_as_size, index),
    COPY_WORD("len", pcu_as_size, size),
};

/* Names of copies from the host. */
static const pcu_word copy_from_host_words[] = {
    COPY_WORD("dest", pcu_as_pointer, dest),
    COPY_WORD("src", pcu_as_object, host),
    COPY_WORD("stream", pcu_as_stream, stream),
    COPY_WORD("ary", pcu_as_texture_array, ary),
    COPY_WORD("index", pcu_as_size, index),
};

/* Names of copies to the host. */
static const pcu_word copy_to_host_words[] = {
    COPY_WORD("dest", pcu_as_object, host),
    COPY_WORD("src", pcu_as_pointer, src),
    COPY_WORD("stream", pcu_as_stream, stream),
    COPY_WORD("ary", pcu_as_texture_array, ary),
    COPY_WORD("index", pcu_as_size, index),
};

COPY_RUN(htod, MemcpyHtoD, (a->dest, a->buffer.data, a->buffer.size), a->buffer.size, 0)
COPY_RUN(htod_async, MemcpyHtoDAsync,
         (a->dest, a->buffer.data, a->buffer.size, a->stream), a->buffer.size, 0)
COPY_RUN(dtoh_plain, MemcpyDtoH, (a->buffer.data, a->src, a->buffer.size), 0,
         a->buffer.size)

/* Such a copy waits for the work of the default stream, which programs rely on. */
static int
copy_run_dtoh(pcu_state *st, copy_args *a)
{
    uint64_t number = pcu_launch_newest();
    int rc = copy_run_dtoh_plain(st, a);
    if (rc == 0) {
        pcu_launches_passed(pcu_ctx_current, NULL, number);
    }
    return rc;
}

COPY_RUN(dtoh_async, MemcpyDtoHAsync,
         (a->buffer.data, a->src, a->buffer.size, a->stream), 0, a->buffer.size)
COPY_RUN(dtod, MemcpyDtoD, (a->dest, a->src, a->size), a->size, a->size)
COPY_RUN(dtod_async, MemcpyDtoDAsync, (a->dest, a->src, a->size, a->stream), a->size,
         a->size)

COPY_ROW(memcpy_htod, copy_from_host_words, COPY_READS_HOST, copy_run_htod, "dest, src",
         "Copy all bytes of a host buffer to device memory.")
COPY_ROW(
    memcpy_htod_async, copy_from_host_words, COPY_READS_HOST, copy_run_htod_async,
    "dest, src, stream=None",
    "Enqueue a copy of a host buffer, which should be page-locked, to the device.\n\n"
    "Keep the buffer alive and unchanged until the copy has finished.")
COPY_ROW(memcpy_dtoh, copy_to_host_words, COPY_WRITES_HOST, copy_run_dtoh, "dest, src",
         "Copy device memory to all bytes of a writable host buffer.")
COPY_ROW(memcpy_dtoh_async, copy_to_host_words, COPY_WRITES_HOST, copy_run_dtoh_async,
         "dest, src, stream=None",
         "Enqueue a copy of device memory to a host buffer, which should be "
         "page-locked.\n\n"
         "Keep the buffer alive until the copy has finished.")
COPY_ROW(memcpy_dtod, copy_device_words, COPY_NO_HOST, copy_run_dtod, "dest, src, size",
         "Copy size bytes from device memory to device memory.")
COPY_ROW(memcpy_dtod_async, copy_device_words, COPY_NO_HOST, copy_run_dtod_async,
         "dest, src, size, stream=None",
         "Enqueue a copy of size bytes from device memory to device memory.")

int
pcu_copy_to_device(pcu_state *st, CUdeviceptr dest, const pcu_buffer *source)
{
    copy_args a = {.dest = dest, .buffer = *source};
    return copy_run_htod(st, &a);
}

int
pcu_copy_from_device(pcu_state *st, const pcu_buffer *dest, CUdeviceptr source)
{
    copy_args a = {.src = source, .buffer = *dest};
    return copy_run_dtoh(st, &a);
}

/* Copy from the device into all bytes of an object with a buffer. */
static int
copy_to_object(pcu_state *st, PyObject *dest, CUdeviceptr source, const char *name)
{
    pcu_buffer buffer = {0};
    if (pcu_buffer_acquire(&buffer, dest, true, name) < 0) {
        return -1;
    }
    int rc = pcu_copy_from_device(st, &buffer, source);
    pcu_buffer_release(&buffer);
    return rc;
}

/* -- between contexts -------------------------------------------------------------- */

/* The handles of the two contexts. */
static int
copy_peer_contexts(pcu_state *st, const copy_args *a, const char *routine,
                   CUcontext *dest, CUcontext *src)
{
    CUcontext current = NULL;
    int rc = 0;
    if (a->dest_context == NULL || a->src_context == NULL) {
        PCU_CALL_CURRENT(rc, st, CtxGetCurrent, (&current));
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

static int
copy_run_peer(pcu_state *st, copy_args *a)
{
    CUcontext dest = NULL;
    CUcontext src = NULL;
    int rc = copy_peer_contexts(st, a, "cuMemcpyPeer", &dest, &src);
    if (rc == 0) {
        PCU_CALL_COPY(rc, st, MemcpyPeer, (a->dest, dest, a->src, src, a->size),
                      {"dest", a->dest, a->size}, {"src", a->src, a->size});
    }
    return rc;
}

static int
copy_run_peer_async(pcu_state *st, copy_args *a)
{
    CUcontext dest = NULL;
    CUcontext src = NULL;
    int rc = copy_peer_contexts(st, a, "cuMemcpyPeerAsync", &dest, &src);
    if (rc == 0) {
        PCU_CALL_COPY(rc, st, MemcpyPeerAsync,
                      (a->dest, dest, a->src, src, a->size, a->stream),
                      {"dest", a->dest, a->size}, {"src", a->src, a->size});
    }
    return rc;
}

COPY_ROW(memcpy_peer, copy_device_words, COPY_NO_HOST, copy_run_peer,
         "dest, src, size, dest_context=None, src_context=None",
         "Copy size bytes between the memories of two contexts.\n\n"
         "None is the current context.")
COPY_ROW(memcpy_peer_async, copy_device_words, COPY_NO_HOST, copy_run_peer_async,
         "dest, src, size, dest_context=None, src_context=None, stream=None",
         "Enqueue a copy of size bytes between the memories of two contexts.")

/* -- one-dimensional Arrays: indices and lengths are bytes ------------------------- */

/* Names of copies between two Arrays. */
static const pcu_word copy_arrays_words[] = {
    COPY_WORD("dest", pcu_as_texture_array, ary),
    COPY_WORD("dest_index", pcu_as_size, index),
    COPY_WORD("src", pcu_as_texture_array, src_ary),
    COPY_WORD("src_index", pcu_as_size, src_index),
    COPY_WORD("len", pcu_as_size, size),
};

static inline CUarray
copy_array(PyObject *array)
{
    return ((pcu_resource *)array)->handle.array;
}

COPY_RUN(atoa, MemcpyAtoA,
         (copy_array(a->ary), a->index, copy_array(a->src_ary), a->src_index, a->size),
         0, 0)
COPY_RUN(atod, MemcpyAtoD, (a->dest, copy_array(a->ary), a->index, a->size), a->size, 0)
COPY_RUN(dtoa, MemcpyDtoA, (copy_array(a->ary), a->index, a->src, a->size), 0, a->size)
COPY_RUN(atoh, MemcpyAtoH,
         (a->buffer.data, copy_array(a->ary), a->index, a->buffer.size), 0, 0)
COPY_RUN(atoh_async, MemcpyAtoHAsync,
         (a->buffer.data, copy_array(a->ary), a->index, a->buffer.size, a->stream), 0,
         0)
COPY_RUN(htoa, MemcpyHtoA,
         (copy_array(a->ary), a->index, a->buffer.data, a->buffer.size), 0, 0)
COPY_RUN(htoa_async, MemcpyHtoAAsync,
         (copy_array(a->ary), a->index, a->buffer.data, a->buffer.size, a->stream), 0,
         0)

COPY_ROW(memcpy_atoa, copy_arrays_words, COPY_NO_HOST, copy_run_atoa,
         "dest, dest_index, src, src_index, len",
         "Copy len bytes between two Arrays. The indices count bytes.")
COPY_ROW(memcpy_atod, copy_device_words, COPY_NO_HOST, copy_run_atod,
         "dest, ary, index, len",
         "Copy len bytes of an Array, starting at byte index, to device memory.")
COPY_ROW(memcpy_dtoa, copy_device_words, COPY_NO_HOST, copy_run_dtoa,
         "ary, index, src, len",
         "Copy len bytes of device memory to an Array, starting at byte index.")
COPY_ROW(memcpy_atoh, copy_to_host_words, COPY_WRITES_HOST, copy_run_atoh,
         "dest, ary, index",
         "Fill a host buffer from an Array, starting at byte index.")
COPY_ROW(py_memcpy_atoh, copy_to_host_words, COPY_WRITES_HOST, copy_run_atoh,
         "dest, ary, index", "Fill a host buffer from an Array, as memcpy_atoh does.")
COPY_ROW(memcpy_atoh_async, copy_to_host_words, COPY_WRITES_HOST, copy_run_atoh_async,
         "dest, ary, index, stream=None",
         "Enqueue a copy that fills a host buffer from an Array.\n\n"
         "Keep both alive until the copy has finished.")
COPY_ROW(memcpy_htoa, copy_from_host_words, COPY_READS_HOST, copy_run_htoa,
         "ary, index, src", "Copy a host buffer to an Array, starting at byte index.")
COPY_ROW(py_memcpy_htoa, copy_from_host_words, COPY_READS_HOST, copy_run_htoa,
         "ary, index, src", "Copy a host buffer to an Array, as memcpy_htoa does.")
COPY_ROW(memcpy_htoa_async, copy_from_host_words, COPY_READS_HOST, copy_run_htoa_async,
         "ary, index, src, stream=None",
         "Enqueue a copy of a host buffer to an Array.\n\n"
         "Keep both alive until the copy has finished.")

/* -- fills ------------------------------------------------------------------------- */

/* Refuse a pitch that makes rows overlap. The driver only reports an invalid value. */
static int
copy_check_pitch(pcu_state *st, const copy_args *a, size_t element, const char *routine)
{
    size_t row = 0;
    if (pcu_mul_size(a->width, element, &row) == 0 &&
        (a->height <= 1 || row <= a->pitch)) {
        return 0;
    }
    return pcu_raise_detail(
        st, routine, CUDA_ERROR_INVALID_VALUE,
        "a row of %zu elements of %zu bytes does not fit a pitch of %zu bytes",
        a->width, element, a->pitch);
}

/* The bytes from the first to the last row. */
static size_t
copy_rows_size(const copy_args *a, size_t element)
{
    if (a->height == 0) {
        return 0;
    }
    return (a->height - 1) * a->pitch + a->width * element;
}

/* The vocabulary and the run functions of the four fills with elements of one width. */
#define FILL(bits, convert, linear, linear_async, rows, rows_async)                  \
    static const pcu_word fill_d##bits##_words[] = {                                 \
        COPY_WORD("dest", pcu_as_pointer, dest),                                     \
        COPY_WORD("data", convert, data.d##bits),                                    \
        COPY_WORD("size", pcu_as_size, size),                                        \
        COPY_WORD("stream", pcu_as_stream, stream),                                  \
        COPY_WORD("pitch", pcu_as_size, pitch),                                      \
        COPY_WORD("width", pcu_as_size, width),                                      \
        COPY_WORD("height", pcu_as_size, height),                                    \
    };                                                                               \
    COPY_RUN(d##bits, linear, (a->dest, a->data.d##bits, a->size),                   \
             a->size *(bits / 8), 0)                                                 \
    COPY_RUN(d##bits##_async, linear_async,                                          \
             (a->dest, a->data.d##bits, a->size, a->stream), a->size *(bits / 8), 0) \
    COPY_RUN(d2d##bits, rows,                                                        \
             (a->dest, a->pitch, a->data.d##bits, a->width, a->height),              \
             copy_rows_size(a, bits / 8), 0)                                         \
    COPY_RUN(d2d##bits##_async, rows_async,                                          \
             (a->dest, a->pitch, a->data.d##bits, a->width, a->height, a->stream),   \
             copy_rows_size(a, bits / 8), 0)                                         \
    static int fill_d2d##bits(pcu_state *st, copy_args *a)                           \
    {                                                                                \
        if (copy_check_pitch(st, a, bits / 8, "cu" #rows) < 0) {                     \
            return -1;                                                               \
        }                                                                            \
        return copy_run_d2d##bits(st, a);                                            \
    }                                                                                \
    static int fill_d2d##bits##_async(pcu_state *st, copy_args *a)                   \
    {                                                                                \
        if (copy_check_pitch(st, a, bits / 8, "cu" #rows_async) < 0) {               \
            return -1;                                                               \
        }                                                                            \
        return copy_run_d2d##bits##_async(st, a);                                    \
    }
FILL(8, pcu_as_uint8, MemsetD8, MemsetD8Async, MemsetD2D8, MemsetD2D8Async)
FILL(16, pcu_as_uint16, MemsetD16, MemsetD16Async, MemsetD2D16, MemsetD2D16Async)
FILL(32, pcu_as_uint, MemsetD32, MemsetD32Async, MemsetD2D32, MemsetD2D32Async)

COPY_ROW(memset_d8, fill_d8_words, COPY_NO_HOST, copy_run_d8, "dest, data, size",
         "Set size elements of 8 bits to data.")
COPY_ROW(memset_d8_async, fill_d8_words, COPY_NO_HOST, copy_run_d8_async,
         "dest, data, size, stream=None",
         "Enqueue a fill of size elements of 8 bits with data.")
COPY_ROW(memset_d2d8, fill_d8_words, COPY_NO_HOST, fill_d2d8,
         "dest, pitch, data, width, height",
         "Set height rows of width elements of 8 bits to data.\n\n"
         "pitch: bytes from row to row.")
COPY_ROW(memset_d2d8_async, fill_d8_words, COPY_NO_HOST, fill_d2d8_async,
         "dest, pitch, data, width, height, stream=None",
         "Enqueue a fill of height rows of width elements of 8 bits with data.\n\n"
         "pitch: bytes from row to row.")
COPY_ROW(memset_d16, fill_d16_words, COPY_NO_HOST, copy_run_d16, "dest, data, size",
         "Set size elements of 16 bits to data.")
COPY_ROW(memset_d16_async, fill_d16_words, COPY_NO_HOST, copy_run_d16_async,
         "dest, data, size, stream=None",
         "Enqueue a fill of size elements of 16 bits with data.")
COPY_ROW(memset_d2d16, fill_d16_words, COPY_NO_HOST, fill_d2d16,
         "dest, pitch, data, width, height",
         "Set height rows of width elements of 16 bits to data.\n\n"
         "pitch: bytes from row to row.")
COPY_ROW(memset_d2d16_async, fill_d16_words, COPY_NO_HOST, fill_d2d16_async,
         "dest, pitch, data, width, height, stream=None",
         "Enqueue a fill of height rows of width elements of 16 bits with data.\n\n"
         "pitch: bytes from row to row.")
COPY_ROW(memset_d32, fill_d32_words, COPY_NO_HOST, copy_run_d32, "dest, data, size",
         "Set size elements of 32 bits to data.")
COPY_ROW(memset_d32_async, fill_d32_words, COPY_NO_HOST, copy_run_d32_async,
         "dest, data, size, stream=None",
         "Enqueue a fill of size elements of 32 bits with data.")
COPY_ROW(memset_d2d32, fill_d32_words, COPY_NO_HOST, fill_d2d32,
         "dest, pitch, data, width, height",
         "Set height rows of width elements of 32 bits to data.\n\n"
         "pitch: bytes from row to row.")
COPY_ROW(memset_d2d32_async, fill_d32_words, COPY_NO_HOST, fill_d2d32_async,
         "dest, pitch, data, width, height, stream=None",
         "Enqueue a fill of height rows of width elements of 32 bits with data.\n\n"
         "pitch: bytes from row to row.")

/* -- new host arrays from the device ----------------------------------------------- */

typedef struct {
    CUdeviceptr devptr;
    pcu_shape shape;
    PyArray_Descr *dtype; /* new reference once parsed */
    NPY_ORDER order;
} fetch_args;

static const pcu_word fetch_words[] = {
    PCU_WORD("devptr", pcu_as_pointer, fetch_args, devptr),
    PCU_WORD("shape", pcu_as_shape, fetch_args, shape),
    PCU_WORD("dtype", pcu_as_dtype, fetch_args, dtype),
    PCU_WORD("order", pcu_as_order, fetch_args, order),
};

PCU_SIGNATURE(
    copy_from_device, fetch_words,
    "from_device($module, /, devptr, shape, dtype, order='C')\n--\n\n"
    "Return a new numpy array of this shape, dtype and order with a copy of device\n"
    "memory.")

static PyObject *
copy_from_device(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    fetch_args a = {.order = NPY_CORDER};
    if (pcu_args_parse(st, &copy_from_device_signature, args, nargs, kwnames, &a) < 0) {
        Py_XDECREF(a.dtype);
        return NULL;
    }
    PyObject *array =
        PyArray_Empty(a.shape.ndim, a.shape.dims, a.dtype, a.order == NPY_FORTRANORDER);
    if (array != NULL && copy_to_object(st, array, a.devptr, "dtype") < 0) {
        Py_CLEAR(array);
    }
    return array;
}

static const pcu_word copy_words[] = {
    PCU_WORD("devptr", pcu_as_pointer, copy_args, src),
    PCU_WORD("other_ary", pcu_as_object, copy_args, host),
};

PCU_SIGNATURE(copy_from_device_like, copy_words,
              "from_device_like($module, /, devptr, other_ary)\n--\n\n"
              "Return a new numpy array like other_ary with a copy of device memory.")

static PyObject *
copy_from_device_like(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    copy_args a = {.stream = pcu_stream_current()};
    if (pcu_args_parse(st, &copy_from_device_like_signature, args, nargs, kwnames, &a) <
        0) {
        return NULL;
    }
    if (!PyArray_Check(a.host)) {
        PyErr_Format(PyExc_TypeError, "other_ary must be a numpy array, not %s",
                     Py_TYPE(a.host)->tp_name);
        return NULL;
    }
    PyObject *array =
        PyArray_NewLikeArray((PyArrayObject *)a.host, NPY_KEEPORDER, NULL, 0);
    if (array != NULL && copy_to_object(st, array, a.src, "other_ary") < 0) {
        Py_CLEAR(array);
    }
    return array;
}

#define COPY_FUNCTION(name) PCU_METHOD(#name, copy_##name)

static PyMethodDef copy_functions[] = {
    COPY_FUNCTION(memcpy_htod),        COPY_FUNCTION(memcpy_htod_async),
    COPY_FUNCTION(memcpy_dtoh),        COPY_FUNCTION(memcpy_dtoh_async),
    COPY_FUNCTION(memcpy_dtod),        COPY_FUNCTION(memcpy_dtod_async),
    COPY_FUNCTION(memcpy_peer),        COPY_FUNCTION(memcpy_peer_async),
    COPY_FUNCTION(memcpy_atoa),        COPY_FUNCTION(memcpy_atod),
    COPY_FUNCTION(memcpy_dtoa),        COPY_FUNCTION(memcpy_atoh),
    COPY_FUNCTION(py_memcpy_atoh),     COPY_FUNCTION(memcpy_atoh_async),
    COPY_FUNCTION(memcpy_htoa),        COPY_FUNCTION(py_memcpy_htoa),
    COPY_FUNCTION(memcpy_htoa_async),  COPY_FUNCTION(memset_d8),
    COPY_FUNCTION(memset_d8_async),    COPY_FUNCTION(memset_d2d8),
    COPY_FUNCTION(memset_d2d8_async),  COPY_FUNCTION(memset_d16),
    COPY_FUNCTION(memset_d16_async),   COPY_FUNCTION(memset_d2d16),
    COPY_FUNCTION(memset_d2d16_async), COPY_FUNCTION(memset_d32),
    COPY_FUNCTION(memset_d32_async),   COPY_FUNCTION(memset_d2d32),
    COPY_FUNCTION(memset_d2d32_async), COPY_FUNCTION(from_device),
    COPY_FUNCTION(from_device_like),   {NULL, NULL, 0, NULL},
};

int
pcu_copy_setup(PyObject *m, pcu_state *Py_UNUSED(st))
{
    return PyModule_AddFunctions(m, copy_functions);
}

/* -- the error of a failed copy or fill -------------------------------------------- */

/* Describe a range that is not inside one allocation. NULL without an exception if it
 * is inside one, or if the driver cannot tell. */
static PyObject *
copy_error_describe(const pcu_copy_range *range)
{
    CUdeviceptr base = 0;
    size_t size = 0;
    CUresult status;
    PCU_STATUS(status, MemGetAddressRange, (&base, &size, range->start));
    if (status == CUDA_ERROR_NOT_FOUND || status == CUDA_ERROR_INVALID_VALUE) {
        return PyUnicode_FromFormat(
            "%s: %zu bytes were asked for at address %p, which is in no allocation",
            range->name, range->bytes, (void *)(uintptr_t)range->start);
    }
    size_t offset = (size_t)(range->start - base);
    if (status != CUDA_SUCCESS || offset > size || range->bytes <= size - offset) {
        return NULL;
    }
    return PyUnicode_FromFormat(
        "%s: %zu bytes from byte %zu on were asked for, but "
        "the allocation at %p has %zu bytes",
        range->name, range->bytes, offset, (void *)(uintptr_t)base, size);
}

int
pcu_copy_ranges_check(pcu_state *st, const char *routine, CUresult status,
                      const pcu_copy_range *ranges, int count)
{
    PyObject *fault = NULL;
    for (int i = 0; status == CUDA_ERROR_INVALID_VALUE && i < count; i++) {
        if (fault == NULL && ranges[i].bytes != 0) {
            fault = copy_error_describe(&ranges[i]);
            if (fault == NULL && PyErr_Occurred()) {
                return -1;
            }
        }
    }
    if (fault == NULL) {
        return 0;
    }
    pcu_raise_detail(st, routine, status, "%U", fault);
    Py_DECREF(fault);
    return -1;
}

int
pcu_copy_raise(pcu_state *st, const char *routine, CUresult status,
               const pcu_copy_range *ranges, int count)
{
    if (pcu_copy_ranges_check(st, routine, status, ranges, count) < 0) {
        return -1;
    }
    return pcu_raise(st, routine, status);
}

int
pcu_copy_captured(pcu_state *st, const char *routine, const pcu_copy_range *ranges,
                  int count)
{
    int rc = pcu_captured_copy(st, routine);
    for (int i = 0; rc == 0 && i < count; i++) {
        rc = pcu_captured_address(ranges[i].start);
    }
    return rc;
}
