/* The settings of a context: limits, configurations, peers. Also cuCtxSynchronize. */
#define _GNU_SOURCE
#include "device/check/stream_check.h"
#include "device/machine/warp/wait.h"
#include "device/api/entry/context_stack.h"
#include "device/api/entry/entry.h"
#include "device/api/stream/stream.h"

#define LARGEST_STACK ((size_t)512 << 10)

/* Everything that this thread enqueued has run by then. The null stream's turn comes
 * after the work of other threads in the streams that the null stream waits for. */
CUresult
emu_cuCtxSynchronize(void)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(CtxSynchronize, &context);

    if (status == CUDA_SUCCESS) {
        status = emu_stream_synchronize(context->null_stream);
        emu_host_awaits_context(context);
    }
    if (status == CUDA_SUCCESS) {
        status = (CUresult)atomic_load(&context->sticky);
    }
    return emu_leave(status);
}

/* -- limits and configurations ----------------------------------------------------- */

/* A call that stores one setting. */
#define SETTING_GETTER(name, Type, value)                         \
    CUresult emu_cuCtx##name(Type *out)                           \
    {                                                             \
        emu_context *context;                                     \
        CUresult status = EMU_ENTER_CONTEXT(Ctx##name, &context); \
                                                                  \
        if (status == CUDA_SUCCESS && out == NULL) {              \
            status = CUDA_ERROR_INVALID_VALUE;                    \
        }                                                         \
        if (status == CUDA_SUCCESS) {                             \
            *out = value;                                         \
        }                                                         \
        return emu_leave(status);                                 \
    }

SETTING_GETTER(GetCacheConfig, CUfunc_cache, context->cache_config)
/* The banks are four bytes wide, whatever a program prefers. */
SETTING_GETTER(GetSharedMemConfig, CUsharedconfig, 1)

CUresult
emu_cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(CtxGetLimit, &context);

    if (status == CUDA_SUCCESS && pvalue == NULL) {
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
    int token = emu_stream_begin(context->null_stream);

    if (token < 0) {
        return emu_wait_status();
    }
    if (limit == EMU_LIMIT_STACK_SIZE) {
        value = (value + 15) / 16 * 16;
    }
    context->limits[limit] = value;
    emu_stream_end(context->null_stream, token);
    return CUDA_SUCCESS;
}

CUresult
emu_cuCtxSetLimit(CUlimit limit, size_t value)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(CtxSetLimit, &context);

    if (status == CUDA_SUCCESS) {
        status = limit_check(context, limit, value);
    }
    if (status == CUDA_SUCCESS) {
        status = limit_set(context, limit, value);
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
        if (leastPriority != NULL) {
            *leastPriority = 0;
        }
        if (greatestPriority != NULL) {
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
    if (status == CUDA_SUCCESS && (atomic_load(&context->access) & bit) != 0) {
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
    if (status == CUDA_SUCCESS && (atomic_load(&context->access) & bit) == 0) {
        status = CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    }
    if (status == CUDA_SUCCESS) {
        atomic_fetch_and(&context->access, ~bit);
    }
    return emu_leave(status);
}
