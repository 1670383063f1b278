/* The part that both kinds of memory pools share: the struct, its type slots, and the
 * allocations that a pool hands out.
 *
 * Invariant: see pool.c. Callers: the files of pools only. */
#ifndef PYTHON_DRIVER_MEMORY_POOL_STRUCT_H
#define PYTHON_DRIVER_MEMORY_POOL_STRUCT_H

#include "python/support/base.h"

#include "python/driver/context_struct.h"

#include "driver/bins.h"
#include "driver/capture.h"
#include "driver/memory_map.h"
#include "driver/release.h"
#include "driver/stream_use.h"

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
    int of_graph;         /* the blocks belong to a graph */
    CUmemoryPool source;  /* of a MemoryPool: the driver's pool; else NULL */
    size_t hold_limit;    /* of a MemoryPool: the bytes that it holds at most */
    pcu_bins bins;
} pcu_memory_pool;

/* A pool of this kind without a context; for tp_new. */
PCU_HIDDEN PCU_NEWREF pcu_memory_pool *pcu_pool_blank_new(PyTypeObject *type,
                                                          pcu_handle_kind kind);

/* 1 if the pool's blocks are valid: its context is set and may be used. */
static inline int
pcu_pool_is_usable(const pcu_memory_pool *self)
{
    return self->ctx != NULL && pcu_context_record_usable(pcu_context_rec(self->ctx));
}

/* 1 if the pool need not ask who uses a block: no context has unordered streams, and no
 * graph holds memory. */
static inline int
pcu_pool_is_plain(const pcu_memory_pool *self)
{
    return pcu_stream_unordered == 0 && pcu_captures == NULL &&
           pcu_memory_map.kept == 0 && self->source == NULL;
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

#endif
