/* The stack that each function needs. Called by program.c before lowering. */
#ifndef DEVICE_COMPILE_STACK_SIZE_H
#define DEVICE_COMPILE_STACK_SIZE_H

#include "device/ptx/ir.h"

/* Sets stack_size and unbounded of all functions from the calls between them. */
void emu_stack_sizes(ptx_module *modules);

#endif
