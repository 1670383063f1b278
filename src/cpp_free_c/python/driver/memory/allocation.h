/* Device memory in the current context. Callers: arrays and In/Out arguments, which
 * allocate without a Python call. Invariant: see allocation.c. */
#ifndef PYTHON_DRIVER_MEMORY_ALLOCATION_H
#define PYTHON_DRIVER_MEMORY_ALLOCATION_H

#include "python/support/base.h"

/* Allocate `size` bytes, a DeviceAllocation. If memory is short, collect garbage and
 * try again once. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_allocation_new(pcu_state *st, size_t size);

#endif
