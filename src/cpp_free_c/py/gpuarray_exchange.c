/* GPUArray for other libraries: DLPack, and what the driver knows about a pointer that
 * comes from one. */

#include "dlpack.h"
#include "gpuarray.h"

/* -- what a pointer is ------------------------------------------------------------- */

PyDoc_STRVAR(
    exchange_pointer_facts_doc,
    "_pointer_facts($module, pointer, /)\n--\n\n"
    "What the driver knows about an address: (context, device, memory type,\n"
    "managed). None if it is none of CUDA's. The context is a handle, 0 where the\n"
    "memory belongs to none; the memory type is 1 for the host's, 2 for a device's.");

/* An attribute that some pointers have no value for: 1 if there is one, 0 if not. */
static int
exchange_attribute(pcu_state *st, void *value, CUpointer_attribute attribute,
                   CUdeviceptr pointer)
{
    CUresult status = drv.PointerGetAttribute(value, attribute, pointer);
    if (status == CUDA_SUCCESS || status == CUDA_ERROR_INVALID_VALUE) {
        return status == CUDA_SUCCESS;
    }
    pcu_raise(st, "cuPointerGetAttribute", status);
    return -1;
}

static PyObject *
exchange_pointer_facts(PyObject *m, PyObject *arg)
{
    pcu_state *st = pcu_state_of_module(m);
    unsigned long long address = 0;
    CUcontext context = NULL;
    unsigned int type = 0;
    int number = -1;
    int managed = 0;
    if (pcu_as_address(arg, &address, "pointer") < 0 ||
        pcu_gpuarray_context(st) == NULL) {
        return NULL;
    }
    CUdeviceptr pointer = (CUdeviceptr)address;
    int known =
        exchange_attribute(st, &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer);
    if (known <= 0) {
        return known < 0 ? NULL : Py_NewRef(Py_None);
    }
    /* Memory of the driver's own pools has no context. */
    if (exchange_attribute(st, &context, CU_POINTER_ATTRIBUTE_CONTEXT, pointer) < 0 ||
        exchange_attribute(st, &number, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer) <
            0 ||
        exchange_attribute(st, &managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, pointer) <
            0) {
        return NULL;
    }
    return Py_BuildValue("(KiIN)", (unsigned long long)(uintptr_t)context, number, type,
                         PyBool_FromLong(managed));
}

PyDoc_STRVAR(
    exchange_wait_for_stream_doc,
    "_wait_for_stream($module, handle, /)\n--\n\n"
    "Let the current stream go on when the stream of this handle is done with\n"
    "what is queued to it now.");

static PyObject *
exchange_wait_for_stream(PyObject *m, PyObject *arg)
{
    pcu_state *st = pcu_state_of_module(m);
    unsigned long long bits = 0;
    if (pcu_as_integer(arg, 1, UINT64_MAX, &bits, "the stream") < 0 ||
        pcu_gpuarray_context(st) == NULL ||
        pcu_stream_order(st, (CUstream)(uintptr_t)bits, pcu_gpuarray_stream(st)) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef pcu_gpuarray_exchange_functions[] = {
    {"_pointer_facts", exchange_pointer_facts, METH_O, exchange_pointer_facts_doc},
    {"_wait_for_stream", exchange_wait_for_stream, METH_O,
     exchange_wait_for_stream_doc},
    {NULL, NULL, 0, NULL},
};

/* -- DLPack ------------------------------------------------------------------------ */

/* The device of an array, as DLPack has it. Where the driver cannot say it, it is that
 * of the context. */
static pcu_dl_device
exchange_device(const pcu_gpuarray *self, const pcu_context *ctx)
{
    pcu_dl_device device = {.type = PCU_DL_CUDA, .id = (int32_t)ctx->rec.device};
    int number = -1;
    int managed = 0;
    if (self->count == 0) {
        return device;
    }
    if (drv.PointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                self->address) == CUDA_SUCCESS &&
        number >= 0) {
        device.id = number;
    }
    if (drv.PointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                self->address) == CUDA_SUCCESS &&
        managed) {
        device.type = PCU_DL_CUDA_MANAGED;
    }
    return device;
}

PyDoc_STRVAR(exchange_dlpack_device_doc,
             "__dlpack_device__($self, /)\n--\n\n"
             "DLPack's (type, number) of the memory: type 2 is a GPU, 13 managed\n"
             "memory.");

static PyObject *
exchange_dlpack_device(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    pcu_context *ctx = pcu_gpuarray_context(self->st);
    if (ctx == NULL || pcu_gpuarray_check(self, ctx) < 0) {
        return NULL;
    }
    pcu_dl_device device = exchange_device(self, ctx);
    return Py_BuildValue("(ii)", (int)device.type, (int)device.id);
}

typedef struct {
    PyObject *stream;
    PyObject *max_version;
    PyObject *device;
    PyObject *copy;
} exchange_dlpack_args;

/* Let the consumer's stream come after what is queued here. None is the default stream,
 * as 1 is; -1 asks for nothing. */
static int
exchange_order(pcu_state *st, PyObject *stream)
{
    unsigned long long bits = 1;
    if (stream != NULL && stream != Py_None) {
        int overflow = 0;
        long long number = PyLong_AsLongLongAndOverflow(stream, &overflow);
        if (number == -1 && PyErr_Occurred()) {
            return -1;
        }
        if (number == -1 && overflow == 0) {
            return 0;
        }
        if (number == 0) {
            PyErr_SetString(PyExc_BufferError,
                            "DLPack has no stream 0 for CUDA: the default stream is 1, "
                            "that of the thread 2");
            return -1;
        }
        if (pcu_as_integer(stream, 1, UINT64_MAX, &bits, "stream") < 0) {
            return -1;
        }
    }
    return pcu_stream_order(st, pcu_gpuarray_stream(st), (CUstream)(uintptr_t)bits);
}

/* BufferError unless the device that the consumer wants is the array's. */
static int
exchange_check_wanted(PyObject *wanted, pcu_dl_device device)
{
    int type = 0;
    int id = 0;
    if (wanted == NULL || wanted == Py_None) {
        return 0;
    }
    if (!PyTuple_Check(wanted)) {
        PyErr_SetString(PyExc_TypeError,
                        "dl_device must be None or a tuple (type, number)");
        return -1;
    }
    if (!PyArg_ParseTuple(wanted, "ii;dl_device must be (type, number)", &type, &id)) {
        return -1;
    }
    if (type == device.type && id == device.id) {
        return 0;
    }
    PyErr_Format(
        PyExc_BufferError,
        "the array is on DLPack's device (%d, %d) and cannot be lent as one on "
        "(%d, %d); get() copies it to the host",
        (int)device.type, (int)device.id, type, id);
    return -1;
}

static PyObject *
exchange_export_new(pcu_gpuarray *self, pcu_dl_device device, int versioned)
{
    pcu_dlpack t = {.pointer = self->count == 0 ? 0 : self->address,
                    .device = device,
                    .ndim = self->ndim,
                    .dtype = self->dtype};
    if (pcu_gpuarray_itemsize(self) == 0) {
        PyErr_SetString(PyExc_BufferError,
                        "DLPack has no type for items without bytes");
        return NULL;
    }
    for (int i = 0; i < self->ndim; i++) {
        t.shape[i] = self->shape[i];
        t.strides[i] = self->strides[i];
    }
    /* The memory and the base, not the array: a program may give that other memory. An
     * array over a bare address has only itself. */
    PyObject *owner =
        PyTuple_Pack(2, self->memory == NULL ? (PyObject *)self : self->memory,
                     self->base == NULL ? Py_None : self->base);
    PyObject *capsule = owner == NULL ? NULL : pcu_dlpack_export(&t, owner, versioned);
    Py_XDECREF(owner);
    return capsule;
}

PyDoc_STRVAR(
    exchange_dlpack_doc,
    "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, "
    "copy=None)\n--\n\n"
    "A DLPack capsule over the array, for another library.\n\n"
    "The consumer's stream waits for what is queued to the current one. The memory\n"
    "lives until the consumer is done with it. BufferError for dtypes and devices\n"
    "that DLPack cannot describe.");

static PyObject *
exchange_dlpack(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"stream", pcu_as_object, offsetof(exchange_dlpack_args, stream)},
        {"max_version", pcu_as_object, offsetof(exchange_dlpack_args, max_version)},
        {"dl_device", pcu_as_object, offsetof(exchange_dlpack_args, device)},
        {"copy", pcu_as_object, offsetof(exchange_dlpack_args, copy)},
    };
    static const pcu_argtable table = {"__dlpack__", specs, 4, 0, 0};
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    pcu_state *st = self->st;
    exchange_dlpack_args a = {NULL};
    if (nargs > 0) {
        PyErr_SetString(PyExc_TypeError, "__dlpack__() takes keywords only");
        return NULL;
    }
    pcu_context *ctx = pcu_gpuarray_context(st);
    if (ctx == NULL || pcu_gpuarray_check(self, ctx) < 0 ||
        pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    int versioned = pcu_dlpack_wants_version(a.max_version);
    int copy = a.copy == NULL || a.copy == Py_None ? 0 : PyObject_IsTrue(a.copy);
    pcu_dl_device device = exchange_device(self, ctx);
    if (versioned < 0 || copy < 0 || exchange_check_wanted(a.device, device) < 0) {
        return NULL;
    }
    PyObject *lent =
        copy ? pcu_gpuarray_copy_new(self, pcu_gpuarray_stream(st)) : Py_NewRef(op);
    PyObject *capsule = NULL;
    if (lent != NULL && exchange_order(st, a.stream) == 0) {
        pcu_gpuarray *array = (pcu_gpuarray *)lent;
        capsule = exchange_export_new(
            array, copy ? exchange_device(array, ctx) : device, versioned);
    }
    Py_XDECREF(lent);
    return capsule;
}

PyMethodDef pcu_gpuarray_exchange_methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))exchange_dlpack,
     METH_FASTCALL | METH_KEYWORDS, exchange_dlpack_doc},
    {"__dlpack_device__", exchange_dlpack_device, METH_NOARGS,
     exchange_dlpack_device_doc},
    {NULL, NULL, 0, NULL},
};
