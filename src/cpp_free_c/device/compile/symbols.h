/* The symbols of a program: the definition of each name, the places of shared
 * variables, the calls between functions. Used by program.c between parsing and
 * lowering. */
#ifndef DEVICE_COMPILE_SYMBOLS_H
#define DEVICE_COMPILE_SYMBOLS_H

#include "device/compile/code.h"
#include "device/ptx/ir.h"

/* Sets `same` of each declaration to its definition, in whichever module it is. */
void emu_symbols_link(emu_load *load, ptx_module *modules);
/* Writes the initialisers of a module's variables into their memory, at `address`. */
void emu_symbols_initialise(emu_load *load, ptx_module *module);

/* Places the shared variables that device functions refer to, which have the same place
 * in all kernels. Sets their in_function. */
void emu_shared_place_common(emu_load *load, ptx_module *modules);
/* Places the other shared variables of one kernel; *size is the end of all. Returns the
 * start of dynamic shared memory. */
uint64_t emu_shared_place_kernel(emu_load *load, ptx_function *kernel,
                                 ptx_module *modules, uint64_t *size);
/* Sets stack_size and unbounded of all functions from the calls between them. */
void emu_stack_sizes(ptx_module *modules);

/* Calls `call` for each operand of a function's instructions, nested ones too. */
typedef void (*emu_operand_visit)(void *data, ptx_operand *operand);
void emu_operands_walk(ptx_function *function, emu_operand_visit visit, void *data);

#endif
