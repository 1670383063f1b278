/* The calls that copy boxes of two and three dimensions, as their descriptors say. */
#include <stdlib.h>
#include <string.h>

#include "device/memory/texture.h"
#include "device/api/entry/capture.h"
#include "device/api/entry/context_stack.h"
#include "device/api/memory/copy.h"
#include "device/api/entry/entry.h"
#include "device/api/stream/stream.h"

/* One side of a copy, as the three descriptors give it. */
typedef struct {
    size_t x, y, z, level;
    CUmemorytype type;
    uint64_t host;
    uint64_t device;
    CUarray array;
    size_t pitch, height;
} box_side;

static CUresult
box_array_side(const box_side *given, const emu_copy_box *b, emu_copy_side *out)
{
    const emu_array *array = emu_object_get(given->array, EMU_ARRAY);

    if (array == NULL) {
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
    out->array = given->array;
    out->x = given->x;
    out->y = given->y;
    out->z = given->z;
    out->start =
        array->base + given->z * array->slice + given->y * array->pitch + given->x;
    return CUDA_SUCCESS;
}

/* a * b + c, or SIZE_MAX if it overflows. */
static size_t
box_scaled(size_t a, size_t b, size_t c)
{
    size_t product;

    if (__builtin_mul_overflow(a, b, &product) ||
        __builtin_add_overflow(product, c, &product)) {
        return SIZE_MAX;
    }
    return product;
}

/* The address and the kind of the memory of a side that is no array. */
static uint64_t
box_base(const box_side *given, emu_copy_kind *kind)
{
    switch (given->type) {
        case CU_MEMORYTYPE_HOST:
            *kind = EMU_COPY_HOST;
            return given->host;
        case CU_MEMORYTYPE_DEVICE:
            *kind = EMU_COPY_DEVICE;
            return given->device;
        default:
            *kind = EMU_COPY_ANY;
            return given->device;
    }
}

/* Lay out a side that is no array: the distances of its rows and planes. A pitch or a
 * height of 0 means that rows or planes follow each other without a gap. */
static CUresult
box_lay_out(const box_side *given, const emu_copy_box *b, emu_copy_side *out)
{
    size_t rows = given->height;

    out->pitch = given->pitch;
    if (rows == 0) {
        rows = given->y + b->height;
    }
    if (out->pitch == 0) {
        out->pitch = given->x + b->width;
    }
    if (out->pitch < b->width || given->x > out->pitch - b->width || rows < b->height ||
        (b->depth > 1 && given->y > rows - b->height)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    out->slice = box_scaled(out->pitch, rows, 0);
    if (out->slice == SIZE_MAX) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult
box_linear_side(const box_side *given, const emu_copy_box *b, emu_copy_side *out)
{
    emu_copy_kind kind;
    const uint64_t base = box_base(given, &kind);
    CUresult status = box_lay_out(given, b, out);
    size_t first, bytes;

    if (status != CUDA_SUCCESS) {
        return status;
    }
    first =
        box_scaled(given->z, out->slice, box_scaled(given->y, out->pitch, given->x));
    bytes = box_scaled(b->depth - 1, out->slice,
                       box_scaled(b->height - 1, out->pitch, b->width));
    if (first == SIZE_MAX || bytes == SIZE_MAX || first > UINT64_MAX - base ||
        emu_copy_is_ours(base) != emu_copy_is_ours(base + first) ||
        !emu_copy_check(b, kind, base + first, bytes)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    out->start = base + first;
    return CUDA_SUCCESS;
}

static CUresult
box_check_side(const box_side *given, const emu_copy_box *b, emu_copy_side *out)
{
    if (given->level != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    out->type = given->type;
    switch (given->type) {
        case CU_MEMORYTYPE_HOST:
        case CU_MEMORYTYPE_DEVICE:
        case CU_MEMORYTYPE_UNIFIED:
            return box_linear_side(given, b, out);
        case CU_MEMORYTYPE_ARRAY:
            return box_array_side(given, b, out);
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

/* The members of one side of a descriptor, which have a prefix. */
#define BOX_SIDE(c, prefix)                                                   \
    (box_side)                                                                \
    {                                                                         \
        .x = (c)->prefix##XInBytes, .y = (c)->prefix##Y, .z = (c)->prefix##Z, \
        .level = (c)->prefix##LOD, .type = (c)->prefix##MemoryType,           \
        .host = (uintptr_t)(c)->prefix##Host, .device = (c)->prefix##Device,  \
        .array = (c)->prefix##Array, .pitch = (c)->prefix##Pitch,             \
        .height = (c)->prefix##Height                                         \
    }

/* Check a descriptor, whose box is not empty, and lay out the box. */
static CUresult
box_read(const CUDA_MEMCPY3D *c, bool later, emu_copy_box *b)
{
    const box_side source = BOX_SIDE(c, src), target = BOX_SIDE(c, dst);

    *b = (emu_copy_box){.width = c->WidthInBytes,
                        .height = c->Height,
                        .depth = c->Depth,
                        .later = later};
    CUresult status = box_check_side(&source, b, &b->source);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    return box_check_side(&target, b, &b->target);
}

static bool
box_is_empty(const CUDA_MEMCPY3D *c)
{
    return c->WidthInBytes == 0 || c->Height == 0 || c->Depth == 0;
}

static CUresult
box_copy_3d(emu_stream *stream, const CUDA_MEMCPY3D *c, bool blocking)
{
    emu_copy_box b;

    if (c == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (box_is_empty(c)) {
        return CUDA_SUCCESS;
    }
    CUresult status = box_read(c, emu_capture_is_active(stream), &b);
    if (status == CUDA_SUCCESS) {
        status = emu_copy_submit(stream, &b, blocking);
    }
    return emu_capture_failed(stream, status);
}

static CUresult
box_copy_2d(emu_stream *stream, const CUDA_MEMCPY2D *c, bool blocking)
{
    if (c == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const CUDA_MEMCPY3D box = {.srcXInBytes = c->srcXInBytes,
                               .srcY = c->srcY,
                               .srcMemoryType = c->srcMemoryType,
                               .srcHost = c->srcHost,
                               .srcDevice = c->srcDevice,
                               .srcArray = c->srcArray,
                               .srcPitch = c->srcPitch,
                               .dstXInBytes = c->dstXInBytes,
                               .dstY = c->dstY,
                               .dstMemoryType = c->dstMemoryType,
                               .dstHost = c->dstHost,
                               .dstDevice = c->dstDevice,
                               .dstArray = c->dstArray,
                               .dstPitch = c->dstPitch,
                               .WidthInBytes = c->WidthInBytes,
                               .Height = c->Height,
                               .Depth = 1};

    return box_copy_3d(stream, &box, blocking);
}

/* The descriptors differ in the contexts, which take the places of reserved members. */
static CUresult
box_copy_3d_peer(emu_stream *stream, const CUDA_MEMCPY3D_PEER *c, bool blocking)
{
    CUDA_MEMCPY3D box;

    if (c == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if ((c->srcMemoryType == CU_MEMORYTYPE_DEVICE &&
         emu_context_get(c->srcContext) == NULL) ||
        (c->dstMemoryType == CU_MEMORYTYPE_DEVICE &&
         emu_context_get(c->dstContext) == NULL)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    _Static_assert(sizeof(box) == sizeof(*c), "the other members are alike");
    memcpy(&box, c, sizeof(box));
    return box_copy_3d(stream, &box, blocking);
}

CUresult
emu_copy_node_make(emu_context *context, const CUgraphNodeParams *params,
                   emu_payload *out)
{
    const CUDA_MEMCPY3D *c = &params->memcpy.copyParams;
    emu_copy_box *b;

    (void)context; /* the addresses say which devices take part */
    if (box_is_empty(c)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    b = malloc(sizeof(*b));
    if (b == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    CUresult status = box_read(c, true, b);
    if (status != CUDA_SUCCESS) {
        free(b);
        return status;
    }
    *out = (emu_payload){b, sizeof(*b)};
    return CUDA_SUCCESS;
}

/* The blocking form of a copy works in the default stream. */
#define BOX_COPY(name, Type, function)                                  \
    CUresult emu_cu##name(emu_stream *stream, const Type *pCopy)        \
    {                                                                   \
        return function(stream, pCopy, true);                           \
    }                                                                   \
                                                                        \
    CUresult emu_cu##name##Async(const Type *pCopy, emu_stream *stream) \
    {                                                                   \
        return function(stream, pCopy, false);                          \
    }

BOX_COPY(Memcpy2D, CUDA_MEMCPY2D, box_copy_2d)
BOX_COPY(Memcpy3D, CUDA_MEMCPY3D, box_copy_3d)
BOX_COPY(Memcpy3DPeer, CUDA_MEMCPY3D_PEER, box_copy_3d_peer)

CUresult
emu_cuMemcpy2DUnaligned(emu_stream *stream, const CUDA_MEMCPY2D *pCopy)
{
    return box_copy_2d(stream, pCopy, true);
}
