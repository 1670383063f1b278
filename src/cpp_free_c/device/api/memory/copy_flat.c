/* The calls that copy flat ranges: between host, device, peers and 1-D arrays.
 *
 * FLAT_COPY makes the bodies of cuMemcpy, cuMemcpyHtoD, cuMemcpyDtoH, cuMemcpyDtoD and
 * of their Async forms, as emu_cuMemcpyDtoDAsync. copy.c checks the ranges
 * (emu_copy_check) and moves the bytes (copy_run). */
#include "device/memory/texture.h"
#include "device/api/entry/capture.h"
#include "device/api/entry/context_stack.h"
#include "device/api/memory/copy.h"
#include "device/api/entry/entry.h"
#include "device/api/stream/stream.h"

static CUmemorytype
copy_type(emu_copy_kind kind)
{
    switch (kind) {
        case EMU_COPY_HOST:
            return CU_MEMORYTYPE_HOST;
        case EMU_COPY_DEVICE:
            return CU_MEMORYTYPE_DEVICE;
        default:
            return CU_MEMORYTYPE_UNIFIED;
    }
}

static CUresult
copy_flat(emu_stream *stream, emu_copy_kind target_kind, uint64_t target,
          emu_copy_kind source_kind, uint64_t source, size_t bytes, bool blocking)
{
    emu_copy_box b = {.source = {.start = source,
                                 .pitch = bytes,
                                 .slice = bytes,
                                 .type = copy_type(source_kind)},
                      .target = {.start = target,
                                 .pitch = bytes,
                                 .slice = bytes,
                                 .type = copy_type(target_kind)},
                      .width = bytes,
                      .height = 1,
                      .depth = 1};

    if (bytes == 0) {
        return CUDA_SUCCESS;
    }
    b.later = emu_capture_is_active(stream);
    if (!emu_copy_check(&b, target_kind, target, bytes) ||
        !emu_copy_check(&b, source_kind, source, bytes)) {
        return emu_capture_failed(stream, CUDA_ERROR_INVALID_VALUE);
    }
    return emu_copy_submit(stream, &b, blocking);
}

/* The blocking form of a copy, which works in the default stream, and the other one. */
#define FLAT_COPY(name, TargetType, to, SourceType, from)                           \
    CUresult emu_cu##name(emu_stream *stream, TargetType target, SourceType source, \
                          size_t ByteCount)                                         \
    {                                                                               \
        return copy_flat(stream, to, (uint64_t)(uintptr_t)target, from,             \
                         (uint64_t)(uintptr_t)source, ByteCount, true);             \
    }                                                                               \
                                                                                    \
    CUresult emu_cu##name##Async(TargetType target, SourceType source,              \
                                 size_t ByteCount, emu_stream *stream)              \
    {                                                                               \
        return copy_flat(stream, to, (uint64_t)(uintptr_t)target, from,             \
                         (uint64_t)(uintptr_t)source, ByteCount, false);            \
    }

FLAT_COPY(Memcpy, CUdeviceptr, EMU_COPY_ANY, CUdeviceptr, EMU_COPY_ANY)
FLAT_COPY(MemcpyHtoD, CUdeviceptr, EMU_COPY_DEVICE, const void *, EMU_COPY_HOST)
FLAT_COPY(MemcpyDtoH, void *, EMU_COPY_HOST, CUdeviceptr, EMU_COPY_DEVICE)
FLAT_COPY(MemcpyDtoD, CUdeviceptr, EMU_COPY_DEVICE, CUdeviceptr, EMU_COPY_DEVICE)

static CUresult
copy_peer(emu_stream *stream, CUdeviceptr target, CUcontext target_context,
          CUdeviceptr source, CUcontext source_context, size_t bytes, bool blocking)
{
    if (emu_context_get(target_context) == NULL ||
        emu_context_get(source_context) == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return copy_flat(stream, EMU_COPY_DEVICE, target, EMU_COPY_DEVICE, source, bytes,
                     blocking);
}

CUresult
emu_cuMemcpyPeer(emu_stream *stream, CUdeviceptr dstDevice, CUcontext dstContext,
                 CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount)
{
    return copy_peer(stream, dstDevice, dstContext, srcDevice, srcContext, ByteCount,
                     true);
}

CUresult
emu_cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext,
                      CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount,
                      emu_stream *stream)
{
    return copy_peer(stream, dstDevice, dstContext, srcDevice, srcContext, ByteCount,
                     false);
}

/* -- flat copies of one-dimensional arrays ----------------------------------------- */

/* Find the address of [offset, offset + bytes) of a one-dimensional array. */
static CUresult
copy_array_range(CUarray handle, size_t offset, size_t bytes, uint64_t *address)
{
    const emu_array *array = emu_object_get(handle, EMU_ARRAY);

    if (array == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (array->height > 1 || array->depth > 1 || offset > array->pitch ||
        bytes > array->pitch - offset) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *address = array->base + offset;
    return CUDA_SUCCESS;
}

/* Copy to an array from memory of a kind. */
static CUresult
copy_to_array(emu_stream *stream, CUarray target, size_t offset, emu_copy_kind from,
              uint64_t source, size_t bytes, bool blocking)
{
    uint64_t address;
    CUresult status = copy_array_range(target, offset, bytes, &address);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    return copy_flat(stream, EMU_COPY_DEVICE, address, from, source, bytes, blocking);
}

/* Copy from an array to memory of a kind. */
static CUresult
copy_from_array(emu_stream *stream, emu_copy_kind to, uint64_t target, CUarray source,
                size_t offset, size_t bytes, bool blocking)
{
    uint64_t address;
    CUresult status = copy_array_range(source, offset, bytes, &address);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    return copy_flat(stream, to, target, EMU_COPY_DEVICE, address, bytes, blocking);
}

CUresult
emu_cuMemcpyDtoA(emu_stream *stream, CUarray dstArray, size_t dstOffset,
                 CUdeviceptr srcDevice, size_t ByteCount)
{
    return copy_to_array(stream, dstArray, dstOffset, EMU_COPY_DEVICE, srcDevice,
                         ByteCount, true);
}

CUresult
emu_cuMemcpyAtoD(emu_stream *stream, CUdeviceptr dstDevice, CUarray srcArray,
                 size_t srcOffset, size_t ByteCount)
{
    return copy_from_array(stream, EMU_COPY_DEVICE, dstDevice, srcArray, srcOffset,
                           ByteCount, true);
}

CUresult
emu_cuMemcpyHtoA(emu_stream *stream, CUarray dstArray, size_t dstOffset,
                 const void *srcHost, size_t ByteCount)
{
    return copy_to_array(stream, dstArray, dstOffset, EMU_COPY_HOST, (uintptr_t)srcHost,
                         ByteCount, true);
}

CUresult
emu_cuMemcpyAtoH(emu_stream *stream, void *dstHost, CUarray srcArray, size_t srcOffset,
                 size_t ByteCount)
{
    return copy_from_array(stream, EMU_COPY_HOST, (uintptr_t)dstHost, srcArray,
                           srcOffset, ByteCount, true);
}

CUresult
emu_cuMemcpyAtoA(emu_stream *stream, CUarray dstArray, size_t dstOffset,
                 CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    uint64_t source;
    CUresult status = copy_array_range(srcArray, srcOffset, ByteCount, &source);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    return copy_to_array(stream, dstArray, dstOffset, EMU_COPY_DEVICE, source,
                         ByteCount, true);
}

CUresult
emu_cuMemcpyHtoAAsync(CUarray dstArray, size_t dstOffset, const void *srcHost,
                      size_t ByteCount, emu_stream *stream)
{
    return copy_to_array(stream, dstArray, dstOffset, EMU_COPY_HOST, (uintptr_t)srcHost,
                         ByteCount, false);
}

CUresult
emu_cuMemcpyAtoHAsync(void *dstHost, CUarray srcArray, size_t srcOffset,
                      size_t ByteCount, emu_stream *stream)
{
    return copy_from_array(stream, EMU_COPY_HOST, (uintptr_t)dstHost, srcArray,
                           srcOffset, ByteCount, false);
}
