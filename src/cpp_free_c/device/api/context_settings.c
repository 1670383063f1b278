/* What a context may be asked and told: synchronisation, limits, configurations, peers.
 */
#define _GNU_SOURCE
#include "device/api/entry.h"
#include "device/api/context.h"
#include "device/api/stream.h"
#include "device/machine/wait.h"

CUresult
emu_cuCtxGetFlags(unsigned int *flags)
{
    emu_context *context = NULL;
    CUresult status = EMU_ENTER(CtxGetFlags);

    if (status == CUDA_SUCCESS) {
        status = emu_context_current(&context);
    }
    if (status == CUDA_SUCCESS && !flags) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *flags = context->flags;
    }
    return emu_leave(status);
}

/* All that this thread enqueued has run. The null stream's turn comes after the work
 * that other threads have under way, as far as streams wait for it. */
CUresult
emu_cuCtxSynchronize(void)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(CtxSynchronize, &context);

    if (status == CUDA_SUCCESS) {
        int token = emu_stream_begin(context->null_stream);

        if (token < 0) {
            status = emu_wait_status();
        }
        else {
            emu_context_flush(context);
            emu_stream_end(context->null_stream, token);
            status = (CUresult)atomic_load(&context->sticky);
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(CtxGetLimit, &context);

    if (status == CUDA_SUCCESS && !pvalue) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS && limit >= EMU_LIMITS) {
        status = CUDA_ERROR_UNSUPPORTED_LIMIT;
    }
    if (status == CUDA_SUCCESS) {
        *pvalue = context->limits[limit];
    }
    return emu_leave(status);
}

CUresult
emu_cuCtxSetLimit(CUlimit limit, size_t value)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(CtxSetLimit, &context);

    if (status == CUDA_SUCCESS && limit >= EMU_LIMITS) {
        status = CUDA_ERROR_UNSUPPORTED_LIMIT;
    }
    if (status == CUDA_SUCCESS && limit == EMU_LIMIT_STACK_SIZE && value > 512 << 10) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS && limit == EMU_LIMIT_MALLOC_HEAP_SIZE &&
        value > context->device->memory_bytes) {
        status = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (status == CUDA_SUCCESS) {
        /* A kernel of another thread may be reading them: wait for it. */
        int token = emu_stream_begin(context->null_stream);

        if (token < 0) {
            status = emu_wait_status();
        }
        else {
            context->limits[limit] =
                limit == EMU_LIMIT_STACK_SIZE ? (value + 15) / 16 * 16 : value;
            emu_stream_end(context->null_stream, token);
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuCtxGetCacheConfig(CUfunc_cache *pconfig)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(CtxGetCacheConfig, &context);

    if (status == CUDA_SUCCESS && !pconfig) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *pconfig = context->cache_config;
    }
    return emu_leave(status);
}

CUresult
emu_cuCtxSetCacheConfig(CUfunc_cache config)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(CtxSetCacheConfig, &context);

    if (status == CUDA_SUCCESS && config > 3) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        context->cache_config = config;
    }
    return emu_leave(status);
}

CUresult
emu_cuCtxGetSharedMemConfig(CUsharedconfig *pConfig)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(CtxGetSharedMemConfig, &context);

    if (status == CUDA_SUCCESS && !pConfig) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        /* The banks are four bytes wide, whatever a program prefers. */
        *pConfig = 1;
    }
    return emu_leave(status);
}

CUresult
emu_cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(CtxSetSharedMemConfig, &context);

    if (status == CUDA_SUCCESS && config > 2) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        context->shared_config = config;
    }
    return emu_leave(status);
}

CUresult
emu_cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(CtxGetStreamPriorityRange, &context);

    if (status == CUDA_SUCCESS) {
        if (leastPriority) {
            *leastPriority = 0;
        }
        if (greatestPriority) {
            *greatestPriority = -5;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuCtxResetPersistingL2Cache(void)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(CtxResetPersistingL2Cache, &context);

    return emu_leave(status);
}

/* -- peers ------------------------------------------------------------------------- */

/* The bit of the device of a peer context, or why the two cannot be peers. */
static CUresult
peer_bit(const emu_context *context, CUcontext handle, uint64_t *bit)
{
    const emu_context *peer = emu_context_get(handle);

    if (!peer) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (peer == context) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (peer->device == context->device) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *bit = (uint64_t)1 << peer->device->ordinal;
    return CUDA_SUCCESS;
}

CUresult
emu_cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
    emu_context *context;
    uint64_t bit = 0;
    CUresult status = EMU_ENTER_CONTEXT(CtxEnablePeerAccess, &context);

    if (status == CUDA_SUCCESS && Flags != 0) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = peer_bit(context, peerContext, &bit);
    }
    if (status == CUDA_SUCCESS && (atomic_load(&context->access) & bit)) {
        status = CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    }
    if (status == CUDA_SUCCESS) {
        atomic_fetch_or(&context->access, bit);
    }
    return emu_leave(status);
}

CUresult
emu_cuCtxDisablePeerAccess(CUcontext peerContext)
{
    emu_context *context;
    uint64_t bit = 0;
    CUresult status = EMU_ENTER_CONTEXT(CtxDisablePeerAccess, &context);

    if (status == CUDA_SUCCESS) {
        status = peer_bit(context, peerContext, &bit);
    }
    if (status == CUDA_SUCCESS && !(atomic_load(&context->access) & bit)) {
        status = CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    }
    if (status == CUDA_SUCCESS) {
        atomic_fetch_and(&context->access, ~bit);
    }
    return emu_leave(status);
}
