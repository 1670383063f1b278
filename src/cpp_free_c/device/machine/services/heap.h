/* The heap of device malloc: blocks that kernels of a context allocate and free.
 *
 * Each block is an allocation of the context. The context's limit
 * CU_LIMIT_MALLOC_HEAP_SIZE bounds their sum. Called by the services of kernels. */
#ifndef DEVICE_MACHINE_SERVICES_HEAP_H
#define DEVICE_MACHINE_SERVICES_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/cuda_abi.h"

/* The address of a new block; 0 if there is no memory, or for a size of 0. */
uint64_t emu_heap_allocate(CUcontext context, uint64_t size);
/* Free a block. False if the address is no live block of the context's heap. */
bool emu_heap_free(CUcontext context, uint64_t address);

#endif
