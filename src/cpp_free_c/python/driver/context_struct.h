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

typedef struct pcu_context {
    PyObject_HEAD
    pcu_state *st;
    PyObject *dict;
    PyObject *weakrefs;
    struct pcu_kernels *kernels; /* generated kernels; NULL before the first */
    void (*unload_kernels)(struct pcu_context *self); /* set before the first kernel */
    struct pcu_blas_handle *blas;               /* cuBLAS; NULL before the first product */
    void (*end_blas)(struct pcu_context *self); /* set before the first product */
    pcu_context_record rec;
} pcu_context;

/* The native record of a Context. */
static inline const pcu_context_record *
pcu_context_rec(PyObject *ctx)
{
    return &((pcu_context *)ctx)->rec;
}

#endif
