/* Stream-ordered allocation from memory pools.
 *
 * Streams run their work at once, so memory is allocated at once too. */
#define _GNU_SOURCE
#include "device/check/stream_check.h"
#include "device/memory/memory.h"
#include "device/machine/warp/wait.h"
#include "device/api/entry/capture.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/lock.h"
#include "device/api/memory/graph_memory.h"
#include "device/api/memory/ipc_memory.h"
#include "device/api/memory/pool.h"
#include "device/api/memory/release.h"
#include "device/api/entry/release_count.h"
#include "device/api/stream/stream.h"

static CUresult
async_allocate(emu_stream *stream, CUdeviceptr *out, size_t size, emu_pool *pool)
{
    emu_context *context = stream->object.context;

    if (out == NULL || size == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (emu_capture_is_active(stream)) {
        if (!emu_pool_is_of_device(pool)) {
            return emu_capture_failed(stream, CUDA_ERROR_NOT_SUPPORTED);
        }
        return emu_graph_memory_capture_alloc(context, stream, size, out);
    }
    CUresult status = emu_capture_refuse(stream);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = emu_pool_allocate(pool, context, size, out);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    emu_operation *operation =
        emu_operation_new(stream->lane, emu_call_name(emu_lock_call()));

    emu_operation_use(operation, *out, size, EMU_USE_ALLOCATE);
    emu_operation_begin(operation);
    emu_operation_end();
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, emu_stream *stream)
{
    emu_pool *pool = emu_pool_current(stream->object.context->device);

    if (pool == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return async_allocate(stream, dptr, bytesize, pool);
}

CUresult
emu_cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                            emu_stream *stream)
{
    emu_pool *found = emu_object_get(pool, EMU_POOL);

    if (found == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return async_allocate(stream, dptr, bytesize, found);
}

/* Free the memory after the work of the stream. */
static CUresult
async_free(emu_stream *stream, CUdeviceptr address)
{
    int token = emu_stream_begin(stream);
    emu_allocation *found;

    if (token < 0) {
        return emu_wait_status();
    }
    found = emu_memory_starting_at(address);
    if (found != NULL) {
        emu_operation_use(emu_operation_present(), found->base, found->size,
                          EMU_USE_FREE);
    }
    emu_stream_end(stream, token);
    found = emu_memory_starting_at(address);
    if (found != NULL && found->kind == EMU_MEMORY_IMPORTED) {
        emu_ipc_memory_close(found);
        return CUDA_SUCCESS;
    }
    if (found == NULL || (!emu_pool_has(found) && found->kind != EMU_MEMORY_DEVICE &&
                          found->kind != EMU_MEMORY_GRAPH_NODE)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_count_free(found->context);
    (void)emu_release_memory(found); /* just found alive, under the lock */
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemFreeAsync(CUdeviceptr dptr, emu_stream *stream)
{
    if (dptr != 0 && emu_capture_is_active(stream)) {
        return emu_graph_memory_capture_free(stream, dptr);
    }
    CUresult status = emu_capture_refuse(stream);
    if (status != CUDA_SUCCESS || dptr == 0) {
        return status;
    }
    return async_free(stream, dptr);
}
