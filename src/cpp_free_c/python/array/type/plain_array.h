/* Whether the labels of an array that programs assign are true, for other files of
 * type/.
 */
#ifndef PYTHON_ARRAY_TYPE_PLAIN_ARRAY_H
#define PYTHON_ARRAY_TYPE_PLAIN_ARRAY_H

#include "python/driver/memory/gpuarray.h"

/* True for a GPUArray (no subclass) whose attributes size, mem_size, nbytes and flags
 * are the true ones. */
PCU_HIDDEN bool pcu_gpuarray_is_plain(const pcu_gpuarray *self);

#endif
