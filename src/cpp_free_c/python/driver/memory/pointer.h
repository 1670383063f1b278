/* Addresses of device memory that programs pass in. */
#ifndef PYTHON_DRIVER_MEMORY_POINTER_H
#define PYTHON_DRIVER_MEMORY_POINTER_H

#include "python/support/base.h"

#include "python/support/args.h"

PCU_CONVERTER(pcu_as_pointer); /* CUdeviceptr: int, allocation, pointer holder, ... */

#endif
