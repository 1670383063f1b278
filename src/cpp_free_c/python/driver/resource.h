/* The structs of contexts and of modules, and the common part of every wrapper of a
 * driver handle: its struct, construction and release.
 *
 * Invariant: see resource.c. The record of a Context is registered as long as the
 * object exists. Callers: every type that owns a driver handle, and all files that have
 * a Context at hand. */
#ifndef PYTHON_DRIVER_RESOURCE_H
#define PYTHON_DRIVER_RESOURCE_H

#include "python/support/base.h"

#include "driver/context_record.h"
#include "driver/release.h"

/* -- the struct behind a Context --------------------------------------------------- */

struct pcu_blas_handle;
struct pcu_communicator;
struct pcu_fourier_library;
struct pcu_host_call;
struct pcu_index_report;
struct pcu_kernels;
struct pcu_true_counts;

/* What rooms above this one keep in a context, in the order in which it is ended: plans
 * of libraries, then the kernels, then page-locked memory that kernels write. */
typedef enum {
    PCU_CONTEXT_COMMUNICATORS,
    PCU_CONTEXT_BLAS,
    PCU_CONTEXT_FOURIER,
    PCU_CONTEXT_KERNELS,
    PCU_CONTEXT_TRUE_COUNTS,
    PCU_CONTEXT_INDEX_REPORT,
    PCU_CONTEXT_HOST_CALLS,
    PCU_CONTEXT_PART_COUNT
} pcu_context_part;

typedef struct pcu_context {
    PyObject_HEAD
    pcu_state *st;
    PyObject *dict;
    PyObject *weakrefs;
    /* The parts. Each is NULL before its first use. */
    struct pcu_kernels *kernels;
    struct pcu_blas_handle *blas;
    struct pcu_fourier_library *fourier;
    struct pcu_true_counts *true_counts;
    struct pcu_index_report *index_report;
    struct pcu_communicator *communicators; /* a list */
    struct pcu_host_call *host_calls;       /* a list: calls that have not run */
    /* How to end each part, set when the part is made. The function raises nothing and
     * takes a context without the part, too. */
    void (*end_part[PCU_CONTEXT_PART_COUNT])(struct pcu_context *self);
    int (*check_index_report)(struct pcu_context *self); /* set with index_report */
    int peers; /* contexts whose memory this one may use: enable_peer_access */
    pcu_context_record rec;
    unsigned int flags; /* with which this package made it */
} pcu_context;

/* After a wait for the device: raise IndexError if a kernel noted an index out of
 * bounds. See python/array/index/report.h. */
PCU_RAISES static inline int
pcu_context_check_indices(pcu_context *self)
{
    if (self->index_report == NULL) {
        return 0;
    }
    return self->check_index_report(self);
}

/* The native record of a Context. */
static inline pcu_context_record *
pcu_context_rec(PyObject *ctx)
{
    return &((pcu_context *)ctx)->rec;
}

/* -- resource.c -------------------------------------------------------------------- */

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
    bool live;     /* this object must release the handle */
    bool has_size; /* the size of the memory is known */
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
                                       PyObject *ctx, const char **routine,
                                       bool *ended);

/* Whether a graph uses the handle, so that pcu_release_handle would keep it: the
 * graph's record has taken it, and it counts as released. */
PCU_HIDDEN bool pcu_release_is_taken(pcu_handle_kind kind, pcu_handle handle,
                                     PyObject *ctx);

/* Whether work of a context goes on, a wait for which a signal has ended, still after
 * so many nanoseconds. */
PCU_HIDDEN bool pcu_context_works(pcu_context_record *rec, uint64_t patience);
#define PCU_LOOK_NS UINT64_C(100000)

/* Make the releases of a context that wait for the end of its work, if that has ended
 * or the context has. */
PCU_HIDDEN void pcu_release_late(PyObject *ctx);

/* The same as pcu_release_handle for a handle that no caller can release later: it
 * counts as released, and a failure is a warning. */
PCU_HIDDEN void pcu_release_noraise(pcu_state *st, pcu_handle_kind kind,
                                    pcu_handle handle, PyObject *ctx);

/* Unmap a graphics resource in its context. The results are those of
 * pcu_release_handle. */
PCU_HIDDEN CUresult pcu_release_mapping(CUgraphicsResource resource, CUstream stream,
                                        PyObject *ctx, const char **routine,
                                        bool *ended);

/* Free device memory behind the work that the stream has now. The results are those of
 * pcu_release_handle. */
PCU_HIDDEN CUresult pcu_release_async(pcu_handle_kind kind, pcu_handle handle,
                                      CUstream stream, PyObject *ctx,
                                      const char **routine, bool *ended);

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

/* -- the struct of a Module, which launches and textures read ---------------------- */

struct pcu_reference_store;

typedef struct {
    pcu_resource base;
    struct pcu_reference_store *references; /* owned; NULL before the first use */
    PyObject *owner; /* keeps a foreign module loaded; never in tp_clear */
    PyObject
        *entries; /* str: the kernels' declarations in PTX; NULL if none is known */
    bool foreign; /* another library unloads it */
} pcu_module;

#endif
