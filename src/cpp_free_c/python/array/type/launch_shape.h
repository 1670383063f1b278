/* The launch shape of kernels over the elements of an array, which programs see as its
 * attributes _grid and _block. */
#ifndef PYTHON_ARRAY_TYPE_LAUNCH_SHAPE_H
#define PYTHON_ARRAY_TYPE_LAUNCH_SHAPE_H

#include "python/driver/memory/gpuarray.h"

/* The shape for `count` elements of the array: blocks of 32 to 128 threads, at most 32
 * blocks for each multiprocessor of the current context. Defined in attributes.c. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_splay(const pcu_gpuarray *self, size_t count,
                                             unsigned int *blocks,
                                             unsigned int *threads);

#endif
