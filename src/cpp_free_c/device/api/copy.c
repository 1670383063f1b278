/* Copies of every kind, all through one box of bytes.
 *
 * Each side is checked, then the API lock is given back, the stream's turn taken, and
 * the rows are moved. A side that is freed meanwhile by another thread is a race of the
 * program and copies rubbish, as on a GPU. Blocking copies use the null stream and
 * flush what kernels printed. */
#define _GNU_SOURCE
#include "device/api/copy.h"

#include <string.h>

#include "device/api/entry.h"
#include "device/memory/array.h"
#include "device/api/capture.h"
#include "device/api/context.h"
#include "device/api/stream.h"
#include "device/machine/wait.h"

/* One side: the first byte, and the distance of rows and planes. */
typedef struct {
    uint64_t start;
    size_t pitch, slice;
} side;

typedef struct {
    side source, target;
    size_t width, height, depth; /* bytes, rows, planes */
} box;

/* No program's memory lies beyond, on any processor that the device runs on. */
#define HOST_END (UINT64_C(1) << 57)

/* Whether the address is the device's to give out. */
static bool
is_ours(uint64_t address)
{
    return address - emu_memory_tables.base < emu_memory_tables.size;
}

bool
emu_is_device_range(uint64_t address, size_t bytes)
{
    return emu_memory_check(address, bytes) != NULL;
}

bool
emu_is_host_range(uint64_t address, size_t bytes)
{
    const emu_allocation *found;

    if (!is_ours(address)) {
        return address != 0 && address < HOST_END && bytes <= HOST_END - address;
    }
    found = emu_memory_check(address, bytes);
    return found &&
           (found->kind == EMU_MEMORY_HOST || found->kind == EMU_MEMORY_MANAGED);
}

/* What cuMemcpy and the unified memory type take: either. */
static bool
is_any_range(uint64_t address, size_t bytes)
{
    return emu_is_device_range(address, bytes) || emu_is_host_range(address, bytes);
}

enum { MOVE_BYTES = 1 << 25 }; /* between two looks for signals */

/* Moves bytes, whole chunks at a time unless the ranges overlap. *left counts down to
 * the next look. False: a signal ended it. */
static bool
move_bytes(char *target, const char *source, size_t bytes, size_t *left)
{
    const bool overlap = target < source + bytes && source < target + bytes;

    while (bytes) {
        const size_t chunk = bytes < *left || overlap ? bytes : *left;

        memmove(target, source, chunk);
        target += chunk;
        source += chunk;
        bytes -= chunk;
        *left -= chunk < *left ? chunk : *left;
        if (*left == 0) {
            *left = MOVE_BYTES;
            if (emu_wait_poll_due()) {
                return false;
            }
        }
    }
    return true;
}

static CUresult
move_box(const box *b)
{
    size_t left = MOVE_BYTES;

    for (size_t z = 0; z < b->depth; z++) {
        const char *source =
            (const char *)(uintptr_t)(b->source.start + z * b->source.slice);
        char *target = (char *)(uintptr_t)(b->target.start + z * b->target.slice);
        const bool is_flat = b->source.pitch == b->width && b->target.pitch == b->width;
        const size_t rows = is_flat ? 1 : b->height;
        const size_t bytes = is_flat ? b->width * b->height : b->width;

        for (size_t y = 0; y < rows; y++) {
            if (!move_bytes(target + y * b->target.pitch, source + y * b->source.pitch,
                            bytes, &left)) {
                return EMU_INTERRUPTED;
            }
        }
    }
    return CUDA_SUCCESS;
}

/* Bytes from the first to the last of one side. */
static size_t
extent(const box *b, const side *s)
{
    return (b->depth - 1) * s->slice + (b->height - 1) * s->pitch + b->width;
}

/* In the stream's turn. What was checked when the work was captured may be gone. */
static CUresult
run_captured(const void *payload, emu_context *context, emu_report *report)
{
    const box *b = payload;

    (void)report;
    if (!is_any_range(b->source.start, extent(b, &b->source)) ||
        !is_any_range(b->target.start, extent(b, &b->target))) {
        emu_context_fail(context, CUDA_ERROR_ILLEGAL_ADDRESS);
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    return move_box(b);
}

/* Whether a GPU could reach it while the program goes on. */
static bool
is_reachable(const box *b, const side *s)
{
    return emu_memory_check(s->start, extent(b, s)) != NULL;
}

static bool
can_wait(const void *payload)
{
    const box *b = payload;

    return is_reachable(b, &b->source) && is_reachable(b, &b->target);
}

static const emu_work copy_work = {
    .type = EMU_NODE_MEMCPY, .run = run_captured, .can_wait = can_wait};

/* The host does not wait for a copy within the device's memory. */
static bool
is_on_device(const box *b)
{
    return emu_is_device_range(b->source.start, extent(b, &b->source)) &&
           emu_is_device_range(b->target.start, extent(b, &b->target));
}

/* Moves a checked box in a stream's turn. `blocking` waits, so it also flushes. */
static CUresult
run_box(emu_context *context, emu_stream *stream, const box *b, bool blocking)
{
    CUresult status;
    bool taken;
    int token;

    status = emu_capture_take(stream, &copy_work, b, sizeof(*b), &taken);
    if (status == CUDA_SUCCESS && blocking && !is_on_device(b)) {
        status = emu_capture_unsafe();
    }
    if (status != CUDA_SUCCESS || taken) {
        return status;
    }
    token = emu_stream_begin(stream);
    if (token < 0) {
        return emu_wait_status();
    }
    status = move_box(b);
    if (blocking) {
        emu_context_flush(context);
    }
    emu_stream_end(stream, token);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    return blocking ? (CUresult)atomic_load(&context->sticky) : CUDA_SUCCESS;
}

/* -- plain copies ------------------------------------------------------------------ */

enum { HOST, DEVICE, ANY };

static bool
is_range(int kind, uint64_t address, size_t bytes)
{
    switch (kind) {
        case HOST:
            return emu_is_host_range(address, bytes);
        case DEVICE:
            return emu_is_device_range(address, bytes);
        default:
            return is_any_range(address, bytes);
    }
}

static CUresult
copy(emu_context *context, int target_kind, uint64_t target, int source_kind,
     uint64_t source, size_t bytes, emu_stream *stream, bool blocking)
{
    box b = {.source = {source, bytes, bytes},
             .target = {target, bytes, bytes},
             .width = bytes,
             .height = 1,
             .depth = 1};

    if (!stream) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (bytes == 0) {
        return CUDA_SUCCESS;
    }
    if (!is_range(target_kind, target, bytes) ||
        !is_range(source_kind, source, bytes)) {
        return emu_capture_failed(stream, CUDA_ERROR_INVALID_VALUE);
    }
    return run_box(context, stream, &b, blocking);
}

/* The blocking and the stream-ordered form of a copy between two flat ranges. */
#define FLAT_COPY(name, TargetType, to, SourceType, from)                         \
    CUresult emu_cu##name(TargetType target, SourceType source, size_t ByteCount) \
    {                                                                             \
        emu_context *context;                                                     \
        CUresult status = EMU_ENTER_CONTEXT(name, &context);                      \
                                                                                  \
        if (status == CUDA_SUCCESS) {                                             \
            status = copy(context, to, (uint64_t)(uintptr_t)target, from,         \
                          (uint64_t)(uintptr_t)source, ByteCount,                 \
                          context->null_stream, true);                            \
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
            status = copy(context, to, (uint64_t)(uintptr_t)target, from,         \
                          (uint64_t)(uintptr_t)source, ByteCount,                 \
                          emu_stream_get(context, hStream), false);               \
        }                                                                         \
        return emu_leave(status);                                                 \
    }

FLAT_COPY(Memcpy, CUdeviceptr, ANY, CUdeviceptr, ANY)
FLAT_COPY(MemcpyHtoD, CUdeviceptr, DEVICE, const void *, HOST)
FLAT_COPY(MemcpyDtoH, void *, HOST, CUdeviceptr, DEVICE)
FLAT_COPY(MemcpyDtoD, CUdeviceptr, DEVICE, CUdeviceptr, DEVICE)

static CUresult
copy_peer(emu_context *context, CUdeviceptr target, CUcontext target_context,
          CUdeviceptr source, CUcontext source_context, size_t bytes,
          emu_stream *stream, bool blocking)
{
    if (!emu_context_get(target_context) || !emu_context_get(source_context)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return copy(context, DEVICE, target, DEVICE, source, bytes, stream, blocking);
}

CUresult
emu_cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                 CUcontext srcContext, size_t ByteCount)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(MemcpyPeer, &context);

    if (status == CUDA_SUCCESS) {
        status = copy_peer(context, dstDevice, dstContext, srcDevice, srcContext,
                           ByteCount, context->null_stream, true);
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

/* The address of [offset, offset + bytes) of a one-dimensional array; 0 when it has
 * none. */
static uint64_t
array_range(CUarray handle, size_t offset, size_t bytes, CUresult *status)
{
    const emu_array *array = emu_object_get(handle, EMU_ARRAY);

    if (!array) {
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

/* A flat copy whose sides are expressions; an array's side sets `status` on failure.
 * `handle` is the stream's, NULL where the call names none. */
#define ARRAY_COPY(name, parameters, to, target, from, source, handle, stream,   \
                   blocking)                                                     \
    CUresult emu_cu##name parameters                                             \
    {                                                                            \
        emu_context *context;                                                    \
        CUresult status = EMU_ENTER_STREAM(name, handle, &context);              \
                                                                                 \
        if (status == CUDA_SUCCESS) {                                            \
            uint64_t target_address = target;                                    \
            uint64_t source_address = source;                                    \
                                                                                 \
            if (status == CUDA_SUCCESS) {                                        \
                status = copy(context, to, target_address, from, source_address, \
                              ByteCount, stream, blocking);                      \
            }                                                                    \
        }                                                                        \
        return emu_leave(status);                                                \
    }

#define TARGET_ARRAY array_range(dstArray, dstOffset, ByteCount, &status)
#define SOURCE_ARRAY array_range(srcArray, srcOffset, ByteCount, &status)

ARRAY_COPY(MemcpyDtoA,
           (CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice,
            size_t ByteCount),
           DEVICE, TARGET_ARRAY, DEVICE, srcDevice, NULL, context->null_stream, true)
ARRAY_COPY(MemcpyAtoD,
           (CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset,
            size_t ByteCount),
           DEVICE, dstDevice, DEVICE, SOURCE_ARRAY, NULL, context->null_stream, true)
ARRAY_COPY(MemcpyHtoA,
           (CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount),
           DEVICE, TARGET_ARRAY, HOST, (uintptr_t)srcHost, NULL, context->null_stream,
           true)
ARRAY_COPY(MemcpyAtoH,
           (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount), HOST,
           (uintptr_t)dstHost, DEVICE, SOURCE_ARRAY, NULL, context->null_stream, true)
ARRAY_COPY(MemcpyAtoA,
           (CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
            size_t ByteCount),
           DEVICE, TARGET_ARRAY, DEVICE, SOURCE_ARRAY, NULL, context->null_stream, true)
ARRAY_COPY(MemcpyHtoAAsync,
           (CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount,
            CUstream hStream),
           DEVICE, TARGET_ARRAY, HOST, (uintptr_t)srcHost, hStream,
           emu_stream_get(context, hStream), false)
ARRAY_COPY(MemcpyAtoHAsync,
           (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount,
            CUstream hStream),
           HOST, (uintptr_t)dstHost, DEVICE, SOURCE_ARRAY, hStream,
           emu_stream_get(context, hStream), false)

/* -- boxes ------------------------------------------------------------------------- */

/* One side of a box copy as the three descriptors give it. */
typedef struct {
    size_t x, y, z, level;
    CUmemorytype type;
    uint64_t host;
    uint64_t device;
    CUarray array;
    size_t pitch, height;
} box_side;

static CUresult
array_side(const box_side *given, const box *b, side *out)
{
    const emu_array *array = emu_object_get(given->array, EMU_ARRAY);

    if (!array) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (given->x > array->pitch || b->width > array->pitch - given->x ||
        given->y > array->height || b->height > array->height - given->y ||
        given->z > array->depth || b->depth > array->depth - given->z ||
        given->x % array->element || b->width % array->element) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    out->pitch = array->pitch;
    out->slice = array->slice;
    out->start =
        array->base + given->z * array->slice + given->y * array->pitch + given->x;
    return CUDA_SUCCESS;
}

/* a * b + c, or SIZE_MAX where it does not fit. */
static size_t
scaled(size_t a, size_t b, size_t c)
{
    size_t product;

    if (__builtin_mul_overflow(a, b, &product) ||
        __builtin_add_overflow(product, c, &product)) {
        return SIZE_MAX;
    }
    return product;
}

static CUresult
linear_side(const box_side *given, const box *b, side *out)
{
    uint64_t base = given->type == CU_MEMORYTYPE_HOST ? given->host : given->device;
    int kind = given->type == CU_MEMORYTYPE_HOST     ? HOST
               : given->type == CU_MEMORYTYPE_DEVICE ? DEVICE
                                                     : ANY;
    size_t rows = given->height ? given->height : given->y + b->height;
    size_t pitch = given->pitch ? given->pitch : given->x + b->width;
    size_t first, last;

    if (pitch < b->width || given->x > pitch - b->width || rows < b->height ||
        (b->depth > 1 && given->y > rows - b->height)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    out->pitch = pitch;
    out->slice = scaled(pitch, rows, 0);
    first = scaled(given->z, out->slice, scaled(given->y, pitch, given->x));
    last = scaled(b->depth - 1, out->slice, scaled(b->height - 1, pitch, b->width));
    if (out->slice == SIZE_MAX || first == SIZE_MAX || last == SIZE_MAX ||
        first > UINT64_MAX - base || is_ours(base) != is_ours(base + first) ||
        !is_range(kind, base + first, last)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    out->start = base + first;
    return CUDA_SUCCESS;
}

static CUresult
check_side(const box_side *given, const box *b, side *out)
{
    if (given->level != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    switch (given->type) {
        case CU_MEMORYTYPE_HOST:
        case CU_MEMORYTYPE_DEVICE:
        case CU_MEMORYTYPE_UNIFIED:
            return linear_side(given, b, out);
        case CU_MEMORYTYPE_ARRAY:
            return array_side(given, b, out);
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult
copy_box(emu_context *context, const box_side *target, const box_side *source, box *b,
         emu_stream *stream, bool blocking)
{
    CUresult status;

    if (!stream) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (b->width == 0 || b->height == 0 || b->depth == 0) {
        return CUDA_SUCCESS;
    }
    status = check_side(source, b, &b->source);
    if (status == CUDA_SUCCESS) {
        status = check_side(target, b, &b->target);
    }
    if (status == CUDA_SUCCESS) {
        status = run_box(context, stream, b, blocking);
    }
    return emu_capture_failed(stream, status);
}

static CUresult
copy_2d(emu_context *context, const CUDA_MEMCPY2D *c, emu_stream *stream, bool blocking)
{
    box_side source, target;
    box b = {.depth = 1};

    if (!c) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    b.width = c->WidthInBytes;
    b.height = c->Height;
    source = (box_side){.x = c->srcXInBytes,
                        .y = c->srcY,
                        .type = c->srcMemoryType,
                        .host = (uintptr_t)c->srcHost,
                        .device = c->srcDevice,
                        .array = c->srcArray,
                        .pitch = c->srcPitch};
    target = (box_side){.x = c->dstXInBytes,
                        .y = c->dstY,
                        .type = c->dstMemoryType,
                        .host = (uintptr_t)c->dstHost,
                        .device = c->dstDevice,
                        .array = c->dstArray,
                        .pitch = c->dstPitch};
    return copy_box(context, &target, &source, &b, stream, blocking);
}

/* CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER name their members alike. */
#define SIDE_3D(c, prefix)                                                    \
    (box_side)                                                                \
    {                                                                         \
        .x = (c)->prefix##XInBytes, .y = (c)->prefix##Y, .z = (c)->prefix##Z, \
        .level = (c)->prefix##LOD, .type = (c)->prefix##MemoryType,           \
        .host = (uintptr_t)(c)->prefix##Host, .device = (c)->prefix##Device,  \
        .array = (c)->prefix##Array, .pitch = (c)->prefix##Pitch,             \
        .height = (c)->prefix##Height                                         \
    }

static CUresult
copy_3d(emu_context *context, const CUDA_MEMCPY3D *c, emu_stream *stream, bool blocking)
{
    box_side source, target;
    box b = {0};

    if (!c) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    b.width = c->WidthInBytes;
    b.height = c->Height;
    b.depth = c->Depth;
    source = SIDE_3D(c, src);
    target = SIDE_3D(c, dst);
    return copy_box(context, &target, &source, &b, stream, blocking);
}

static CUresult
copy_3d_peer(emu_context *context, const CUDA_MEMCPY3D_PEER *c, emu_stream *stream,
             bool blocking)
{
    box_side source, target;
    box b = {0};

    if (!c) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if ((c->srcMemoryType == CU_MEMORYTYPE_DEVICE && !emu_context_get(c->srcContext)) ||
        (c->dstMemoryType == CU_MEMORYTYPE_DEVICE && !emu_context_get(c->dstContext))) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    b.width = c->WidthInBytes;
    b.height = c->Height;
    b.depth = c->Depth;
    source = SIDE_3D(c, src);
    target = SIDE_3D(c, dst);
    return copy_box(context, &target, &source, &b, stream, blocking);
}

#define BOX_COPY(name, Type, function)                                     \
    CUresult emu_cu##name(const Type *pCopy)                               \
    {                                                                      \
        emu_context *context;                                              \
        CUresult status = EMU_ENTER_CONTEXT(name, &context);               \
                                                                           \
        if (status == CUDA_SUCCESS) {                                      \
            status = function(context, pCopy, context->null_stream, true); \
        }                                                                  \
        return emu_leave(status);                                          \
    }

#define BOX_COPY_ASYNC(name, Type, function)                                       \
    CUresult emu_cu##name(const Type *pCopy, CUstream hStream)                     \
    {                                                                              \
        emu_context *context;                                                      \
        CUresult status = EMU_ENTER_STREAM(name, hStream, &context);               \
                                                                                   \
        if (status == CUDA_SUCCESS) {                                              \
            status =                                                               \
                function(context, pCopy, emu_stream_get(context, hStream), false); \
        }                                                                          \
        return emu_leave(status);                                                  \
    }

BOX_COPY(Memcpy2D, CUDA_MEMCPY2D, copy_2d)
BOX_COPY(Memcpy2DUnaligned, CUDA_MEMCPY2D, copy_2d)
BOX_COPY_ASYNC(Memcpy2DAsync, CUDA_MEMCPY2D, copy_2d)
BOX_COPY(Memcpy3D, CUDA_MEMCPY3D, copy_3d)
BOX_COPY_ASYNC(Memcpy3DAsync, CUDA_MEMCPY3D, copy_3d)
BOX_COPY(Memcpy3DPeer, CUDA_MEMCPY3D_PEER, copy_3d_peer)
BOX_COPY_ASYNC(Memcpy3DPeerAsync, CUDA_MEMCPY3D_PEER, copy_3d_peer)
