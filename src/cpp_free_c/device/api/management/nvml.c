/* The management library: devices, memory, versions. See nvml.h.
 *
 * A handle is the address of a device's record in this file, so handles of both
 * libraries are apart and a handle outlives nothing. Processes do not see each other's
 * memory: what is used is what this process has allocated. */
#include "device/api/management/nvml.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "device/api/management/nvml_unsupported.h"
#include "device/memory/memory.h"
#include "device/api/context/device_setup.h"
#include "device/api/entry/lock.h"

/* The series of NVIDIA's driver that has CUDA 13.0. */
#define DRIVER_SERIES "580.0"

enum { UUID_TEXT = 41 }; /* "GPU-", 32 digits, 4 hyphens, the zero byte */

/* Guarded by `mutex`. */
static struct {
    pthread_mutex_t mutex;
    unsigned int users; /* calls of nvmlInit without their nvmlShutdown */
    int count;
    emu_device devices[EMU_MAX_DEVICES];
} management = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* -- the library ------------------------------------------------------------------- */

nvmlReturn_t
nvmlInitWithFlags(unsigned int flags)
{
    nvmlReturn_t result = NVML_SUCCESS;

    (void)flags; /* about devices that are not attached */
    pthread_mutex_lock(&management.mutex);
    if (management.users == 0 &&
        emu_device_read(management.devices, &management.count) != CUDA_SUCCESS) {
        result = NVML_ERROR_UNKNOWN;
    }
    if (result == NVML_SUCCESS) {
        management.users++;
    }
    pthread_mutex_unlock(&management.mutex);
    return result;
}

nvmlReturn_t
nvmlInit_v2(void)
{
    return nvmlInitWithFlags(0);
}

nvmlReturn_t
nvmlInit(void)
{
    return nvmlInitWithFlags(0);
}

nvmlReturn_t
nvmlShutdown(void)
{
    nvmlReturn_t result = NVML_ERROR_UNINITIALIZED;

    pthread_mutex_lock(&management.mutex);
    if (management.users > 0) {
        management.users--;
        result = NVML_SUCCESS;
    }
    pthread_mutex_unlock(&management.mutex);
    return result;
}

const char *
nvmlErrorString(nvmlReturn_t result)
{
    switch (result) {
        case NVML_SUCCESS:
            return "Success";
        case NVML_ERROR_UNINITIALIZED:
            return "Uninitialized";
        case NVML_ERROR_INVALID_ARGUMENT:
            return "Invalid Argument";
        case NVML_ERROR_NOT_SUPPORTED:
            return "Not Supported";
        case NVML_ERROR_NOT_FOUND:
            return "Not Found";
        case NVML_ERROR_INSUFFICIENT_SIZE:
            return "Insufficient Size";
        case NVML_ERROR_UNKNOWN:
            break;
    }
    return "Unknown Error";
}

/* The number of devices; -1 before nvmlInit. */
static int
management_count(void)
{
    int count = -1;

    pthread_mutex_lock(&management.mutex);
    if (management.users > 0) {
        count = management.count;
    }
    pthread_mutex_unlock(&management.mutex);
    return count;
}

/* -- texts and numbers ------------------------------------------------------------- */

static nvmlReturn_t
text_store(const char *text, char *out, unsigned int room)
{
    if (management_count() < 0) {
        return NVML_ERROR_UNINITIALIZED;
    }
    if (out == NULL) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if (strlen(text) >= room) {
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    memcpy(out, text, strlen(text) + 1);
    return NVML_SUCCESS;
}

nvmlReturn_t
nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
    return text_store(DRIVER_SERIES, version, length);
}

nvmlReturn_t
nvmlSystemGetNVMLVersion(char *version, unsigned int length)
{
    return text_store("13." DRIVER_SERIES, version, length);
}

nvmlReturn_t
nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    if (version == NULL) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    *version = emu_driver_version(); /* allowed before nvmlInit */
    return NVML_SUCCESS;
}

nvmlReturn_t
nvmlSystemGetCudaDriverVersion(int *version)
{
    return nvmlSystemGetCudaDriverVersion_v2(version);
}

/* -- handles ----------------------------------------------------------------------- */

nvmlReturn_t
nvmlDeviceGetCount_v2(unsigned int *count)
{
    const int found = management_count();

    if (found < 0) {
        return NVML_ERROR_UNINITIALIZED;
    }
    if (count == NULL) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    *count = (unsigned int)found;
    return NVML_SUCCESS;
}

nvmlReturn_t
nvmlDeviceGetCount(unsigned int *count)
{
    return nvmlDeviceGetCount_v2(count);
}

nvmlReturn_t
nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device)
{
    const int count = management_count();

    if (count < 0) {
        return NVML_ERROR_UNINITIALIZED;
    }
    if (device == NULL || index >= (unsigned int)count) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    *device = (nvmlDevice_t)(void *)&management.devices[index];
    return NVML_SUCCESS;
}

nvmlReturn_t
nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t *device)
{
    return nvmlDeviceGetHandleByIndex_v2(index, device);
}

/* The record of a handle; NULL for another address, and before nvmlInit. */
static const emu_device *
handle_find(nvmlDevice_t handle)
{
    const int count = management_count();

    for (int i = 0; i < count; i++) {
        if ((const void *)handle == (const void *)&management.devices[i]) {
            return &management.devices[i];
        }
    }
    return NULL;
}

/* Check a handle and the place for an answer. */
static nvmlReturn_t
handle_check(nvmlDevice_t handle, const void *out, const emu_device **device)
{
    *device = handle_find(handle);
    if (management_count() < 0) {
        return NVML_ERROR_UNINITIALIZED;
    }
    if (*device == NULL || out == NULL) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    return NVML_SUCCESS;
}

/* Find the device for which a function writes this text. */
static nvmlReturn_t
handle_by_text(const char *wanted, void (*write)(int, char *, size_t),
               nvmlDevice_t *device)
{
    const int count = management_count();
    char text[UUID_TEXT];

    if (count < 0) {
        return NVML_ERROR_UNINITIALIZED;
    }
    if (wanted == NULL || device == NULL) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    for (int i = 0; i < count; i++) {
        write(i, text, sizeof(text));
        if (strcmp(text, wanted) == 0 ||
            (strncmp(text, "GPU-", 4) == 0 && strcmp(text + 4, wanted) == 0)) {
            return nvmlDeviceGetHandleByIndex_v2((unsigned int)i, device);
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

static void
uuid_write(int ordinal, char *text, size_t room)
{
    static const char hyphens[] = "\4\6\10\12"; /* the bytes behind hyphens */
    CUuuid uuid;
    size_t at = 4;

    emu_device_uuid(ordinal, &uuid);
    (void)snprintf(text, room, "GPU-");
    for (size_t i = 0; i < sizeof(uuid.bytes); i++) {
        if (i > 0 && strchr(hyphens, (int)i) != NULL) {
            text[at++] = '-';
        }
        (void)snprintf(text + at, room - at, "%02x", (unsigned char)uuid.bytes[i]);
        at += 2;
    }
}

nvmlReturn_t
nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
    return handle_by_text(uuid, uuid_write, device);
}

nvmlReturn_t
nvmlDeviceGetHandleByPciBusId_v2(const char *busId, nvmlDevice_t *device)
{
    if (busId != NULL && strncmp(busId, "00000000:", 9) == 0) {
        busId += 4; /* a domain of eight digits */
    }
    return handle_by_text(busId, emu_device_bus_id, device);
}

nvmlReturn_t
nvmlDeviceGetHandleByPciBusId(const char *busId, nvmlDevice_t *device)
{
    return nvmlDeviceGetHandleByPciBusId_v2(busId, device);
}

/* -- devices ----------------------------------------------------------------------- */

nvmlReturn_t
nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length)
{
    const emu_device *found;
    nvmlReturn_t result = handle_check(device, name, &found);

    if (result == NVML_SUCCESS) {
        result = text_store(EMU_DEVICE_NAME, name, length);
    }
    return result;
}

nvmlReturn_t
nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length)
{
    const emu_device *found;
    char text[UUID_TEXT];
    nvmlReturn_t result = handle_check(device, uuid, &found);

    if (result == NVML_SUCCESS) {
        uuid_write(found->ordinal, text, sizeof(text));
        result = text_store(text, uuid, length);
    }
    return result;
}

nvmlReturn_t
nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index)
{
    const emu_device *found;
    nvmlReturn_t result = handle_check(device, index, &found);

    if (result == NVML_SUCCESS) {
        *index = (unsigned int)found->ordinal;
    }
    return result;
}

nvmlReturn_t
nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int *number)
{
    return nvmlDeviceGetIndex(device, number);
}

/* The memory that this process has left of a device. */
static unsigned long long
memory_left(const emu_device *device)
{
    unsigned long long left = device->memory_bytes;

    emu_lock();
    if (emu_is_initialised() && !emu_is_forked()) {
        left = emu_memory_free_bytes(device->ordinal);
    }
    emu_unlock();
    return left;
}

nvmlReturn_t
nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
    const emu_device *found;
    nvmlReturn_t result = handle_check(device, memory, &found);

    if (result == NVML_SUCCESS) {
        memory->total = found->memory_bytes;
        memory->free = memory_left(found);
        memory->used = memory->total - memory->free;
    }
    return result;
}

nvmlReturn_t
nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
    nvmlMemory_t first;
    nvmlReturn_t result = nvmlDeviceGetMemoryInfo(device, &first);

    if (result == NVML_SUCCESS && memory == NULL) {
        result = NVML_ERROR_INVALID_ARGUMENT;
    }
    if (result == NVML_SUCCESS) {
        memory->total = first.total;
        memory->free = first.free;
        memory->used = first.used;
        memory->reserved = 0;
    }
    return result;
}

nvmlReturn_t
nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor)
{
    const emu_device *found;
    nvmlReturn_t result = handle_check(device, major, &found);

    if (result == NVML_SUCCESS && minor == NULL) {
        result = NVML_ERROR_INVALID_ARGUMENT;
    }
    if (result == NVML_SUCCESS) {
        *major = found->major;
        *minor = found->minor;
    }
    return result;
}

nvmlReturn_t
nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    const emu_device *found;
    nvmlReturn_t result = handle_check(device, pci, &found);

    if (result == NVML_SUCCESS) {
        memset(pci, 0, sizeof(*pci));
        pci->bus = (unsigned int)found->ordinal + 1;
        emu_device_bus_id(found->ordinal, pci->busIdLegacy, sizeof(pci->busIdLegacy));
        memcpy(pci->busId, "0000", 4); /* a domain of eight digits */
        emu_device_bus_id(found->ordinal, pci->busId + 4, sizeof(pci->busId) - 4);
    }
    return result;
}

/* Store the first bytes of the structure: those before the long bus id are the older
 * structures, behind which the caller may have other variables. */
static nvmlReturn_t
pci_info_begin(nvmlDevice_t device, void *pci, size_t size)
{
    nvmlPciInfo_t info;
    nvmlReturn_t result = NVML_ERROR_INVALID_ARGUMENT;

    if (pci != NULL) {
        result = nvmlDeviceGetPciInfo_v3(device, &info);
    }
    if (result == NVML_SUCCESS) {
        memcpy(pci, &info, size);
    }
    return result;
}

nvmlReturn_t
nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, void *pci)
{
    return pci_info_begin(device, pci, offsetof(nvmlPciInfo_t, busId));
}

nvmlReturn_t
nvmlDeviceGetPciInfo(nvmlDevice_t device, void *pci)
{
    return pci_info_begin(device, pci, offsetof(nvmlPciInfo_t, pciSubSystemId));
}

/* No process is seen from another one. */
nvmlReturn_t
nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
                                        void *infos)
{
    const emu_device *found;
    nvmlReturn_t result = handle_check(device, count, &found);

    (void)infos;
    if (result == NVML_SUCCESS) {
        *count = 0;
    }
    return result;
}

nvmlReturn_t
nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int *count,
                                        void *infos)
{
    return nvmlDeviceGetComputeRunningProcesses_v3(device, count, infos);
}

nvmlReturn_t
nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned int *count,
                                     void *infos)
{
    return nvmlDeviceGetComputeRunningProcesses_v3(device, count, infos);
}

/* -- what a software device has no answer to ----------------------------------------
 */

static nvmlReturn_t
management_refuse(void)
{
    return management_count() < 0 ? NVML_ERROR_UNINITIALIZED : NVML_ERROR_NOT_SUPPORTED;
}

/* The arguments are not looked at, so one signature serves all. */
#define DEFINE_UNSUPPORTED(name)        \
    EMU_EXPORT nvmlReturn_t name(void); \
    nvmlReturn_t name(void)             \
    {                                   \
        return management_refuse();     \
    }
NVML_UNSUPPORTED(DEFINE_UNSUPPORTED)
