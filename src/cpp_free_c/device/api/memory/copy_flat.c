/* The calls that copy flat ranges: between host, device, peers and 1-D arrays. */
#include "device/memory/array.h"
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
copy_flat(emu_context *context, emu_copy_kind target_kind, uint64_t target,
          emu_copy_kind source_kind, uint64_t source, size_t bytes, emu_stream *stream,
          bool blocking)
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

    if (stream == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (bytes == 0) {
        return CUDA_SUCCESS;
    }
    b.later = emu_capture_is_active(stream);
    if (!emu_copy_check(&b, target_kind, target, bytes) ||
        !emu_copy_check(&b, source_kind, source, bytes)) {
        return emu_capture_failed(stream, CUDA_ERROR_INVALID_VALUE);
    }
    return emu_copy_run(context, stream, &b, blocking);
}

/* The blocking and the stream-ordered form of a copy between flat ranges. */
#define FLAT_COPY(name, TargetType, to, SourceType, from)                         \
    CUresult emu_cu##name(TargetType target, SourceType source, size_t ByteCount) \
    {                                                                             \
        emu_context *context;                                                     \
        CUresult status = EMU_ENTER_CONTEXT(name, &context);                      \
                                                                                  \
        if (status == CUDA_SUCCESS) {                                             \
            status = copy_flat(context, to, (uint64_t)(uintptr_t)target, from,    \
                               (uint64_t)(uintptr_t)source, ByteCount,            \
                               emu_stream_default(context), true);                \
        }                                                                         \
        return emu_leave(status);                                                 \
    }                                                                             \
                                                                                  \
    CUresult emu_cu##name##Async(TargetType target, SourceType source,            \
                                 size_t ByteCount, CUstream hStream)              \
    {                                                                             \
        emu_context *context;                                                     \
        CUresult status = EMU_ENTER_STREAM(name##Async, hStream, &context);       \
                                                                                  \
        if (status == CUDA_SUCCESS) {                                             \
            status = copy_flat(context, to, (uint64_t)(uintptr_t)target, from,    \
                               (uint64_t)(uintptr_t)source, ByteCount,            \
                               emu_stream_get(context, hStream), false);          \
        }                                                                         \
        return emu_leave(status);                                                 \
    }

FLAT_COPY(Memcpy, CUdeviceptr, EMU_COPY_ANY, CUdeviceptr, EMU_COPY_ANY)
FLAT_COPY(MemcpyHtoD, CUdeviceptr, EMU_COPY_DEVICE, const void *, EMU_COPY_HOST)
FLAT_COPY(MemcpyDtoH, void *, EMU_COPY_HOST, CUdeviceptr, EMU_COPY_DEVICE)
FLAT_COPY(MemcpyDtoD, CUdeviceptr, EMU_COPY_DEVICE, CUdeviceptr, EMU_COPY_DEVICE)

static CUresult
copy_peer(emu_context *context, CUdeviceptr target, CUcontext target_context,
          CUdeviceptr source, CUcontext source_context, size_t bytes,
          emu_stream *stream, bool blocking)
{
    if (emu_context_get(target_context) == NULL ||
        emu_context_get(source_context) == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return copy_flat(context, EMU_COPY_DEVICE, target, EMU_COPY_DEVICE, source, bytes,
                     stream, blocking);
}

CUresult
emu_cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                 CUcontext srcContext, size_t ByteCount)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(MemcpyPeer, &context);

    if (status == CUDA_SUCCESS) {
        status = copy_peer(context, dstDevice, dstContext, srcDevice, srcContext,
                           ByteCount, emu_stream_default(context), true);
    }
    return emu_leave(status);
}

CUresult
emu_cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext,
                      CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount,
                      CUstream hStream)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(MemcpyPeerAsync, hStream, &context);

    if (status == CUDA_SUCCESS) {
        status = copy_peer(context, dstDevice, dstContext, srcDevice, srcContext,
                           ByteCount, emu_stream_get(context, hStream), false);
    }
    return emu_leave(status);
}

/* -- flat copies of one-dimensional arrays ----------------------------------------- */

/* The address of [offset, offset + bytes) of a one-dimensional array. Sets *status and
 * returns 0 if there is none. */
static uint64_t
copy_array_range(CUarray handle, size_t offset, size_t bytes, CUresult *status)
{
    const emu_array *array = emu_object_get(handle, EMU_ARRAY);

    if (array == NULL) {
        *status = CUDA_ERROR_INVALID_HANDLE;
        return 0;
    }
    if (array->height > 1 || array->depth > 1 || offset > array->pitch ||
        bytes > array->pitch - offset) {
        *status = CUDA_ERROR_INVALID_VALUE;
        return 0;
    }
    return array->base + offset;
}

/* A flat copy whose sides are expressions; that of an array sets `status` on failure.
 * `handle` names the stream; NULL if the call names none. */
#define ARRAY_COPY(name, parameters, to, target, from, source, handle, stream,        \
                   blocking)                                                          \
    CUresult emu_cu##name parameters                                                  \
    {                                                                                 \
        emu_context *context;                                                         \
        CUresult status = EMU_ENTER_STREAM(name, handle, &context);                   \
                                                                                      \
        if (status == CUDA_SUCCESS) {                                                 \
            uint64_t target_address = target;                                         \
            uint64_t source_address = source;                                         \
                                                                                      \
            if (status == CUDA_SUCCESS) {                                             \
                status = copy_flat(context, to, target_address, from, source_address, \
                                   ByteCount, stream, blocking);                      \
            }                                                                         \
        }                                                                             \
        return emu_leave(status);                                                     \
    }

#define TARGET_ARRAY copy_array_range(dstArray, dstOffset, ByteCount, &status)
#define SOURCE_ARRAY copy_array_range(srcArray, srcOffset, ByteCount, &status)

ARRAY_COPY(MemcpyDtoA,
           (CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice,
            size_t ByteCount),
           EMU_COPY_DEVICE, TARGET_ARRAY, EMU_COPY_DEVICE, srcDevice, NULL,
           emu_stream_default(context), true)
ARRAY_COPY(MemcpyAtoD,
           (CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset,
            size_t ByteCount),
           EMU_COPY_DEVICE, dstDevice, EMU_COPY_DEVICE, SOURCE_ARRAY, NULL,
           emu_stream_default(context), true)
ARRAY_COPY(MemcpyHtoA,
           (CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount),
           EMU_COPY_DEVICE, TARGET_ARRAY, EMU_COPY_HOST, (uintptr_t)srcHost, NULL,
           emu_stream_default(context), true)
ARRAY_COPY(MemcpyAtoH,
           (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount),
           EMU_COPY_HOST, (uintptr_t)dstHost, EMU_COPY_DEVICE, SOURCE_ARRAY, NULL,
           emu_stream_default(context), true)
ARRAY_COPY(MemcpyAtoA,
           (CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
            size_t ByteCount),
           EMU_COPY_DEVICE, TARGET_ARRAY, EMU_COPY_DEVICE, SOURCE_ARRAY, NULL,
           emu_stream_default(context), true)
ARRAY_COPY(MemcpyHtoAAsync,
           (CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount,
            CUstream hStream),
           EMU_COPY_DEVICE, TARGET_ARRAY, EMU_COPY_HOST, (uintptr_t)srcHost, hStream,
           emu_stream_get(context, hStream), false)
ARRAY_COPY(MemcpyAtoHAsync,
           (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount,
            CUstream hStream),
           EMU_COPY_HOST, (uintptr_t)dstHost, EMU_COPY_DEVICE, SOURCE_ARRAY, hStream,
           emu_stream_get(context, hStream), false)
