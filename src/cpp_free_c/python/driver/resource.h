/* The common part of every wrapper of a driver handle: its struct, construction and
 * release.
 *
 * Invariant: see resource.c. Callers: every type that owns a driver handle. */
#ifndef PYTHON_DRIVER_RESOURCE_H
#define PYTHON_DRIVER_RESOURCE_H

#include "python/support/base.h"

#include "python/driver/context_struct.h"

#include "driver/release.h"

/* The first member of every wrapper of a driver handle. */
typedef struct {
    PyObject_HEAD
    pcu_state *st;  /* borrowed from the type's module; never changes */
    PyObject *ctx;  /* strong; released after the handle, never in tp_clear */
    PyObject *dict; /* attributes that programs add */
    PyObject *weakrefs;
    pcu_handle handle; /* still readable after release */
    size_t size;       /* bytes of the memory, if has_size */
    pcu_handle_kind kind;
    int live;     /* 1 if this object must release the handle */
    int has_size; /* 1 if the size of the memory is known */
} pcu_resource;

/* Wrap a new handle. On failure the handle is released. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_resource_new(pcu_state *st, PyTypeObject *type,
                                                 PyObject *ctx, pcu_handle_kind kind,
                                                 pcu_handle handle);

/* tp_new of constructible types: an object without a handle. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_resource_blank_new(PyTypeObject *type,
                                                       PyObject *args,
                                                       PyObject *kwargs);
/* Store the handle that tp_init has created. This cannot fail. */
PCU_HIDDEN void pcu_resource_adopt(pcu_resource *self, PyObject *ctx,
                                   pcu_handle_kind kind, pcu_handle handle);

/* Store the size of the memory at the handle. Returns self, which may be NULL. */
PCU_HIDDEN PyObject *pcu_resource_with_size(PyObject *self, size_t size);

/* Release a handle in its context. All releases go through this function. It releases
 * the interpreter lock if the driver call may wait for the device, so other threads may
 * run. The caller first removes the handle from every place where they could find it,
 * and uses no borrowed reference afterwards.
 *
 * A handle that a graph uses is released when the graph is gone, and one that is
 * released during a capture at the end of the capture. Both count as released here.
 *
 * On failure *routine names the driver call. *ended is 1 if the handle is released. */
PCU_HIDDEN CUresult pcu_release_handle(pcu_handle_kind kind, pcu_handle handle,
                                       PyObject *ctx, const char **routine, int *ended);

/* 1 if a graph uses the handle, so that pcu_release_handle would keep it: the graph's
 * record has taken it, and it counts as released. */
PCU_HIDDEN int pcu_release_is_taken(pcu_handle_kind kind, pcu_handle handle,
                                    PyObject *ctx);

/* The same as pcu_release_handle for a handle that no caller can release later: it
 * counts as released, and a failure is a warning. */
PCU_HIDDEN void pcu_release_noraise(pcu_state *st, pcu_handle_kind kind,
                                    pcu_handle handle, PyObject *ctx);

/* Unmap a graphics resource in its context. The results are those of
 * pcu_release_handle. */
PCU_HIDDEN CUresult pcu_release_mapping(CUgraphicsResource resource, CUstream stream,
                                        PyObject *ctx, const char **routine,
                                        int *ended);

/* Free device memory behind the work that the stream has now. The results are those of
 * pcu_release_handle. */
PCU_HIDDEN CUresult pcu_release_async(CUdeviceptr memory, CUstream stream,
                                      PyObject *ctx, const char **routine, int *ended);

/* Release the handle on request of the program. LogicError (invalid handle) the second
 * time. After a failure the handle is still live and may be released again. */
PCU_HIDDEN PCU_RAISES int pcu_resource_free(pcu_resource *self);

/* The same for device memory, behind the work that the stream has now. */
PCU_HIDDEN PCU_RAISES int pcu_resource_free_async(pcu_resource *self, CUstream stream);

/* The slow path of pcu_resource_check. */
PCU_HIDDEN PCU_RAISES int pcu_resource_check_slow(pcu_resource *self,
                                                  const char *routine);

PCU_HIDDEN int pcu_resource_traverse(PyObject *op, visitproc visit, void *arg);
PCU_HIDDEN int pcu_resource_clear(PyObject *op);
PCU_HIDDEN void pcu_resource_dealloc(PyObject *op);

extern PCU_HIDDEN PyMemberDef pcu_resource_members[];

/* Check that the handle may be passed to the driver; if not, LogicError that names
 * routine. A real driver may crash on a handle of a destroyed context. */
static inline PCU_RAISES int
pcu_resource_check(pcu_resource *self, const char *routine)
{
    if (self->live && pcu_context_rec(self->ctx)->alive) {
        return 0;
    }
    return pcu_resource_check_slow(self, routine);
}

#endif
