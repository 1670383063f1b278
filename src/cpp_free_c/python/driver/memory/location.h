/* Places of memory: a device, or the host.
 *
 * Invariant: none. Callers: the files on managed, pooled and virtual memory. */
#ifndef PYTHON_DRIVER_MEMORY_LOCATION_H
#define PYTHON_DRIVER_MEMORY_LOCATION_H

#include "python/support/base.h"

#include "python/support/args.h"

/* Converter: CUmemLocation, from a Device, a device's number, None (the current
 * device), "host", "host_numa_current", or ("host_numa", node). */
PCU_CONVERTER(pcu_as_location);

/* Converter: CUdevice, from a Device, a number, or None (the current device). */
PCU_CONVERTER(pcu_as_device);

#endif
