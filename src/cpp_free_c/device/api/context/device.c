/* The calls on devices. */
#include <stdio.h>
#include <string.h>

#include "device/api/context/device_name.h"
#include "device/api/entry/entry.h"

CUresult
emu_cuDeviceGet(CUdevice *device, int ordinal)
{
    CUresult status = EMU_ENTER(DeviceGet);

    if (status == CUDA_SUCCESS && device == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS && emu_device_get(ordinal) == NULL) {
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

    if (status == CUDA_SUCCESS && count == NULL) {
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
    if (status == CUDA_SUCCESS && (name == NULL || len <= 0)) {
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
    if (status == CUDA_SUCCESS && uuid == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        emu_device_uuid(dev, uuid);
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
    if (status == CUDA_SUCCESS && bytes == NULL) {
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
    if (status == CUDA_SUCCESS &&
        (pi == NULL || !emu_device_attribute(device, attrib, pi))) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    return emu_leave(status);
}

/* The ordinal of the device with a PCI address, or -1. Its text is domain:bus:slot or
 * bus:slot. */
static CUdevice
device_of_pci_address(const char *text)
{
    unsigned int domain = 0, bus = 0, slot = 0;

    if (sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) {
        domain = 0;
        if (sscanf(text, "%x:%x", &bus, &slot) != 2) {
            return -1;
        }
    }
    if (domain != 0 || slot != 0 || bus == 0 || bus > EMU_MAX_DEVICES) {
        return -1;
    }
    return (CUdevice)bus - 1;
}

CUresult
emu_cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)
{
    CUresult status = EMU_ENTER(DeviceGetByPCIBusId);

    if (status == CUDA_SUCCESS && (dev == NULL || pciBusId == NULL)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        const CUdevice ordinal = device_of_pci_address(pciBusId);

        if (emu_device_get(ordinal) == NULL) {
            status = CUDA_ERROR_INVALID_DEVICE;
        }
        else {
            *dev = ordinal;
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
    if (status == CUDA_SUCCESS && (pciBusId == NULL || len < 13)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        emu_device_bus_id(dev, pciBusId, (size_t)len);
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    CUresult status = EMU_ENTER(DeviceCanAccessPeer);

    if (status == CUDA_SUCCESS && canAccessPeer == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS &&
        (emu_device_get(dev) == NULL || emu_device_get(peerDev) == NULL)) {
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

    if (status == CUDA_SUCCESS && (value == NULL || attrib == 0 || attrib > 4)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS &&
        (emu_device_get(srcDevice) == NULL || emu_device_get(dstDevice) == NULL ||
         srcDevice == dstDevice)) {
        status = CUDA_ERROR_INVALID_DEVICE;
    }
    if (status == CUDA_SUCCESS) {
        *value =
            attrib != 1; /* 1 is the rank, equal for all; the others are abilities */
    }
    return emu_leave(status);
}
