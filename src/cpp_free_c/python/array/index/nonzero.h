/* The indices of the elements that are not 0.
 *
 * Called by type/mask_functions.c, and for masks by the other files of this room. */
#ifndef PYTHON_ARRAY_INDEX_NONZERO_H
#define PYTHON_ARRAY_INDEX_NONZERO_H

#include "python/driver/memory/gpuarray.h"

/* A tuple of int64 arrays, one for each axis of x. Waits for the stream, because the
 * host must know the number of indices. x has axes. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_nonzero_new(pcu_gpuarray *x, CUstream stream);

/* The same as one array of shape (number, x.ndim). */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_argwhere_new(pcu_gpuarray *x, CUstream stream);

/* The same of the elements in C order, as one array with one axis. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_flatnonzero_new(pcu_gpuarray *x, CUstream stream);

#endif
