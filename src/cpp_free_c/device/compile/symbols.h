/* Symbols of a program: which definition a name means, where variables lie, who calls
 * whom. Used by program.c between parsing and lowering. */
#ifndef DEVICE_COMPILE_SYMBOLS_H
#define DEVICE_COMPILE_SYMBOLS_H

#include "device/compile/code.h"
#include "device/ptx/ir.h"

/* Joins declarations with their definitions across all modules. */
void emu_symbols_link(emu_load *load, ptx_module *modules);
/* Writes the initialisers of a module's variables into their memory, which `address`
 * of each names. */
void emu_symbols_initialise(emu_load *load, ptx_module *module);

/* Places the shared variables that device functions refer to: the same place in all
 * kernels. Marks them in_function. */
void emu_shared_place_common(emu_load *load, ptx_module *modules);
/* Places the others for one kernel: their end is *size; where dynamic shared memory
 * begins is the result. */
uint64_t emu_shared_place_kernel(emu_load *load, ptx_function *kernel,
                                 ptx_module *modules, uint64_t *size);
/* Fills stack_size and unbounded of all functions from who calls whom. */
void emu_stack_sizes(ptx_module *modules);

/* Calls `call` for each operand of a function's instructions, nested ones too. */
typedef void (*emu_operand_visit)(void *data, ptx_operand *operand);
void emu_operands_walk(ptx_function *function, emu_operand_visit visit, void *data);

#endif
