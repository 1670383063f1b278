/* The calls on page-locked memory: allocating it, and registering memory of the
 * program.
 */
#include "device/sync_check/stream_check.h"
#include "device/api/memory/allocation.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/users.h"

enum {
    HOST_ALLOC_FLAGS = 7,     /* PORTABLE, DEVICEMAP, WRITECOMBINED */
    HOST_REGISTER_FLAGS = 15, /* PORTABLE, DEVICEMAP, IOMEMORY, READ_ONLY */
    IOMEMORY = 4
};

CUresult
emu_cuMemHostAlloc(emu_context *context, void **pp, size_t bytesize, unsigned int Flags)
{
    emu_allocation *made;

    if (pp == NULL || bytesize == 0 || Flags > HOST_ALLOC_FLAGS) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status =
        emu_allocation_new(context, EMU_MEMORY_HOST, bytesize, Flags, &made);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    *pp = (void *)(uintptr_t)made->base;
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemAllocHost(emu_context *context, void **pp, size_t bytesize)
{
    return emu_cuMemHostAlloc(context, pp, bytesize, 0);
}

CUresult
emu_cuMemFreeHost(void *p)
{
    const emu_allocation *found =
        emu_allocation_find((uintptr_t)p, 1u << EMU_MEMORY_HOST);

    if (found != NULL) {
        emu_stream_check_free(found->base, found->size, "page-locked memory");
    }
    return emu_allocation_free((uintptr_t)p, 1u << EMU_MEMORY_HOST);
}

CUresult
emu_cuMemHostGetDevicePointer(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    const unsigned int kinds = 1u << EMU_MEMORY_HOST | 1u << EMU_MEMORY_REGISTERED;

    if (pdptr == NULL || Flags != 0 ||
        emu_allocation_find((uintptr_t)p, kinds) == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pdptr = (uintptr_t)p;
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    if (pFlags == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const emu_allocation *found =
        emu_allocation_find((uintptr_t)p, 1u << EMU_MEMORY_HOST);

    if (found == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pFlags = found->flags;
    return CUDA_SUCCESS;
}

static CUresult
host_check_register(uint64_t base, size_t size, unsigned int flags)
{
    if (base == 0 || size == 0 || flags > HOST_REGISTER_FLAGS ||
        size > UINT64_MAX - base) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if ((flags & IOMEMORY) != 0) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (base - emu_memory_tables.base >= emu_memory_tables.size) {
        return CUDA_SUCCESS;
    }
    /* In the device's own range: page-locked from the start, or not allocated. */
    if (emu_memory_holding(base, 1) != NULL) {
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult
emu_cuMemHostRegister(emu_context *context, void *p, size_t bytesize,
                      unsigned int Flags)
{
    const uint64_t base = (uintptr_t)p;

    CUresult status = host_check_register(base, bytesize, Flags);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    return emu_memory_register(base, bytesize, context->device->ordinal, context,
                               Flags);
}

CUresult
emu_cuMemHostUnregister(void *p)
{
    if (p == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const emu_allocation *found = emu_registered_overlap((uintptr_t)p, 1);

    if (found != NULL) {
        emu_count_free(found->context);
        emu_stream_check_free(found->base, found->size, "registered memory");
        emu_stream_check_forget(found->base, found->size);
    }
    return emu_memory_unregister((uintptr_t)p);
}
