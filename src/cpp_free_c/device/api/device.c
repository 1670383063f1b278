/* The calls on devices. */
#include "device/api/device.h"

#include <stdio.h>
#include <string.h>

#include "device/api/entry.h"

CUresult
emu_device_find(CUdevice ordinal, emu_device **device)
{
    *device = emu_device_get(ordinal);
    if (*device == NULL) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuDeviceGet(CUdevice *device, int ordinal)
{
    CUresult status = EMU_ENTER(DeviceGet);

    if (status == CUDA_SUCCESS && !device) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS && !emu_device_get(ordinal)) {
        status = CUDA_ERROR_INVALID_DEVICE;
    }
    if (status == CUDA_SUCCESS) {
        *device = ordinal;
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceGetCount(int *count)
{
    CUresult status = EMU_ENTER(DeviceGetCount);

    if (status == CUDA_SUCCESS && !count) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *count = emu_device_count;
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceGetName(char *name, int len, CUdevice dev)
{
    emu_device *device;
    CUresult status = EMU_ENTER(DeviceGetName);

    if (status == CUDA_SUCCESS) {
        status = emu_device_find(dev, &device);
    }
    if (status == CUDA_SUCCESS && (!name || len <= 0)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        (void)snprintf(name, (size_t)len, "%s", EMU_DEVICE_NAME); /* cut to fit */
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
    emu_device *device;
    CUresult status = EMU_ENTER(DeviceGetUuid);

    if (status == CUDA_SUCCESS) {
        status = emu_device_find(dev, &device);
    }
    if (status == CUDA_SUCCESS && !uuid) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        memcpy(uuid->bytes, "PyCUDA software", sizeof(uuid->bytes));
        uuid->bytes[15] = (char)dev;
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceTotalMem(size_t *bytes, CUdevice dev)
{
    emu_device *device;
    CUresult status = EMU_ENTER(DeviceTotalMem);

    if (status == CUDA_SUCCESS) {
        status = emu_device_find(dev, &device);
    }
    if (status == CUDA_SUCCESS && !bytes) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *bytes = (size_t)device->memory_bytes;
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    emu_device *device;
    CUresult status = EMU_ENTER(DeviceGetAttribute);

    if (status == CUDA_SUCCESS) {
        status = emu_device_find(dev, &device);
    }
    if (status == CUDA_SUCCESS && (!pi || !emu_device_attribute(device, attrib, pi))) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)
{
    unsigned int domain = 0, bus = 0, slot = 0;
    CUresult status = EMU_ENTER(DeviceGetByPCIBusId);

    if (status == CUDA_SUCCESS) {
        status = CUDA_ERROR_INVALID_VALUE;
        if (dev && pciBusId) {
            if (sscanf(pciBusId, "%x:%x:%x", &domain, &bus, &slot) != 3) {
                domain = 0;
                if (sscanf(pciBusId, "%x:%x", &bus, &slot) != 2) {
                    slot = 1; /* no device has it */
                }
            }
            if (domain == 0 && slot == 0 && bus >= 1 && emu_device_get((int)bus - 1)) {
                *dev = (int)bus - 1;
                status = CUDA_SUCCESS;
            }
            else {
                status = CUDA_ERROR_INVALID_DEVICE;
            }
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
    emu_device *device;
    CUresult status = EMU_ENTER(DeviceGetPCIBusId);

    if (status == CUDA_SUCCESS) {
        status = emu_device_find(dev, &device);
    }
    if (status == CUDA_SUCCESS && (!pciBusId || len < 13)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        (void)snprintf(pciBusId, (size_t)len, "0000:%02X:00.0",
                       (unsigned)dev + 1); /* at most 64 devices: it fits */
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    CUresult status = EMU_ENTER(DeviceCanAccessPeer);

    if (status == CUDA_SUCCESS && !canAccessPeer) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS && (!emu_device_get(dev) || !emu_device_get(peerDev))) {
        status = CUDA_ERROR_INVALID_DEVICE;
    }
    if (status == CUDA_SUCCESS) {
        *canAccessPeer = dev != peerDev;
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib,
                            CUdevice srcDevice, CUdevice dstDevice)
{
    CUresult status = EMU_ENTER(DeviceGetP2PAttribute);

    if (status == CUDA_SUCCESS && (!value || attrib == 0 || attrib > 4)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS &&
        (!emu_device_get(srcDevice) || !emu_device_get(dstDevice) ||
         srcDevice == dstDevice)) {
        status = CUDA_ERROR_INVALID_DEVICE;
    }
    if (status == CUDA_SUCCESS) {
        *value = attrib != 1; /* 1: rank, all alike; else: access, atomics, arrays */
    }
    return emu_leave(status);
}
