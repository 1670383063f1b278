/* Walks over the operands and calls of parsed functions. Used by shared_memory.c and
 * stack_size.c. */
#ifndef DEVICE_COMPILE_CALL_GRAPH_H
#define DEVICE_COMPILE_CALL_GRAPH_H

#include "device/ptx/ir.h"

typedef void (*emu_operand_visit)(void *data, ptx_operand *operand);

/* Calls `visit` for each operand of a function's instructions, nested ones too. */
void emu_operands_walk(ptx_function *function, emu_operand_visit visit, void *data);
/* Whether a call in the function names no function: it may reach any function. */
bool emu_calls_through_pointers(const ptx_function *function);
/* The definition of a function. */
ptx_function *emu_function_definition(ptx_function *function);

#endif
