/* The device of a GPUArray, for other files of type/. */
#ifndef PYTHON_ARRAY_TYPE_DEVICE_H
#define PYTHON_ARRAY_TYPE_DEVICE_H

#include "python/driver/exchange/dlpack.h"
#include "python/driver/memory/gpuarray.h"

/* The DLPack tensor that another library lent, if the array is in it, else NULL. */
PCU_HIDDEN const pcu_dlpack *pcu_gpuarray_lent_tensor(const pcu_gpuarray *self);

/* DLPack's device of the memory. */
PCU_HIDDEN pcu_dl_device pcu_gpuarray_dl_device(pcu_gpuarray *self);

/* The getter of the attribute device. */
PCU_HIDDEN PyObject *pcu_gpuarray_get_device(PyObject *op, void *closure);

#endif
