/* Copies and fills of linear memory, and copies of one-dimensional Arrays: memcpy_*,
 * memset_*, from_device. copy_nd.c copies rectangles and boxes.
 *
 * Invariant: all functions release the interpreter lock during the driver call. The
 * _async functions do not keep host buffers and Arrays alive: the program does, until
 * the stream has finished the copy. Callers: Python, and see copy.h. */
#include "python/driver/memory/copy.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/setup.h"
#include "python/driver/context.h"
#include "python/driver/memory/memory.h"
#include "python/driver/memory/texture_array.h"
#include "python/driver/stream.h"
#include "driver/events.h"

/* -- docstrings -------------------------------------------------------------------- */

#define COPY_DOC_ARRAY \
    "ary : Array\n"    \
    "    Array of one dimension.\n"

#define COPY_DOC_BYTES \
    "size : int\n"     \
    "    Bytes to copy.\n"

#define COPY_DOC_COUNT \
    "size : int\n"     \
    "    Number of elements, not bytes.\n"

#define COPY_DOC_DATA_8 \
    "data : int\n"      \
    "    Value of 8 bits, from 0 to 255.\n"

#define COPY_DOC_DATA_16 \
    "data : int\n"       \
    "    Value of 16 bits, from 0 to 65535.\n"

#define COPY_DOC_DATA_32 \
    "data : int\n"       \
    "    Value of 32 bits, from 0 to 2**32 - 1.\n"

#define COPY_DOC_DEST                            \
    "dest : DeviceAllocation, GPUArray or int\n" \
    "    Device memory to write, or its address.\n"

#define COPY_DOC_DEST_HOST \
    "dest : array_like\n"  \
    "    Writable host buffer, all bytes of which are written.\n"

#define COPY_DOC_FROM_ARRAY           \
    COPY_DOC_DEST_HOST COPY_DOC_ARRAY \
        "index : int\n"               \
        "    First byte in the Array to copy.\n"

#define COPY_DOC_TO_ARRAY \
    COPY_DOC_ARRAY        \
    "index : int\n"       \
    "    First byte in the Array to write.\n" COPY_DOC_SRC_HOST

#define COPY_DOC_SRC                            \
    "src : DeviceAllocation, GPUArray or int\n" \
    "    Device memory to read, or its address.\n"

#define COPY_DOC_SRC_HOST \
    "src : array_like\n"  \
    "    Host buffer, all bytes of which are copied.\n"

#define COPY_DOC_CONTEXTS                                                   \
    "dest_context : Context or None, optional\n"                            \
    "    Context of the destination. The default is the current context.\n" \
    "src_context : Context or None, optional\n"                             \
    "    Context of the source. The default is the current context.\n"

#define COPY_DOC_RECTANGLE     \
    "width : int\n"            \
    "    Elements of a row.\n" \
    "height : int\n"           \
    "    Number of rows.\n"

#define COPY_DOC_LEN \
    "len : int\n"    \
    "    Bytes to copy.\n"

#define COPY_DOC_PITCH \
    "pitch : int\n"    \
    "    Bytes from the start of a row to the start of the next.\n"

#define COPY_DOC_OUTSIDE \
    "LogicError\n"       \
    "    If the device memory is too small, or is in no allocation.\n"

#define COPY_DOC_OUTSIDE_ARRAY \
    "LogicError\n"             \
    "    If the bytes are not within the Array.\n"

#define COPY_DOC_ROWS_OVERLAP \
    "LogicError\n"            \
    "    If a row does not fit the pitch, or the memory is too small.\n"

#define COPY_DOC_KEEP_BOTH \
    "Keep the buffer and the Array until the copy has finished.\n"

#define COPY_DOC_FILL_NO_WAIT \
    "The fill is in the default stream. The call does not wait for it.\n"

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

/* Take the memory of the host object, unless it was freed. */
static int
copy_acquire(pcu_state *st, const copy_row *row, copy_args *a)
{
    const char *name = row->host == COPY_WRITES_HOST ? "dest" : "src";
    if (row->host == COPY_NO_HOST) {
        return 0;
    }
    if (pcu_host_array_check(st, a->host, row->signature->function, name) < 0) {
        return -1;
    }
    return pcu_buffer_acquire(&a->buffer, a->host, row->host == COPY_WRITES_HOST, name);
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
    if (copy_acquire(st, row, &a) < 0) {
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
         "Copy a host buffer to device memory.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST COPY_DOC_SRC_HOST
         "\nRaises\n------\n" COPY_DOC_OUTSIDE PCU_DOC_NO_HOST_BUFFER
         "\nSee Also\n--------\n"
         "memcpy_htod_async : Only enqueue the copy.\n"
         "memcpy_dtoh : Copy back.\n"
         "to_device : Allocate and copy.\n"
         "\nNotes\n-----\n"
         "The copy is in the default stream. The buffer can be changed when the\n"
         "call returns.\n"
         "\nExamples\n--------\n"
         ">>> a = np.arange(4, dtype=np.float32)\n"
         ">>> memory = drv.mem_alloc(a.nbytes)\n"
         ">>> drv.memcpy_htod(memory, a)")
COPY_ROW(memcpy_htod_async, copy_from_host_words, COPY_READS_HOST, copy_run_htod_async,
         "dest, src, stream=None",
         "Enqueue a copy of a host buffer to device memory.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST COPY_DOC_SRC_HOST PCU_DOC_STREAM
         "\nRaises\n------\n" COPY_DOC_OUTSIDE PCU_DOC_NO_HOST_BUFFER
         "\nSee Also\n--------\n"
         "pagelocked_empty : Allocate page-locked memory.\n"
         "memcpy_htod : Copy, and then return.\n"
         "\nNotes\n-----\n"
         "Keep the buffer alive and unchanged until the copy has finished. Only\n"
         "a copy from page-locked memory runs beside the host and beside\n"
         "kernels.\n" PCU_DOC_STAGED
         "\nExamples\n--------\n"
         ">>> stream = drv.Stream()\n"
         ">>> a = drv.pagelocked_zeros(4, np.float32)\n"
         ">>> memory = drv.mem_alloc(a.nbytes)\n"
         ">>> drv.memcpy_htod_async(memory, a, stream)\n"
         ">>> stream.synchronize()")
COPY_ROW(memcpy_dtoh, copy_to_host_words, COPY_WRITES_HOST, copy_run_dtoh, "dest, src",
         "Copy device memory to a host buffer.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST_HOST COPY_DOC_SRC
         "\nRaises\n------\n" COPY_DOC_OUTSIDE PCU_DOC_NO_HOST_BUFFER
         "\nSee Also\n--------\n"
         "memcpy_dtoh_async : Only enqueue the copy.\n"
         "from_device : Copy to a new array.\n"
         "\nNotes\n-----\n"
         "The call waits for the earlier work of the default stream, and for the\n"
         "copy. A buffer that is not writable is a ValueError.\n"
         "\nExamples\n--------\n"
         ">>> memory = drv.to_device(np.arange(4, dtype=np.int32))\n"
         ">>> a = np.empty(4, dtype=np.int32)\n"
         ">>> drv.memcpy_dtoh(a, memory)\n"
         ">>> a\n"
         "array([0, 1, 2, 3], dtype=int32)")
COPY_ROW(memcpy_dtoh_async, copy_to_host_words, COPY_WRITES_HOST, copy_run_dtoh_async,
         "dest, src, stream=None",
         "Enqueue a copy of device memory to a host buffer.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST_HOST COPY_DOC_SRC PCU_DOC_STREAM
         "\nRaises\n------\n" COPY_DOC_OUTSIDE PCU_DOC_NO_HOST_BUFFER
         "\nSee Also\n--------\n"
         "pagelocked_empty : Allocate page-locked memory.\n"
         "memcpy_dtoh : Copy, and then return.\n"
         "\nNotes\n-----\n"
         "Keep the buffer alive until the copy has finished, and read it only\n"
         "then. Only a copy to page-locked memory runs beside the host and\n"
         "beside kernels.\n" PCU_DOC_STAGED
         "\nExamples\n--------\n"
         ">>> stream = drv.Stream()\n"
         ">>> memory = drv.to_device(np.arange(3, dtype=np.int32))\n"
         ">>> a = drv.pagelocked_empty(3, np.int32)\n"
         ">>> drv.memcpy_dtoh_async(a, memory, stream)\n"
         ">>> stream.synchronize()\n"
         ">>> a\n"
         "array([0, 1, 2], dtype=int32)")
COPY_ROW(memcpy_dtod, copy_device_words, COPY_NO_HOST, copy_run_dtod, "dest, src, size",
         "Copy from device memory to device memory.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST COPY_DOC_SRC COPY_DOC_BYTES
         "\nRaises\n------\n" COPY_DOC_OUTSIDE
         "\nSee Also\n--------\n"
         "memcpy_dtod_async : Copy in the order of a stream.\n"
         "memcpy_peer : Copy between contexts.\n"
         "\nNotes\n-----\n"
         "The copy is in the default stream. The call does not wait for it.\n"
         "\nExamples\n--------\n"
         ">>> source = drv.to_device(np.arange(3, dtype=np.int32))\n"
         ">>> memory = drv.mem_alloc(12)\n"
         ">>> drv.memcpy_dtod(memory, source, 12)\n"
         ">>> drv.from_device(memory, 3, np.int32)\n"
         "array([0, 1, 2], dtype=int32)")
COPY_ROW(memcpy_dtod_async, copy_device_words, COPY_NO_HOST, copy_run_dtod_async,
         "dest, src, size, stream=None",
         "Enqueue a copy from device memory to device memory.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST COPY_DOC_SRC COPY_DOC_BYTES
             PCU_DOC_STREAM "\nRaises\n------\n" COPY_DOC_OUTSIDE
         "\nSee Also\n--------\n"
         "memcpy_dtod : Copy in the default stream.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT)

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
         "Copy between the memories of two contexts.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST COPY_DOC_SRC COPY_DOC_BYTES
             COPY_DOC_CONTEXTS "\nRaises\n------\n" COPY_DOC_OUTSIDE
         "\nSee Also\n--------\n"
         "memcpy_peer_async : Copy in the order of a stream.\n"
         "Context.enable_peer_access : Let kernels use the memory of another device.\n"
         "\nNotes\n-----\n"
         "The contexts may be of different devices. These need no access to each\n"
         "other.")
COPY_ROW(memcpy_peer_async, copy_device_words, COPY_NO_HOST, copy_run_peer_async,
         "dest, src, size, dest_context=None, src_context=None, stream=None",
         "Enqueue a copy between the memories of two contexts.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST COPY_DOC_SRC COPY_DOC_BYTES
             COPY_DOC_CONTEXTS PCU_DOC_STREAM "\nRaises\n------\n" COPY_DOC_OUTSIDE
         "\nSee Also\n--------\n"
         "memcpy_peer : Copy in the default stream.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT)

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
         "Copy bytes between two Arrays of one dimension.\n"
         "\nParameters\n----------\n"
         "dest : Array\n"
         "    Array to write.\n"
         "dest_index : int\n"
         "    First byte in ``dest`` to write.\n"
         "src : Array\n"
         "    Array to read.\n"
         "src_index : int\n"
         "    First byte in ``src`` to copy.\n" COPY_DOC_LEN
         "\nRaises\n------\n" COPY_DOC_OUTSIDE_ARRAY
         "\nSee Also\n--------\n"
         "Memcpy2D : Copy between Arrays of two dimensions.")
COPY_ROW(memcpy_atod, copy_device_words, COPY_NO_HOST, copy_run_atod,
         "dest, ary, index, len",
         "Copy bytes of an Array of one dimension to device memory.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST COPY_DOC_ARRAY
         "index : int\n"
         "    First byte in the Array to copy.\n" COPY_DOC_LEN
         "\nRaises\n------\n"
         "LogicError\n"
         "    If the bytes are not within the Array or the device memory.\n"
         "\nSee Also\n--------\n"
         "memcpy_dtoa : Copy in the other direction.")
COPY_ROW(memcpy_dtoa, copy_device_words, COPY_NO_HOST, copy_run_dtoa,
         "ary, index, src, len",
         "Copy bytes of device memory to an Array of one dimension.\n"
         "\nParameters\n----------\n" COPY_DOC_ARRAY
         "index : int\n"
         "    First byte in the Array to write.\n" COPY_DOC_SRC COPY_DOC_LEN
         "\nRaises\n------\n"
         "LogicError\n"
         "    If the bytes are not within the Array or the device memory.\n"
         "\nSee Also\n--------\n"
         "memcpy_atod : Copy in the other direction.\n"
         "Array.set : Fill a whole Array.")
COPY_ROW(memcpy_atoh, copy_to_host_words, COPY_WRITES_HOST, copy_run_atoh,
         "dest, ary, index",
         "Fill a host buffer from an Array of one dimension.\n"
         "\nParameters\n----------\n" COPY_DOC_FROM_ARRAY
         "\nRaises\n------\n" COPY_DOC_OUTSIDE_ARRAY PCU_DOC_NO_HOST_BUFFER
         "\nSee Also\n--------\n"
         "memcpy_htoa : Copy in the other direction.\n"
         "Array.get : Copy a whole Array.\n"
         "\nNotes\n-----\n"
         "The call waits for the copy.")
COPY_ROW(py_memcpy_atoh, copy_to_host_words, COPY_WRITES_HOST, copy_run_atoh,
         "dest, ary, index",
         "Fill a host buffer from an Array, as ``memcpy_atoh`` does.\n"
         "\nParameters\n----------\n" COPY_DOC_FROM_ARRAY
         "\nSee Also\n--------\n"
         "memcpy_atoh : The same function.")
COPY_ROW(memcpy_atoh_async, copy_to_host_words, COPY_WRITES_HOST, copy_run_atoh_async,
         "dest, ary, index, stream=None",
         "Enqueue a copy that fills a host buffer from an Array of one dimension.\n"
         "\nParameters\n----------\n" COPY_DOC_FROM_ARRAY PCU_DOC_STREAM
         "\nRaises\n------\n" COPY_DOC_OUTSIDE_ARRAY PCU_DOC_NO_HOST_BUFFER
         "\nSee Also\n--------\n"
         "memcpy_atoh : Copy, and then return.\n"
         "\nNotes\n-----\n" COPY_DOC_KEEP_BOTH)
COPY_ROW(memcpy_htoa, copy_from_host_words, COPY_READS_HOST, copy_run_htoa,
         "ary, index, src",
         "Copy a host buffer to an Array of one dimension.\n"
         "\nParameters\n----------\n" COPY_DOC_TO_ARRAY
         "\nRaises\n------\n" COPY_DOC_OUTSIDE_ARRAY PCU_DOC_NO_HOST_BUFFER
         "\nSee Also\n--------\n"
         "memcpy_atoh : Copy in the other direction.\n"
         "Array.set : Fill a whole Array.\n"
         "\nNotes\n-----\n"
         "The buffer can be changed when the call returns.")
COPY_ROW(py_memcpy_htoa, copy_from_host_words, COPY_READS_HOST, copy_run_htoa,
         "ary, index, src",
         "Copy a host buffer to an Array, as ``memcpy_htoa`` does.\n"
         "\nParameters\n----------\n" COPY_DOC_TO_ARRAY
         "\nSee Also\n--------\n"
         "memcpy_htoa : The same function.")
COPY_ROW(memcpy_htoa_async, copy_from_host_words, COPY_READS_HOST, copy_run_htoa_async,
         "ary, index, src, stream=None",
         "Enqueue a copy of a host buffer to an Array of one dimension.\n"
         "\nParameters\n----------\n" COPY_DOC_TO_ARRAY PCU_DOC_STREAM
         "\nRaises\n------\n" COPY_DOC_OUTSIDE_ARRAY PCU_DOC_NO_HOST_BUFFER
         "\nSee Also\n--------\n"
         "memcpy_htoa : Copy, and then return.\n"
         "\nNotes\n-----\n" COPY_DOC_KEEP_BOTH)

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
         "Set elements of 8 bits in device memory to a value.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST COPY_DOC_DATA_8 COPY_DOC_COUNT
         "\nRaises\n------\n" COPY_DOC_OUTSIDE
         "\nSee Also\n--------\n"
         "memset_d8_async : Fill in the order of a stream.\n"
         "memset_d2d8 : Fill rows.\n"
         "\nNotes\n-----\n" COPY_DOC_FILL_NO_WAIT
         "\nExamples\n--------\n"
         ">>> memory = drv.mem_alloc(4)\n"
         ">>> drv.memset_d8(memory, 7, 4)\n"
         ">>> drv.from_device(memory, 4, np.uint8)\n"
         "array([7, 7, 7, 7], dtype=uint8)")
COPY_ROW(memset_d8_async, fill_d8_words, COPY_NO_HOST, copy_run_d8_async,
         "dest, data, size, stream=None",
         "Enqueue a fill of elements of 8 bits in device memory.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST COPY_DOC_DATA_8 COPY_DOC_COUNT
             PCU_DOC_STREAM "\nRaises\n------\n" COPY_DOC_OUTSIDE
         "\nSee Also\n--------\n"
         "memset_d8 : Fill in the default stream.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT)
COPY_ROW(memset_d2d8, fill_d8_words, COPY_NO_HOST, fill_d2d8,
         "dest, pitch, data, width, height",
         "Set rows of elements of 8 bits in device memory to a value.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST COPY_DOC_PITCH COPY_DOC_DATA_8
             COPY_DOC_RECTANGLE "\nRaises\n------\n" COPY_DOC_ROWS_OVERLAP
         "\nSee Also\n--------\n"
         "mem_alloc_pitch : Allocate rows.\n"
         "\nNotes\n-----\n" COPY_DOC_FILL_NO_WAIT)
COPY_ROW(memset_d2d8_async, fill_d8_words, COPY_NO_HOST, fill_d2d8_async,
         "dest, pitch, data, width, height, stream=None",
         "Enqueue a fill of rows of elements of 8 bits in device memory.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST COPY_DOC_PITCH COPY_DOC_DATA_8
             COPY_DOC_RECTANGLE PCU_DOC_STREAM
         "\nRaises\n------\n" COPY_DOC_ROWS_OVERLAP
         "\nSee Also\n--------\n"
         "memset_d2d8 : Fill in the default stream.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT)
COPY_ROW(memset_d16, fill_d16_words, COPY_NO_HOST, copy_run_d16, "dest, data, size",
         "Set elements of 16 bits in device memory to a value.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST COPY_DOC_DATA_16 COPY_DOC_COUNT
         "\nRaises\n------\n" COPY_DOC_OUTSIDE
         "\nSee Also\n--------\n"
         "memset_d16_async : Fill in the order of a stream.\n"
         "memset_d2d16 : Fill rows.\n"
         "\nNotes\n-----\n" COPY_DOC_FILL_NO_WAIT)
COPY_ROW(memset_d16_async, fill_d16_words, COPY_NO_HOST, copy_run_d16_async,
         "dest, data, size, stream=None",
         "Enqueue a fill of elements of 16 bits in device memory.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST COPY_DOC_DATA_16 COPY_DOC_COUNT
             PCU_DOC_STREAM "\nRaises\n------\n" COPY_DOC_OUTSIDE
         "\nSee Also\n--------\n"
         "memset_d16 : Fill in the default stream.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT)
COPY_ROW(memset_d2d16, fill_d16_words, COPY_NO_HOST, fill_d2d16,
         "dest, pitch, data, width, height",
         "Set rows of elements of 16 bits in device memory to a value.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST COPY_DOC_PITCH COPY_DOC_DATA_16
             COPY_DOC_RECTANGLE "\nRaises\n------\n" COPY_DOC_ROWS_OVERLAP
         "\nSee Also\n--------\n"
         "mem_alloc_pitch : Allocate rows.\n"
         "\nNotes\n-----\n" COPY_DOC_FILL_NO_WAIT)
COPY_ROW(memset_d2d16_async, fill_d16_words, COPY_NO_HOST, fill_d2d16_async,
         "dest, pitch, data, width, height, stream=None",
         "Enqueue a fill of rows of elements of 16 bits in device memory.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST COPY_DOC_PITCH COPY_DOC_DATA_16
             COPY_DOC_RECTANGLE PCU_DOC_STREAM
         "\nRaises\n------\n" COPY_DOC_ROWS_OVERLAP
         "\nSee Also\n--------\n"
         "memset_d2d16 : Fill in the default stream.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT)
COPY_ROW(memset_d32, fill_d32_words, COPY_NO_HOST, copy_run_d32, "dest, data, size",
         "Set elements of 32 bits in device memory to a value.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST COPY_DOC_DATA_32 COPY_DOC_COUNT
         "\nRaises\n------\n" COPY_DOC_OUTSIDE
         "\nSee Also\n--------\n"
         "memset_d32_async : Fill in the order of a stream.\n"
         "memset_d2d32 : Fill rows.\n"
         "\nNotes\n-----\n" COPY_DOC_FILL_NO_WAIT
         "\nExamples\n--------\n"
         ">>> memory = drv.mem_alloc(12)\n"
         ">>> drv.memset_d32(memory, 5, 3)\n"
         ">>> drv.from_device(memory, 3, np.int32)\n"
         "array([5, 5, 5], dtype=int32)")
COPY_ROW(memset_d32_async, fill_d32_words, COPY_NO_HOST, copy_run_d32_async,
         "dest, data, size, stream=None",
         "Enqueue a fill of elements of 32 bits in device memory.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST COPY_DOC_DATA_32 COPY_DOC_COUNT
             PCU_DOC_STREAM "\nRaises\n------\n" COPY_DOC_OUTSIDE
         "\nSee Also\n--------\n"
         "memset_d32 : Fill in the default stream.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT)
COPY_ROW(memset_d2d32, fill_d32_words, COPY_NO_HOST, fill_d2d32,
         "dest, pitch, data, width, height",
         "Set rows of elements of 32 bits in device memory to a value.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST COPY_DOC_PITCH COPY_DOC_DATA_32
             COPY_DOC_RECTANGLE "\nRaises\n------\n" COPY_DOC_ROWS_OVERLAP
         "\nSee Also\n--------\n"
         "mem_alloc_pitch : Allocate rows.\n"
         "\nNotes\n-----\n" COPY_DOC_FILL_NO_WAIT
         "\nExamples\n--------\n"
         ">>> memory, pitch = drv.mem_alloc_pitch(width=8, height=3, access_size=4)\n"
         ">>> drv.memset_d2d32(memory, pitch, 1, width=2, height=3)")
COPY_ROW(memset_d2d32_async, fill_d32_words, COPY_NO_HOST, fill_d2d32_async,
         "dest, pitch, data, width, height, stream=None",
         "Enqueue a fill of rows of elements of 32 bits in device memory.\n"
         "\nParameters\n----------\n" COPY_DOC_DEST COPY_DOC_PITCH COPY_DOC_DATA_32
             COPY_DOC_RECTANGLE PCU_DOC_STREAM
         "\nRaises\n------\n" COPY_DOC_ROWS_OVERLAP
         "\nSee Also\n--------\n"
         "memset_d2d32 : Fill in the default stream.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT)

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

PCU_SIGNATURE(copy_from_device, fetch_words,
              "from_device($module, /, devptr, shape, dtype, order='C')\n--\n\n"
              "Copy device memory to a new NumPy array.\n"
              "\nParameters\n----------\n"
              "devptr : DeviceAllocation, GPUArray or int\n"
              "    Device memory to read, or its address.\n" PCU_DOC_SHAPE PCU_DOC_DTYPE
                  PCU_DOC_ORDER
              "\nReturns\n-------\n"
              "ndarray\n"
              "    A new array.\n"
              "\nRaises\n------\n" COPY_DOC_OUTSIDE PCU_DOC_PYTHON_OBJECTS
              "\nSee Also\n--------\n"
              "from_device_like : Take shape and dtype from another array.\n"
              "to_device : Copy in the other direction.\n"
              "\nNotes\n-----\n"
              "The call waits for the earlier work of the default stream, and for the\n"
              "copy.\n"
              "\nExamples\n--------\n"
              ">>> memory = drv.to_device(np.arange(6, dtype=np.int32))\n"
              ">>> drv.from_device(memory, (2, 3), np.int32)\n"
              "array([[0, 1, 2],\n"
              "       [3, 4, 5]], dtype=int32)")

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
              "Copy device memory to a new NumPy array like another one.\n"
              "\nParameters\n----------\n"
              "devptr : DeviceAllocation, GPUArray or int\n"
              "    Device memory to read, or its address.\n"
              "other_ary : ndarray\n"
              "    Array that gives shape, dtype and order.\n"
              "\nReturns\n-------\n"
              "ndarray\n"
              "    A new array.\n"
              "\nRaises\n------\n" COPY_DOC_OUTSIDE
              "TypeError\n"
              "    If ``other_ary`` is no NumPy array.\n"
              "\nSee Also\n--------\n"
              "from_device : Give shape and dtype.\n"
              "\nNotes\n-----\n"
              "The call waits for the earlier work of the default stream, and for the\n"
              "copy.\n"
              "\nExamples\n--------\n"
              ">>> a = np.arange(3, dtype=np.int32)\n"
              ">>> drv.from_device_like(drv.to_device(a), a)\n"
              "array([0, 1, 2], dtype=int32)")

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
