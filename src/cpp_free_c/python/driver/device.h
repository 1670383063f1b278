/* Device objects, for the files that return or take one. Invariant: see device.c. */
#ifndef PYTHON_DRIVER_DEVICE_H
#define PYTHON_DRIVER_DEVICE_H

#include "python/support/base.h"

/* A Device for a handle of the driver. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_device_new(pcu_state *st, CUdevice handle);

/* The CUdevice of a Device. */
PCU_HIDDEN CUdevice pcu_device_handle(PyObject *device);

#endif
