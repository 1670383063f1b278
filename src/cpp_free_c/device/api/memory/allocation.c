/* The calls that allocate and free device memory. See allocation.h. */
#include "device/api/memory/allocation.h"

#include "device/api/entry/entry.h"
#include "device/api/entry/pending_free.h"
#include "device/api/memory/ipc_memory.h"
#include "device/api/memory/release.h"

#define PITCH_ALIGNMENT 512

CUresult
emu_allocation_new(emu_context *context, emu_memory_kind kind, size_t size,
                   unsigned int flags, emu_allocation **out)
{
    emu_memory_request request = {.kind = kind,
                                  .size = size,
                                  .device = context->device->ordinal,
                                  .context = context,
                                  .flags = flags};

    return emu_memory_allocate(&request, out);
}

CUresult
emu_allocation_free(uint64_t address, unsigned int kinds)
{
    emu_allocation *found = emu_memory_starting_at(address);

    if (found == NULL || (1u << found->kind & kinds) == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return emu_pending_free(found, emu_release_memory);
}

const emu_allocation *
emu_allocation_find(uint64_t address, unsigned int kinds)
{
    const emu_allocation *found = emu_memory_check(address, 1);

    if (found == NULL || (1u << found->kind & kinds) == 0) {
        return NULL;
    }
    return found;
}

CUresult
emu_cuMemGetInfo(size_t *free, size_t *total)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(MemGetInfo, &context);

    if (status == CUDA_SUCCESS && (free == NULL || total == NULL)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        int device = context->device->ordinal;

        *total = (size_t)emu_memory_total(device);
        *free = (size_t)emu_memory_free_bytes(device);
    }
    return emu_leave(status);
}

CUresult
emu_cuMemAlloc(CUdeviceptr *dptr, size_t bytesize)
{
    emu_context *context;
    emu_allocation *made;
    CUresult status = EMU_ENTER_CONTEXT(MemAlloc, &context);

    if (status == CUDA_SUCCESS && (dptr == NULL || bytesize == 0)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = emu_allocation_new(context, EMU_MEMORY_DEVICE, bytesize, 0, &made);
    }
    if (status == CUDA_SUCCESS) {
        *dptr = made->base;
    }
    return emu_leave(status);
}

CUresult
emu_cuMemAllocPitch(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes,
                    size_t Height, unsigned int ElementSizeBytes)
{
    emu_context *context;
    emu_allocation *made = NULL;
    size_t pitch = 0;
    CUresult status = EMU_ENTER_CONTEXT(MemAllocPitch, &context);

    if (status == CUDA_SUCCESS &&
        (dptr == NULL || pPitch == NULL || WidthInBytes == 0 || Height == 0 ||
         (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16) ||
         WidthInBytes > SIZE_MAX - PITCH_ALIGNMENT)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        pitch =
            (WidthInBytes + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
        if (Height > SIZE_MAX / pitch) {
            status = CUDA_ERROR_OUT_OF_MEMORY;
        }
        else {
            status = emu_allocation_new(context, EMU_MEMORY_PITCHED, pitch * Height, 0,
                                        &made);
        }
    }
    if (status == CUDA_SUCCESS) {
        made->pitch = pitch;
        *dptr = made->base;
        *pPitch = pitch;
    }
    return emu_leave(status);
}

CUresult
emu_cuMemFree(CUdeviceptr dptr)
{
    emu_context *context;
    CUresult status = EMU_ENTER_MEMORY(MemFree, dptr, &context);

    if (status == CUDA_SUCCESS && dptr != 0) {
        emu_allocation *found = emu_memory_starting_at(dptr);

        if (found != NULL && found->kind == EMU_MEMORY_IMPORTED) {
            emu_ipc_memory_close(found);
            return emu_leave(status);
        }
        status = emu_allocation_free(
            dptr, 1u << EMU_MEMORY_DEVICE | 1u << EMU_MEMORY_PITCHED |
                      1u << EMU_MEMORY_MANAGED | 1u << EMU_MEMORY_POOLED |
                      1u << EMU_MEMORY_GRAPH_NODE);
    }
    return emu_leave(status);
}

CUresult
emu_cuMemGetAddressRange(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(MemGetAddressRange, &context);

    if (status == CUDA_SUCCESS) {
        const emu_allocation *found = emu_allocation_find(
            dptr, ~(1u << EMU_MEMORY_ARRAY | 1u << EMU_MEMORY_HEAP));

        if (found == NULL) {
            status = CUDA_ERROR_NOT_FOUND;
        }
        if (found != NULL && pbase != NULL) {
            *pbase = found->base;
        }
        if (found != NULL && psize != NULL) {
            *psize = (size_t)found->size;
        }
    }
    return emu_leave(status);
}
