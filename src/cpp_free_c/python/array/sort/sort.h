/* Sorts of GPUArrays along an axis.
 *
 * Called by type/sort_functions.c. */
#ifndef PYTHON_ARRAY_SORT_SORT_H
#define PYTHON_ARRAY_SORT_SORT_H

#include "python/driver/memory/gpuarray.h"

typedef struct {
    pcu_gpuarray *x; /* initialised */
    int axis;        /* negative ones count from the end */
    bool keys;       /* the sorted elements are a result */
    bool indices;    /* their int64 indices before the sort are a result */
    bool descending;
    bool in_place;       /* the sorted elements go to x, which is the result; no
                           indices then */
    PyObject *allocator; /* None: x's */
    CUstream stream;
} pcu_sort_call;

/* Enqueue the stable sort and return the result, a tuple (elements, indices) if both
 * are results. TypeError for a dtype without an order, ValueError for an axis that x
 * does not have. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_sort(pcu_state *st, const pcu_sort_call *call);

#endif
