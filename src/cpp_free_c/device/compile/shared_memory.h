/* The places of shared variables in the shared memory of a block. Called by program.c
 * before lowering.
 *
 * A device function has one code for all kernels, so the variables that it uses have
 * the same place in all kernels. Each kernel places its other variables behind these.
 */
#ifndef DEVICE_COMPILE_SHARED_MEMORY_H
#define DEVICE_COMPILE_SHARED_MEMORY_H

#include "device/ptx/ir.h"

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

#endif
