/* Allocation from a DeviceMemoryPool, without a Python call, for the C types that hold
 * device memory.
 *
 * While the pool holds a block of the bin, an allocation calls neither the driver nor
 * Python code. The interpreter lock is held throughout; a pool has no other lock.
 *
 * Invariant: a block is given out again only to work that runs behind its last use. See
 * driver/stream_use.h. */
#ifndef PYTHON_DRIVER_MEMORY_POOL_H
#define PYTHON_DRIVER_MEMORY_POOL_H

#include "python/support/base.h"

#include "python/support/args.h"

/* Allocate `size` bytes from a DeviceMemoryPool or an instance of a subclass, as
 * DeviceMemoryPool.allocate does. The result is a PooledDeviceAllocation;
 * ((pcu_resource *)result)->handle.memory is its address. A request of 0 bytes gets a
 * block too.
 *
 * If memory is short, garbage is collected, then held blocks are released, the largest
 * first, then MemoryError is raised. Only then Python code (finalizers) may run. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_pool_alloc(PyObject *pool, size_t size);

/* Allocate `size` bytes from an allocator of a program: a DeviceMemoryPool, its bound
 * method `allocate` (both without a Python call), or any callable that takes a number
 * of bytes. A callable may return any object, so the caller checks the type. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_allocate(pcu_state *st, PyObject *allocator,
                                             size_t size);

/* 1 if the allocator, which may be NULL, is one of this package: the default one,
 * mem_alloc, a DeviceMemoryPool or its method. */
PCU_HIDDEN int pcu_allocator_is_ours(pcu_state *st, PyObject *allocator);

/* The pool of a graph, in a context. Its blocks are not released while a capture is
 * active, and stay with the graph. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_pool_of_graph_new(pcu_state *st, PyObject *ctx);

/* Converter: PyObject *, borrowed: None, a DeviceMemoryPool, or a callable. All other
 * values are TypeError. */
PCU_CONVERTER(pcu_as_allocator);

#endif
