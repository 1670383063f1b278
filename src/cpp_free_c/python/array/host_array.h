/* NumPy arrays for the host's side of a transfer.
 *
 * They have the shape and dtype of a GPUArray, and its order of axes in memory where
 * that is possible, so that one copy moves all bytes. Called by ops/host_transfer.c and
 * type/transfer_methods.c. */
#ifndef PYTHON_ARRAY_HOST_ARRAY_H
#define PYTHON_ARRAY_HOST_ARRAY_H

#include "python/driver/memory/gpuarray.h"
#include "driver/staging.h"

/* Whether each element has the same distance from the first in the host array and in
 * the packed device array. */
PCU_HIDDEN bool pcu_host_is_alike(PyArrayObject *host, const pcu_gpuarray *device);

/* An uninitialised array with self's order of axes, in pageable or page-locked memory.
 */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_host_new(const pcu_gpuarray *self);
PCU_HIDDEN PCU_NEWREF PyObject *pcu_host_pagelocked_new(pcu_gpuarray *self);

/* Check a host array that a program gives: its kind, size and dtype (dtype_error). An
 * array of another shape is reshaped, with a warning of the class `warning`. */
PCU_HIDDEN PCU_NEWREF PyArrayObject *pcu_host_checked_new(pcu_gpuarray *self,
                                                          PyObject *host,
                                                          PyObject *dtype_error,
                                                          PyObject *warning);

/* Whether the elements of `host` are in memory as those of the packed array `like`. */
PCU_HIDDEN bool pcu_host_is_arranged(PyArrayObject *host, const pcu_gpuarray *like);

/* Describe the elements of `host` in the order in memory of the packed array `like`.
 * False if their bytes are not those of the GPUArray. */
PCU_HIDDEN bool pcu_host_view(PyArrayObject *host, const pcu_gpuarray *like,
                              pcu_staging_view *view);

/* The array itself if it is packed, or an uninitialised packed array with the same
 * order of axes. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_host_packed_like(PyObject *ary);

/* Whether the shape of the host array is self's. */
PCU_HIDDEN bool pcu_host_has_shape(PyArrayObject *host, const pcu_gpuarray *self);

#endif
