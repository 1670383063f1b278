/* Importing device memory of other libraries by DLPack: from_dlpack().
 *
 * Invariant: a tensor belongs to its producer until its capsule is renamed, and to a
 * ForeignAllocation after that. Callers: only programs, through from_dlpack(). */
#include "python/driver/exchange/dlpack.h"

#include "python/support/convert.h"
#include "python/support/setup.h"
#include "python/driver/resource.h"
#include "python/driver/stream.h"

static bool
import_is_cuda(pcu_dl_device device)
{
    return device.type == PCU_DL_CUDA || device.type == PCU_DL_CUDA_HOST ||
           device.type == PCU_DL_CUDA_MANAGED;
}

static int
import_check_device(pcu_dl_device device)
{
    if (import_is_cuda(device)) {
        return 0;
    }
    const char *what = "";
    if (device.type == PCU_DL_CPU) {
        what = ", ordinary host memory";
    }
    PyErr_Format(
        PyExc_BufferError,
        "the tensor is not in memory of CUDA, but on a device of DLPack's type "
        "%d%s",
        (int)device.type, what);
    return -1;
}

/* Read a tensor into *t, whose dtype becomes a new reference. */
static int
import_read(const pcu_dl_tensor *tensor, pcu_dlpack *t)
{
    if (import_check_device(tensor->device) < 0) {
        return -1;
    }
    if (tensor->ndim < 0 || tensor->ndim > PCU_MAX_NDIM) {
        PyErr_Format(PyExc_BufferError,
                     "the tensor has %d dimensions; the maximum is %d",
                     (int)tensor->ndim, PCU_MAX_NDIM);
        return -1;
    }
    t->pointer = (CUdeviceptr)(uintptr_t)tensor->data + tensor->byte_offset;
    t->device = tensor->device;
    t->ndim = tensor->ndim;
    t->dtype = pcu_dlpack_dtype_new(tensor->dtype);
    if (t->dtype == NULL) {
        return -1;
    }
    size_t size = (size_t)PyDataType_ELSIZE(t->dtype);
    bool bad = false;
    for (int i = 0; i < t->ndim; i++) {
        bad |= tensor->shape[i] < 0;
        t->shape[i] = (size_t)tensor->shape[i];
        if (tensor->strides != NULL) {
            bad |= __builtin_mul_overflow(tensor->strides[i], (int64_t)size,
                                          &t->strides[i]);
        }
    }
    if (!bad && tensor->strides == NULL) {
        bad = pcu_strides_c(t->ndim, t->shape, size, t->strides) < 0;
    }
    if (bad) {
        PyErr_SetString(PyExc_BufferError,
                        "the shape or the strides of the tensor are invalid");
        Py_CLEAR(t->dtype);
        return -1;
    }
    return 0;
}

/* Take the tensor out of a capsule. The producer owns it until the capsule is renamed,
 * so no code may run between reading the capsule and renaming it. */
static int
import_take(pcu_foreign_allocation *self, PyObject *capsule)
{
    pcu_dl_managed *plain = NULL;
    pcu_dl_versioned *versioned = NULL;
    const pcu_dl_tensor *tensor = NULL;
    const char *used = NULL;
    if (PyCapsule_IsValid(capsule, PCU_DL_NAME)) {
        plain = PyCapsule_GetPointer(capsule, PCU_DL_NAME);
        if (plain == NULL) {
            return -1;
        }
        tensor = &plain->tensor;
        used = PCU_DL_USED_NAME;
    }
    else if (PyCapsule_IsValid(capsule, PCU_DL_VERSIONED_NAME)) {
        versioned = PyCapsule_GetPointer(capsule, PCU_DL_VERSIONED_NAME);
        if (versioned == NULL) {
            return -1;
        }
        tensor = &versioned->tensor;
        used = PCU_DL_VERSIONED_USED_NAME;
    }
    else {
        PyErr_Format(PyExc_BufferError,
                     "%R is not a DLPack capsule, or its tensor was taken before",
                     capsule);
        return -1;
    }
    if (versioned != NULL && versioned->version.major != PCU_DL_MAJOR) {
        PyErr_Format(PyExc_BufferError,
                     "the tensor is of DLPack %u; this package knows version %d",
                     (unsigned int)versioned->version.major, PCU_DL_MAJOR);
        return -1;
    }
    if (import_read(tensor, &self->tensor) < 0 ||
        PyCapsule_SetName(capsule, used) < 0) {
        return -1;
    }
    self->plain = plain;
    self->versioned = versioned;
    self->tensor.readonly =
        versioned != NULL && (versioned->flags & PCU_DL_READ_ONLY) != 0;
    return 0;
}

/* Make the object, and take the tensor after that: making an object may collect
 * garbage. */
static PyObject *
import_take_new(pcu_state *st, PyObject *capsule, CUstream stream)
{
    PyTypeObject *type = st->ForeignAllocation;
    pcu_foreign_allocation *self = (pcu_foreign_allocation *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->st = st;
    self->stream = stream;
    if (import_take(self, capsule) < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

/* Ask the producer for its device, which must come before the tensor. */
static int
import_ask_device(PyObject *producer, pcu_dl_device *device)
{
    int type = 0;
    int id = 0;
    PyObject *pair = PyObject_CallMethod(producer, "__dlpack_device__", NULL);
    PyObject *items = NULL;
    if (pair != NULL) {
        items = PySequence_Tuple(pair);
    }
    int rc = -1;
    if (items != NULL && PyTuple_GET_SIZE(items) == 2) {
        rc = pcu_as_int(NULL, PyTuple_GET_ITEM(items, 0), &type, "the device type");
        if (rc == 0) {
            rc = pcu_as_int(NULL, PyTuple_GET_ITEM(items, 1), &id, "the device number");
        }
    }
    else if (items != NULL) {
        PyErr_SetString(PyExc_TypeError, "__dlpack_device__ must give (type, number)");
    }
    Py_XDECREF(pair);
    Py_XDECREF(items);
    device->type = type;
    device->id = id;
    return rc;
}

/* 1 if the object's type has the attribute. */
static int
import_has(PyObject *producer, const char *name)
{
    PyObject *value = PyObject_GetAttrString((PyObject *)Py_TYPE(producer), name);
    if (value != NULL) {
        Py_DECREF(value);
        return 1;
    }
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
        return -1;
    }
    PyErr_Clear(); /* it is an object of another kind */
    return 0;
}

int
pcu_dlpack_is_cuda(PyObject *producer)
{
    pcu_dl_device device = {0};
    int found = import_has(producer, "__dlpack__");
    if (found > 0) {
        found = import_has(producer, "__dlpack_device__");
    }
    if (found <= 0) {
        return found;
    }
    if (import_ask_device(producer, &device) < 0) {
        return -1;
    }
    return import_is_cuda(device);
}

/* Call producer.__dlpack__(stream=, max_version=). Producers older than DLPack 1 have
 * no max_version. */
static PyObject *
import_ask_capsule_new(PyObject *producer, PyObject *stream)
{
    PyObject *method = PyObject_GetAttrString(producer, "__dlpack__");
    PyObject *none = PyTuple_New(0);
    PyObject *old = Py_BuildValue("{s:O}", "stream", stream);
    PyObject *new = Py_BuildValue("{s:O,s:(ii)}", "stream", stream, "max_version",
                                  PCU_DL_MAJOR, PCU_DL_MINOR);
    PyObject *capsule = NULL;
    if (method != NULL && none != NULL && old != NULL && new != NULL) {
        capsule = PyObject_Call(method, none, new);
        if (capsule == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear(); /* an older producer: call it without max_version */
            capsule = PyObject_Call(method, none, old);
        }
    }
    Py_XDECREF(method);
    Py_XDECREF(none);
    Py_XDECREF(old);
    Py_XDECREF(new);
    return capsule;
}

PyObject *
pcu_dlpack_borrow_new(pcu_state *st, PyObject *producer, CUstream stream)
{
    pcu_dl_device device = {0};
    if (PyCapsule_CheckExact(producer)) {
        return import_take_new(st, producer, stream);
    }
    if (import_ask_device(producer, &device) < 0 || import_check_device(device) < 0) {
        return NULL;
    }
    PyObject *number;
    if (device.type == PCU_DL_CUDA_HOST) {
        number = Py_NewRef(Py_None);
    }
    else if (pcu_is_captured(stream)) {
        number = PyLong_FromLong(-1); /* the program orders the launch of the graph */
    }
    else {
        number = pcu_dlpack_stream_new(stream);
    }
    PyObject *capsule = NULL;
    if (number != NULL) {
        capsule = import_ask_capsule_new(producer, number);
    }
    PyObject *result = NULL;
    if (capsule != NULL) {
        result = import_take_new(st, capsule, stream);
    }
    Py_XDECREF(number);
    Py_XDECREF(capsule);
    return result;
}

/* Import a tensor as a ForeignAllocation, which holds the stream. */
static PyObject *
import_new(pcu_state *st, PyObject *producer, PyObject *stream)
{
    CUstream handle = NULL;
    PyObject *result = NULL;
    if (stream == NULL || stream == Py_None) {
        pcu_resource *current = pcu_stream_find_borrow();
        stream = (PyObject *)current;
        if (current == NULL) {
            stream = Py_None;
        }
    }
    Py_INCREF(stream);
    if (pcu_as_stream(st, stream, &handle, "stream") == 0) {
        result = pcu_dlpack_borrow_new(st, producer, handle);
    }
    if (result == NULL) {
        Py_DECREF(stream);
    }
    else {
        ((pcu_foreign_allocation *)result)->stream_object = stream;
    }
    return result;
}

typedef struct {
    PyObject *producer;
    PyObject *stream;
} import_args;

static const pcu_word import_words[] = {
    PCU_WORD("x", pcu_as_object, import_args, producer),
    PCU_WORD("stream", pcu_as_object, import_args, stream),
};

PCU_SIGNATURE(import_from_dlpack, import_words,
              "from_dlpack($module, x, /, stream=None)\n--\n\n"
              "Borrow the array of another library.\n"
              "\nParameters\n----------\n"
              "x : object\n"
              "    Array with ``__dlpack__`` and ``__dlpack_device__``, or a DLPack\n"
              "    capsule.\n"
              "stream : Stream or None, optional\n"
              "    Stream whose work will use the array; the other library makes it\n"
              "    safe for that. The default is the current stream.\n"
              "\nReturns\n-------\n"
              "ForeignAllocation\n"
              "    The array. The memory is returned when the object is deleted.\n"
              "\nRaises\n------\n"
              "BufferError\n"
              "    If the array is not in memory of CUDA, or if NumPy has no type for\n"
              "    its elements.\n"
              "AttributeError\n"
              "    If the object has no ``__dlpack_device__``.\n"
              "\nSee Also\n--------\n"
              "pycuda.gpuarray.from_dlpack : Make a GPUArray.\n"
              "DeviceAllocation.as_dlpack : Lend memory.\n"
              "\nNotes\n-----\n"
              "No element is copied.\n"
              "\nExamples\n--------\n"
              ">>> a = gpuarray.to_gpu(np.arange(3, dtype=np.float32))\n"
              ">>> borrowed = drv.from_dlpack(a)\n"
              ">>> drv.from_device(borrowed, borrowed.shape, borrowed.dtype)\n"
              "array([0., 1., 2.], dtype=float32)")

static PyObject *
import_from_dlpack(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    import_args a = {0};
    if (pcu_args_parse(st, &import_from_dlpack_signature, args, nargs, kwnames, &a) <
        0) {
        return NULL;
    }
    return import_new(st, a.producer, a.stream);
}

static PyMethodDef import_functions[] = {
    PCU_METHOD("from_dlpack", import_from_dlpack),
    {NULL, NULL, 0, NULL},
};

int
pcu_dlpack_import_setup(PyObject *m, pcu_state *Py_UNUSED(st))
{
    return PyModule_AddFunctions(m, import_functions);
}
