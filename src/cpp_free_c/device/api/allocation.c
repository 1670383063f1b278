/* Memory as programs ask for it: device, pitched, page-locked, registered, managed. */
#include "device/api/entry.h"
#include "device/api/capture.h"
#include "device/api/context.h"
#include "device/api/faults.h"
#include "device/api/ipc.h"
#include "device/api/deferred_release.h"
#include "device/api/pool.h"
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
allocate(emu_context *context, emu_memory_kind kind, size_t size, unsigned int flags,
         emu_allocation **out)
{
    emu_memory_request request = {.kind = kind,
                                  .size = size,
                                  .device = context->device->ordinal,
                                  .context = context,
                                  .flags = flags};

    return emu_memory_allocate(&request, out);
}

static bool
is_registered(const emu_allocation *found)
{
    return found && found->kind == EMU_MEMORY_REGISTERED;
}

CUresult
emu_cuMemGetInfo(size_t *free, size_t *total)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(MemGetInfo, &context);

    if (status == CUDA_SUCCESS && (!free || !total)) {
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

    if (status == CUDA_SUCCESS && (!dptr || bytesize == 0)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = allocate(context, EMU_MEMORY_DEVICE, bytesize, 0, &made);
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
        (!dptr || !pPitch || WidthInBytes == 0 || Height == 0 ||
         (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16) ||
         WidthInBytes > SIZE_MAX - PITCH_ALIGNMENT)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        pitch =
            (WidthInBytes + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
        status = Height > SIZE_MAX / pitch
                     ? CUDA_ERROR_OUT_OF_MEMORY
                     : allocate(context, EMU_MEMORY_PITCHED, pitch * Height, 0, &made);
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

    if (status == CUDA_SUCCESS && dptr) {
        emu_allocation *found = emu_memory_starting_at(dptr);

        status = CUDA_ERROR_INVALID_VALUE;
        if (found &&
            (found->kind == EMU_MEMORY_DEVICE || found->kind == EMU_MEMORY_PITCHED ||
             found->kind == EMU_MEMORY_MANAGED || found->kind == EMU_MEMORY_POOLED)) {
            status = emu_keep_or_free(found);
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuMemGetAddressRange(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(MemGetAddressRange, &context);

    if (status == CUDA_SUCCESS) {
        const emu_allocation *found = emu_memory_check(dptr, 1);

        if (found && found->kind != EMU_MEMORY_ARRAY &&
            found->kind != EMU_MEMORY_HEAP) {
            if (pbase) {
                *pbase = found->base;
            }
            if (psize) {
                *psize = (size_t)found->size;
            }
        }
        else {
            status = CUDA_ERROR_NOT_FOUND;
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

    if (status == CUDA_SUCCESS && (!pp || bytesize == 0 || Flags > HOST_ALLOC_FLAGS)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = allocate(context, EMU_MEMORY_HOST, bytesize, Flags, &made);
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
        emu_allocation *found = emu_memory_starting_at((uintptr_t)p);

        status = CUDA_ERROR_INVALID_VALUE;
        if (found && found->kind == EMU_MEMORY_HOST) {
            status = emu_keep_or_free(found);
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuMemHostGetDevicePointer(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(MemHostGetDevicePointer, &context);

    if (status == CUDA_SUCCESS && (!pdptr || Flags != 0)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        const emu_allocation *found = emu_memory_check((uintptr_t)p, 1);

        if (found && (found->kind == EMU_MEMORY_HOST || is_registered(found))) {
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

    if (status == CUDA_SUCCESS && !pFlags) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        const emu_allocation *found = emu_memory_check((uintptr_t)p, 1);

        if (found && found->kind == EMU_MEMORY_HOST) {
            *pFlags = found->flags;
        }
        else {
            status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags)
{
    emu_context *context;
    uint64_t base = (uintptr_t)p;
    CUresult status = EMU_ENTER_CONTEXT(MemHostRegister, &context);

    if (status == CUDA_SUCCESS && (!p || bytesize == 0 || Flags > HOST_REGISTER_FLAGS ||
                                   bytesize > UINT64_MAX - base)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS && (Flags & IOMEMORY)) {
        status = CUDA_ERROR_NOT_SUPPORTED;
    }
    if (status == CUDA_SUCCESS &&
        base - emu_memory_tables.base < emu_memory_tables.size) {
        /* Ours: page-locked by birth, or no memory of the program at all. */
        status = emu_memory_check(base, 1) ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
                                           : CUDA_ERROR_INVALID_VALUE;
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

    if (status == CUDA_SUCCESS && !p) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        const emu_allocation *found = emu_memory_find_registered((uintptr_t)p);

        if (found) {
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

    if (status == CUDA_SUCCESS &&
        (!dptr || bytesize == 0 || (flags != ATTACH_GLOBAL && flags != ATTACH_HOST))) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = allocate(context, EMU_MEMORY_MANAGED, bytesize, flags, &made);
    }
    if (status == CUDA_SUCCESS) {
        *dptr = made->base;
    }
    return emu_leave(status);
}

static bool
within_managed(CUdeviceptr address, size_t count)
{
    const emu_allocation *found = emu_memory_check(address, count);

    return count > 0 && found && found->kind == EMU_MEMORY_MANAGED;
}

/* -1 is the host. */
static bool
is_place(CUdevice device)
{
    return device == -1 || emu_device_get(device);
}

CUresult
emu_cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
                       CUstream hStream)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(MemPrefetchAsync, hStream, &context);

    if (status == CUDA_SUCCESS && !within_managed(devPtr, count)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS && !is_place(dstDevice)) {
        status = CUDA_ERROR_INVALID_DEVICE;
    }
    if (status == CUDA_SUCCESS) {
        emu_stream *stream = emu_stream_get(context, hStream);

        status = stream ? emu_capture_refuse(stream) : CUDA_ERROR_INVALID_HANDLE;
    }
    return emu_leave(status);
}

CUresult
emu_cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(MemAdvise, &context);

    if (status == CUDA_SUCCESS &&
        (!within_managed(devPtr, count) || advice < 1 || advice > 6)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    /* 1 and 2 are about reads by all; the device is ignored. */
    if (status == CUDA_SUCCESS && advice > 2 && !is_place(device)) {
        status = CUDA_ERROR_INVALID_DEVICE;
    }
    return emu_leave(status);
}

CUresult
emu_cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length,
                           unsigned int flags)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(StreamAttachMemAsync, hStream, &context);

    if (status == CUDA_SUCCESS) {
        emu_stream *stream = emu_stream_get(context, hStream);

        status = stream ? emu_capture_refuse(stream) : CUDA_ERROR_INVALID_HANDLE;
    }
    if (status == CUDA_SUCCESS) {
        emu_allocation *found = emu_memory_starting_at(dptr);

        if (!found || found->kind != EMU_MEMORY_MANAGED ||
            (length != 0 && length != found->size) ||
            (flags != ATTACH_GLOBAL && flags != ATTACH_HOST &&
             flags != ATTACH_SINGLE) ||
            (flags == ATTACH_SINGLE &&
             emu_stream_get(context, hStream) == context->null_stream)) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else {
            found->flags = flags;
        }
    }
    return emu_leave(status);
}
