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
async_allocate(emu_context *context, CUdeviceptr *out, size_t size, emu_pool *pool,
               CUstream handle)
{
    emu_stream *stream;
    CUresult status;

    if (out == NULL || size == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    status = emu_stream_find(context, handle, &stream);
    if (status == CUDA_SUCCESS && emu_capture_is_active(stream)) {
        if (!emu_pool_is_of_device(pool)) {
            return emu_capture_failed(stream, CUDA_ERROR_NOT_SUPPORTED);
        }
        return emu_graph_memory_capture_alloc(context, stream, size, out);
    }
    if (status == CUDA_SUCCESS) {
        status = emu_capture_refuse(stream);
    }
    if (status == CUDA_SUCCESS) {
        status = emu_pool_allocate(pool, context, size, out);
        if (status == CUDA_SUCCESS) {
            emu_operation *operation =
                emu_operation_new(stream->lane, emu_call_name(emu_lock_call()));

            emu_operation_use(operation, *out, size, EMU_USE_ALLOCATE);
            emu_operation_begin(operation);
            emu_operation_end();
        }
    }
    return status;
}

CUresult
emu_cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(MemAllocAsync, hStream, &context);

    if (status == CUDA_SUCCESS) {
        emu_pool *pool = emu_pool_current(context->device);

        if (pool == NULL) {
            status = CUDA_ERROR_OUT_OF_MEMORY;
        }
        else {
            status = async_allocate(context, dptr, bytesize, pool, hStream);
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                            CUstream hStream)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(MemAllocFromPoolAsync, hStream, &context);

    if (status == CUDA_SUCCESS) {
        emu_pool *found = emu_object_get(pool, EMU_POOL);

        if (found == NULL) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else {
            status = async_allocate(context, dptr, bytesize, found, hStream);
        }
    }
    return emu_leave(status);
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
emu_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    emu_context *context;
    emu_stream *stream;
    CUresult status = EMU_ENTER_STREAM(MemFreeAsync, hStream, &context);

    if (status == CUDA_SUCCESS) {
        status = emu_stream_find(context, hStream, &stream);
    }
    if (status == CUDA_SUCCESS && dptr != 0 && emu_capture_is_active(stream)) {
        status = emu_graph_memory_capture_free(stream, dptr);
    }
    else if (status == CUDA_SUCCESS) {
        status = emu_capture_refuse(stream);
        if (status == CUDA_SUCCESS && dptr != 0) {
            status = async_free(stream, dptr);
        }
    }
    return emu_leave(status);
}
