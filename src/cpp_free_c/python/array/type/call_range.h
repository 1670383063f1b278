/* The indices of a call of an ElementwiseKernel with `range` or `slice`: see
 * call_range.c. Called by kernel_call.c. */
#ifndef PYTHON_ARRAY_TYPE_CALL_RANGE_H
#define PYTHON_ARRAY_TYPE_CALL_RANGE_H

#include "python/support/base.h"

/* What the keywords select. */
typedef struct {
    PyObject *value; /* borrowed; NULL: all elements */
    int is_slice;
} pcu_call_selection;

typedef struct {
    Py_ssize_t start;
    Py_ssize_t stop;
    Py_ssize_t step;
    size_t count;  /* of indices */
    size_t extent; /* one more than the largest index; 0 without indices */
} pcu_call_bounds;

/* Note the value of a keyword: 1 if it was `range` or `slice`, 0 if another one, -1 if
 * both were given, which is no Python exception. */
PCU_HIDDEN int pcu_call_select(pcu_call_selection *selection, PyObject *name,
                               PyObject *value);

/* Fill the bounds of a selection from an array of `size` elements: 1 if done, 0 if
 * Python has to handle the call, -1 on error. */
PCU_HIDDEN PCU_RAISES int pcu_call_bounds_fill(pcu_call_bounds *bounds,
                                               const pcu_call_selection *selection,
                                               size_t size);

#endif
