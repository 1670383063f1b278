/* Packing and launching: see call_launch.h. */
#include "python/array/type/call_launch.h"

#include "python/driver/launch/launch.h"

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
        int known = 1;
        if (arguments->uses[i] == PCU_USE_SCALAR) {
            continue;
        }
        known = pcu_kernel_arguments_address(arguments, i, &address);
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
