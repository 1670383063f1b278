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
#include "python/driver/resource.h"

#include "driver/bins.h"
#include "driver/capture.h"
#include "driver/memory_map.h"
#include "driver/release.h"
#include "driver/stream_use.h"

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

/* Whether the allocator, which may be NULL, is one of this package: the default one,
 * mem_alloc, a DeviceMemoryPool or its method. */
PCU_HIDDEN bool pcu_allocator_is_ours(pcu_state *st, PyObject *allocator);

/* The pool of a graph, in a context. Its blocks are not released while a capture is
 * active, and stay with the graph. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_pool_of_graph_new(pcu_state *st, PyObject *ctx);

/* Converter: PyObject *, borrowed: None, a DeviceMemoryPool, or a callable. All other
 * values are None with a warning, or TypeError: see pcu_forgive. */
PCU_CONVERTER(pcu_as_allocator, PyObject *);

/* -- what the files of pools share ------------------------------------------------- */

/* The sections of the docstrings of allocate(). */
#define PCU_DOC_POOL_ALLOCATE                                                  \
    "\nParameters\n----------\n"                                               \
    "size : int\n"                                                             \
    "    Bytes to allocate.\n"                                                 \
    "\nReturns\n-------\n"                                                     \
    "PooledDeviceAllocation\n"                                                 \
    "    The memory. Its contents are undefined.\n"                            \
    "\nRaises\n------\n"                                                       \
    "MemoryError\n"                                                            \
    "    If memory is short, also after a collection of garbage and without\n" \
    "    held blocks. The text has the sizes.\n"                               \
    "LogicError\n"                                                             \
    "    If the context of the pool has ended.\n"

/* A block: memory of the driver together with its entry in the bins. */
typedef struct {
    pcu_bins_block base;
    pcu_handle handle;
    pcu_memory_note *note; /* NULL if there was no memory for it */
    pcu_stream_life life;  /* which streams may use it; for device memory */
} pcu_pool_block;

typedef struct {
    PyObject_HEAD
    pcu_state *st;
    PyObject *ctx; /* strong, of the held blocks; NULL: a host pool before its first */
    PyObject *dict;
    PyObject *weakrefs;
    pcu_handle_kind kind; /* memory or host */
    unsigned int flags;   /* of cuMemHostAlloc */
    bool of_graph;        /* the blocks belong to a graph */
    CUmemoryPool source;  /* of a MemoryPool: the driver's pool; else NULL */
    size_t hold_limit;    /* of a MemoryPool: the bytes that it holds at most */
    pcu_bins bins;
} pcu_memory_pool;

/* A pool of this kind without a context; for tp_new. */
PCU_HIDDEN PCU_NEWREF pcu_memory_pool *pcu_pool_blank_new(PyTypeObject *type,
                                                          pcu_handle_kind kind);

/* Whether the pool's blocks are valid: its context is set and may be used. */
static inline bool
pcu_pool_is_usable(const pcu_memory_pool *self)
{
    return self->ctx != NULL && pcu_context_record_usable(pcu_context_rec(self->ctx));
}

/* Whether the pool need not ask who uses a block: no context has unordered streams, and
 * no graph holds memory. */
static inline bool
pcu_pool_is_plain(const pcu_memory_pool *self)
{
    return pcu_stream_unordered == 0 && pcu_captures == NULL &&
           pcu_memory_map.kept == 0 && self->source == NULL;
}

/* Hold an active block that served `size` bytes. */
static inline void
pcu_pool_hold(pcu_memory_pool *self, pcu_pool_block *block, size_t size)
{
    pcu_bins_hold(&self->bins, &block->base, size);
    pcu_memory_block_held(block->note);
    if (pcu_drv_info.device != NULL && self->kind == PCU_HANDLE_memory &&
        !self->of_graph) {
        pcu_drv_info.device->hold(block->handle.memory);
    }
}

/* A block of the pool's context, counted as active. */
PCU_HIDDEN PCU_RAISES pcu_pool_block *pcu_pool_obtain(pcu_memory_pool *self,
                                                      size_t size);
/* Return an active block, which served `size` bytes in the context, to the pool or to
 * the driver. */
PCU_HIDDEN void pcu_pool_return_noraise(pcu_memory_pool *self, pcu_pool_block *block,
                                        PyObject *ctx, size_t size);
/* The pool is being deleted. */
PCU_HIDDEN void pcu_pool_unfollow(pcu_memory_pool *self);

/* The method allocate of the pools of device memory. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_pool_allocate(PyObject *op, PyObject *value);

/* An allocation of `size` bytes: a PooledDeviceAllocation or PooledHostAllocation. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_pooled_new(pcu_memory_pool *pool,
                                               PyTypeObject *type, size_t size);

/* Release all held blocks to the driver. A failure is a warning. */
PCU_HIDDEN void pcu_pool_free_held_noraise(pcu_memory_pool *self);

PCU_HIDDEN int pcu_pool_traverse(PyObject *op, visitproc visit, void *arg);
PCU_HIDDEN int pcu_pool_clear(PyObject *op);
PCU_HIDDEN void pcu_pool_dealloc(PyObject *op);

extern PCU_HIDDEN PyMemberDef pcu_pool_members[];
extern PCU_HIDDEN PyGetSetDef pcu_pool_getset[];
/* free_held, stop_holding, bin_number, alloc_size. */
extern PCU_HIDDEN PyMethodDef pcu_pool_methods[];

/* -- stream_pool.c: MemoryPool, a pool of the driver ------------------------------- */

/* A pool that this object made is destroyed after its last allocation was freed, since
 * allocations hold the pool. Pools of the device are never destroyed. */

typedef struct {
    pcu_memory_pool base;
    CUdevice device; /* that has the memory */
    bool owned;      /* this object destroys the pool */
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
