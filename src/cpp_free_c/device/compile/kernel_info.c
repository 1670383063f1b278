/* The description of kernels. See kernel_info.h. */
#include "device/compile/kernel_info.h"

#include <string.h>

#include "device/compile/lower.h"

enum {
    MAX_REGISTERS = 255,
    REGISTERS_PER_BLOCK = 65536,
    MAX_THREADS = 1024,
    MAX_PARAMETER_BYTES = 1 << 16,
    EXTRA_REGISTERS = 8 /* for what a compiler adds, such as addresses */
};

/* -- parameters -------------------------------------------------------------------- */

void
emu_kernel_place_parameters(emu_load *load, ptx_function *function,
                            emu_kernel_info *info)
{
    emu_param *params;
    size_t count = 0, top = 0;

    for (const ptx_var *var = function->params; var != NULL; var = var->next) {
        count++;
    }
    params = emu_arena_get(load, &load->keep, count, sizeof *params);
    info->params = params;
    info->param_count = count;
    for (ptx_var *var = function->params; var != NULL; var = var->next, params++) {
        if (var->space != PTX_SPACE_PARAM) {
            emu_load_fail(load, EMU_LOAD_INVALID_PTX, function->line,
                          "a parameter of the kernel %s is a register",
                          function->name->text);
        }
        top = (top + var->align - 1) & ~((size_t)var->align - 1);
        var->address = top;
        params->offset = top;
        params->size = (size_t)var->size;
        params->align = var->align;
        top += (size_t)var->size;
        if (top > MAX_PARAMETER_BYTES) {
            emu_load_fail(load, EMU_LOAD_INVALID_PTX, function->line,
                          "the parameters of %s are too large", function->name->text);
        }
    }
    info->params_size = top;
}

/* -- limits ------------------------------------------------------------------------ */

/* The block size that the text names; all zeros if it names none. */
static const unsigned *
kernel_block_bound(const ptx_function *function)
{
    if (function->req_ntid[0] != 0) {
        return function->req_ntid;
    }
    return function->max_ntid;
}

/* The threads of a block of this size, at most MAX_THREADS. */
static unsigned
kernel_block_threads(const unsigned size[3])
{
    uint64_t count = (uint64_t)size[0] * size[1];

    if (count <= MAX_THREADS) {
        count *= size[2];
    }
    if (count > MAX_THREADS) {
        return MAX_THREADS;
    }
    return (unsigned)count;
}

static unsigned
kernel_lesser(unsigned a, unsigned b)
{
    if (a < b) {
        return a;
    }
    return b;
}

/* The number of registers to report: what a compiler would need, within all limits. The
 * software device has no shortage of registers. A block of `threads` threads must
 * therefore be able to run, if `threads` is not 0. */
static unsigned
kernel_count_registers(const ptx_function *function, unsigned max_registers,
                       unsigned threads)
{
    unsigned count = function->code->registers + EXTRA_REGISTERS;

    if (threads > 0) {
        count = kernel_lesser(count, REGISTERS_PER_BLOCK / threads);
    }
    if (function->max_nreg > 0) {
        count = kernel_lesser(count, function->max_nreg);
    }
    if (max_registers > 0) {
        count = kernel_lesser(count, max_registers);
    }
    return kernel_lesser(count, MAX_REGISTERS);
}

void
emu_kernel_describe(const ptx_function *function, unsigned max_registers,
                    emu_kernel_info *info)
{
    const unsigned *bound = kernel_block_bound(function);

    info->name = function->code->name;
    memcpy(info->max_ntid, function->max_ntid, sizeof info->max_ntid);
    memcpy(info->req_ntid, function->req_ntid, sizeof info->req_ntid);
    memcpy(info->req_cluster, function->req_cluster, sizeof info->req_cluster);
    info->max_threads = MAX_THREADS;
    if (bound[0] != 0) {
        info->max_threads = kernel_block_threads(bound);
    }
    info->registers =
        kernel_count_registers(function, max_registers, info->max_threads);
    if (function->code->local_size > LOW_ENTRY_ROOM) {
        info->local_size = function->code->local_size - LOW_ENTRY_ROOM;
    }
    info->ptx_version = function->module->version;
    info->target = function->module->target;
}
