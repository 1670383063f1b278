/* Older and newer questions about devices that cuDeviceGetAttribute does not answer. */
#include "device/api/entry/entry.h"

enum { ATTRIBUTE_CLOCK_RATE = 13, ATTRIBUTE_MAX_PITCH = 11 };

/* Enter a call on a device with a place for the answer. */
static CUresult
device_enter(emu_call call, const void *out, CUdevice ordinal, emu_device **device)
{
    CUresult status = emu_enter(call);

    *device = NULL;
    if (status == CUDA_SUCCESS && out == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = emu_device_find(ordinal, device);
    }
    return status;
}

CUresult
emu_cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
    emu_device *device;
    CUresult status =
        device_enter(EMU_CALL_DeviceComputeCapability, major, dev, &device);

    if (status == CUDA_SUCCESS && minor == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *major = device->major;
        *minor = device->minor;
    }
    return emu_leave(status);
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
    emu_device *device;
    CUresult status = device_enter(EMU_CALL_DeviceGetProperties, prop, dev, &device);

    if (status == CUDA_SUCCESS) {
        const emu_device_limits *limits = &device->limits;

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
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceGetExecAffinitySupport(int *pi, CUexecAffinityType type, CUdevice dev)
{
    emu_device *device;
    CUresult status =
        device_enter(EMU_CALL_DeviceGetExecAffinitySupport, pi, dev, &device);

    if (status == CUDA_SUCCESS && type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *pi = 0;
    }
    return emu_leave(status);
}

CUresult
emu_cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
                               CUflushGPUDirectRDMAWritesScope scope)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(FlushGPUDirectRDMAWrites, &context);

    (void)target;
    (void)scope;
    if (status == CUDA_SUCCESS) {
        status = CUDA_ERROR_NOT_SUPPORTED; /* as on a device without RDMA */
    }
    return emu_leave(status);
}
