/* Managed memory. Callers: numpy_array.c and pointer.c. Invariant: see managed.c. */
#ifndef PYTHON_DRIVER_MEMORY_MANAGED_H
#define PYTHON_DRIVER_MEMORY_MANAGED_H

#include "python/support/base.h"

/* Allocate memory that host and device share; *data is its address. flags 0 means
 * mem_attach_flags.GLOBAL. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_managed_alloc(pcu_state *st, size_t bytes,
                                                  unsigned int flags, void **data);

/* The ManagedAllocation in which the memory of an array lies. NULL without an exception
 * if there is none. */
PCU_HIDDEN PCU_BORROWED PyObject *pcu_managed_of_array(pcu_state *st,
                                                       PyArrayObject *array);

#endif
