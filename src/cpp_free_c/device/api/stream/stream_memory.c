/* The calls by which a stream waits for a value in memory, or writes one.
 *
 * A wait whose value is not there yet stays in its stream, with the work behind it
 * (deferred.h). In a captured stream the operations become nodes of the graph. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "device/machine/warp/wait.h"
#include "device/api/entry/capture.h"
#include "device/api/entry/deferred.h"
#include "device/api/entry/context_stack.h"
#include "device/api/entry/entry.h"
#include "device/api/stream/memory_operation.h"
#include "device/api/stream/stream.h"

/* Let the stream keep the operation, or do it now. */
static CUresult
operation_enqueue(emu_stream *stream, const emu_memory_operation *o)
{
    emu_context *context = stream->object.context;
    bool taken = false;
    CUresult status =
        emu_capture_take(stream, &emu_memory_operation_work, o, sizeof(*o), &taken);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (taken) {
        if (o->writes) {
            /* other streams or the host may wait for it */
            emu_deferred_advance(stream, stream->deferred.kept);
        }
        return CUDA_SUCCESS;
    }
    const int token = emu_stream_begin(stream);
    if (token < 0) {
        return emu_wait_status();
    }
    status = emu_memory_operation_run(o, context, NULL);
    emu_stream_end(stream, token);
    if (status == CUDA_ERROR_ILLEGAL_ADDRESS) {
        emu_context_fail(context, status);
        return CUDA_SUCCESS; /* as a launch that fails while it runs */
    }
    return status;
}

/* Add the operations to the captured graph, as one node. */
static CUresult
operations_capture(emu_stream *stream, CUstreamBatchMemOpParams *operations,
                   unsigned int count)
{
    const CUgraphNodeParams params = {
        .type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
        .memOp = {.count = count, .paramArray = operations}};
    emu_payload payload;
    bool taken;
    CUresult status = emu_batch_node_make(stream->object.context, &params, &payload);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    status =
        emu_capture_take(stream, &emu_batch_work, payload.data, payload.size, &taken);
    free(payload.data);
    return status;
}

/* Check all operations, then enqueue them. */
static CUresult
operations_enqueue(emu_stream *stream, CUstreamBatchMemOpParams *operations,
                   unsigned int count, unsigned int flags)
{
    emu_context *context = stream->object.context;
    emu_memory_operation read;

    if (flags != 0 || operations == NULL || count == 0 ||
        count > EMU_MOST_MEMORY_OPERATIONS) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned int i = 0; i < count; i++) {
        CUresult status = emu_memory_operation_read(context, &operations[i], &read);

        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    if (emu_capture_is_active(stream)) {
        return operations_capture(stream, operations, count);
    }
    for (unsigned int i = 0; i < count; i++) {
        CUresult status = emu_memory_operation_read(context, &operations[i], &read);

        if (status != CUDA_SUCCESS) {
            return status;
        }
        status = operation_enqueue(stream, &read);
        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult
value_enqueue(emu_stream *stream, unsigned int operation, CUdeviceptr address,
              uint64_t value, unsigned int flags)
{
    CUstreamBatchMemOpParams p;

    memset(&p, 0, sizeof(p));
    p.waitValue.operation = operation;
    p.waitValue.address = address;
    p.waitValue.value64 = value;
    p.waitValue.flags = flags;
    return operations_enqueue(stream, &p, 1, 0);
}

#define VALUE_CALL(name, Type, operation)                                   \
    CUresult emu_cu##name(emu_stream *stream, CUdeviceptr addr, Type value, \
                          unsigned int flags)                               \
    {                                                                       \
        return value_enqueue(stream, operation, addr, value, flags);        \
    }

VALUE_CALL(StreamWaitValue32, unsigned int, CU_STREAM_MEM_OP_WAIT_VALUE_32)
VALUE_CALL(StreamWaitValue64, uint64_t, CU_STREAM_MEM_OP_WAIT_VALUE_64)
VALUE_CALL(StreamWriteValue32, unsigned int, CU_STREAM_MEM_OP_WRITE_VALUE_32)
VALUE_CALL(StreamWriteValue64, uint64_t, CU_STREAM_MEM_OP_WRITE_VALUE_64)

CUresult
emu_cuStreamBatchMemOp(emu_stream *stream, unsigned int count,
                       CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
    return operations_enqueue(stream, paramArray, count, flags);
}
