/* The arguments of a call of a program's own kernel: see kernel_arguments.h. */

#include "python/array/type/kernel_arguments.h"

#include "python/array/element_type.h"
#include "python/array/memory.h"
#include "python/array/type/plain_array.h"
#include "python/driver/context.h"
#include "python/driver/resource.h"

/* 1 if the elements of the array are certainly what the kernel declares. Integers may
 * have another sign. */
static int
argument_matches(const pcu_gpuarray *array, PyArray_Descr *declared)
{
    if (array->dtype == declared) {
        return 1;
    }
    int type = pcu_type_of_dtype(declared);
    if (!pcu_type_is_number(type)) {
        return 0;
    }
    if (!pcu_type_is_integer(type)) {
        return type == array->type;
    }
    return pcu_type_is_integer(array->type) &&
           PyDataType_ELSIZE(declared) == PyDataType_ELSIZE(array->dtype);
}

static int
argument_accepts(const pcu_kernel_arguments *call, const pcu_gpuarray *array,
                 PyObject *declared, int use)
{
    return array->dtype != NULL && pcu_gpuarray_is_plain(array) &&
           PyArray_DescrCheck(declared) &&
           (array->contiguous & call->first->contiguous) != 0 &&
           (use != PCU_USE_ELEMENTS || array->count >= call->extent) &&
           argument_matches(array, (PyArray_Descr *)declared);
}

/* 1 if the memory of the array belongs to another context than the current one. */
static int
gather_is_elsewhere(const pcu_gpuarray *array)
{
    const pcu_resource *memory = pcu_gpuarray_allocation(array);
    return memory != NULL && pcu_context_rec(memory->ctx) != pcu_ctx_current;
}

int
pcu_kernel_arguments_check(const pcu_kernel_arguments *call, Py_ssize_t i)
{
    PyObject *value = call->args[i];
    pcu_gpuarray *array = (pcu_gpuarray *)value;
    if (!pcu_is_array(call->st, value) ||
        !argument_accepts(call, array, PyTuple_GET_ITEM(call->dtypes, i),
                          call->uses[i])) {
        return 0;
    }
    int is_view = array->gpudata == NULL; /* else the memory is checked when packed */
    if ((is_view || !array->inside || gather_is_elsewhere(array)) &&
        pcu_gpuarray_check_current(array) < 0) {
        return -1;
    }
    return 1;
}

int
pcu_kernel_arguments_address(const pcu_kernel_arguments *call, Py_ssize_t i,
                             CUdeviceptr *address)
{
    int known = pcu_kernel_arguments_check(call, i);
    if (known <= 0) {
        return known;
    }
    const pcu_gpuarray *array = (const pcu_gpuarray *)call->args[i];
    PyObject *memory = array->gpudata;
    *address = array->address;
    if (memory == NULL) {
        return 1; /* a view */
    }
    if (memory == Py_None) {
        *address = 0;
        return 1;
    }
    if (Py_IS_TYPE(memory, call->st->DeviceAllocation) ||
        Py_IS_TYPE(memory, call->st->PooledDeviceAllocation)) {
        *address = ((pcu_resource *)memory)->handle.memory;
        if (pcu_resource_check((pcu_resource *)memory, "cuLaunchKernel") < 0) {
            return -1;
        }
        return 1;
    }
    return PyLong_CheckExact(memory);
}
