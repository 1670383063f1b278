/* Setting up the devices.
 *
 * cuInit sets the devices up once; after that only their primary contexts change. */
#ifndef DEVICE_API_CONTEXT_DEVICE_SETUP_H
#define DEVICE_API_CONTEXT_DEVICE_SETUP_H

#include "device/base/device.h"

/* Read the environment into records of devices. INVALID_VALUE for a value that is not
 * understood; the message says which. */
CUresult emu_device_read(emu_device devices[EMU_MAX_DEVICES], int *count);

/* Read the environment and fill emu_devices. INVALID_VALUE for a value that is not
 * understood; the message says which. */
CUresult emu_device_open(void);

#endif
