/* The memory of a GPUArray: which object keeps it alive, and whether work may use it.
 *
 * Invariant: no work is enqueued on an array that pcu_gpuarray_check has not passed.
 * Called by all files of the array rooms. */
#ifndef PYTHON_ARRAY_MEMORY_H
#define PYTHON_ARRAY_MEMORY_H

#include "python/driver/memory/gpuarray.h"
#include "python/driver/resource.h"

/* Allocate memory for the layout that the array has. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_allocate(pcu_gpuarray *self);

/* Use gpudata as the memory: take its address and hold the object that keeps it alive.
 * is_new: the array is in its __init__, so an array as its base owns the address. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_adopt(pcu_gpuarray *self, PyObject *gpudata,
                                             bool is_new);

/* Drop the memory. */
PCU_HIDDEN void pcu_gpuarray_forget_memory(pcu_gpuarray *self);

/* 0 if no element lies outside the memory, as far as its size is known; else ValueError
 * with the sizes. If the driver gave the memory behind it, too, warn: see pcu_forgive.
 */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_check_inside(pcu_gpuarray *self);

/* The same for an argument of a program's kernel, which may use a part of the array:
 * warn whatever the driver gave. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_check_launch(pcu_gpuarray *self);

/* Find the memory that the driver gave to the allocation of an address. Return false if
 * there is none. */
PCU_HIDDEN bool pcu_memory_allocated(CUdeviceptr pointer, CUdeviceptr *begin,
                                     CUdeviceptr *end);

/* Let the software device permit accesses behind an allocation, as a GPU does. */
PCU_HIDDEN void pcu_memory_use_rest(CUdeviceptr pointer);

/* 0 if work in ctx (NULL: any context) may use the array: it is initialised, and its
 * memory is alive, of that context and large enough. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_check(pcu_gpuarray *self,
                                             const pcu_context *ctx);

/* The same for work in the current context. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_check_current(pcu_gpuarray *self);

/* The allocation of ours that the array lies in; NULL: memory of others. */
PCU_HIDDEN PCU_BORROWED pcu_resource *pcu_gpuarray_allocation(const pcu_gpuarray *self);

#endif
