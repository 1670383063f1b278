/* What parsed functions refer to: other functions, and shared variables. Used by
 * shared_memory.c and stack_size.c, which walk over it once for each kernel. */
#ifndef DEVICE_COMPILE_CALL_GRAPH_H
#define DEVICE_COMPILE_CALL_GRAPH_H

#include "device/ptx/ir.h"

typedef void (*emu_operand_visit)(void *data, ptx_operand *operand);

/* Sets the references of all functions. Must come before the walks. */
void emu_references_collect(emu_load *load, ptx_module *modules);
/* Calls `visit` for each operand of a function that is a function or a shared variable,
 * in the order of the text. */
void emu_references_walk(ptx_function *function, emu_operand_visit visit, void *data);
/* The definition of a function. */
ptx_function *emu_function_definition(ptx_function *function);

#endif
