/* Setting up the devices, and looking them up by the ordinals that programs give.
 *
 * cuInit sets the devices up once; after that only their primary contexts change. */
#ifndef DEVICE_API_DEVICE_H
#define DEVICE_API_DEVICE_H

#include "device/base/device.h"

/* Read the environment and fill emu_devices. INVALID_VALUE for a value that is not
 * understood; the message says which. */
CUresult emu_device_open(void);

/* INVALID_DEVICE if there is no device of that ordinal. */
CUresult emu_device_find(CUdevice ordinal, emu_device **device);

#endif
