/* Exporting device memory by DLPack: capsules for other libraries.
 *
 * Invariant: an exported tensor holds its owner until the consumer calls the deleter.
 * Callers: dlpack_export.c itself for allocations, and python/array. */
#ifndef PYTHON_DRIVER_EXCHANGE_DLPACK_EXPORT_H
#define PYTHON_DRIVER_EXCHANGE_DLPACK_EXPORT_H

#include "python/support/base.h"

#include "python/driver/exchange/dlpack_tensor.h"

/* Make a capsule of a tensor, whose dtype is borrowed. It holds `owner` until the
 * consumer calls the deleter, or until the capsule is freed if no consumer took it. The
 * consumer may call the deleter in any thread, with or without the interpreter lock.
 * With `versioned` the capsule has the form of DLPack 1, otherwise the older form,
 * which cannot mark memory as read-only. BufferError for what DLPack cannot describe.
 */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_dlpack_export(const pcu_dlpack *tensor,
                                                  PyObject *owner, int versioned);

/* Read max_version, None or a tuple. Return 1 for the form of DLPack 1, 0 for the older
 * form. */
PCU_HIDDEN PCU_RAISES int pcu_dlpack_wants_version(PyObject *max_version);

#endif
