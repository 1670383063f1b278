/* GPUArray as a producer of DLPack: __dlpack__ and __dlpack_device__.
 *
 * The capsule holds the memory that the array has at the time. Where the consumer works
 * on another stream than the current one, that stream is made to wait for the current
 * one; the host never does. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/driver/exchange/dlpack.h"
#include "python/array/gpuarray.h"

/* DLPack's device of the memory. */
static pcu_dl_device
export_device(pcu_gpuarray *self)
{
    pcu_state *st = self->st;
    pcu_dl_device device = {.type = PCU_DL_CUDA, .id = 0};
    const pcu_resource *memory = pcu_gpuarray_allocation(self);
    if (self->memory != NULL && Py_IS_TYPE(self->memory, st->ForeignAllocation)) {
        return pcu_dlpack_of(self->memory)->device;
    }
    if (memory != NULL) {
        device.id = pcu_context_rec(memory->ctx)->device;
    }
    else if (pcu_ctx_current != NULL) {
        device.id = pcu_ctx_current->device;
    }
    if (self->count != 0) {
        device.type = pcu_dlpack_device_type(self->address);
    }
    return device;
}

/* The memory may be handed out: the array is made, its memory is not released, and all
 * elements are in it. */
static int
export_check(pcu_gpuarray *self)
{
    if (pcu_gpuarray_ready(self) < 0) {
        return -1;
    }
    pcu_resource *memory = pcu_gpuarray_allocation(self);
    return memory != NULL && pcu_resource_check(memory, "__dlpack__") < 0
               ? -1
               : pcu_gpuarray_check_inside(self);
}

PyDoc_STRVAR(
    export_device_doc,
    "__dlpack_device__($self, /)\n--\n\n"
    "DLPack's (type, number) of the array: type 2 is a GPU, 13 managed memory.");

static PyObject *
export_dlpack_device(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (export_check(self) < 0) {
        return NULL;
    }
    pcu_dl_device device = export_device(self);
    return Py_BuildValue("(ii)", (int)device.type, (int)device.id);
}

/* The consumer's stream as the array API standard numbers it: None and 1 are the
 * legacy default stream, 2 that of the thread, -1 asks for no order. 0 if the current
 * stream must be waited for, 1 if nothing is to do. */
static int
export_read_stream(pcu_state *st, PyObject *value, CUstream *stream)
{
    if (value == Py_None) {
        *stream = CU_STREAM_LEGACY;
        return 0;
    }
    if (PyLong_Check(value)) {
        int overflow = 0;
        long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (overflow == 0 && number == -1) {
            return PyErr_Occurred() ? -1 : 1;
        }
        if (overflow != 0 || number <= 0) {
            PyErr_Format(PyExc_ValueError,
                         "stream %S is none: 1 is the legacy default stream, 2 that of "
                         "the thread, -1 asks for no order, others are handles",
                         value);
            return -1;
        }
        *stream = (CUstream)(uintptr_t)number;
        return 0;
    }
    return pcu_as_stream(st, value, stream, "stream");
}

static int
export_order(pcu_state *st, PyObject *value)
{
    CUstream consumer = NULL;
    CUstream own = pcu_gpuarray_stream(st);
    int done = export_read_stream(st, value, &consumer);
    if (done != 0) {
        return done < 0 ? -1 : 0;
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

/* Where the consumer wants the array: here, or, as a copy, in memory of the host. */
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
    rc = rc < 0 ? rc : pcu_as_int(NULL, PyTuple_GET_ITEM(pair, 1), &id, "dl_device[1]");
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
    PyErr_Format(
        PyExc_BufferError,
        "the array is on DLPack's device (%d, %d); it can be copied to (%d, 0), "
        "the host, not to (%d, %d)",
        (int)own.type, (int)own.id, PCU_DL_CPU, type, id);
    return -1;
}

/* NumPy lends the copy in its memory; before its version 2.1 it knows no max_version.
 */
static PyObject *
export_host_copy(pcu_gpuarray *self, PyObject *max_version)
{
    PyObject *host = PyObject_CallMethodNoArgs((PyObject *)self, self->st->str_get);
    PyObject *method = host == NULL ? NULL : PyObject_GetAttrString(host, "__dlpack__");
    PyObject *none = PyTuple_New(0);
    PyObject *kwargs = Py_BuildValue("{sO}", "max_version", max_version);
    PyObject *capsule = NULL;
    if (method != NULL && none != NULL && kwargs != NULL) {
        capsule = PyObject_Call(method, none, kwargs);
        if (capsule == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear(); /* asked again in the words of before */
            capsule = PyObject_CallNoArgs(method);
        }
    }
    Py_XDECREF(host);
    Py_XDECREF(method);
    Py_XDECREF(none);
    Py_XDECREF(kwargs);
    return capsule;
}

static PyObject *
export_capsule(pcu_gpuarray *self, int copied, PyObject *max_version)
{
    pcu_dlpack t;
    int versioned = pcu_dlpack_wants_version(max_version);
    if (versioned < 0) {
        return NULL;
    }
    if (pcu_gpuarray_itemsize(self) == 0) {
        PyErr_SetString(PyExc_BufferError,
                        "DLPack has no type for items without bytes");
        return NULL;
    }
    t.pointer = self->count == 0 ? 0 : self->address;
    t.device = export_device(self);
    t.readonly = self->memory != NULL &&
                 Py_IS_TYPE(self->memory, self->st->ForeignAllocation) &&
                 pcu_dlpack_of(self->memory)->readonly;
    t.copied = copied;
    t.ndim = self->ndim;
    t.dtype = self->dtype;
    memcpy(t.shape, self->shape, (size_t)self->ndim * sizeof(*t.shape));
    memcpy(t.strides, self->strides, (size_t)self->ndim * sizeof(*t.strides));
    /* the memory of now: a program may give the array another one meanwhile */
    PyObject *lent = self->memory != NULL ? self->memory : (PyObject *)self;
    return pcu_dlpack_export(&t, lent, versioned);
}

PyDoc_STRVAR(
    export_dlpack_doc,
    "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, "
    "copy=None)\n--\n\n"
    "A DLPack capsule over the array, for another library.\n\n"
    "The consumer's stream (an int as the array API standard has it, or a Stream) is\n"
    "made to wait for the current stream; -1: it is not. max_version=(1, 0) gives the\n"
    "form of DLPack 1. copy=True gives a copy. dl_device=(1, 0) gives a copy in "
    "memory\n"
    "of the host. BufferError for what cannot be lent so.");

static PyObject *
export_dlpack(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"stream", pcu_as_object, offsetof(export_args, stream)},
        {"max_version", pcu_as_object, offsetof(export_args, max_version)},
        {"dl_device", pcu_as_object, offsetof(export_args, dl_device)},
        {"copy", pcu_as_object, offsetof(export_args, copy)},
    };
    static const pcu_argtable table = {"__dlpack__", specs, 4, 0, 0};
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    export_args a = {Py_None, Py_None, Py_None, Py_None};
    if (nargs != 0) {
        PyErr_SetString(PyExc_TypeError, "__dlpack__() takes keywords only");
        return NULL;
    }
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0 ||
        export_check(self) < 0) {
        return NULL;
    }
    int copy = a.copy == Py_None ? -1 : PyObject_IsTrue(a.copy);
    if (copy < 0 && PyErr_Occurred()) {
        return NULL;
    }
    int target = export_read_target(a.dl_device, export_device(self));
    if (target == EXPORT_TO_HOST && copy == 0) {
        PyErr_SetString(PyExc_BufferError,
                        "an array of a GPU is in the host's memory only as a copy");
        return NULL;
    }
    if (target != EXPORT_HERE) {
        return target < 0 ? NULL : export_host_copy(self, a.max_version);
    }
    PyObject *lent = copy == 1
                         ? pcu_gpuarray_copy_new(self, pcu_gpuarray_stream(self->st))
                         : Py_NewRef(op);
    PyObject *capsule = NULL;
    /* what was read above may have run code that released the memory */
    if (lent != NULL && export_order(self->st, a.stream) == 0 &&
        export_check((pcu_gpuarray *)lent) == 0) {
        capsule = export_capsule((pcu_gpuarray *)lent, copy == 1, a.max_version);
    }
    Py_XDECREF(lent);
    return capsule;
}

PyMethodDef pcu_gpuarray_dlpack_methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))export_dlpack,
     METH_FASTCALL | METH_KEYWORDS, export_dlpack_doc},
    {"__dlpack_device__", export_dlpack_device, METH_NOARGS, export_device_doc},
    {NULL, NULL, 0, NULL},
};
