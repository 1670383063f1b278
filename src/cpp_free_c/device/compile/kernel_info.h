/* What the driver reports about a kernel: its parameters, limits and sizes.
 *
 * Called by program.c while it compiles a kernel. The driver's calls read the record,
 * emu_kernel_info, which is in code.h. */
#ifndef DEVICE_COMPILE_KERNEL_INFO_H
#define DEVICE_COMPILE_KERNEL_INFO_H

#include "device/compile/code.h"
#include "device/ptx/ir.h"

/* Places the parameters of a kernel in the packed block and describes them. Lowering
 * needs the places. */
void emu_kernel_place_parameters(emu_load *load, ptx_function *function,
                                 emu_kernel_info *info);
/* Sets the name, the limits and the sizes of a kernel whose code is complete, except
 * shared_size and const_size. `max_registers` is the limit of the load, or 0. */
void emu_kernel_describe(const ptx_function *function, unsigned max_registers,
                         emu_kernel_info *info);

#endif
