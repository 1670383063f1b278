/* The records of the devices. See device.h. */
#include "device/base/device.h"

emu_device emu_devices[EMU_MAX_DEVICES];
int emu_device_count;
uint64_t emu_seed;

emu_device *
emu_device_get(CUdevice ordinal)
{
    if (ordinal < 0 || ordinal >= emu_device_count) {
        return NULL;
    }
    return &emu_devices[ordinal];
}

CUresult
emu_device_find(CUdevice ordinal, emu_device **device)
{
    *device = emu_device_get(ordinal);
    if (*device == NULL) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    return CUDA_SUCCESS;
}
