/* Memory pools: what stream-ordered allocations come from.
 *
 * A pool belongs to a device and to no context. Call all functions with the API lock
 * held. */
#ifndef DEVICE_API_MEMORY_POOL_H
#define DEVICE_API_MEMORY_POOL_H

#include "device/base/device.h"
#include "device/memory/memory.h"

typedef struct CUmemPoolHandle_st emu_pool;

/* The pool that a device uses now; NULL: out of memory. */
emu_pool *emu_pool_current(emu_device *device);

/* Allocate from a pool for a context. */
CUresult emu_pool_allocate(emu_pool *pool, emu_context *context, size_t size,
                           CUdeviceptr *out);

/* Whether an allocation is from a pool. */
bool emu_pool_has(const emu_allocation *allocation);
/* Whether the pool is of a device, not of host or managed memory. */
bool emu_pool_is_of_device(const emu_pool *pool);

/* An allocation of a pool is about to be freed. */
void emu_pool_forget(const emu_allocation *allocation);

/* Make a pool that stands for one of another process; NULL: out of memory. */
emu_pool *emu_pool_new_imported(emu_device *device);
bool emu_pool_is_imported(const emu_pool *pool);
/* Where the file is that names the pool to other processes (-1: none yet). NULL: the
 * pool was not made for that. */
int *emu_pool_file(emu_pool *pool);
int emu_pool_device(const emu_pool *pool);
/* Whether the pool was exported. As on a GPU, only then its pointers can be. */
bool emu_pool_is_exported(const emu_pool *pool);

/* The pools that programs made and have not destroyed. */
size_t emu_pool_count(void);

#endif
