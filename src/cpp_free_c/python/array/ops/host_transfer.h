/* Transfers of the elements of a GPUArray between host and device.
 *
 * An array that is packed in the same order on both sides is copied in one piece. For
 * others a kernel packs or spreads the elements on the device, or NumPy does on the
 * host. Called by assign.c and type/transfer_methods.c. */
#ifndef PYTHON_ARRAY_OPS_HOST_TRANSFER_H
#define PYTHON_ARRAY_OPS_HOST_TRANSFER_H

#include "python/driver/memory/gpuarray.h"

/* Copy self into a host array of its shape and dtype. Returns when the elements are
 * there, or, if `async` and no temporary is needed, when the copy is enqueued. */
PCU_HIDDEN PCU_RAISES int pcu_host_transfer_get(pcu_gpuarray *self, PyArrayObject *host,
                                                CUstream stream, bool async);

/* Copy a host array of self's shape and dtype into self; `async` as above. */
PCU_HIDDEN PCU_RAISES int pcu_host_transfer_set(pcu_gpuarray *self, PyArrayObject *host,
                                                CUstream stream, bool async);

/* A new array with the elements of a numpy array. The order of its axes in memory is
 * kept, gaps are not. allocator NULL: the default one. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_host_transfer_new(pcu_state *st, PyObject *array,
                                                      PyObject *allocator,
                                                      CUstream stream, bool async);

#endif
