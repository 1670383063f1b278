/* Linking: what is done with all modules of a load between parsing and lowering. Called
 * by program.c. */
#ifndef DEVICE_COMPILE_LINK_H
#define DEVICE_COMPILE_LINK_H

#include "device/ptx/ir.h"

/* -- the symbols of a program ------------------------------------------------------ */

/* The definition of each name, and the initialisers of variables, which may hold
 * addresses. */

/* Removes the modules of libraries that define nothing that the others need. If all are
 * of libraries, all stay. Returns the first of those that stay. */
ptx_module *emu_symbols_choose(ptx_module *modules);
/* Sets `same` of each declaration to its definition, in whichever module it is. */
void emu_symbols_link(emu_load *load, ptx_module *modules);
/* Writes the initialisers of a module's variables into their memory, at `address`. */
void emu_symbols_initialise(emu_load *load, ptx_module *module);

/* -- what functions refer to: other functions, and shared variables ---------------- */

/* Set once; then the places and sizes below walk over it for each kernel. */

typedef void (*emu_operand_visit)(void *data, ptx_operand *operand);

/* Sets the references of all functions. Must come before the walks. */
void emu_references_collect(emu_load *load, ptx_module *modules);

/* -- the places of shared variables in the shared memory of a block ---------------- */

/* A device function has one code for all kernels, so the variables that it uses have
 * the same place in all kernels. Each kernel places its other variables behind these.
 */

/* What the walks of one load share. Begin with zeros. */
typedef struct {
    bool in_functions;    /* a device function uses a shared variable */
    ptx_function **queue; /* memory that the walks use one after the other */
    size_t room;
} emu_shared_state;

/* Places the shared variables that device functions use, and sets their in_function. */
void emu_shared_place_common(emu_load *load, ptx_module *modules,
                             emu_shared_state *state);
/* Places the other shared variables of one kernel. *size is the end of all that the
 * kernel can reach. Returns the start of dynamic shared memory. */
uint64_t emu_shared_place_kernel(emu_load *load, ptx_function *kernel,
                                 ptx_module *modules, emu_shared_state *state,
                                 uint64_t *size);

/* -- the stack that each function needs -------------------------------------------- */

/* Sets stack_size and unbounded of all functions from the calls between them. */
void emu_stack_sizes(ptx_module *modules);

#endif
