/* Counts of values in bins: bincount and histogram.
 *
 * Called by type/search_functions.c. */
#ifndef PYTHON_ARRAY_OPS_COUNT_H
#define PYTHON_ARRAY_OPS_COUNT_H

#include "python/array/ops/kernel_request.h"
#include "python/driver/memory/gpuarray.h"

/* The most bytes of edges that a launch passes by value. */
enum { PCU_COUNT_EDGE_BYTES = 2048 };

typedef struct {
    int variant;             /* PCU_VARIANT_BIN_BY_*: how a value's bin is found */
    pcu_gpuarray *values;    /* initialised; BY_VALUE: integers that are bins */
    pcu_gpuarray *edges;     /* one axis, bins + 1 elements, packed, or NULL */
    const void *edge_values; /* instead: the edges in host memory, or NULL */
    int edge_type;           /* pcu_type of edge_values */
    pcu_gpuarray *edges_out; /* gets a copy of edge_values; NULL without them */
    pcu_gpuarray *weights;   /* the values' shape, or NULL to count */
    size_t bins;
    double first; /* BY_DISTANCE: the outer edges */
    double last;
    PyObject *allocator; /* None: the values' */
    CUstream stream;
} pcu_count_call;

/* Enqueue the count: an array of int64, or of float64 with weights. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_count(pcu_state *st, const pcu_count_call *call);

#endif
