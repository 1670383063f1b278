/* The calls on page-locked memory: allocating it, and registering memory of the
 * program.
 */
#include "device/check/stream_check.h"
#include "device/api/memory/allocation.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/release_count.h"

enum {
    HOST_ALLOC_FLAGS = 7,     /* PORTABLE, DEVICEMAP, WRITECOMBINED */
    HOST_REGISTER_FLAGS = 15, /* PORTABLE, DEVICEMAP, IOMEMORY, READ_ONLY */
    IOMEMORY = 4
};

static CUresult
host_alloc(emu_call call, void **pp, size_t bytesize, unsigned int Flags)
{
    emu_context *context;
    emu_allocation *made;
    CUresult status = emu_enter_context(call, &context);

    if (status == CUDA_SUCCESS &&
        (pp == NULL || bytesize == 0 || Flags > HOST_ALLOC_FLAGS)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = emu_allocation_new(context, EMU_MEMORY_HOST, bytesize, Flags, &made);
    }
    if (status == CUDA_SUCCESS) {
        *pp = (void *)(uintptr_t)made->base;
    }
    return emu_leave(status);
}

CUresult
emu_cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    return host_alloc(EMU_CALL_MemHostAlloc, pp, bytesize, Flags);
}

CUresult
emu_cuMemAllocHost(void **pp, size_t bytesize)
{
    return host_alloc(EMU_CALL_MemAllocHost, pp, bytesize, 0);
}

CUresult
emu_cuMemFreeHost(void *p)
{
    emu_context *context;
    CUresult status = EMU_ENTER_MEMORY(MemFreeHost, (uintptr_t)p, &context);

    if (status == CUDA_SUCCESS) {
        const emu_allocation *found =
            emu_allocation_find((uintptr_t)p, 1u << EMU_MEMORY_HOST);

        if (found != NULL) {
            emu_stream_check_free(found->base, found->size, "page-locked memory");
        }
        status = emu_allocation_free((uintptr_t)p, 1u << EMU_MEMORY_HOST);
    }
    return emu_leave(status);
}

CUresult
emu_cuMemHostGetDevicePointer(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(MemHostGetDevicePointer, &context);

    if (status == CUDA_SUCCESS && (pdptr == NULL || Flags != 0)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        const unsigned int kinds = 1u << EMU_MEMORY_HOST | 1u << EMU_MEMORY_REGISTERED;

        if (emu_allocation_find((uintptr_t)p, kinds) != NULL) {
            *pdptr = (uintptr_t)p;
        }
        else {
            status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(MemHostGetFlags, &context);

    if (status == CUDA_SUCCESS && pFlags == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        const emu_allocation *found =
            emu_allocation_find((uintptr_t)p, 1u << EMU_MEMORY_HOST);

        if (found != NULL) {
            *pFlags = found->flags;
        }
        else {
            status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    return emu_leave(status);
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
    if (emu_memory_check(base, 1) != NULL) {
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult
emu_cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags)
{
    emu_context *context;
    const uint64_t base = (uintptr_t)p;
    CUresult status = EMU_ENTER_CONTEXT(MemHostRegister, &context);

    if (status == CUDA_SUCCESS) {
        status = host_check_register(base, bytesize, Flags);
    }
    if (status == CUDA_SUCCESS) {
        status = emu_memory_register(base, bytesize, context->device->ordinal, context,
                                     Flags);
    }
    return emu_leave(status);
}

CUresult
emu_cuMemHostUnregister(void *p)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(MemHostUnregister, &context);

    if (status == CUDA_SUCCESS && p == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        const emu_allocation *found = emu_registered_overlap((uintptr_t)p, 1);

        if (found != NULL) {
            emu_count_free(found->context);
            emu_stream_check_free(found->base, found->size, "registered memory");
            emu_stream_check_forget(found->base, found->size);
        }
        status = emu_memory_unregister((uintptr_t)p);
    }
    return emu_leave(status);
}
