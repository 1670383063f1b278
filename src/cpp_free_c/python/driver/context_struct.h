/* The struct behind a Context. It is apart from context.h because every wrapper of a
 * driver handle reads it.
 *
 * Invariant: `rec` is registered as long as the object exists. Callers: resource.h and
 * all files that have a Context at hand. */
#ifndef PYTHON_DRIVER_CONTEXT_STRUCT_H
#define PYTHON_DRIVER_CONTEXT_STRUCT_H

#include "python/support/base.h"

#include "driver/context_record.h"

struct pcu_kernels;
struct pcu_blas_handle;
struct pcu_index_report;
struct pcu_true_counts;
struct pcu_fourier_library;

typedef struct pcu_context {
    PyObject_HEAD
    pcu_state *st;
    PyObject *dict;
    PyObject *weakrefs;
    struct pcu_kernels *kernels; /* generated kernels; NULL before the first */
    void (*unload_kernels)(struct pcu_context *self); /* set before the first kernel */
    struct pcu_blas_handle *blas;               /* cuBLAS; NULL before the first product */
    void (*end_blas)(struct pcu_context *self); /* set before the first product */
    struct pcu_index_report *index_report; /* NULL before the first index array */
    int (*check_index_report)(struct pcu_context *self); /* set with the report, */
    void (*free_index_report)(struct pcu_context *self); /* as this one */
    struct pcu_true_counts *true_counts; /* NULL before the first mask */
    void (*free_true_counts)(struct pcu_context *self); /* set with true_counts */
    struct pcu_fourier_library *fourier; /* cuFFT; NULL before the first transform */
    void (*end_fourier)(struct pcu_context *self); /* set before the first transform */
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
static inline const pcu_context_record *
pcu_context_rec(PyObject *ctx)
{
    return &((pcu_context *)ctx)->rec;
}

#endif
