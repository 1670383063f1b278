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

/* The bytes that a GPU's driver gives for an allocation: until there, no other one
 * begins, and an access does not fail. Seen on an H200 with driver 580: small
 * allocations, and those of a pool of the driver, begin at multiples of 512; others
 * over 2 MiB have pages of 2 MiB, behind which the next access fails. */
static size_t
allocated_size(size_t size, bool is_of_pool)
{
    const size_t page = (size_t)2 << 20;
    size_t unit = 512;
    if (size > page && !is_of_pool) {
        unit = page;
    }
    return (size + unit - 1) / unit * unit;
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
    CUdeviceptr base = 0;
    CUmemoryPool pool = NULL;
    size_t size = 0;
    if (pcu_as_address(arg, &address, "pointer") < 0 ||
        pcu_context_launch_borrow(pcu_state_of_module(m)) == NULL) {
        return NULL;
    }
    CUdeviceptr pointer = (CUdeviceptr)address;
    if (drv.MemGetAddressRange(&base, &size, pointer) != CUDA_SUCCESS) {
        Py_RETURN_NONE;
    }
    /* A driver that has no such attribute has no pools of its own. */
    (void)drv.PointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, pointer);
    return Py_BuildValue("(KK)", (unsigned long long)base,
                         base + allocated_size(size, pool != NULL));
}

PyDoc_STRVAR(use_rest_doc,
             "_use_rest($module, pointer, /)\n--\n\n"
             "Let the software device permit accesses behind an allocation, as a GPU "
             "does.");

static PyObject *
use_rest(PyObject *m, PyObject *arg)
{
    unsigned long long address = 0;
    CUdeviceptr base = 0;
    size_t size = 0;
    if (pcu_as_address(arg, &address, "pointer") < 0 ||
        pcu_context_launch_borrow(pcu_state_of_module(m)) == NULL) {
        return NULL;
    }
    if (pcu_drv_info.device != NULL &&
        drv.MemGetAddressRange(&base, &size, (CUdeviceptr)address) == CUDA_SUCCESS) {
        pcu_drv_info.device->use_rest(base);
    }
    Py_RETURN_NONE;
}

PyMethodDef pcu_pointer_facts_functions[] = {
    {"_pointer_facts", pointer_facts, METH_O, pointer_facts_doc},
    {"_allocated", allocated, METH_O, allocated_doc},
    {"_use_rest", use_rest, METH_O, use_rest_doc},
    {NULL, NULL, 0, NULL},
};
