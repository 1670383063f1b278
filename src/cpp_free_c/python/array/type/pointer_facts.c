/* What the driver knows of an address: its context, device and kind of memory, and the
 * memory that may be used around it. */

#include "python/array/type/members.h"

#include "python/array/memory.h"
#include "python/support/convert.h"
#include "python/support/errors.h"
#include "python/driver/context.h"

PyDoc_STRVAR(
    pointer_facts_doc,
    "_pointer_facts($module, pointer, /)\n--\n\n"
    "Return (context, device, memory type, managed) of an address, or None.\n\n"
    "None means that the driver does not know the address. The context is a handle, "
    "or\n"
    "0 for memory without a context. The memory type is 1 for host memory, 2 for "
    "device\n"
    "memory.");

/* Ask for an attribute of a pointer: 1 if it has a value, 0 if not, -1 on error. */
static int
pointer_attribute(pcu_state *st, void *value, CUpointer_attribute attribute,
                  CUdeviceptr pointer)
{
    CUresult status = drv.PointerGetAttribute(value, attribute, pointer);
    if (status == CUDA_ERROR_INVALID_VALUE) {
        return 0;
    }
    if (status != CUDA_SUCCESS) {
        return pcu_raise(st, "cuPointerGetAttribute", status);
    }
    return 1;
}

static PyObject *
pointer_facts(PyObject *m, PyObject *arg)
{
    pcu_state *st = pcu_state_of_module(m);
    unsigned long long address = 0;
    CUcontext context = NULL;
    unsigned int type = 0;
    int number = -1;
    int managed = 0;
    if (pcu_as_address(arg, &address, "pointer") < 0 ||
        pcu_context_launch_borrow(st) == NULL) {
        return NULL;
    }
    CUdeviceptr pointer = (CUdeviceptr)address;
    int known = pointer_attribute(st, &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer);
    if (known < 0) {
        return NULL;
    }
    if (known == 0) {
        Py_RETURN_NONE;
    }
    /* memory of the driver's own pools has no context */
    if (pointer_attribute(st, &context, CU_POINTER_ATTRIBUTE_CONTEXT, pointer) < 0 ||
        pointer_attribute(st, &number, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer) <
            0 ||
        pointer_attribute(st, &managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, pointer) < 0) {
        return NULL;
    }
    return Py_BuildValue("(KiIN)", (unsigned long long)(uintptr_t)context, number, type,
                         PyBool_FromLong(managed));
}

PyDoc_STRVAR(
    allocated_doc,
    "_allocated($module, pointer, /)\n--\n\n"
    "Return the addresses (begin, end) that the driver gave to an allocation.\n\n"
    "It rounds sizes up, so the end may be behind the size that was asked for. None "
    "if\n"
    "the address is in no allocation.");

static PyObject *
allocated(PyObject *m, PyObject *arg)
{
    unsigned long long address = 0;
    CUdeviceptr begin = 0;
    CUdeviceptr end = 0;
    if (pcu_as_address(arg, &address, "pointer") < 0 ||
        pcu_context_launch_borrow(pcu_state_of_module(m)) == NULL) {
        return NULL;
    }
    if (!pcu_memory_allocated((CUdeviceptr)address, &begin, &end)) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("(KK)", (unsigned long long)begin, (unsigned long long)end);
}

PyDoc_STRVAR(use_rest_doc,
             "_use_rest($module, pointer, /)\n--\n\n"
             "Let the software device permit accesses behind an allocation, as a GPU "
             "does.");

static PyObject *
use_rest(PyObject *m, PyObject *arg)
{
    unsigned long long address = 0;
    if (pcu_as_address(arg, &address, "pointer") < 0 ||
        pcu_context_launch_borrow(pcu_state_of_module(m)) == NULL) {
        return NULL;
    }
    pcu_memory_use_rest((CUdeviceptr)address);
    Py_RETURN_NONE;
}

PyMethodDef pcu_pointer_facts_functions[] = {
    {"_pointer_facts", pointer_facts, METH_O, pointer_facts_doc},
    {"_allocated", allocated, METH_O, allocated_doc},
    {"_use_rest", use_rest, METH_O, use_rest_doc},
    {NULL, NULL, 0, NULL},
};
