/* The arguments of a call: checks, packing, the launch. See kernel_call.h. */
#include "python/array/type/kernel_call.h"

#include "python/array/element_type.h"
#include "python/array/memory.h"
#include "python/array/type/plain_array.h"
#include "python/driver/context.h"
#include "python/driver/resource.h"

/* -- arguments --------------------------------------------------------------------- */

/* Whether the elements of the array are certainly what the kernel declares. Integers
 * may have another sign. */
static bool
argument_matches(const pcu_gpuarray *array, PyArray_Descr *declared)
{
    if (array->dtype == declared) {
        return true;
    }
    int type = pcu_type_of_dtype(declared);
    if (!pcu_type_is_number(type)) {
        return false;
    }
    if (!pcu_type_is_integer(type)) {
        return type == array->type;
    }
    return pcu_type_is_integer(array->type) &&
           PyDataType_ELSIZE(declared) == PyDataType_ELSIZE(array->dtype);
}

static bool
argument_accepts(const pcu_kernel_arguments *call, const pcu_gpuarray *array,
                 PyObject *declared, int use)
{
    return array->dtype != NULL && pcu_gpuarray_is_plain(array) &&
           PyArray_DescrCheck(declared) &&
           (array->contiguous & call->first->contiguous) != 0 &&
           (use != PCU_USE_ELEMENTS || array->count >= call->extent) &&
           argument_matches(array, (PyArray_Descr *)declared);
}

/* Whether the memory of the array belongs to another context than the current one. */
static bool
argument_is_elsewhere(const pcu_gpuarray *array)
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
    bool is_view = array->gpudata == NULL; /* else the memory is checked when packed */
    if ((is_view || !array->inside || argument_is_elsewhere(array)) &&
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

/* -- launches ---------------------------------------------------------------------- */

/* Write the bytes of an address or a number of this file. The host is little-endian. */
static void
launch_put_word(const pcu_prepared *plan, Py_ssize_t i, uint64_t word,
                unsigned char *block)
{
    memcpy(block + plan->items[i].offset, &word,
           Py_MIN(plan->items[i].size, sizeof(word)));
}

/* Write all values. 1 if done, 0 if Python has to handle the call, -1 on error. The
 * addresses come last: converting a number may run code that frees an array. */
static int
launch_put_values(const pcu_call_run *run, const pcu_call_launch *launch,
                  const pcu_prepared *plan, unsigned char *block)
{
    pcu_function *function = (pcu_function *)launch->function;
    const pcu_kernel_arguments *arguments = &run->arguments;
    for (Py_ssize_t i = 0; i < arguments->count; i++) {
        if (arguments->uses[i] == PCU_USE_SCALAR &&
            pcu_prepared_put(function, plan, launch->leading + i, arguments->args[i],
                             block) < 0) {
            return -1;
        }
    }
    for (Py_ssize_t i = 0; i < arguments->count; i++) {
        CUdeviceptr address = 0;
        if (arguments->uses[i] == PCU_USE_SCALAR) {
            continue;
        }
        int known = pcu_kernel_arguments_address(arguments, i, &address);
        if (known <= 0) {
            return known;
        }
        launch_put_word(plan, launch->leading + i, address, block);
    }
    for (int i = 0; i < launch->leading; i++) {
        launch_put_word(plan, i, launch->addresses[i], block);
    }
    for (int i = 0; i < launch->trailing; i++) {
        launch_put_word(plan, launch->leading + arguments->count + i,
                        launch->numbers[i], block);
    }
    return 1;
}

/* Pack the parameters by a plan that the caller holds. Returns what launch_put_values
 * returns. */
static int
launch_pack(const pcu_call_run *run, const pcu_call_launch *launch,
            const pcu_prepared *plan, pcu_argument_buffer *buffer)
{
    pcu_function *function = (pcu_function *)launch->function;
    if (plan->count != launch->leading + run->arguments.count + launch->trailing ||
        function->texrefs != NULL) {
        return 0;
    }
    if (!function->described && pcu_function_describe(function) < 0) {
        return -1;
    }
    unsigned char *block = pcu_argument_buffer_reserve(buffer, plan->size, 1);
    if (block == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memset(block, 0, plan->size);
    return launch_put_values(run, launch, plan, block);
}

int
pcu_call_enqueue(const pcu_call_run *run, const pcu_call_launch *launch)
{
    pcu_function *function = (pcu_function *)launch->function;
    pcu_argument_buffer buffer;
    pcu_prepared *plan = function->prepared;
    if (plan == NULL) {
        return 0;
    }
    pcu_argument_buffer_init(&buffer);
    plan->references++;
    int rc = launch_pack(run, launch, plan, &buffer);
    pcu_prepared_release(plan);
    if (rc > 0 &&
        pcu_launch_run(function, &launch->shape, buffer.data, buffer.used) < 0) {
        rc = -1;
    }
    pcu_argument_buffer_free(&buffer);
    return rc;
}
