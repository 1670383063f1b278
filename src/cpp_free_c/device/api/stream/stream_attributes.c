/* The context, the device and the attributes of a stream. */
#include "device/api/entry/entry.h"
#include "device/api/entry/context_stack.h"
#include "device/api/stream/stream.h"

enum { SYNCHRONIZATION_POLICY = 3, MEM_SYNC_DOMAIN = 10 };

CUresult
emu_cuStreamGetCtx_v2(emu_stream *stream, CUcontext *pCtx, CUgreenCtx *pGreenCtx)
{
    if (pCtx == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pCtx = emu_stream_context(stream);
    if (pGreenCtx != NULL) {
        *pGreenCtx = emu_green_context_get(stream->green);
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuStreamGetAttribute(emu_stream *stream, CUlaunchAttributeID attr,
                         CUlaunchAttributeValue *value_out)
{
    if (value_out == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const emu_stream_attributes *from = &stream->attributes;

    switch (attr) {
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
            value_out->accessPolicyWindow = from->window;
            break;
        case SYNCHRONIZATION_POLICY:
            value_out->cooperative = from->policy; /* also one int */
            break;
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
            value_out->priority = stream->priority;
            break;
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
            value_out->memSyncDomainMap = from->domain_map;
            break;
        case MEM_SYNC_DOMAIN:
            value_out->cooperative = from->domain;
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuStreamSetAttribute(emu_stream *stream, CUlaunchAttributeID attr,
                         const CUlaunchAttributeValue *value)
{
    if (value == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_stream_attributes *to = &stream->attributes;

    /* Hints to hardware: without effect here. */
    switch (attr) {
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
            to->window = value->accessPolicyWindow;
            break;
        case SYNCHRONIZATION_POLICY:
            to->policy = value->cooperative;
            break;
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
            stream->priority = emu_stream_clamp_priority(value->priority);
            break;
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
            to->domain_map = value->memSyncDomainMap;
            break;
        case MEM_SYNC_DOMAIN:
            to->domain = value->cooperative;
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuStreamCopyAttributes(emu_stream *to, CUstream src)
{
    emu_stream *from;
    CUresult status = emu_stream_find(to->object.context, src, &from);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    to->attributes = from->attributes;
    return CUDA_SUCCESS;
}
