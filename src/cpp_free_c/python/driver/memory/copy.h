/* Copies between buffers of the host and the device. Invariant and callers: see copy.c;
 * arrays and In/Out arguments call these functions. */
#ifndef PYTHON_DRIVER_MEMORY_COPY_H
#define PYTHON_DRIVER_MEMORY_COPY_H

#include "python/support/base.h"

#include "python/support/buffer.h"

/* Copy between device memory and a buffer that the caller has acquired. The interpreter
 * lock is released during the copy. */
PCU_HIDDEN PCU_RAISES int pcu_copy_to_device(pcu_state *st, CUdeviceptr dest,
                                             const pcu_buffer *source);
PCU_HIDDEN PCU_RAISES int pcu_copy_from_device(pcu_state *st, const pcu_buffer *dest,
                                               CUdeviceptr source);

#endif
