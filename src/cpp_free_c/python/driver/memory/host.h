/* Host memory of a context: page-locked and aligned. */
#ifndef PYTHON_DRIVER_MEMORY_HOST_H
#define PYTHON_DRIVER_MEMORY_HOST_H

#include "python/support/base.h"

/* Host memory of the current context; *data is where it is. flags are the driver's;
 * alignment is a power of two, else LogicError. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_pagelocked_alloc(pcu_state *st, size_t bytes,
                                                     unsigned int flags, void **data);
PCU_HIDDEN PCU_NEWREF PyObject *pcu_aligned_alloc(pcu_state *st, size_t bytes,
                                                  size_t alignment, void **data);

#endif
