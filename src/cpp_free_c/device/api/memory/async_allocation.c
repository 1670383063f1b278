/* Stream-ordered allocation from memory pools.
 *
 * Streams run their work at once, so memory is allocated at once too. */
#define _GNU_SOURCE
#include "device/sync_check/stream_check.h"
#include "device/memory/memory.h"
#include "device/api/entry/capture.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/lock.h"
#include "device/api/memory/graph_memory.h"
#include "device/api/memory/ipc_memory.h"
#include "device/api/memory/pool.h"
#include "device/api/memory/allocation.h"
#include "device/api/entry/users.h"
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

/* -- frees ------------------------------------------------------------------------- */

static void
free_use(const void *payload, emu_operation *operation)
{
    const emu_allocation *found = emu_memory_starting_at(*(const CUdeviceptr *)payload);

    if (found != NULL) {
        emu_operation_use(operation, found->base, found->size, EMU_USE_FREE);
    }
}

static bool
free_is_of_pool(const emu_allocation *found)
{
    return found != NULL && (emu_pool_has(found) || found->kind == EMU_MEMORY_DEVICE ||
                             found->kind == EMU_MEMORY_GRAPH_NODE);
}

static CUresult
free_run(const void *payload, emu_context *context, emu_report *report)
{
    CUresult status = CUDA_SUCCESS;

    (void)context; /* memory of any context */
    (void)report;
    emu_lock();
    emu_allocation *found = emu_memory_starting_at(*(const CUdeviceptr *)payload);

    if (found != NULL && found->kind == EMU_MEMORY_IMPORTED) {
        emu_ipc_memory_close(found);
    }
    else if (free_is_of_pool(found)) {
        emu_count_free(found->context);
        (void)emu_release_memory(found); /* just found alive, under the lock */
    }
    else {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    emu_unlock();
    return status;
}

static const emu_work free_work = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE,
                                   .use = free_use,
                                   .uses_are_exact = true,
                                   .runs_after_fault = true,
                                   .run = free_run};

CUresult
emu_cuMemFreeAsync(CUdeviceptr dptr, emu_stream *stream)
{
    if (dptr == 0) {
        return emu_capture_refuse(stream);
    }
    if (emu_capture_is_active(stream)) {
        return emu_graph_memory_capture_free(stream, dptr);
    }
    /* what cannot be freed fails in this call */
    return emu_queue_submit(stream, &free_work, &dptr, sizeof(dptr),
                            free_is_of_pool(emu_memory_starting_at(dptr))
                                ? EMU_SUBMIT_PROMPTLY
                                : EMU_SUBMIT_AT_ONCE);
}
