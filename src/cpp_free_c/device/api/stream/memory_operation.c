/* Operations on values in memory: a stream waits for one, or writes one.
 *
 * A wait whose value is not there yet stays in its stream, with the work behind it
 * (queue.h). In a captured stream the operations become nodes of the graph. */
#define _GNU_SOURCE
#include "device/api/stream/stream.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/sync_check/stream_check.h"
#include "device/machine/warp/wait.h"
#include "device/memory/memory.h"
#include "device/api/entry/capture.h"
#include "device/api/entry/context_stack.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/lock.h"

enum {
    MOST_OPERATIONS = 256,   /* of a batch */
    CONDITION = 3,           /* the bits of the flags of a wait that say for what */
    FLUSH = 1 << 30,         /* the device says that it cannot */
    POLL_NANOSECONDS = 50000 /* between two looks of a graph's wait */
};

/* One operation: a wait, a write, or neither. */
typedef struct {
    bool waits, writes;
    unsigned int condition;
    unsigned int size; /* bytes of the value */
    uint64_t address;
    uint64_t value;
} memory_operation;

/* -- the values -------------------------------------------------------------------- */

static uint64_t
operation_load(const memory_operation *o)
{
    if (o->size == 8) {
        return __atomic_load_n((const uint64_t *)(uintptr_t)o->address,
                               __ATOMIC_SEQ_CST);
    }
    return __atomic_load_n((const uint32_t *)(uintptr_t)o->address, __ATOMIC_SEQ_CST);
}

/* Whether the value in memory fulfils the condition. */
static bool
operation_is_met(const memory_operation *o)
{
    const uint64_t found = operation_load(o);
    const uint64_t difference = found - o->value;

    switch (o->condition) {
        case CU_STREAM_WAIT_VALUE_GEQ: /* as a signed difference */
            if (o->size == 8) {
                return (int64_t)difference >= 0;
            }
            return (int32_t)(uint32_t)difference >= 0;
        case CU_STREAM_WAIT_VALUE_EQ:
            return found == o->value;
        case CU_STREAM_WAIT_VALUE_AND:
            return (found & o->value) != 0;
        default: /* NOR */
            if (o->size == 8) {
                return ~(found | o->value) != 0;
            }
            return (uint32_t) ~(found | o->value) != 0;
    }
}

/* Whether the memory of the operation still exists. */
static bool
operation_has_memory(const memory_operation *o)
{
    return emu_memory_holding(o->address, o->size) != NULL;
}

/* -- work -------------------------------------------------------------------------- */

/* A wait for memory that was freed is ready: it then fails. */
static bool
operation_is_ready(const void *payload)
{
    const memory_operation *o = payload;

    return !o->waits || !operation_has_memory(o) || operation_is_met(o);
}

/* Others may wait for a value that is written. */
static emu_work_time
operation_when(const void *payload)
{
    const memory_operation *o = payload;

    if (o->writes) {
        return EMU_WORK_SOON;
    }
    return EMU_WORK_LATE;
}

static void
operation_use(const void *payload, emu_operation *operation)
{
    const memory_operation *o = payload;

    if (o->waits) {
        emu_operation_waits(operation);
    }
}

static CUresult
operation_run(const void *payload, emu_context *context, emu_report *report)
{
    const memory_operation *o = payload;
    const struct timespec pause = {.tv_nsec = POLL_NANOSECONDS};

    if (!o->waits && !o->writes) {
        return CUDA_SUCCESS;
    }
    while (operation_has_memory(o)) {
        if (o->writes) {
            if (o->size == 8) {
                __atomic_store_n((uint64_t *)(uintptr_t)o->address, o->value,
                                 __ATOMIC_SEQ_CST);
            }
            else {
                __atomic_store_n((uint32_t *)(uintptr_t)o->address, (uint32_t)o->value,
                                 __ATOMIC_SEQ_CST);
            }
            emu_shadow_note_write(o->address, o->size);
            emu_lock_wake();
            emu_operation_signals(emu_operation_present());
            return CUDA_SUCCESS;
        }
        if (operation_is_met(o)) {
            emu_operation_awaits_signal(emu_operation_present());
            return CUDA_SUCCESS;
        }
        if (emu_wait_poll() || emu_wait_interrupted() ||
            atomic_load(&context->sticky) != CUDA_SUCCESS) {
            return EMU_INTERRUPTED;
        }
        if (report->may_leave) { /* in a graph or in the null stream */
            report->left = NULL;
            return EMU_GOES_ON;
        }
        (void)nanosleep(&pause, NULL);
    }
    emu_context_fail(context, CUDA_ERROR_ILLEGAL_ADDRESS);
    return CUDA_ERROR_ILLEGAL_ADDRESS;
}

static const emu_work operation_work = {.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                                        .use = operation_use,
                                        .run = operation_run,
                                        .when = operation_when,
                                        .is_ready = operation_is_ready};

/* -- checks ------------------------------------------------------------------------ */

static CUresult
operation_check_memory(emu_context *context, const memory_operation *o)
{
    const emu_allocation *memory;

    if (o->address % o->size != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    memory = emu_memory_holding(o->address, o->size);
    if (memory == NULL || !emu_memory_may_use(context, memory)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* Convert an operation of the program, and check all but its memory. */
static CUresult
operation_convert(const CUstreamBatchMemOpParams *p, memory_operation *o)
{
    const bool wide = p->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
                      p->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;

    memset(o, 0, sizeof(*o));
    o->size = wide ? 8 : 4;
    switch (p->operation) {
        case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        case CU_STREAM_MEM_OP_WAIT_VALUE_64:
            o->waits = true;
            o->condition = p->waitValue.flags & CONDITION;
            if ((p->waitValue.flags & FLUSH) != 0) {
                return CUDA_ERROR_NOT_SUPPORTED;
            }
            if ((p->waitValue.flags & ~(unsigned)CONDITION) != 0) {
                return CUDA_ERROR_INVALID_VALUE;
            }
            break;
        case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        case CU_STREAM_MEM_OP_WRITE_VALUE_64:
            o->writes = true;
            if (p->writeValue.flags != 0) { /* version 2 refuses NO_MEMORY_BARRIER */
                return CUDA_ERROR_INVALID_VALUE;
            }
            break;
        case CU_STREAM_MEM_OP_BARRIER: /* streams run in order here */
            if (p->memoryBarrier.flags > 1) {
                return CUDA_ERROR_INVALID_VALUE;
            }
            return CUDA_SUCCESS;
        case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
            return CUDA_ERROR_NOT_SUPPORTED;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
    o->address = p->waitValue.address; /* at the same place in both */
    o->value = p->waitValue.value64;
    if (!wide) {
        o->value = (uint32_t)o->value;
    }
    return CUDA_SUCCESS;
}

static CUresult
operation_read(emu_context *context, const CUstreamBatchMemOpParams *p,
               memory_operation *o)
{
    CUresult status = operation_convert(p, o);

    if (status != CUDA_SUCCESS || (!o->waits && !o->writes)) {
        return status;
    }
    return operation_check_memory(context, o);
}

/* -- nodes of graphs --------------------------------------------------------------- */

/* A batch of operations, as a node of a graph has it. */
typedef struct {
    CUcontext context;
    unsigned int count;
    CUstreamBatchMemOpParams operations[];
} batch_payload;

CUresult
emu_batch_node_make(emu_context *context, const CUgraphNodeParams *params,
                    emu_payload *out)
{
    const CUDA_BATCH_MEM_OP_NODE_PARAMS *p = &params->memOp;
    const size_t bytes = p->count * sizeof(*p->paramArray);

    if (p->ctx != NULL) {
        context = emu_context_get(p->ctx);
    }
    if (context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (p->flags != 0 || p->paramArray == NULL || p->count == 0 ||
        p->count > MOST_OPERATIONS) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned int i = 0; i < p->count; i++) {
        memory_operation read;
        CUresult status = operation_read(context, &p->paramArray[i], &read);

        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    batch_payload *made = malloc(sizeof(*made) + bytes);
    if (made == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->context = context;
    made->count = p->count;
    memcpy(made->operations, p->paramArray, bytes);
    *out = (emu_payload){made, sizeof(*made) + bytes};
    return CUDA_SUCCESS;
}

static CUresult
batch_run(const void *payload, emu_context *context, emu_report *report)
{
    const batch_payload *p = payload;

    for (unsigned int i = 0; i < p->count; i++) {
        memory_operation o;
        CUresult status = operation_convert(&p->operations[i], &o);

        if (status != CUDA_SUCCESS) {
            return status;
        }
        status = operation_run(&o, context, report);
        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    return CUDA_SUCCESS;
}

static void
batch_describe(void *payload, CUgraphNodeParams *params)
{
    batch_payload *p = payload;

    params->memOp = (CUDA_BATCH_MEM_OP_NODE_PARAMS){
        .ctx = p->context, .count = p->count, .paramArray = p->operations};
}

/* Addresses, values and conditions may change; the operations must be the same. */
static CUgraphExecUpdateResult
batch_compare(const void *payload, const void *other, bool wide)
{
    const batch_payload *old = payload, *wish = other;
    bool same = old->context == wish->context && old->count == wish->count;

    (void)wide;
    for (unsigned int i = 0; same && i < old->count; i++) {
        same = old->operations[i].operation == wish->operations[i].operation;
    }
    if (!same) {
        return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

const emu_work emu_batch_work = {.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                                 .run = batch_run,
                                 .describe = batch_describe,
                                 .compare = batch_compare};

/* -- entry points ------------------------------------------------------------------ */

/* Add the operations to the captured graph, as one node. */
static CUresult
operations_capture(emu_stream *stream, CUstreamBatchMemOpParams *operations,
                   unsigned int count)
{
    const CUgraphNodeParams params = {
        .type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
        .memOp = {.count = count, .paramArray = operations}};
    emu_payload payload;
    CUresult status = emu_batch_node_make(stream->object.context, &params, &payload);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = emu_queue_submit(stream, &emu_batch_work, payload.data, payload.size,
                              EMU_SUBMIT);
    free(payload.data);
    return status;
}

/* Check all operations, then enqueue them. */
static CUresult
operations_enqueue(emu_stream *stream, CUstreamBatchMemOpParams *operations,
                   unsigned int count, unsigned int flags)
{
    emu_context *context = stream->object.context;
    memory_operation read;

    if (flags != 0 || operations == NULL || count == 0 || count > MOST_OPERATIONS) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned int i = 0; i < count; i++) {
        CUresult status = operation_read(context, &operations[i], &read);

        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    if (emu_capture_is_active(stream)) {
        return operations_capture(stream, operations, count);
    }
    for (unsigned int i = 0; i < count; i++) {
        CUresult status = operation_read(context, &operations[i], &read);

        if (status != CUDA_SUCCESS) {
            return status;
        }
        status =
            emu_queue_submit(stream, &operation_work, &read, sizeof(read), EMU_SUBMIT);
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
