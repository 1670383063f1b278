/* The variables of conditional nodes of graphs, which kernels set.
 *
 * A handle is a number that is never used again. Kernels pass it to
 * cudaGraphSetConditional. A variable lives as long as the graph for which its handle
 * was made or an executable graph of it. All executable graphs share it. Any thread may
 * call the functions, with or without the API lock. */
#ifndef DEVICE_MACHINE_SERVICES_CONDITIONAL_H
#define DEVICE_MACHINE_SERVICES_CONDITIONAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/cuda_abi.h"

/* Variables that a graph or an executable graph keeps alive. */
typedef struct {
    uint64_t *handles;
    size_t count;
} emu_conditionals;

/* Make a variable with the value 0 and add it to the list. `assigns`: each launch
 * begins with the default value. 0: out of memory. */
uint64_t emu_conditional_new(emu_conditionals *list, CUcontext context,
                             unsigned int value, bool assigns);
/* Keep all variables of a list alive through another list. False: out of memory. */
bool emu_conditionals_copy(emu_conditionals *to, const emu_conditionals *from);
/* Release the variables of a list and empty it. */
void emu_conditionals_drop(emu_conditionals *list);

/* Begin a launch: assign the default values. Kernels may set the variables until the
 * launch ends. */
void emu_conditionals_begin(const emu_conditionals *list);
void emu_conditionals_end(const emu_conditionals *list);

/* The context of a live variable; NULL: there is no such variable. */
CUcontext emu_conditional_context(uint64_t handle);
/* Note that a node uses the variable, or no longer. */
void emu_conditional_bind(uint64_t handle);
void emu_conditional_unbind(uint64_t handle);
bool emu_conditional_is_bound(uint64_t handle);
/* The value of a variable; 0 if there is none. */
unsigned int emu_conditional_value(uint64_t handle);
/* Set it from a kernel of the context. False: no launch of the context that runs has
 * such a variable. */
bool emu_conditional_set(uint64_t handle, CUcontext context, unsigned int value);

#endif
