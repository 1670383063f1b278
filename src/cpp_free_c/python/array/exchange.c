/* What pycuda.interop asks of the driver: what a pointer of another library is, and to
 * wait for a stream of it. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/support/errors.h"
#include "python/array/gpuarray.h"

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
