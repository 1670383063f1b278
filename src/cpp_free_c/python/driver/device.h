/* Device objects. */
#ifndef PYTHON_DRIVER_DEVICE_H
#define PYTHON_DRIVER_DEVICE_H

#include "python/support/base.h"

PCU_HIDDEN PCU_NEWREF PyObject *pcu_device_new(pcu_state *st, CUdevice handle);

/* The CUdevice of a Device. */
PCU_HIDDEN CUdevice pcu_device_handle(PyObject *device);

#endif
