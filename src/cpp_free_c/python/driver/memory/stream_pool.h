/* The struct of MemoryPool, and what its files share.
 *
 * Invariant: a pool that this object made is destroyed after its last allocation was
 * freed, since allocations hold the pool. Pools of the device are never destroyed.
 * Callers: stream_pool.c and the files that add methods to MemoryPool. */
#ifndef PYTHON_DRIVER_MEMORY_STREAM_POOL_H
#define PYTHON_DRIVER_MEMORY_STREAM_POOL_H

#include "python/driver/memory/pool_struct.h"

typedef struct {
    pcu_memory_pool base;
    CUdevice device; /* that has the memory */
    int owned;       /* this object destroys the pool */
} pcu_stream_pool;

/* An object without a pool, in the current context. */
PCU_HIDDEN PCU_NEWREF pcu_stream_pool *pcu_stream_pool_new(PyTypeObject *type);

/* Own a pool of the driver. This cannot fail. */
PCU_HIDDEN void pcu_stream_pool_adopt(pcu_stream_pool *self, CUmemoryPool handle,
                                      CUdevice device);

/* Raise unless the object has a pool. */
PCU_HIDDEN PCU_RAISES int pcu_stream_pool_check(pcu_stream_pool *self,
                                                const char *routine);

#define STREAM_POOL_METHOD(name, flags)                                \
    {                                                                  \
#        name, (PyCFunction)(void (*)(void))stream_pool_##name, flags, \
            stream_pool_##name##_doc                                   \
    }

#endif
