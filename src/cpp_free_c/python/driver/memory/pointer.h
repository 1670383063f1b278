/* The converter of device addresses. Callers: every function that takes device memory.
 * Invariant: see pointer.c. */
#ifndef PYTHON_DRIVER_MEMORY_POINTER_H
#define PYTHON_DRIVER_MEMORY_POINTER_H

#include "python/support/base.h"

#include "python/support/args.h"

/* Converter: CUdeviceptr, from an int, an allocation, a pointer holder, an array in
 * managed memory, or an object with gpudata. */
PCU_CONVERTER(pcu_as_pointer);

#endif
