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
    const emu_device *device = emu_device_get(ordinal);

    if (count < 0 || (count > 0 && wishes == NULL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (int i = 0; i < count; i++) {
        if (wishes[i].type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (device != NULL && wishes[i].param.smCount.val !=
                                  (unsigned int)device->limits.multiprocessors) {
            return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
        }
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams,
                   unsigned int flags, CUdevice dev)
{
    CUresult status = EMU_ENTER(CtxCreate_v3);

    if (status == CUDA_SUCCESS) {
        status = affinity_check(paramsArray, numParams, dev);
    }
    status = emu_leave(status);
    if (status == CUDA_SUCCESS) {
        status = emu_cuCtxCreate(pctx, flags, dev);
    }
    return status;
}

CUresult
emu_cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams,
                   unsigned int flags, CUdevice dev)
{
    CUresult status = EMU_ENTER(CtxCreate_v4);

    if (status == CUDA_SUCCESS && ctxCreateParams != NULL) {
        if (ctxCreateParams->cigParams != NULL) {
            status = CUDA_ERROR_NOT_SUPPORTED; /* graphics */
        }
        else {
            status = affinity_check(ctxCreateParams->execAffinityParams,
                                    ctxCreateParams->numExecAffinityParams, dev);
        }
    }
    status = emu_leave(status);
    if (status == CUDA_SUCCESS) {
        status = emu_cuCtxCreate(pctx, flags, dev);
    }
    return status;
}

/* Enter a call on a context that may be given as NULL, which is the current one. */
static CUresult
context_enter(emu_call call, CUcontext handle, emu_context **context)
{
    CUresult status = emu_enter(call);

    *context = NULL;
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (handle == NULL) {
        return emu_context_current(context);
    }
    *context = emu_context_get(handle);
    if (*context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx)
{
    emu_context *context;
    CUresult status = context_enter(EMU_CALL_CtxGetDevice_v2, ctx, &context);

    if (status == CUDA_SUCCESS && device == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *device = context->device->ordinal;
    }
    return emu_leave(status);
}

CUresult
emu_cuCtxSynchronize_v2(CUcontext ctx)
{
    emu_context *context;
    CUresult status = context_enter(EMU_CALL_CtxSynchronize_v2, ctx, &context);

    if (status == CUDA_SUCCESS) {
        status = (CUresult)atomic_load(&context->sticky);
    }
    if (status == CUDA_SUCCESS) {
        status = emu_stream_synchronize(context->null_stream);
        emu_host_awaits_context(context);
    }
    if (status == CUDA_SUCCESS) {
        status = (CUresult)atomic_load(&context->sticky);
    }
    return emu_leave(status);
}

CUresult
emu_cuCtxSetFlags(unsigned int flags)
{
    const unsigned int scheduling = flags & 7;
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(CtxSetFlags, &context);

    if (status == CUDA_SUCCESS &&
        (flags > 0xff || (scheduling > 2 && scheduling != 4))) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        context->flags = flags;
    }
    return emu_leave(status);
}

CUresult
emu_cuCtxGetExecAffinity(CUexecAffinityParam *pExecAffinity, CUexecAffinityType type)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(CtxGetExecAffinity, &context);

    if (status == CUDA_SUCCESS && pExecAffinity == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS && type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) {
        status = CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    }
    if (status == CUDA_SUCCESS) {
        pExecAffinity->type = type;
        pExecAffinity->param.smCount.val =
            (unsigned int)context->device->limits.multiprocessors;
    }
    return emu_leave(status);
}
