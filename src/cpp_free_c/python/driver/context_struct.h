/* The struct behind a Context. It is apart from context.h because every wrapper of a
 * driver handle reads it.
 *
 * Invariant: `rec` is registered as long as the object exists. Callers: resource.h and
 * all files that have a Context at hand. */
#ifndef PYTHON_DRIVER_CONTEXT_STRUCT_H
#define PYTHON_DRIVER_CONTEXT_STRUCT_H

#include "python/support/base.h"

#include "driver/context_record.h"

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

#endif
