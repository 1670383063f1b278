/* The first few elements in the order of a sort, without sorting the others.
 *
 * Called by type/sort_functions.c. */
#ifndef PYTHON_ARRAY_SORT_FEW_FIRST_H
#define PYTHON_ARRAY_SORT_FEW_FIRST_H

#include "python/driver/memory/gpuarray.h"

enum { PCU_FEW_MOST = 128 }; /* elements that can be selected */

typedef struct {
    pcu_gpuarray *x; /* initialised */
    size_t count;    /* of elements to select, at most PCU_FEW_MOST and x's */
    bool descending;
    PyObject *allocator; /* None: x's */
    CUstream stream;
} pcu_few_call;

/* Enqueue the selection and return a tuple (elements, indices); NotImplemented if x has
 * several axes, gaps, or a type whose keys have more than 64 bits. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_few_first(pcu_state *st, const pcu_few_call *call);

#endif
