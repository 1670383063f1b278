/* The context, the device and the attributes of a stream. */
#include "device/api/entry/entry.h"
#include "device/api/entry/green_context.h"
#include "device/api/stream/stream.h"

enum { SYNCHRONIZATION_POLICY = 3, MEM_SYNC_DOMAIN = 10 };

/* Enter a call on a stream, of any context. */
static CUresult
stream_enter(emu_call call, CUstream handle, emu_stream **stream)
{
    emu_context *context;
    CUresult status = emu_enter_object(call, handle, EMU_STREAM, &context);

    *stream = NULL;
    if (status == CUDA_SUCCESS) {
        status = emu_stream_find(context, handle, stream);
    }
    return status;
}

CUresult
emu_cuStreamGetDevice(CUstream hStream, CUdevice *device)
{
    emu_stream *stream;
    CUresult status = stream_enter(EMU_CALL_StreamGetDevice, hStream, &stream);

    if (status == CUDA_SUCCESS && device == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *device = stream->object.context->device->ordinal;
    }
    return emu_leave(status);
}

CUresult
emu_cuStreamGetCtx_v2(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx)
{
    emu_stream *stream;
    CUresult status = stream_enter(EMU_CALL_StreamGetCtx_v2, hStream, &stream);

    if (status == CUDA_SUCCESS && pCtx == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *pCtx = emu_stream_context(stream);
        if (pGreenCtx != NULL) {
            *pGreenCtx = emu_green_context_get(stream->green);
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx *phCtx)
{
    emu_stream *stream;
    CUresult status = stream_enter(EMU_CALL_StreamGetGreenCtx, hStream, &stream);

    if (status == CUDA_SUCCESS && phCtx == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *phCtx = emu_green_context_get(stream->green);
    }
    return emu_leave(status);
}

CUresult
emu_cuStreamGetAttribute(CUstream hStream, CUlaunchAttributeID attr,
                         CUlaunchAttributeValue *value_out)
{
    emu_stream *stream;
    CUresult status = stream_enter(EMU_CALL_StreamGetAttribute, hStream, &stream);

    if (status == CUDA_SUCCESS && value_out == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
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
                status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuStreamSetAttribute(CUstream hStream, CUlaunchAttributeID attr,
                         const CUlaunchAttributeValue *value)
{
    emu_stream *stream;
    CUresult status = stream_enter(EMU_CALL_StreamSetAttribute, hStream, &stream);

    if (status == CUDA_SUCCESS && value == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
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
                status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuStreamCopyAttributes(CUstream dst, CUstream src)
{
    emu_stream *to;
    CUresult status = stream_enter(EMU_CALL_StreamCopyAttributes, dst, &to);

    if (status == CUDA_SUCCESS) {
        const emu_stream *from = emu_stream_get(to->object.context, src);

        if (from == NULL) {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
        else {
            to->attributes = from->attributes;
        }
    }
    return emu_leave(status);
}
