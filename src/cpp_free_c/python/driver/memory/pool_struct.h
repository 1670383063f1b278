/* The part that both kinds of memory pools share: the struct, its type slots, and the
 * allocations that a pool hands out.
 *
 * Invariant: see pool.c. Callers: pool.c and page_locked_pool.c only. */
#ifndef PYTHON_DRIVER_MEMORY_POOL_STRUCT_H
#define PYTHON_DRIVER_MEMORY_POOL_STRUCT_H

#include "python/support/base.h"

#include "driver/bins.h"
#include "driver/release.h"

typedef struct {
    PyObject_HEAD
    pcu_state *st;
    PyObject *ctx; /* strong, of the held blocks; NULL: a host pool before its first */
    PyObject *dict;
    PyObject *weakrefs;
    pcu_handle_kind kind; /* memory or host */
    unsigned int flags;   /* of cuMemHostAlloc */
    int of_graph;         /* the blocks belong to a graph */
    pcu_bins bins;
} pcu_memory_pool;

/* A pool of this kind without a context; for tp_new. */
PCU_HIDDEN PCU_NEWREF pcu_memory_pool *pcu_pool_blank_new(PyTypeObject *type,
                                                          pcu_handle_kind kind);

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
