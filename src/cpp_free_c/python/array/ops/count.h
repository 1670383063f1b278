/* Counts of values in bins: bincount and histogram.
 *
 * Called by type/search_functions.c. */
#ifndef PYTHON_ARRAY_OPS_COUNT_H
#define PYTHON_ARRAY_OPS_COUNT_H

#include "python/array/ops/kernel_request.h"
#include "python/driver/memory/gpuarray.h"

typedef struct {
    int variant;          /* PCU_VARIANT_BIN_BY_*: how a value's bin is found */
    pcu_gpuarray *values; /* initialised; BY_VALUE: integers that are bins */
    pcu_gpuarray *edges;  /* one axis, bins + 1 elements, packed; BY_VALUE: NULL */
    pcu_gpuarray
        *edges_out;        /* NULL, or an array like `edges` that gets a copy of them */
    pcu_gpuarray *weights; /* the values' shape, or NULL to count */
    size_t bins;
    double first; /* BY_DISTANCE: the outer edges */
    double last;
    PyObject *allocator; /* None: the values' */
    CUstream stream;
} pcu_count_call;

/* Enqueue the count: an array of int64, or of float64 with weights. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_count(pcu_state *st, const pcu_count_call *call);

#endif
