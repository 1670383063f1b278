/* The settings of a context: limits, configurations, peers. Also cuCtxSynchronize. */
#define _GNU_SOURCE
#include "device/sync_check/stream_check.h"
#include "device/machine/warp/wait.h"
#include "device/api/entry/context_stack.h"
#include "device/api/entry/entry.h"
#include "device/api/stream/stream.h"

#define LARGEST_STACK ((size_t)512 << 10)

/* Everything that this thread enqueued has run by then. The null stream's turn comes
 * after the work of other threads in the streams that the null stream waits for. */
CUresult
emu_cuCtxSynchronize(emu_context *context)
{
    CUresult status = emu_cuStreamSynchronize(context->null_stream);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    emu_host_awaits_context(context);
    return CUDA_SUCCESS;
}

/* -- limits and configurations ----------------------------------------------------- */

EMU_GETTER(emu_cuCtxGetCacheConfig, (emu_context * context, CUfunc_cache *pconfig),
           pconfig, context->cache_config)

/* The banks are four bytes wide, whatever a program prefers. */
EMU_GETTER(emu_cuCtxGetSharedMemConfig, (CUsharedconfig * pConfig), pConfig, 1)

CUresult
emu_cuCtxGetLimit(emu_context *context, size_t *pvalue, CUlimit limit)
{
    if (pvalue == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (limit >= EMU_LIMITS) {
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    }
    *pvalue = context->limits[limit];
    return CUDA_SUCCESS;
}

static CUresult
limit_check(const emu_context *context, CUlimit limit, size_t value)
{
    if (limit >= EMU_LIMITS) {
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    }
    if (limit == EMU_LIMIT_STACK_SIZE && value > LARGEST_STACK) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (limit == EMU_LIMIT_MALLOC_HEAP_SIZE && value > context->device->memory_bytes) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

/* Set a checked limit in the null stream's turn: a kernel of another thread may be
 * reading the limits. */
static CUresult
limit_set(emu_context *context, CUlimit limit, size_t value)
{
    int token = emu_queue_begin_turn(context->null_stream);

    if (token < 0) {
        return emu_wait_status();
    }
    if (limit == EMU_LIMIT_STACK_SIZE) {
        value = (value + 15) / 16 * 16;
    }
    context->limits[limit] = value;
    emu_turn_end(context->null_stream, token);
    return CUDA_SUCCESS;
}

CUresult
emu_cuCtxSetLimit(emu_context *context, CUlimit limit, size_t value)
{
    CUresult status = limit_check(context, limit, value);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    return limit_set(context, limit, value);
}

CUresult
emu_cuCtxSetCacheConfig(emu_context *context, CUfunc_cache config)
{
    if (config > 3) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    context->cache_config = config;
    return CUDA_SUCCESS;
}

CUresult
emu_cuCtxSetSharedMemConfig(emu_context *context, CUsharedconfig config)
{
    if (config > 2) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    context->shared_config = config;
    return CUDA_SUCCESS;
}

CUresult
emu_cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    if (leastPriority != NULL) {
        *leastPriority = 0;
    }
    if (greatestPriority != NULL) {
        *greatestPriority = -5;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuCtxResetPersistingL2Cache(void)
{
    return CUDA_SUCCESS;
}

/* -- peers ------------------------------------------------------------------------- */

/* Store the bit of the device of a peer context. Fails if the two cannot be peers. */
static CUresult
peer_bit(const emu_context *context, CUcontext handle, uint64_t *bit)
{
    const emu_context *peer = emu_context_get(handle);

    if (peer == NULL || peer == context) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (peer->device == context->device) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *bit = (uint64_t)1 << peer->device->ordinal;
    return CUDA_SUCCESS;
}

CUresult
emu_cuCtxEnablePeerAccess(emu_context *context, CUcontext peerContext,
                          unsigned int Flags)
{
    uint64_t bit;

    if (Flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = peer_bit(context, peerContext, &bit);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if ((atomic_load(&context->access) & bit) != 0) {
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    }
    atomic_fetch_or(&context->access, bit);
    return CUDA_SUCCESS;
}

CUresult
emu_cuCtxDisablePeerAccess(emu_context *context, CUcontext peerContext)
{
    uint64_t bit;
    CUresult status = peer_bit(context, peerContext, &bit);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if ((atomic_load(&context->access) & bit) == 0) {
        return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    }
    atomic_fetch_and(&context->access, ~bit);
    return CUDA_SUCCESS;
}

/* -- profiler control -------------------------------------------------------------- */

/* Accepted, so that programs that bracket their work with it run; there is no profiler
 * to switch. */

CUresult
emu_cuProfilerInitialize(const char *configFile, const char *outputFile,
                         CUoutput_mode outputMode)
{
    if (configFile == NULL || outputFile == NULL || outputMode > 1) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuProfilerStart(void)
{
    return CUDA_SUCCESS;
}

CUresult
emu_cuProfilerStop(void)
{
    return CUDA_SUCCESS;
}
