/* The kernels and variables of a loaded program, by name or by index. Called by
 * device/api. */
#ifndef DEVICE_COMPILE_PROGRAM_LOOKUP_H
#define DEVICE_COMPILE_PROGRAM_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

#include "device/compile/code.h"

/* -- kernels ----------------------------------------------------------------------- */

/* The kernel of a name, or NULL. */
const emu_kernel *emu_program_kernel(const emu_program *program, const char *name);
size_t emu_program_kernel_count(const emu_program *program);
/* Kernels in the order of the texts; NULL past the end. */
const emu_kernel *emu_program_kernel_at(const emu_program *program, size_t index);
const emu_kernel_info *emu_kernel_get_info(const emu_kernel *kernel);

/* -- variables --------------------------------------------------------------------- */

/* Finds a .global or .const variable. Returns 1 and sets address and size, or 0. */
int emu_program_variable(const emu_program *program, const char *name,
                         uint64_t *address, size_t *size);
/* The same for a variable of type .surfref (`surface` is not 0) or .texref.
 * emu_program_variable does not find these. */
int emu_program_reference(const emu_program *program, const char *name, int surface,
                          uint64_t *address);

#endif
