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

EMU_GETTER(emu_cuDeviceGetCount, (int *count), count, emu_device_count)

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

EMU_GETTER(emu_cuDeviceTotalMem, (size_t * bytes, CUdevice dev), bytes,
           (size_t)emu_device_get(dev)->memory_bytes)

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

/* -- facts ------------------------------------------------------------------------- */

enum { ATTRIBUTE_CLOCK_RATE = 13, ATTRIBUTE_MAX_PITCH = 11 };

CUresult
emu_cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
    const emu_device *device = emu_device_get(dev);

    if (major == NULL || minor == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *major = device->major;
    *minor = device->minor;
    return CUDA_SUCCESS;
}

static int
device_attribute(const emu_device *device, unsigned int attribute)
{
    int value = 0;

    (void)emu_device_attribute(device, attribute, &value); /* known: see the callers */
    return value;
}

CUresult
emu_cuDeviceGetProperties(CUdevprop *prop, CUdevice dev)
{
    const emu_device *device = emu_device_get(dev);
    const emu_device_limits *limits = &device->limits;

    if (prop == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *prop = (CUdevprop){.maxThreadsPerBlock = limits->threads_per_block,
                        .sharedMemPerBlock = limits->shared_per_block,
                        .totalConstantMemory = limits->constant_memory,
                        .SIMDWidth = EMU_WARP_SIZE,
                        .memPitch = device_attribute(device, ATTRIBUTE_MAX_PITCH),
                        .regsPerBlock = limits->registers_per_block,
                        .clockRate = device_attribute(device, ATTRIBUTE_CLOCK_RATE),
                        .textureAlign = device_attribute(
                            device, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)};
    for (int i = 0; i < 3; i++) {
        prop->maxThreadsDim[i] = limits->block_dim[i];
        prop->maxGridSize[i] = limits->grid_dim[i];
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuDeviceGetExecAffinitySupport(int *pi, CUexecAffinityType type, CUdevice dev)
{
    (void)dev;
    if (pi == NULL || type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pi = 0;
    return CUDA_SUCCESS;
}

CUresult
emu_cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
                               CUflushGPUDirectRDMAWritesScope scope)
{
    (void)target;
    (void)scope;
    return CUDA_ERROR_NOT_SUPPORTED; /* as on a device without RDMA */
}
