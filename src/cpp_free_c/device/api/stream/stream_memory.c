/* The calls by which a stream waits for a value in memory, or writes one.
 *
 * A wait whose value is not there yet stays in its stream, with the work behind it
 * (deferred.h). In a captured stream the operations become nodes of the graph. */
#define _GNU_SOURCE
#include <string.h>
#include <time.h>

#include "device/machine/warp/wait.h"
#include "device/memory/memory.h"
#include "device/api/entry/capture.h"
#include "device/api/entry/context_stack.h"
#include "device/api/entry/deferred.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/lock.h"
#include "device/api/stream/stream.h"

enum {
    MOST_OPERATIONS = 256,
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
    return emu_memory_check(o->address, o->size) != NULL;
}

/* -- work -------------------------------------------------------------------------- */

/* A wait for memory that was freed is ready: it then fails. */
static bool
operation_is_ready(const void *payload)
{
    const memory_operation *o = payload;

    return !o->waits || !operation_has_memory(o) || operation_is_met(o);
}

static CUresult
operation_run(const void *payload, emu_context *context, emu_report *report)
{
    const memory_operation *o = payload;
    const struct timespec pause = {.tv_nsec = POLL_NANOSECONDS};

    (void)report;
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
            emu_lock_wake();
            return CUDA_SUCCESS;
        }
        if (operation_is_met(o)) {
            return CUDA_SUCCESS;
        }
        if (emu_wait_poll() || emu_wait_interrupted() ||
            atomic_load(&context->sticky) != CUDA_SUCCESS) {
            return EMU_INTERRUPTED;
        }
        (void)nanosleep(&pause, NULL); /* in a graph or in the null stream */
    }
    return CUDA_ERROR_ILLEGAL_ADDRESS;
}

static const emu_work memory_work = {.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                                     .run = operation_run,
                                     .is_ready = operation_is_ready};

/* Let the stream keep the operation, or do it now. */
static CUresult
operation_enqueue(emu_stream *stream, const memory_operation *o)
{
    emu_context *context = stream->object.context;
    bool taken = false;
    CUresult status = emu_capture_take(stream, &memory_work, o, sizeof(*o), &taken);
    int token;

    if (status != CUDA_SUCCESS || taken) {
        return status;
    }
    token = emu_stream_begin(stream);
    if (token < 0) {
        return emu_wait_status();
    }
    status = operation_run(o, context, NULL);
    emu_stream_end(stream, token);
    if (status == CUDA_ERROR_ILLEGAL_ADDRESS) {
        emu_context_fail(context, status);
        status = CUDA_SUCCESS; /* as a launch that fails while it runs */
    }
    return status;
}

/* -- checks ------------------------------------------------------------------------ */

static CUresult
operation_check_memory(emu_context *context, const memory_operation *o)
{
    const emu_allocation *memory;

    if (o->address % o->size != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    memory = emu_memory_check(o->address, o->size);
    if (memory == NULL || !emu_memory_may_use(context, memory)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* Read one operation of a batch. */
static CUresult
operation_read(emu_context *context, const CUstreamBatchMemOpParams *p,
               memory_operation *o)
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
    return operation_check_memory(context, o);
}

/* Check all operations, then enqueue them. */
static CUresult
operations_enqueue(emu_context *context, CUstream handle,
                   const CUstreamBatchMemOpParams *operations, unsigned int count,
                   unsigned int flags)
{
    memory_operation read;
    emu_stream *stream;
    CUresult status = emu_stream_find(context, handle, &stream);

    if (status == CUDA_SUCCESS &&
        (flags != 0 || operations == NULL || count == 0 || count > MOST_OPERATIONS)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned int i = 0; i < count && status == CUDA_SUCCESS; i++) {
        status = operation_read(context, &operations[i], &read);
    }
    for (unsigned int i = 0; i < count && status == CUDA_SUCCESS; i++) {
        status = operation_read(context, &operations[i], &read);
        if (status == CUDA_SUCCESS) {
            status = operation_enqueue(stream, &read);
        }
    }
    return status;
}

/* -- entry points ------------------------------------------------------------------ */

static CUresult
value_enqueue(emu_context *context, CUstream stream, unsigned int operation,
              CUdeviceptr address, uint64_t value, unsigned int flags)
{
    CUstreamBatchMemOpParams p;

    memset(&p, 0, sizeof(p));
    p.waitValue.operation = operation;
    p.waitValue.address = address;
    p.waitValue.value64 = value;
    p.waitValue.flags = flags;
    return operations_enqueue(context, stream, &p, 1, 0);
}

#define VALUE_CALL(name, Type, operation)                                           \
    CUresult emu_cu##name(CUstream stream, CUdeviceptr addr, Type value,            \
                          unsigned int flags)                                       \
    {                                                                               \
        emu_context *context;                                                       \
        CUresult status = EMU_ENTER_STREAM(name, stream, &context);                 \
                                                                                    \
        if (status == CUDA_SUCCESS) {                                               \
            status = value_enqueue(context, stream, operation, addr, value, flags); \
        }                                                                           \
        return emu_leave(status);                                                   \
    }

VALUE_CALL(StreamWaitValue32, unsigned int, CU_STREAM_MEM_OP_WAIT_VALUE_32)
VALUE_CALL(StreamWaitValue64, uint64_t, CU_STREAM_MEM_OP_WAIT_VALUE_64)
VALUE_CALL(StreamWriteValue32, unsigned int, CU_STREAM_MEM_OP_WRITE_VALUE_32)
VALUE_CALL(StreamWriteValue64, uint64_t, CU_STREAM_MEM_OP_WRITE_VALUE_64)

CUresult
emu_cuStreamBatchMemOp(CUstream stream, unsigned int count,
                       CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(StreamBatchMemOp, stream, &context);

    if (status == CUDA_SUCCESS) {
        status = operations_enqueue(context, stream, paramArray, count, flags);
    }
    return emu_leave(status);
}
