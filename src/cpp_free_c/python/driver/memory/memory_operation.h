/* Operations on values in memory, as programs give them: waits and writes.
 *
 * Invariant: the memory of an operation is kept by a graph: by the given one, or by the
 * graphs of the active captures if none is given. Callers: stream_memory.c for streams,
 * python/driver/graph for nodes. */
#ifndef PYTHON_DRIVER_MEMORY_MEMORY_OPERATION_H
#define PYTHON_DRIVER_MEMORY_MEMORY_OPERATION_H

#include "python/support/base.h"

#include "python/driver/graph_resources.h"

/* A value of 4 or 8 bytes; negative numbers have the same bits as signed integers. */
PCU_HIDDEN PCU_RAISES int pcu_memory_value_read(PyObject *value, unsigned int width,
                                                unsigned long long *bits);

/* The address of a value. */
PCU_HIDDEN PCU_RAISES int pcu_memory_value_address(pcu_state *st, PyObject *memory,
                                                   pcu_graph_resources *resources,
                                                   CUdeviceptr *address);

/* The operations of a batch. *list is to be freed with PyMem_Free, also on error. A
 * node of a graph must have at least one. */
PCU_HIDDEN PCU_RAISES int pcu_memory_operations_read(pcu_state *st,
                                                     PyObject *operations,
                                                     pcu_graph_resources *resources,
                                                     CUstreamBatchMemOpParams **list,
                                                     unsigned int *count);

#endif
