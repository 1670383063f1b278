/* Allocating from a pool without a Python call, for the C types that hold device
 * memory.
 *
 * An allocation costs no call of the driver while the pool holds a block of the bin,
 * and no Python code runs. The interpreter lock is held throughout; a pool has no
 * other.
 *
 * There is no tracking of streams, as there is none in PyCUDA: a block that was given
 * back is handed out again at once, also while work that was queued before still uses
 * it. That is right within one stream, whose work runs in order, and for streams that
 * are ordered by events. A program that gives a block back while another stream uses it
 * must order the two. */
#ifndef PYTHON_DRIVER_MEMORY_POOL_H
#define PYTHON_DRIVER_MEMORY_POOL_H

#include "python/support/base.h"

#include "python/support/args.h"

/* size bytes of a DeviceMemoryPool (of exactly that type or derived), as
 * pool.allocate(size) of that type gives them: a PooledDeviceAllocation, whose
 * ((pcu_resource *)result)->handle.memory is the address. 0 bytes are a block too.
 *
 * Short of memory, garbage is collected, then held blocks are released, the largest
 * first, then it is MemoryError; only then Python code (finalizers) may run. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_pool_alloc(PyObject *pool, size_t size);

/* size bytes of whatever a program calls an allocator: a DeviceMemoryPool, its bound
 * method allocate (both without a Python call), or anything that can be called with a
 * number of bytes. The result of the last is whatever was returned, which need not be a
 * pcu_resource: look at its type. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_allocate(pcu_state *st, PyObject *allocator,
                                             size_t size);

/* An allocator of arrays, a borrowed PyObject *: None, a DeviceMemoryPool, or what can
 * be called. TypeError for all else. */
PCU_CONVERTER(pcu_as_allocator);

#endif
