/* Older and newer questions about devices that cuDeviceGetAttribute does not answer. */
#include "device/api/entry/entry.h"

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
