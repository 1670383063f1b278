/* Memory that is allocated and freed in the order of a stream. Invariant: see
 * stream_allocation.c. Callers: stream_pool.c. */
#ifndef PYTHON_DRIVER_MEMORY_STREAM_ALLOCATION_H
#define PYTHON_DRIVER_MEMORY_STREAM_ALLOCATION_H

#include "python/support/base.h"

#include "python/driver/resource.h"

/* Wrap new memory, which is freed in the stream. stream and pool may be NULL. On
 * failure the memory is freed. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_stream_allocation_new(pcu_state *st, PyObject *ctx,
                                                          CUdeviceptr memory,
                                                          size_t size, PyObject *stream,
                                                          CUstream handle,
                                                          PyObject *pool);

#endif
