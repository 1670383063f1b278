/* GPUArray as a producer of DLPack: __dlpack__ and __dlpack_device__.
 *
 * The capsule holds the memory that the array has at the time of the call. If the
 * consumer works on another stream than the current one, its stream waits for the
 * current one; the host never waits. */

#include "python/array/type/device.h"
#include "python/array/type/members.h"

#include "python/array/memory.h"
#include "python/array/ops/device_copy.h"
#include "python/driver/exchange/dlpack.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"

/* Check that the array may be lent: it is initialised, its memory is not released, and
 * all elements are in it. */
static int
export_check(pcu_gpuarray *self)
{
    if (pcu_gpuarray_ready(self) < 0) {
        return -1;
    }
    pcu_resource *memory = pcu_gpuarray_allocation(self);
    if (memory != NULL && pcu_resource_check(memory, "__dlpack__") < 0) {
        return -1;
    }
    return pcu_gpuarray_check_inside(self);
}

PyDoc_STRVAR(
    export_device_doc,
    "__dlpack_device__($self, /)\n--\n\n"
    "Return DLPack's (type, number) of the array: type 2 is a GPU, 13 managed memory.");

static PyObject *
export_dlpack_device(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (export_check(self) < 0) {
        return NULL;
    }
    pcu_dl_device device = pcu_gpuarray_dl_device(self);
    return Py_BuildValue("(ii)", (int)device.type, (int)device.id);
}

/* The consumer's stream, by the numbers of the array API standard: None and 1 are the
 * legacy default stream, 2 is the thread's default stream, -1 asks for no order. 1 and
 * *stream if it has to wait for the current stream, 0 if not, -1 on error. */
static int
export_read_stream(pcu_state *st, PyObject *value, CUstream *stream)
{
    if (value == Py_None) {
        *stream = CU_STREAM_LEGACY;
        return 1;
    }
    if (!PyLong_Check(value)) {
        if (pcu_as_stream(st, value, stream, "stream") < 0) {
            return -1;
        }
        return 1;
    }
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0 && number == -1) {
        return 0;
    }
    if (overflow != 0 || number <= 0) {
        PyErr_Format(PyExc_ValueError,
                     "%S is not a stream: 1 is the legacy default stream, 2 the one of "
                     "the thread, -1 asks for no order, others are handles",
                     value);
        return -1;
    }
    *stream = (CUstream)(uintptr_t)number;
    return 1;
}

/* Make the consumer's stream wait for the current one. */
static int
export_order(pcu_state *st, PyObject *value)
{
    CUstream consumer = NULL;
    CUstream own = pcu_stream_current();
    int waits = export_read_stream(st, value, &consumer);
    if (waits <= 0) {
        return waits;
    }
    return pcu_stream_order(st, own, consumer);
}

typedef struct {
    PyObject *stream;
    PyObject *max_version;
    PyObject *dl_device;
    PyObject *copy;
} export_args;

enum { EXPORT_HERE, EXPORT_TO_HOST };

/* Read dl_device: where the consumer wants the array, on its device, or, as a copy, in
 * host memory. */
static int
export_read_target(PyObject *value, pcu_dl_device own)
{
    int type = 0;
    int id = 0;
    if (value == Py_None) {
        return EXPORT_HERE;
    }
    PyObject *pair = PySequence_Tuple(value);
    if (pair == NULL || PyTuple_GET_SIZE(pair) != 2) {
        Py_XDECREF(pair);
        PyErr_SetString(PyExc_TypeError, "dl_device must be None or (type, number)");
        return -1;
    }
    int rc = pcu_as_int(NULL, PyTuple_GET_ITEM(pair, 0), &type, "dl_device[0]");
    if (rc == 0) {
        rc = pcu_as_int(NULL, PyTuple_GET_ITEM(pair, 1), &id, "dl_device[1]");
    }
    Py_DECREF(pair);
    if (rc < 0) {
        return -1;
    }
    if (type == own.type && id == own.id) {
        return EXPORT_HERE;
    }
    if (type == PCU_DL_CPU) {
        return EXPORT_TO_HOST;
    }
    PyErr_Format(PyExc_BufferError,
                 "the array is on DLPack device (%d, %d); it can be copied to (%d, 0), "
                 "host memory, not to (%d, %d)",
                 (int)own.type, (int)own.id, PCU_DL_CPU, type, id);
    return -1;
}

/* A capsule of NumPy's over a copy on the host. */
static PyObject *
export_host_copy(pcu_gpuarray *self, PyObject *max_version)
{
    PyObject *capsule = NULL;
    PyObject *host = PyObject_CallMethodNoArgs((PyObject *)self, self->st->str_get);
    if (host == NULL) {
        return NULL;
    }
    PyObject *method = PyObject_GetAttrString(host, "__dlpack__");
    Py_DECREF(host);
    if (method == NULL) {
        return NULL;
    }
    PyObject *none = PyTuple_New(0);
    PyObject *kwargs = Py_BuildValue("{sO}", "max_version", max_version);
    if (none != NULL && kwargs != NULL) {
        capsule = PyObject_Call(method, none, kwargs);
        if (capsule == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear(); /* NumPy before version 2.1 has no max_version */
            capsule = PyObject_CallNoArgs(method);
        }
    }
    Py_XDECREF(none);
    Py_XDECREF(kwargs);
    Py_DECREF(method);
    return capsule;
}

static PyObject *
export_capsule(pcu_gpuarray *self, int copied, PyObject *max_version)
{
    pcu_dlpack t;
    const pcu_dlpack *lent_to_us = pcu_gpuarray_lent_tensor(self);
    int versioned = pcu_dlpack_wants_version(max_version);
    if (versioned < 0) {
        return NULL;
    }
    if (pcu_gpuarray_itemsize(self) == 0) {
        PyErr_SetString(PyExc_BufferError,
                        "DLPack has no type for items without bytes");
        return NULL;
    }
    t.pointer = 0;
    if (self->count != 0) {
        t.pointer = self->address;
    }
    t.device = pcu_gpuarray_dl_device(self);
    t.readonly = lent_to_us != NULL && lent_to_us->readonly;
    t.copied = copied;
    t.ndim = self->ndim;
    t.dtype = self->dtype;
    memcpy(t.shape, self->shape, (size_t)self->ndim * sizeof(*t.shape));
    memcpy(t.strides, self->strides, (size_t)self->ndim * sizeof(*t.strides));
    /* lend the memory, not the array: a program may give the array other memory */
    PyObject *lent = self->memory;
    if (lent == NULL) {
        lent = (PyObject *)self;
    }
    return pcu_dlpack_export(&t, lent, versioned);
}

/* Lend the array, or a copy of it, on its device. */
static PyObject *
export_here(pcu_gpuarray *self, int copy, const export_args *a)
{
    PyObject *lent;
    PyObject *capsule = NULL;
    if (copy) {
        lent = pcu_gpuarray_copy_new(self, self->allocator, pcu_stream_current());
    }
    else {
        lent = Py_NewRef((PyObject *)self);
    }
    if (lent == NULL) {
        return NULL;
    }
    /* reading the arguments may have run code that released the memory: check again */
    if (export_order(self->st, a->stream) == 0 &&
        export_check((pcu_gpuarray *)lent) == 0) {
        capsule = export_capsule((pcu_gpuarray *)lent, copy, a->max_version);
    }
    Py_DECREF(lent);
    return capsule;
}

static const pcu_word export_words[] = {
    PCU_WORD("stream", pcu_as_object, export_args, stream),
    PCU_WORD("max_version", pcu_as_object, export_args, max_version),
    PCU_WORD("dl_device", pcu_as_object, export_args, dl_device),
    PCU_WORD("copy", pcu_as_object, export_args, copy),
};

PCU_SIGNATURE(
    export_dlpack, export_words,
    "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, "
    "copy=None)\n--\n\n"
    "Return a DLPack capsule over the array, for another library.\n\n"
    "stream: the consumer's, an int of the array API standard or a Stream. It waits "
    "for\n"
    "the current stream, unless it is -1. max_version=(1, 0) asks for the format of\n"
    "DLPack 1, copy=True for a copy, dl_device=(1, 0) for a copy in host memory.\n"
    "BufferError if the array cannot be lent in this way.")

static PyObject *
export_dlpack(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    export_args a = {Py_None, Py_None, Py_None, Py_None};
    if (nargs != 0) {
        PyErr_SetString(PyExc_TypeError, "__dlpack__() takes keywords only");
        return NULL;
    }
    if (pcu_args_parse(self->st, &export_dlpack_signature, args, nargs, kwnames, &a) <
            0 ||
        export_check(self) < 0) {
        return NULL;
    }
    int copy = 0;
    if (a.copy != Py_None) {
        copy = PyObject_IsTrue(a.copy);
        if (copy < 0) {
            return NULL;
        }
    }
    int target = export_read_target(a.dl_device, pcu_gpuarray_dl_device(self));
    if (target < 0) {
        return NULL;
    }
    if (target == EXPORT_TO_HOST) {
        if (a.copy != Py_None && !copy) {
            PyErr_SetString(PyExc_BufferError,
                            "an array of a GPU can be in host memory only as a copy");
            return NULL;
        }
        return export_host_copy(self, a.max_version);
    }
    return export_here(self, copy, &a);
}

PyMethodDef pcu_dlpack_export_methods[] = {
    PCU_METHOD("__dlpack__", export_dlpack),
    {"__dlpack_device__", export_dlpack_device, METH_NOARGS, export_device_doc},
    {NULL, NULL, 0, NULL},
};
