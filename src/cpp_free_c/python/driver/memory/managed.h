/* Managed memory. */
#ifndef PYTHON_DRIVER_MEMORY_MANAGED_H
#define PYTHON_DRIVER_MEMORY_MANAGED_H

#include "python/support/base.h"

/* Memory that host and device share. flags 0 is mem_attach_flags.GLOBAL. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_managed_alloc(pcu_state *st, size_t bytes,
                                                  unsigned int flags, void **data);

/* The ManagedAllocation whose memory an array is or views; NULL if there is none. */
PCU_HIDDEN PCU_BORROWED PyObject *pcu_managed_of_array(pcu_state *st,
                                                       PyArrayObject *array);

#endif
