/* Batches of copies: each copy is enqueued in the order of the arrays. */
#include "device/api/entry/entry.h"
#include "device/api/stream/stream.h"
#include "device/memory/texture.h"

/* Check the attributes of a batch: the first of each applies up to the next index. */
static CUresult
batch_check(size_t count, const CUmemcpyAttributes *attributes, const size_t *firsts,
            size_t attribute_count)
{
    if (attribute_count > count || (attribute_count > 0 && firsts[0] != 0)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < attribute_count; i++) {
        const CUmemcpySrcAccessOrder order = attributes[i].srcAccessOrder;

        if (order < CU_MEMCPY_SRC_ACCESS_ORDER_STREAM ||
            order > CU_MEMCPY_SRC_ACCESS_ORDER_ANY ||
            (i > 0 && (firsts[i] <= firsts[i - 1] || firsts[i] >= count))) {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

/* Enqueue the copies of a batch. *failed: the number of the copy that is wrong, or
 * SIZE_MAX for an error that is none of one copy. */
static CUresult
batch_copy(emu_stream *stream, const CUdeviceptr *dsts, const CUdeviceptr *srcs,
           const size_t *sizes, size_t count, const CUmemcpyAttributes *attributes,
           const size_t *firsts, size_t attribute_count, size_t *failed)
{
    *failed = SIZE_MAX;
    if (dsts == NULL || srcs == NULL || sizes == NULL || count == 0 ||
        attributes == NULL || firsts == NULL || attribute_count == 0 ||
        stream->is_null) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = batch_check(count, attributes, firsts, attribute_count);

    for (size_t i = 0; status == CUDA_SUCCESS && i < count; i++) {
        status = emu_cuMemcpyAsync(dsts[i], srcs[i], sizes[i], stream);
        *failed = i;
    }
    return status;
}

CUresult
emu_cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
                          size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs,
                          size_t numAttrs, emu_stream *stream)
{
    size_t failed;

    return batch_copy(stream, dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs,
                      &failed);
}

CUresult
emu_cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
                       size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs,
                       size_t numAttrs, size_t *failIdx, emu_stream *stream)
{
    size_t failed;
    CUresult status = batch_copy(stream, dsts, srcs, sizes, count, attrs, attrsIdxs,
                                 numAttrs, &failed);

    if (status != CUDA_SUCCESS && failIdx != NULL) {
        *failIdx = failed;
    }
    return status;
}

/* -- boxes ------------------------------------------------------------------------- */

enum { LARGEST_ELEMENT = 16 /* bytes, of an array */ };

/* The bytes of an element of an operand: those of its array, or 0 for a pointer. False:
 * it is neither. */
static bool
batch_element(const CUmemcpy3DOperand *operand, size_t *bytes)
{
    const emu_array *array;

    *bytes = 0;
    if (operand->type == CU_MEMCPY_OPERAND_TYPE_POINTER) {
        return true;
    }
    array = emu_object_get(operand->op.array.array, EMU_ARRAY);
    if (operand->type != CU_MEMCPY_OPERAND_TYPE_ARRAY || array == NULL) {
        return false;
    }
    *bytes = array->element;
    return true;
}

/* Whether the rows and layers of a pointer hold the box; 0 means no gaps. The numbers
 * of elements are small enough to become bytes. */
static bool
batch_holds(const CUmemcpy3DOperand *operand, const CUextent3D *extent)
{
    const size_t row = operand->op.ptr.rowLength, layer = operand->op.ptr.layerHeight;

    if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        return operand->op.array.offset.x <= SIZE_MAX / LARGEST_ELEMENT;
    }
    return (row == 0 || row >= extent->width) && row <= SIZE_MAX / LARGEST_ELEMENT &&
           (layer == 0 || layer >= extent->height);
}

/* Write one side of the descriptor of cuMemcpy3D. Both sides have members of the same
 * names behind the prefix. */
#define BATCH_SIDE(c, prefix, operand, element)                               \
    do {                                                                      \
        if ((operand)->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {                \
            (c)->prefix##MemoryType = CU_MEMORYTYPE_ARRAY;                    \
            (c)->prefix##Array = (operand)->op.array.array;                   \
            (c)->prefix##XInBytes = (operand)->op.array.offset.x * (element); \
            (c)->prefix##Y = (operand)->op.array.offset.y;                    \
            (c)->prefix##Z = (operand)->op.array.offset.z;                    \
        }                                                                     \
        else {                                                                \
            (c)->prefix##MemoryType = CU_MEMORYTYPE_UNIFIED;                  \
            (c)->prefix##Device = (operand)->op.ptr.ptr;                      \
            (c)->prefix##Pitch = (operand)->op.ptr.rowLength * (element);     \
            (c)->prefix##Height = (operand)->op.ptr.layerHeight;              \
        }                                                                     \
    } while (0)

/* Convert one copy of a batch. Its sizes count elements: those of an array that takes
 * part, else bytes. */
static CUresult
batch_convert(const CUDA_MEMCPY3D_BATCH_OP *op, CUDA_MEMCPY3D *out)
{
    const CUextent3D *const extent = &op->extent;
    size_t source, target, element;

    if (op->srcAccessOrder < CU_MEMCPY_SRC_ACCESS_ORDER_STREAM ||
        op->srcAccessOrder > CU_MEMCPY_SRC_ACCESS_ORDER_ANY || extent->width == 0 ||
        extent->height == 0 || extent->depth == 0 ||
        extent->width > SIZE_MAX / LARGEST_ELEMENT) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!batch_element(&op->src, &source) || !batch_element(&op->dst, &target) ||
        (source != 0 && target != 0 && source != target) ||
        !batch_holds(&op->src, extent) || !batch_holds(&op->dst, extent)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    element = source + (source == 0) * target;
    element += element == 0;
    *out = (CUDA_MEMCPY3D){.WidthInBytes = extent->width * element,
                           .Height = extent->height,
                           .Depth = extent->depth};
    BATCH_SIDE(out, src, &op->src, element);
    BATCH_SIDE(out, dst, &op->dst, element);
    return CUDA_SUCCESS;
}

/* Check all boxes of a batch, then enqueue them. *failed is as above. */
static CUresult
batch_copy_boxes(emu_stream *stream, size_t count, const CUDA_MEMCPY3D_BATCH_OP *ops,
                 unsigned long long flags, size_t *failed)
{
    CUresult status = CUDA_SUCCESS;
    CUDA_MEMCPY3D copy;

    *failed = SIZE_MAX;
    if (ops == NULL || count == 0 || flags != 0 || stream->is_null) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; status == CUDA_SUCCESS && i < count; i++) {
        *failed = i;
        status = batch_convert(&ops[i], &copy);
    }
    for (size_t i = 0; status == CUDA_SUCCESS && i < count; i++) {
        *failed = i;
        (void)batch_convert(&ops[i], &copy); /* it was checked */
        status = emu_cuMemcpy3DAsync(&copy, stream);
    }
    return status;
}

CUresult
emu_cuMemcpy3DBatchAsync_v2(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList,
                            unsigned long long flags, emu_stream *stream)
{
    size_t failed;

    return batch_copy_boxes(stream, numOps, opList, flags, &failed);
}

CUresult
emu_cuMemcpy3DBatchAsync(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
                         unsigned long long flags, emu_stream *stream)
{
    size_t failed;
    CUresult status = batch_copy_boxes(stream, numOps, opList, flags, &failed);

    if (status != CUDA_SUCCESS && failIdx != NULL) {
        *failIdx = failed;
    }
    return status;
}
