/* The common part of every wrapper of a driver handle: its struct, how it is made and
 * released. */
#ifndef PYTHON_DRIVER_RESOURCE_H
#define PYTHON_DRIVER_RESOURCE_H

#include "python/support/base.h"

#include "python/driver/context_struct.h"

#include "driver/release.h"

/* The common head of every wrapper of a driver handle (see resource.c). */
typedef struct {
    PyObject_HEAD
    pcu_state *st;  /* borrowed from the type's module; never changes */
    PyObject *ctx;  /* strong; released after the handle, never in tp_clear */
    PyObject *dict; /* attributes that programs add */
    PyObject *weakrefs;
    pcu_handle handle; /* still readable after release */
    size_t size;       /* bytes of device memory, if has_size */
    pcu_handle_kind kind;
    int live;     /* the handle is ours to release */
    int has_size; /* memory of which we know how much there is */
} pcu_resource;

/* Wrap a fresh handle; on failure the handle is released. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_resource_new(pcu_state *st, PyTypeObject *type,
                                                 PyObject *ctx, pcu_handle_kind kind,
                                                 pcu_handle handle);

/* tp_new of constructible types: an object without a handle. Their tp_init creates one
 * and lets the object adopt it, which cannot fail. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_resource_blank_new(PyTypeObject *type,
                                                       PyObject *args,
                                                       PyObject *kwargs);
PCU_HIDDEN void pcu_resource_adopt(pcu_resource *self, PyObject *ctx,
                                   pcu_handle_kind kind, pcu_handle handle);

/* Say how many bytes the memory at the handle has. Returns self, which may be NULL. */
PCU_HIDDEN PyObject *pcu_resource_with_size(PyObject *self, size_t size);

/* Release a handle in its context. This function makes every release: it gives the
 * interpreter lock back where the driver's call may wait for the device, so other
 * threads run meanwhile. The caller first takes the handle away from where they could
 * find it, and reads nothing borrowed afterwards.
 *
 * On failure *routine names the call; *ended says whether the handle is gone. */
PCU_HIDDEN CUresult pcu_release_handle(pcu_handle_kind kind, pcu_handle handle,
                                       PyObject *ctx, const char **routine, int *ended);

/* The same for handles that no caller can release later: they count as gone, and a
 * failure is a warning. */
PCU_HIDDEN void pcu_release_noraise(pcu_state *st, pcu_handle_kind kind,
                                    pcu_handle handle, PyObject *ctx);

/* Unmap a graphics resource, likewise. */
PCU_HIDDEN CUresult pcu_release_mapping(CUgraphicsResource resource, CUstream stream,
                                        PyObject *ctx, const char **routine,
                                        int *ended);

/* Explicit release: raises LogicError (invalid handle) the second time. After a failure
 * the handle is live as before, and may be released again. */
PCU_HIDDEN PCU_RAISES int pcu_resource_free(pcu_resource *self);

/* pcu_resource_check, off the fast path. */
PCU_HIDDEN PCU_RAISES int pcu_resource_check_slow(pcu_resource *self,
                                                  const char *routine);

PCU_HIDDEN int pcu_resource_traverse(PyObject *op, visitproc visit, void *arg);
PCU_HIDDEN int pcu_resource_clear(PyObject *op);
PCU_HIDDEN void pcu_resource_dealloc(PyObject *op);

extern PCU_HIDDEN PyMemberDef pcu_resource_members[];

/* 0 if the driver may be given the handle, else LogicError naming routine: a real
 * driver may crash on the handles of a context that was destroyed. */
static inline PCU_RAISES int
pcu_resource_check(pcu_resource *self, const char *routine)
{
    if (self->live && pcu_context_rec(self->ctx)->alive) {
        return 0;
    }
    return pcu_resource_check_slow(self, routine);
}

#endif
