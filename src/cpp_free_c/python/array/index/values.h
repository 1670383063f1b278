/* The values of an assignment to a selection. Called by items.c, take.c and mask.c. */
#ifndef PYTHON_ARRAY_INDEX_VALUES_H
#define PYTHON_ARRAY_INDEX_VALUES_H

#include "python/array/index/selection.h"

/* The value as an array of self's dtype that shares no memory with it. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_values_new(pcu_gpuarray *self, PyObject *value,
                                               CUstream stream);

/* Enqueue the assignment of a value to the elements of a selection: a number, an array,
 * or anything of which NumPy makes one. It is converted and broadcast. */
PCU_HIDDEN PCU_RAISES int pcu_selection_assign(pcu_selection *selection,
                                               PyObject *value, CUstream stream);

/* Enqueue op(element, value) for the elements of a selection. The value is converted
 * and broadcast as in an assignment. */
PCU_HIDDEN PCU_RAISES int pcu_selection_apply_value(pcu_selection *selection, int op,
                                                    PyObject *value, CUstream stream);

#endif
