/* The calls that allocate, register and free memory, except those ordered by a stream.
 *
 * Device, pitched, page-locked, registered and managed memory. */
#include "device/memory/memory.h"
#include "device/api/capture.h"
#include "device/api/entry.h"
#include "device/api/pending_free.h"
#include "device/api/release.h"
#include "device/api/release_count.h"
#include "device/api/stream.h"

#define PITCH_ALIGNMENT 512

enum {
    HOST_ALLOC_FLAGS = 7,     /* PORTABLE, DEVICEMAP, WRITECOMBINED */
    HOST_REGISTER_FLAGS = 15, /* PORTABLE, DEVICEMAP, IOMEMORY, READ_ONLY */
    IOMEMORY = 4,
    ATTACH_GLOBAL = 1,
    ATTACH_HOST = 2,
    ATTACH_SINGLE = 4
};

static CUresult
allocation_new(emu_context *context, emu_memory_kind kind, size_t size,
               unsigned int flags, emu_allocation **out)
{
    emu_memory_request request = {.kind = kind,
                                  .size = size,
                                  .device = context->device->ordinal,
                                  .context = context,
                                  .flags = flags};

    return emu_memory_allocate(&request, out);
}

/* Free the allocation that begins at an address if its kind is one of `kinds`, a sum of
 * 1 << kind. */
static CUresult
allocation_free(uint64_t address, unsigned int kinds)
{
    emu_allocation *found = emu_memory_starting_at(address);

    if (found == NULL || (1u << found->kind & kinds) == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return emu_pending_free(found, emu_release_memory);
}

/* The live allocation that holds an address if its kind is one of `kinds`, or NULL. */
static const emu_allocation *
allocation_find(uint64_t address, unsigned int kinds)
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
        status = allocation_new(context, EMU_MEMORY_DEVICE, bytesize, 0, &made);
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
    emu_allocation *made;
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
            status =
                allocation_new(context, EMU_MEMORY_PITCHED, pitch * Height, 0, &made);
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
        status = allocation_free(
            dptr, 1u << EMU_MEMORY_DEVICE | 1u << EMU_MEMORY_PITCHED |
                      1u << EMU_MEMORY_MANAGED | 1u << EMU_MEMORY_POOLED);
    }
    return emu_leave(status);
}

CUresult
emu_cuMemGetAddressRange(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(MemGetAddressRange, &context);

    if (status == CUDA_SUCCESS) {
        const emu_allocation *found =
            allocation_find(dptr, ~(1u << EMU_MEMORY_ARRAY | 1u << EMU_MEMORY_HEAP));

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

/* -- page-locked ------------------------------------------------------------------- */

CUresult
emu_cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    emu_context *context;
    emu_allocation *made;
    CUresult status = EMU_ENTER_CONTEXT(MemHostAlloc, &context);

    if (status == CUDA_SUCCESS &&
        (pp == NULL || bytesize == 0 || Flags > HOST_ALLOC_FLAGS)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = allocation_new(context, EMU_MEMORY_HOST, bytesize, Flags, &made);
    }
    if (status == CUDA_SUCCESS) {
        *pp = (void *)(uintptr_t)made->base;
    }
    return emu_leave(status);
}

CUresult
emu_cuMemFreeHost(void *p)
{
    emu_context *context;
    CUresult status = EMU_ENTER_MEMORY(MemFreeHost, (uintptr_t)p, &context);

    if (status == CUDA_SUCCESS) {
        status = allocation_free((uintptr_t)p, 1u << EMU_MEMORY_HOST);
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

        if (allocation_find((uintptr_t)p, kinds) != NULL) {
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
            allocation_find((uintptr_t)p, 1u << EMU_MEMORY_HOST);

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
        const emu_allocation *found = emu_memory_find_registered((uintptr_t)p);

        if (found != NULL) {
            emu_count_free(found->context);
        }
        status = emu_memory_unregister((uintptr_t)p);
    }
    return emu_leave(status);
}

/* -- managed ----------------------------------------------------------------------- */

CUresult
emu_cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    emu_context *context;
    emu_allocation *made;
    CUresult status = EMU_ENTER_CONTEXT(MemAllocManaged, &context);

    if (status == CUDA_SUCCESS && (dptr == NULL || bytesize == 0 ||
                                   (flags != ATTACH_GLOBAL && flags != ATTACH_HOST))) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = allocation_new(context, EMU_MEMORY_MANAGED, bytesize, flags, &made);
    }
    if (status == CUDA_SUCCESS) {
        *dptr = made->base;
    }
    return emu_leave(status);
}

static bool
managed_has_range(CUdeviceptr address, size_t count)
{
    const emu_allocation *found = emu_memory_check(address, count);

    return count > 0 && found != NULL && found->kind == EMU_MEMORY_MANAGED;
}

/* Whether managed memory can be there: on a device, or on the host (-1). */
static bool
managed_is_place(CUdevice device)
{
    return device == -1 || emu_device_get(device) != NULL;
}

/* Check the stream of a call that a capture refuses. */
static CUresult
managed_check_stream(emu_context *context, CUstream handle)
{
    emu_stream *stream;
    CUresult status = emu_stream_find(context, handle, &stream);

    if (status == CUDA_SUCCESS) {
        status = emu_capture_refuse(stream);
    }
    return status;
}

CUresult
emu_cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
                       CUstream hStream)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(MemPrefetchAsync, hStream, &context);

    if (status == CUDA_SUCCESS && !managed_has_range(devPtr, count)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS && !managed_is_place(dstDevice)) {
        status = CUDA_ERROR_INVALID_DEVICE;
    }
    if (status == CUDA_SUCCESS) {
        status = managed_check_stream(context, hStream);
    }
    return emu_leave(status);
}

CUresult
emu_cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(MemAdvise, &context);

    if (status == CUDA_SUCCESS &&
        (!managed_has_range(devPtr, count) || advice < 1 || advice > 6)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    /* Advice 1 and 2 is about reads by all devices; it ignores the device. */
    if (status == CUDA_SUCCESS && advice > 2 && !managed_is_place(device)) {
        status = CUDA_ERROR_INVALID_DEVICE;
    }
    return emu_leave(status);
}

/* Attach a whole allocation. A single stream must not be the null stream. */
static CUresult
managed_attach(CUdeviceptr address, size_t length, unsigned int flags, bool is_null)
{
    emu_allocation *found = emu_memory_starting_at(address);

    if (found == NULL || found->kind != EMU_MEMORY_MANAGED ||
        (length != 0 && length != found->size)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (flags != ATTACH_GLOBAL && flags != ATTACH_HOST &&
        (flags != ATTACH_SINGLE || is_null)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    found->flags = flags;
    return CUDA_SUCCESS;
}

CUresult
emu_cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length,
                           unsigned int flags)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(StreamAttachMemAsync, hStream, &context);

    if (status == CUDA_SUCCESS) {
        status = managed_check_stream(context, hStream);
    }
    if (status == CUDA_SUCCESS) {
        const bool is_null = emu_stream_get(context, hStream) == context->null_stream;

        status = managed_attach(dptr, length, flags, is_null);
    }
    return emu_leave(status);
}
