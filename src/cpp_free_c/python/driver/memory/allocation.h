/* Device memory: allocating it, and addresses that programs pass in. */
#ifndef PYTHON_DRIVER_MEMORY_ALLOCATION_H
#define PYTHON_DRIVER_MEMORY_ALLOCATION_H

#include "python/support/base.h"

/* Device memory in the current context. Collects garbage and retries once when short.
 */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_allocation_new(pcu_state *st, size_t size);

#endif
