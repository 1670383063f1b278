/* Array.set and Array.get: copies of a whole texture array of any number of dimensions.
 *
 * Invariant: both methods release the interpreter lock during the copy. With a stream
 * the copy is only enqueued, and the program keeps the array and a host buffer alive
 * until it has finished. Python is the only caller; the type is in texture_array.c. */
#include "python/support/base.h"

#include "python/support/buffer.h"
#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/current_context.h"
#include "python/driver/graph_resources.h"
#include "python/driver/memory/memory.h"
#include "python/driver/memory/texture_array.h"
#include "python/driver/resource.h"
#include "python/driver/stream.h"

/* The size of a whole texture array. */
typedef struct {
    CUDA_ARRAY3D_DESCRIPTOR d;
    size_t row;  /* bytes */
    size_t rows; /* in a slice, at least 1 */
    size_t slices;
    size_t total; /* bytes */
} texture_array_shape;

static int
texture_array_measure(pcu_state *st, PyObject *array, texture_array_shape *s)
{
    if (pcu_texture_array_describe(st, array, &s->d) < 0) {
        return -1;
    }
    s->rows = s->d.Height == 0 ? 1 : s->d.Height;
    s->slices = s->d.Depth == 0 ? 1 : s->d.Depth;
    if (pcu_mul_size(s->d.Width, pcu_array_format_size(s->d.Format) * s->d.NumChannels,
                     &s->row) < 0 ||
        pcu_mul_size(s->row, s->rows, &s->total) < 0 ||
        pcu_mul_size(s->total, s->slices, &s->total) < 0) {
        PyErr_SetString(PyExc_OverflowError,
                        "the array has more bytes than fit a size");
        return -1;
    }
    return 0;
}

static int
texture_array_copy(pcu_state *st, const CUDA_MEMCPY3D *copy, CUstream stream,
                   bool queued)
{
    int rc;
    if (queued) {
        if (pcu_captured_copy(st, "cuMemcpy3DAsync") < 0) {
            return -1;
        }
        PCU_CALL_CURRENT(rc, st, Memcpy3DAsync, (copy, stream));
    }
    else {
        if (pcu_captured_copy(st, "cuMemcpy3D") < 0) {
            return -1;
        }
        PCU_CALL_CURRENT(rc, st, Memcpy3D, (copy));
    }
    return rc;
}

typedef struct {
    PyObject *source;
    PyObject *stream;
    size_t pitch;
    PyObject *array; /* borrowed: the Array itself */
} texture_array_set_args;

/* Make or enqueue the copy. Converting the source may have run code that released the
 * array, so its handle is read last. */
static int
texture_array_fill(pcu_state *st, const texture_array_set_args *a, CUDA_MEMCPY3D *copy,
                   CUstream stream)
{
    if (pcu_texture_array_handle(a->array, "cuMemcpy3D", &copy->dstArray) < 0) {
        return -1;
    }
    if (pcu_captured_object(a->source) < 0 || pcu_captured_object(a->array) < 0 ||
        pcu_captured_address(pcu_texture_array_word(st, a->array)) < 0 ||
        pcu_captured_address(copy->srcDevice) < 0) {
        return -1;
    }
    return texture_array_copy(st, copy, stream, a->stream != NULL);
}

/* Fill from a host buffer that has exactly the size of the array. */
static int
texture_array_set_host(pcu_state *st, const texture_array_set_args *a,
                       const texture_array_shape *s, CUDA_MEMCPY3D *copy,
                       CUstream stream)
{
    pcu_buffer buffer = {0};
    if (a->pitch != 0) {
        PyErr_SetString(PyExc_TypeError,
                        "a pitch is for device memory, not for a host "
                        "buffer");
        return -1;
    }
    if (pcu_buffer_acquire(&buffer, a->source, false, "source") < 0) {
        return -1;
    }
    int rc = -1;
    if (buffer.size != s->total) {
        PyErr_Format(PyExc_ValueError, "source has %zu bytes, the array %zu",
                     buffer.size, s->total);
    }
    else {
        copy->srcMemoryType = CU_MEMORYTYPE_HOST;
        copy->srcHost = buffer.data;
        rc = texture_array_fill(st, a, copy, stream);
    }
    pcu_buffer_release(&buffer);
    return rc;
}

/* Fill from device memory, whose size is not known. */
static int
texture_array_set_device(pcu_state *st, const texture_array_set_args *a,
                         const texture_array_shape *s, CUDA_MEMCPY3D *copy,
                         CUstream stream)
{
    if (a->pitch != 0 && a->pitch < s->row) {
        PyErr_Format(PyExc_ValueError, "pitch is %zu; a row has %zu bytes", a->pitch,
                     s->row);
        return -1;
    }
    copy->srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy->srcPitch = a->pitch;
    if (a->pitch == 0) {
        copy->srcPitch = s->row;
    }
    if (pcu_as_pointer(st, a->source, &copy->srcDevice, "source") < 0) {
        return -1;
    }
    return texture_array_fill(st, a, copy, stream);
}

static const pcu_word texture_array_set_words[] = {
    PCU_WORD("source", pcu_as_object, texture_array_set_args, source),
    PCU_WORD("stream", pcu_as_object, texture_array_set_args, stream),
    PCU_WORD("pitch", pcu_as_size, texture_array_set_args, pitch),
};

PCU_SIGNATURE(texture_array_set, texture_array_set_words,
              "set($self, /, source, stream=None, pitch=0)\n--\n\n"
              "Fill the array.\n"
              "\nParameters\n----------\n"
              "source : array_like, DeviceAllocation, GPUArray or int\n"
              "    Host buffer of the size of the array, device memory, or an\n"
              "    address. The order of the bytes is: channels, then x, y, and z or\n"
              "    layers.\n"
              "stream : Stream or None, optional\n"
              "    Stream in which the copy is only enqueued. By default the call\n"
              "    copies, and then returns.\n"
              "pitch : int, optional\n"
              "    Bytes from row to row of device memory. The default 0 is no gaps.\n"
              "\nRaises\n------\n"
              "ValueError\n"
              "    If a buffer has another size, or if the pitch is shorter than a\n"
              "    row.\n"
              "TypeError\n"
              "    If a pitch is given for a buffer, or if the source is neither.\n"
              "LogicError\n"
              "    If the array was released, or if the device memory is too small.\n"
              "\nSee Also\n--------\n"
              "Array.get : Copy to the host.\n"
              "Memcpy2D : Copy a part.\n"
              "\nNotes\n-----\n"
              "With a stream, keep the source until the copy has finished.")

static PyObject *
texture_array_set(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    pcu_state *st = ((pcu_resource *)op)->st;
    texture_array_set_args a = {0};
    texture_array_shape s = {0};
    CUstream stream = NULL;
    CUDA_MEMCPY3D copy;
    memset(&copy, 0, sizeof(copy));
    if (pcu_args_parse(st, &texture_array_set_signature, args, nargs, kwnames, &a) <
        0) {
        return NULL;
    }
    a.array = op;
    if (a.stream == Py_None) {
        a.stream = NULL;
    }
    if ((a.stream != NULL && pcu_as_stream(st, a.stream, &stream, "stream") < 0) ||
        texture_array_measure(st, op, &s) < 0) {
        return NULL;
    }
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcPitch = s.row;
    copy.srcHeight = s.rows;
    copy.WidthInBytes = s.row;
    copy.Height = s.rows;
    copy.Depth = s.slices;
    int rc;
    if (PyArray_Check(a.source) || PyObject_CheckBuffer(a.source)) {
        rc = texture_array_set_host(st, &a, &s, &copy, stream);
    }
    else {
        rc = texture_array_set_device(st, &a, &s, &copy, stream);
    }
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static int
texture_array_type_number(CUarray_format format)
{
    switch (format) {
        case CU_AD_FORMAT_UNSIGNED_INT8:
            return NPY_UINT8;
        case CU_AD_FORMAT_UNSIGNED_INT16:
            return NPY_UINT16;
        case CU_AD_FORMAT_UNSIGNED_INT32:
            return NPY_UINT32;
        case CU_AD_FORMAT_SIGNED_INT8:
            return NPY_INT8;
        case CU_AD_FORMAT_SIGNED_INT16:
            return NPY_INT16;
        case CU_AD_FORMAT_SIGNED_INT32:
            return NPY_INT32;
        case CU_AD_FORMAT_HALF:
            return NPY_FLOAT16;
        case CU_AD_FORMAT_FLOAT:
            return NPY_FLOAT32;
        default:
            return NPY_NOTYPE;
    }
}

/* A host array of the image's shape [z][y][x][channel]. Dimensions of size 0 and single
 * channels are left out. */
static PyObject *
texture_array_host_new(const texture_array_shape *s)
{
    npy_intp shape[4];
    int n = 0;
    int type_number = texture_array_type_number(s->d.Format);
    if (type_number == NPY_NOTYPE) {
        PyErr_Format(PyExc_TypeError, "numpy has no type for array_format(%u)",
                     s->d.Format);
        return NULL;
    }
    if (s->d.Depth != 0) {
        shape[n++] = (npy_intp)s->d.Depth;
    }
    if (s->d.Height != 0) {
        shape[n++] = (npy_intp)s->d.Height;
    }
    shape[n++] = (npy_intp)s->d.Width;
    if (s->d.NumChannels != 1) {
        shape[n++] = (npy_intp)s->d.NumChannels;
    }
    return PyArray_SimpleNew(n, shape, type_number);
}

PyDoc_STRVAR(texture_array_get_doc,
             "get($self, /)\n--\n\n"
             "Copy the image to a new NumPy array.\n"
             "\nReturns\n-------\n"
             "ndarray\n"
             "    The elements, ``[z or layer][y][x][channel]``. Dimensions of size\n"
             "    0 and single channels are left out.\n"
             "\nRaises\n------\n"
             "TypeError\n"
             "    If NumPy has no such type.\n" PCU_DOC_RELEASED
             "\nSee Also\n--------\n"
             "Array.set : Fill the array.\n"
             "\nNotes\n-----\n"
             "The call waits for the copy.");

static PyObject *
texture_array_get(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = ((pcu_resource *)op)->st;
    texture_array_shape s = {0};
    CUDA_MEMCPY3D copy;
    memset(&copy, 0, sizeof(copy));
    if (texture_array_measure(st, op, &s) < 0 ||
        pcu_texture_array_handle(op, "cuMemcpy3D", &copy.srcArray) < 0) {
        return NULL;
    }
    PyObject *host = texture_array_host_new(&s);
    if (host == NULL) {
        return NULL;
    }
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = PyArray_DATA((PyArrayObject *)host);
    copy.dstPitch = s.row;
    copy.dstHeight = s.rows;
    copy.WidthInBytes = s.row;
    copy.Height = s.rows;
    copy.Depth = s.slices;
    if (texture_array_copy(st, &copy, NULL, false) < 0) {
        Py_CLEAR(host);
    }
    return host;
}

static PyMethodDef texture_array_data_methods[] = {
    PCU_METHOD("set", texture_array_set),
    {"get", texture_array_get, METH_NOARGS, texture_array_get_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_texture_array_data_setup(PyObject *Py_UNUSED(m), pcu_state *st)
{
    return pcu_add_methods(st->Array, texture_array_data_methods);
}
