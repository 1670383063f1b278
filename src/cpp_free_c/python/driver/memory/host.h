/* Host memory that belongs to a context: page-locked and aligned. Callers:
 * numpy_array.c. Invariant: see host.c. */
#ifndef PYTHON_DRIVER_MEMORY_HOST_H
#define PYTHON_DRIVER_MEMORY_HOST_H

#include "python/support/base.h"

/* Allocate host memory in the current context; *data is its address. `flags` are the
 * driver's. `alignment` must be a power of two, else LogicError. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_pagelocked_alloc(pcu_state *st, size_t bytes,
                                                     unsigned int flags, void **data);
PCU_HIDDEN PCU_NEWREF PyObject *pcu_aligned_alloc(pcu_state *st, size_t bytes,
                                                  size_t alignment, void **data);

#endif
