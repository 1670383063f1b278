/* Copies between buffers of the host and the device. */
#ifndef PYTHON_DRIVER_MEMORY_COPY_H
#define PYTHON_DRIVER_MEMORY_COPY_H

#include "python/support/base.h"

#include "python/support/buffer.h"

/* Copy between a buffer that the caller holds and the device, without the interpreter
 * lock. */
PCU_HIDDEN PCU_RAISES int pcu_copy_to_device(pcu_state *st, CUdeviceptr dest,
                                             const pcu_buffer *source);
PCU_HIDDEN PCU_RAISES int pcu_copy_from_device(pcu_state *st, const pcu_buffer *dest,
                                               CUdeviceptr source);

#endif
