/* The calls on virtual memory: reserving addresses, making memory, mapping, rights, and
 * sharing with other processes. */
#define _GNU_SOURCE
#include "device/memory/memory.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "device/api/entry/entry.h"
#include "device/api/memory/ipc_memory.h"

#define PHYSICAL_MAGIC 0x73796850u

/* Behind the memory in its file. */
typedef struct {
    uint32_t magic;
    int32_t device;
    uint64_t size;
} physical_label;

/* -- addresses --------------------------------------------------------------------- */

CUresult
emu_cuMemAddressReserve(emu_context *context, CUdeviceptr *ptr, size_t size,
                        size_t alignment, CUdeviceptr addr, unsigned long long flags)
{
    uint64_t base = 0;

    (void)addr; /* a wish, which a driver need not fulfil */
    if (ptr == NULL || size == 0 || size % EMU_VIRTUAL_GRANULE != 0 || flags != 0 ||
        (alignment & (alignment - 1)) != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (size > emu_memory_tables.size / 2 || alignment > emu_memory_tables.size / 2) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    CUresult status = emu_virtual_reserve(context, size, alignment, &base);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    *ptr = base;
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
    return emu_virtual_free(ptr, size);
}

/* -- memory ------------------------------------------------------------------------ */

/* Check properties, and find their device. */
static CUresult
physical_check(const CUmemAllocationProp *prop, emu_device **device)
{
    if (prop == NULL || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
        prop->requestedHandleTypes > CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return emu_device_find(prop->location.id, device);
}

/* No context owns memory without addresses. */
static void
physical_destroy(emu_object *object)
{
    emu_object_free(object);
}

static CUresult
physical_new(int device, uint64_t size, int file, emu_physical **out)
{
    emu_physical *made =
        emu_object_new(EMU_PHYSICAL, sizeof(*made), NULL, physical_destroy);

    if (made == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->device = device;
    made->size = size;
    made->file = file;
    made->handles = 1;
    *out = made;
    return CUDA_SUCCESS;
}

static CUresult
physical_create(int device, uint64_t size, emu_physical **out)
{
    const physical_label label = {PHYSICAL_MAGIC, device, size};
    uint64_t inode;
    CUresult status = CUDA_ERROR_OUT_OF_MEMORY;

    if (!emu_memory_charge(device, size)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    const int file = emu_ipc_file_make(size + sizeof(label), &inode);

    if (file >= 0 &&
        pwrite(file, &label, sizeof(label), (off_t)size) == (ssize_t)sizeof(label)) {
        status = physical_new(device, size, file, out);
    }
    if (status == CUDA_SUCCESS) {
        (*out)->charged = true;
        return CUDA_SUCCESS;
    }
    if (file >= 0) {
        (void)close(file); /* nothing else refers to it */
    }
    emu_memory_discharge(device, size);
    return status;
}

static emu_physical *
physical_get(CUmemGenericAllocationHandle handle)
{
    return emu_object_get((const void *)(uintptr_t)handle, EMU_PHYSICAL);
}

CUresult
emu_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                const CUmemAllocationProp *prop, unsigned long long flags)
{
    emu_device *device = NULL;
    emu_physical *made = NULL;

    if (handle == NULL || size == 0 || flags != 0 || size % EMU_VIRTUAL_GRANULE != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = physical_check(prop, &device);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = physical_create(device->ordinal, size, &made);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    made->shareable = prop->requestedHandleTypes != 0;
    *handle = (uintptr_t)made;
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemRelease(CUmemGenericAllocationHandle handle)
{
    emu_physical *found = physical_get(handle);

    if (found == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    found->handles--;
    if (found->handles == 0) {
        emu_object_unlist(&found->object);
        emu_physical_release_if_unused(found); /* its mappings live on */
    }
    return CUDA_SUCCESS;
}

/* Give a handle of mapped memory again, also after the last one was released. */
static CUresult
physical_retain(emu_physical *physical)
{
    if (physical->handles == 0 && !emu_object_list(&physical->object)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    physical->handles++;
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
    emu_physical *found = emu_virtual_memory_at((uintptr_t)addr);

    if (found == NULL || handle == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = physical_retain(found);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    *handle = (uintptr_t)found;
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                  CUmemAllocationGranularity_flags option)
{
    emu_device *device;

    if (granularity == NULL || option > 1) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = physical_check(prop, &device);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    *granularity = (size_t)EMU_VIRTUAL_GRANULE;
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                           CUmemGenericAllocationHandle handle)
{
    const emu_physical *found = physical_get(handle);

    if (found == NULL || prop == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    memset(prop, 0, sizeof(*prop));
    prop->type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop->requestedHandleTypes = found->shareable;
    prop->location = (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, found->device};
    return CUDA_SUCCESS;
}

/* -- mapping and rights ------------------------------------------------------------ */

CUresult
emu_cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
             CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    emu_physical *found = physical_get(handle);

    if (found == NULL || flags != 0 || offset % EMU_VIRTUAL_GRANULE != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (offset != 0) {
        return CUDA_ERROR_NOT_SUPPORTED; /* as the driver of an H200 */
    }
    return emu_virtual_map(ptr, size, found, offset);
}

CUresult
emu_cuMemUnmap(CUdeviceptr ptr, size_t size)
{
    return emu_virtual_unmap(ptr, size);
}

CUresult
emu_cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc,
                   size_t count)
{
    CUresult status = CUDA_SUCCESS;

    if (desc == NULL || count == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < count; i++) {
        if (desc[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
            emu_device_get(desc[i].location.id) == NULL) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
    }
    for (size_t i = 0; status == CUDA_SUCCESS && i < count; i++) {
        status = emu_virtual_set_access(ptr, size, desc[i].location.id, desc[i].flags);
    }
    return status;
}

CUresult
emu_cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
                   CUdeviceptr ptr)
{
    unsigned int rights = 0;

    if (flags == NULL || location == NULL ||
        location->type != CU_MEM_LOCATION_TYPE_DEVICE ||
        emu_device_get(location->id) == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = emu_virtual_get_access(ptr, location->id, &rights);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    *flags = rights;
    return CUDA_SUCCESS;
}

/* -- other processes --------------------------------------------------------------- */

CUresult
emu_cuMemExportToShareableHandle(void *shareableHandle,
                                 CUmemGenericAllocationHandle handle,
                                 CUmemAllocationHandleType handleType,
                                 unsigned long long flags)
{
    const emu_physical *found = physical_get(handle);

    if (found == NULL || !found->shareable || shareableHandle == NULL ||
        handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const int copy = fcntl(found->file, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    memcpy(shareableHandle, &copy, sizeof(copy));
    return CUDA_SUCCESS;
}

/* Read the label behind the memory of a file. */
static bool
physical_read_label(int file, physical_label *label)
{
    off_t end = lseek(file, 0, SEEK_END);

    return end > (off_t)sizeof(*label) &&
           pread(file, label, sizeof(*label), end - (off_t)sizeof(*label)) ==
               (ssize_t)sizeof(*label) &&
           label->magic == PHYSICAL_MAGIC &&
           label->size + sizeof(*label) == (uint64_t)end &&
           emu_device_get(label->device) != NULL;
}

CUresult
emu_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                   CUmemAllocationHandleType shHandleType)
{
    physical_label label;
    emu_physical *made;

    if (handle == NULL || shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        !physical_read_label((int)(intptr_t)osHandle, &label)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const int file = fcntl((int)(intptr_t)osHandle, F_DUPFD_CLOEXEC, 0);
    if (file < 0) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    CUresult status = physical_new(label.device, label.size, file, &made);
    if (status != CUDA_SUCCESS) {
        (void)close(file); /* the caller has it open too */
        return status;
    }
    made->shareable = true;
    *handle = (uintptr_t)made;
    return CUDA_SUCCESS;
}
