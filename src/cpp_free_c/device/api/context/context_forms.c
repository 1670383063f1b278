/* The newer forms of calls on contexts: parameters of a creation, a context given by
 * its handle. */
#define _GNU_SOURCE
#include "device/check/stream_check.h"
#include "device/api/entry/context_stack.h"
#include "device/api/entry/entry.h"
#include "device/api/stream/stream.h"

/* All multiprocessors run the work of every context here, so that a wish for fewer is
 * refused. */
static CUresult
affinity_check(const CUexecAffinityParam *wishes, int count, CUdevice ordinal)
{
    const emu_device_limits *limits = &emu_device_get(ordinal)->limits;

    if (count < 0 || (count > 0 && wishes == NULL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (int i = 0; i < count; i++) {
        if (wishes[i].type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (wishes[i].param.smCount.val != (unsigned int)limits->multiprocessors) {
            return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
        }
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams,
                   unsigned int flags, CUdevice dev)
{
    CUresult status = affinity_check(paramsArray, numParams, dev);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    return emu_cuCtxCreate(pctx, flags, dev);
}

CUresult
emu_cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams,
                   unsigned int flags, CUdevice dev)
{
    if (ctxCreateParams == NULL) {
        return emu_cuCtxCreate(pctx, flags, dev);
    }
    if (ctxCreateParams->cigParams != NULL) {
        return CUDA_ERROR_NOT_SUPPORTED; /* graphics */
    }
    return emu_cuCtxCreate_v3(pctx, ctxCreateParams->execAffinityParams,
                              ctxCreateParams->numExecAffinityParams, flags, dev);
}

CUresult
emu_cuCtxSynchronize_v2(emu_context *ctx)
{
    const CUresult failed = emu_context_status(ctx);

    if (failed != CUDA_SUCCESS) {
        return failed;
    }
    return emu_cuCtxSynchronize(ctx);
}

CUresult
emu_cuCtxSetFlags(emu_context *context, unsigned int flags)
{
    const unsigned int scheduling = flags & 7;

    if (flags > 0xff || (scheduling > 2 && scheduling != 4)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    context->flags = flags;
    return CUDA_SUCCESS;
}

CUresult
emu_cuCtxGetExecAffinity(emu_context *context, CUexecAffinityParam *pExecAffinity,
                         CUexecAffinityType type)
{
    if (pExecAffinity == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) {
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    }
    pExecAffinity->type = type;
    pExecAffinity->param.smCount.val =
        (unsigned int)context->device->limits.multiprocessors;
    return CUDA_SUCCESS;
}
