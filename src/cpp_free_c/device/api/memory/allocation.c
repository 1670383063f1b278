/* The calls that allocate and free device memory. See allocation.h. */
#include "device/api/memory/allocation.h"

#include "device/base/site.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/queue.h"
#include "device/api/entry/turn.h"
#include "device/api/memory/ipc_memory.h"
#include "device/api/memory/graph_memory.h"
#include "device/api/memory/pool.h"

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
    const emu_allocation *found = emu_memory_holding(address, 1);

    if (found == NULL || (1u << found->kind & kinds) == 0) {
        return NULL;
    }
    return found;
}

CUresult
emu_cuMemGetInfo(emu_context *context, size_t *free, size_t *total)
{
    if (free == NULL || total == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const int device = context->device->ordinal;

    *total = (size_t)emu_memory_total(device);
    *free = (size_t)emu_memory_free_bytes(device);
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemAlloc(emu_context *context, CUdeviceptr *dptr, size_t bytesize)
{
    emu_allocation *made;

    if (dptr == NULL || bytesize == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status =
        emu_allocation_new(context, EMU_MEMORY_DEVICE, bytesize, 0, &made);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    *dptr = made->base;
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemAllocPitch(emu_context *context, CUdeviceptr *dptr, size_t *pPitch,
                    size_t WidthInBytes, size_t Height, unsigned int ElementSizeBytes)
{
    emu_allocation *made;

    if (dptr == NULL || pPitch == NULL || WidthInBytes == 0 || Height == 0 ||
        (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16) ||
        WidthInBytes > SIZE_MAX - PITCH_ALIGNMENT) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const size_t pitch =
        (WidthInBytes + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
    if (Height > SIZE_MAX / pitch) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    CUresult status =
        emu_allocation_new(context, EMU_MEMORY_PITCHED, pitch * Height, 0, &made);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    made->pitch = pitch;
    *dptr = made->base;
    *pPitch = pitch;
    return CUDA_SUCCESS;
}

/* As on a GPU, this does not wait for the work that uses memory of a pool. */
CUresult
emu_cuMemFree(CUdeviceptr dptr)
{
    const unsigned int kinds = 1u << EMU_MEMORY_DEVICE | 1u << EMU_MEMORY_PITCHED |
                               1u << EMU_MEMORY_MANAGED | 1u << EMU_MEMORY_POOLED |
                               1u << EMU_MEMORY_GRAPH_NODE;
    emu_allocation *found = emu_memory_starting_at(dptr);

    if (found == NULL || found->kind != EMU_MEMORY_POOLED) {
        emu_queue_settle();
        found = emu_memory_starting_at(dptr);
    }
    if (dptr == 0) {
        return CUDA_SUCCESS;
    }
    if (found != NULL && found->kind == EMU_MEMORY_IMPORTED) {
        emu_ipc_memory_close(found);
        return CUDA_SUCCESS;
    }
    return emu_allocation_free(dptr, kinds);
}

CUresult
emu_cuMemGetAddressRange(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    const emu_allocation *found =
        emu_allocation_find(dptr, ~(1u << EMU_MEMORY_ARRAY | 1u << EMU_MEMORY_HEAP));

    if (found == NULL) {
        return CUDA_ERROR_NOT_FOUND;
    }
    if (pbase != NULL) {
        *pbase = found->base;
    }
    if (psize != NULL) {
        *psize = (size_t)(found->size + found->unused);
    }
    return CUDA_SUCCESS;
}

void
emu_allocation_lend(unsigned long long address, size_t size)
{
    const unsigned int kinds = 1u << EMU_MEMORY_DEVICE | 1u << EMU_MEMORY_POOLED;
    emu_allocation *found = emu_memory_starting_at(address);

    if (found == NULL || (kinds >> found->kind & 1u) == 0) {
        return;
    }
    emu_memory_end_hold(found, emu_site_ask());
    if (found->size == size &&
        atomic_load_explicit(&found->extent, memory_order_relaxed) == size) {
        return;
    }
    emu_memory_lock();
    const uint64_t whole = found->size + found->unused;
    const bool is_late = emu_queue_keeps_all && found->unused != 0;
    if (size == 0) {
        size = (size_t)whole;
    }
    if (size <= whole && !(is_late && size < found->size)) {
        /* work that was enqueued before may run late and use more */
        found->size = size;
        found->unused = whole - size;
        atomic_store_explicit(&found->extent, size, memory_order_release);
    }
    emu_memory_unlock();
}

void
emu_allocation_hold(unsigned long long address)
{
    emu_allocation *found = emu_memory_starting_at(address);

    if (found != NULL) {
        emu_memory_hold(found, emu_site_ask());
    }
}

/* -- releases ---------------------------------------------------------------------- */

void
emu_release_forget(const emu_allocation *allocation)
{
    if (emu_pool_has(allocation)) {
        emu_pool_forget(allocation);
    }
    if (allocation->kind == EMU_MEMORY_GRAPH_NODE) {
        emu_graph_memory_forget(allocation);
    }
    emu_ipc_memory_forget(allocation);
}

bool
emu_release_memory(emu_allocation *allocation)
{
    if (allocation->kind == EMU_MEMORY_GRAPH_NODE) {
        return emu_graph_memory_end(allocation); /* the graph may make it live again */
    }
    emu_release_forget(allocation);
    return emu_memory_free(allocation);
}
