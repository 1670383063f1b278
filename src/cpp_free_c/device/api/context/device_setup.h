/* Setting up the devices; the names and the driver version that they report.
 *
 * cuInit sets the devices up once; after that only their primary contexts change. */
#ifndef DEVICE_API_CONTEXT_DEVICE_SETUP_H
#define DEVICE_API_CONTEXT_DEVICE_SETUP_H

#include <stdbool.h>
#include <stddef.h>

#include "device/base/device.h"
#include "abi/cuda_abi.h"

/* Read the environment into records of devices. INVALID_VALUE for a value that is not
 * understood; the message says which. */
CUresult emu_device_read(emu_device devices[EMU_MAX_DEVICES], int *count);

/* Read the environment and fill emu_devices. INVALID_VALUE for a value that is not
 * understood; the message says which. */
CUresult emu_device_open(void);

/* -- names ------------------------------------------------------------------------- */

/* By which the driver and NVML know a device. */

enum { EMU_BUS_ID_ROOM = 13 }; /* of "0000:01:00.0" with its zero byte */

void emu_device_uuid(int ordinal, CUuuid *uuid);
/* Write the place on the PCI bus, cut to fit. */
void emu_device_bus_id(int ordinal, char *text, size_t room);

/* -- the version ------------------------------------------------------------------- */

/* Of the driver that the library reports. */

/* Read a version such as 12.4 as 12040. False for anything else. */
bool emu_driver_version_parse(const char *text, int *version);

/* The version that PYCUDA_EMULATOR_DRIVER_VERSION asks for, otherwise
 * EMU_DRIVER_VERSION. A value that cannot be read counts as unset: cuInit reports it.
 */
int emu_driver_version(void);

#endif
