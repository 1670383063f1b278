/* Batches of copies: each copy is enqueued in the order of the arrays. */
#include "device/api/entry/entry.h"
#include "device/api/stream/stream.h"

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

static CUresult
batch_enter(emu_call call, const CUdeviceptr *dsts, const CUdeviceptr *srcs,
            const size_t *sizes, size_t count, const CUmemcpyAttributes *attrs,
            const size_t *attrsIdxs, size_t numAttrs, CUstream hStream)
{
    emu_context *context;
    CUresult status = emu_enter_object(call, hStream, EMU_STREAM, &context);

    if (status == CUDA_SUCCESS &&
        (dsts == NULL || srcs == NULL || sizes == NULL || count == 0 || attrs == NULL ||
         attrsIdxs == NULL || numAttrs == 0 ||
         emu_stream_get(context, hStream) == context->null_stream)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = batch_check(count, attrs, attrsIdxs, numAttrs);
    }
    return emu_leave(status);
}

CUresult
emu_cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
                          size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs,
                          size_t numAttrs, CUstream hStream)
{
    CUresult status = batch_enter(EMU_CALL_MemcpyBatchAsync_v2, dsts, srcs, sizes,
                                  count, attrs, attrsIdxs, numAttrs, hStream);

    for (size_t i = 0; status == CUDA_SUCCESS && i < count; i++) {
        status = emu_cuMemcpyAsync(dsts[i], srcs[i], sizes[i], hStream);
    }
    return status;
}

CUresult
emu_cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
                       size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs,
                       size_t numAttrs, size_t *failIdx, CUstream hStream)
{
    CUresult status = batch_enter(EMU_CALL_MemcpyBatchAsync, dsts, srcs, sizes, count,
                                  attrs, attrsIdxs, numAttrs, hStream);
    size_t failed = SIZE_MAX; /* an error that is none of one copy */

    for (size_t i = 0; status == CUDA_SUCCESS && i < count; i++) {
        status = emu_cuMemcpyAsync(dsts[i], srcs[i], sizes[i], hStream);
        failed = i;
    }
    if (status != CUDA_SUCCESS && failIdx != NULL) {
        *failIdx = failed;
    }
    return status;
}
