/* The device of a GPUArray, and its namespace of the Python array API standard:
 * device, to_device and __array_namespace__.
 *
 * A device is a pycuda.driver.Device. Arrays without elements have the device of the
 * current context. */

#include "python/array/type/device.h"

#include "python/array/memory.h"
#include "python/array/type/forwarding.h"
#include "python/array/type/members.h"
#include "python/driver/context.h"
#include "python/driver/exchange/dlpack.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"

const pcu_dlpack *
pcu_gpuarray_lent_tensor(const pcu_gpuarray *self)
{
    if (self->memory != NULL && Py_IS_TYPE(self->memory, self->st->ForeignAllocation)) {
        return pcu_foreign_allocation_tensor(self->memory);
    }
    return NULL;
}

/* The number of the device. */
static int
device_number(pcu_gpuarray *self)
{
    const pcu_resource *memory = pcu_gpuarray_allocation(self);
    const pcu_dlpack *lent = pcu_gpuarray_lent_tensor(self);
    if (lent != NULL) {
        return lent->device.id;
    }
    if (memory != NULL) {
        return pcu_context_rec(memory->ctx)->device;
    }
    if (pcu_ctx_current != NULL) {
        return pcu_ctx_current->device;
    }
    return 0;
}

pcu_dl_device
pcu_gpuarray_dl_device(pcu_gpuarray *self)
{
    pcu_dl_device device = {.type = PCU_DL_CUDA, .id = device_number(self)};
    const pcu_dlpack *lent = pcu_gpuarray_lent_tensor(self);
    if (lent != NULL) {
        return lent->device;
    }
    if (self->count != 0) {
        device.type = pcu_dlpack_device_type(self->address);
    }
    return device;
}

PyObject *
pcu_gpuarray_get_device(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    return pcu_device_new(self->st, device_number(self));
}

typedef struct {
    PyObject *device; /* borrowed, as is the other */
    PyObject *stream;
} to_device_args;

static const pcu_word to_device_words[] = {
    PCU_WORD("device", pcu_as_object, to_device_args, device),
    PCU_WORD("stream", pcu_as_object, to_device_args, stream),
};

PCU_SIGNATURE(device_to_device, to_device_words,
              "to_device($self, device, /, *, stream=None)\n"
              "--\n\n"
              "Return the array itself if it is on that device.\n"
              "\nParameters\n----------\n"
              "device : Device\n"
              "    The device.\n"
              "stream : Stream or None, optional\n"
              "    Stream that waits for the work that the current stream has\n"
              "    now.\n"
              "\nReturns\n-------\n"
              "GPUArray\n"
              "    The array.\n"
              "\nRaises\n------\n"
              "ValueError\n"
              "    If the array is on another device: make an array in a context\n"
              "    of that device, and fill it with\n"
              "    ``pycuda.driver.memcpy_peer``.\n"
              "\nExamples\n--------\n"
              ">>> x = gpuarray.zeros(3)\n"
              ">>> x.to_device(x.device) is x\n"
              "True")

static PyObject *
device_to_device(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    to_device_args a = {.stream = Py_None};
    CUstream stream = NULL;
    if (pcu_args_parse(self->st, &device_to_device_signature, args, nargs, kwnames,
                       &a) < 0 ||
        pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    if (!PyObject_TypeCheck(a.device, self->st->Device)) {
        PyErr_Format(PyExc_ValueError,
                     "to_device() takes a pycuda.driver.Device, not %R", a.device);
        return NULL;
    }
    int number = device_number(self);
    if (pcu_device_handle(a.device) != number) {
        PyErr_Format(PyExc_ValueError,
                     "the array is on device %d, not on device %d: make an array in a "
                     "context of that device and fill it with memcpy_peer()",
                     number, (int)pcu_device_handle(a.device));
        return NULL;
    }
    if (a.stream != Py_None &&
        (pcu_as_stream(self->st, a.stream, &stream, "stream") < 0 ||
         pcu_stream_order(self->st, pcu_stream_current(), stream) < 0)) {
        return NULL;
    }
    return Py_NewRef(op);
}

PyDoc_STRVAR(
    device_array_namespace_doc,
    "__array_namespace__($self, /, *, api_version=None)\n--\n\n"
    "Return pycuda.array_api, the functions of the Python array API standard.\n\n"
    "ValueError for a version of the standard that it does not implement.");

static PyObject *
device_array_namespace(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames)
{
    return pcu_gpuarray_forward(op, "pycuda.array_api", "_namespace_of", args, nargs,
                                kwnames);
}

PyMethodDef pcu_device_methods[] = {
    PCU_METHOD("to_device", device_to_device),
    PCU_METHOD("__array_namespace__", device_array_namespace),
    {NULL, NULL, 0, NULL},
};
