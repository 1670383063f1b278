/* Transfers between host and device, for other files of type/. */
#ifndef PYTHON_ARRAY_TYPE_TRANSFER_METHODS_H
#define PYTHON_ARRAY_TYPE_TRANSFER_METHODS_H

#include "python/driver/memory/gpuarray.h"

/* A numpy array with the elements of self, as get() without arguments returns it. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_gpuarray_get(pcu_gpuarray *self);

#endif
