/* x[mask] and x[mask] = value for one mask on the device.
 *
 * Called by type/indexing.c before it looks at the items of other indices. */
#ifndef PYTHON_ARRAY_INDEX_MASK_H
#define PYTHON_ARRAY_INDEX_MASK_H

#include "python/driver/memory/gpuarray.h"

/* Whether the index is a bool array on the device with axes, as many as the array or
 * fewer, and of the array's lengths. */
PCU_HIDDEN bool pcu_mask_fits(pcu_gpuarray *self, PyObject *index);

/* The elements where the mask, which fits all axes, is true: an array with one axis.
 * Waits for the stream, because the host must know their number. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_mask_get(pcu_gpuarray *self, pcu_gpuarray *mask,
                                             CUstream stream);

/* Enqueue self[mask] = value for a mask that fits. Returns 1, 0 if other code has to
 * assign the value, -1 on error. Waits for the stream if the value has several
 * elements, because their number must be that of the true ones. */
PCU_HIDDEN PCU_RAISES int pcu_mask_set(pcu_gpuarray *self, pcu_gpuarray *mask,
                                       PyObject *value, CUstream stream);

#endif
