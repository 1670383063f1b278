/* The type PhysicalMemory: memory without an address.
 *
 * Invariant: see physical_memory.c. Callers: virtual_memory.c, which maps it. */
#ifndef PYTHON_DRIVER_MEMORY_PHYSICAL_MEMORY_H
#define PYTHON_DRIVER_MEMORY_PHYSICAL_MEMORY_H

#include "python/driver/resource.h"

/* Round a size up to what the device can map. recommended: to the multiple for the best
 * speed. Raises if the result would be too large. */
PCU_HIDDEN PCU_RAISES int pcu_physical_round(pcu_state *st, CUdevice device,
                                             int recommended, size_t *size);

#endif
