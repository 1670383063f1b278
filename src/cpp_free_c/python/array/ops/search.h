/* Searches in sorted arrays: searchsorted and digitize.
 *
 * Called by type/search_functions.c. */
#ifndef PYTHON_ARRAY_OPS_SEARCH_H
#define PYTHON_ARRAY_OPS_SEARCH_H

#include "python/driver/memory/gpuarray.h"

typedef struct {
    const char *name;     /* of the function, for messages */
    pcu_gpuarray *sorted; /* initialised; one axis */
    pcu_gpuarray *values; /* initialised */
    pcu_gpuarray *sorter; /* indices that sort `sorted`, or NULL */
    bool right;           /* a value goes behind equal elements */
    bool digitize;        /* `sorted` may be sorted from greatest to least */
    PyObject *allocator;  /* None: the values' */
    CUstream stream;
} pcu_search_call;

/* Enqueue the search: an int64 array of the values' shape. ValueError for shapes,
 * TypeError for dtypes that do not fit. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_search(pcu_state *st, const pcu_search_call *call);

#endif
