/* The calls on devices. */
#include <stdio.h>
#include <string.h>

#include "device/api/context/device_setup.h"
#include "device/api/entry/entry.h"

CUresult
emu_cuDeviceGet(CUdevice *device, int ordinal)
{
    if (device == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (emu_device_get(ordinal) == NULL) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult
emu_cuDeviceGetCount(int *count)
{
    if (count == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *count = emu_device_count;
    return CUDA_SUCCESS;
}

CUresult
emu_cuDeviceGetName(char *name, int len, CUdevice dev)
{
    (void)dev; /* all devices have one name */
    if (name == NULL || len <= 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    (void)snprintf(name, (size_t)len, "%s", EMU_DEVICE_NAME); /* cut to fit */
    return CUDA_SUCCESS;
}

CUresult
emu_cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
    if (uuid == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_device_uuid(dev, uuid);
    return CUDA_SUCCESS;
}

CUresult
emu_cuDeviceTotalMem(size_t *bytes, CUdevice dev)
{
    if (bytes == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *bytes = (size_t)emu_device_get(dev)->memory_bytes;
    return CUDA_SUCCESS;
}

CUresult
emu_cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    if (pi == NULL || !emu_device_attribute(emu_device_get(dev), attrib, pi)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
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
    if (dev == NULL || pciBusId == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const CUdevice ordinal = device_of_pci_address(pciBusId);

    if (emu_device_get(ordinal) == NULL) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *dev = ordinal;
    return CUDA_SUCCESS;
}

CUresult
emu_cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
    if (pciBusId == NULL || len < EMU_BUS_ID_ROOM) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_device_bus_id(dev, pciBusId, (size_t)len);
    return CUDA_SUCCESS;
}

CUresult
emu_cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    if (canAccessPeer == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (emu_device_get(dev) == NULL || emu_device_get(peerDev) == NULL) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *canAccessPeer = dev != peerDev;
    return CUDA_SUCCESS;
}

CUresult
emu_cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib,
                            CUdevice srcDevice, CUdevice dstDevice)
{
    if (value == NULL || attrib == 0 || attrib > 4) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (emu_device_get(srcDevice) == NULL || emu_device_get(dstDevice) == NULL ||
        srcDevice == dstDevice) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *value = attrib != 1; /* 1 is the rank, equal for all; the others are abilities */
    return CUDA_SUCCESS;
}
