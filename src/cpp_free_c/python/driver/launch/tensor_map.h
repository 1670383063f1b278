/* TensorMap: the description of an array by which kernels copy tiles of it.
 *
 * Callers: arguments.c, which passes it by value, and kept_arguments.c. */
#ifndef PYTHON_DRIVER_LAUNCH_TENSOR_MAP_H
#define PYTHON_DRIVER_LAUNCH_TENSOR_MAP_H

#include "python/support/base.h"

enum { PCU_TENSOR_MAP_SIZE = 128, PCU_TENSOR_MAP_ALIGN = 64 };

/* The bytes of a TensorMap, NULL if the object is none; borrowed from it. */
PCU_HIDDEN const void *pcu_tensor_map_bytes(pcu_state *st, PyObject *op);

#endif
