/* The calls on managed memory.
 *
 * The host and all devices always see the same pages, so advice, prefetching and
 * attaching only check their arguments. */
#include "device/api/memory/allocation.h"
#include "device/api/entry/capture.h"
#include "device/api/entry/entry.h"
#include "device/api/stream/stream.h"

enum { ATTACH_GLOBAL = 1, ATTACH_HOST = 2, ATTACH_SINGLE = 4 };

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
        status =
            emu_allocation_new(context, EMU_MEMORY_MANAGED, bytesize, flags, &made);
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
