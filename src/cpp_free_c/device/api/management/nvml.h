/* The part of NVIDIA's management library (NVML) that the library exports.
 *
 * Programs look for libnvidia-ml.so.1 before they use CUDA, to count devices and to
 * read names, memory and versions. NVML needs no cuInit. Names and layouts are NVML's.
 */
#ifndef DEVICE_API_MANAGEMENT_NVML_H
#define DEVICE_API_MANAGEMENT_NVML_H

#include "device/base/export.h"

typedef enum {
    NVML_SUCCESS = 0,
    NVML_ERROR_UNINITIALIZED = 1,
    NVML_ERROR_INVALID_ARGUMENT = 2,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_NOT_FOUND = 6,
    NVML_ERROR_INSUFFICIENT_SIZE = 7,
    NVML_ERROR_UNKNOWN = 999
} nvmlReturn_t;

typedef struct nvmlDevice_st *nvmlDevice_t;

typedef struct {
    unsigned long long total, free, used;
} nvmlMemory_t;

typedef struct {
    unsigned int version;
    unsigned long long total, reserved, free, used;
} nvmlMemory_v2_t;

typedef struct {
    char busIdLegacy[16];
    unsigned int domain, bus, device;
    unsigned int pciDeviceId, pciSubSystemId;
    char busId[32];
} nvmlPciInfo_t;

EMU_EXPORT nvmlReturn_t nvmlInit(void);
EMU_EXPORT nvmlReturn_t nvmlInit_v2(void);
EMU_EXPORT nvmlReturn_t nvmlInitWithFlags(unsigned int flags);
EMU_EXPORT nvmlReturn_t nvmlShutdown(void);
EMU_EXPORT const char *nvmlErrorString(nvmlReturn_t result);

EMU_EXPORT nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length);
EMU_EXPORT nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length);
EMU_EXPORT nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version);
EMU_EXPORT nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version);

EMU_EXPORT nvmlReturn_t nvmlDeviceGetCount(unsigned int *count);
EMU_EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count);
EMU_EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index,
                                                   nvmlDevice_t *device);
EMU_EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index,
                                                      nvmlDevice_t *device);
EMU_EXPORT nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid,
                                                  nvmlDevice_t *device);
EMU_EXPORT nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *busId,
                                                      nvmlDevice_t *device);
EMU_EXPORT nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *busId,
                                                         nvmlDevice_t *device);

EMU_EXPORT nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name,
                                          unsigned int length);
EMU_EXPORT nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid,
                                          unsigned int length);
EMU_EXPORT nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index);
EMU_EXPORT nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device,
                                                 unsigned int *number);
EMU_EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device,
                                                nvmlMemory_t *memory);
EMU_EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device,
                                                   nvmlMemory_v2_t *memory);
EMU_EXPORT nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device,
                                                           int *major, int *minor);
EMU_EXPORT nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, void *pci);
EMU_EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, void *pci);
EMU_EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device,
                                                nvmlPciInfo_t *pci);
EMU_EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device,
                                                             unsigned int *count,
                                                             void *infos);
EMU_EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device,
                                                                unsigned int *count,
                                                                void *infos);
EMU_EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device,
                                                                unsigned int *count,
                                                                void *infos);

#endif
