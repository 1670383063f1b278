/* The names by which the driver and NVML know a device. */
#ifndef DEVICE_API_CONTEXT_DEVICE_NAME_H
#define DEVICE_API_CONTEXT_DEVICE_NAME_H

#include <stddef.h>

#include "abi/cuda_abi.h"

enum { EMU_BUS_ID_ROOM = 13 }; /* of "0000:01:00.0" with its zero byte */

void emu_device_uuid(int ordinal, CUuuid *uuid);
/* Write the place on the PCI bus, cut to fit. */
void emu_device_bus_id(int ordinal, char *text, size_t room);

#endif
