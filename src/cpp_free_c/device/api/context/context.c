/* Contexts: making and destroying, primary contexts, the calls on a thread's stack.
 *
 * Destroying a context waits for its work, then frees everything that it owns. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "device/memory/memory.h"
#include "device/machine/services/services.h"
#include "device/api/entry/context_stack.h"
#include "device/base/device.h"
#include "device/api/entry/entry.h"
#include "device/api/context/leak.h"
#include "device/api/memory/allocation.h"
#include "device/api/entry/users.h"
#include "device/api/stream/stream.h"
#include "device/sync_check/stream_check.h"

static uint64_t last_id; /* guarded by the API lock */

/* -- making and destroying --------------------------------------------------------- */

/* Free what a context owns, then the context. It has no work under way. */
static void
context_free(emu_object *object)
{
    emu_context *context = (emu_context *)object;

    while (context->object.owned != NULL) {
        context->object.owned->destroy(context->object.owned);
    }
    emu_services_close(context);
    for (const emu_allocation *a = context->allocations; a != NULL; a = a->next) {
        emu_release_forget(a);
    }
    (void)emu_memory_release_context(context); /* context_destroy has counted them */
    emu_stream_close(context);
    emu_object_free(object);
}

/* Count the objects and allocations that the program should have released. */
static size_t
context_count_abandoned(const emu_context *context)
{
    size_t count = 0;

    for (const emu_object *o = context->object.owned; o != NULL; o = o->next) {
        count += emu_leak_is_object(o);
    }
    for (const emu_allocation *a = context->allocations; a != NULL; a = a->next) {
        count += emu_leak_is_memory(a);
    }
    return count;
}

static CUresult
context_new(emu_device *device, unsigned int flags, emu_context **out)
{
    emu_context *context =
        emu_object_new(EMU_CONTEXT, sizeof(*context), NULL, context_free);

    *out = NULL;
    if (context == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    context->device = device;
    context->id = ++last_id;
    context->flags = flags;
    context->api_version = 3020;
    atomic_init(&context->access, (uint64_t)1 << device->ordinal);
    context->limits[EMU_LIMIT_STACK_SIZE] = 1024;
    context->limits[EMU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
    context->limits[EMU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
    context->limits[EMU_LIMIT_SYNC_DEPTH] = 2;
    context->limits[EMU_LIMIT_PENDING_LAUNCH_COUNT] = 2048;
    context->limits[EMU_LIMIT_L2_FETCH_GRANULARITY] = 64;
    if (emu_stream_open(context) != CUDA_SUCCESS) {
        emu_object_free(&context->object);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = context;
    return CUDA_SUCCESS;
}

static void
context_destroy(emu_context *context)
{
    emu_context_note_end(context);
    /* From here on its handle is dead in all threads; only this one still uses it. */
    emu_object_unlist(&context->object);
    emu_queue_end(context);
    emu_users_wait(&context->object);
    emu_count_abandoned(context_count_abandoned(context));
    emu_leak_note_context(context);
    context_free(&context->object);
}

/* Whether cuCtxCreate and the primary context take these flags. */
static bool
context_flags_are_valid(unsigned int flags)
{
    unsigned int scheduling = flags & 7;

    return flags <= 0xff && (scheduling <= 2 || scheduling == 4);
}

CUresult
emu_cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    emu_context *context;

    if (pctx == NULL || !context_flags_are_valid(flags)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = context_new(emu_device_get(dev), flags, &context);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = emu_context_push(context, context);
    if (status != CUDA_SUCCESS) {
        context_destroy(context);
        return status;
    }
    *pctx = context;
    return CUDA_SUCCESS;
}

/* Check that a program may destroy the context of a handle. */
static CUresult
context_check_destroy(CUcontext handle, const emu_context *context)
{
    if (handle == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (context == NULL) {
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    if (context->primary) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (!emu_users_can_wait(&context->object)) {
        return CUDA_ERROR_NOT_PERMITTED;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuCtxDestroy(CUcontext ctx)
{
    emu_context *context = emu_context_get(ctx);
    CUresult status = context_check_destroy(ctx, context);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (emu_context_top() == context) {
        emu_context_pop();
    }
    context_destroy(context);
    return CUDA_SUCCESS;
}

/* -- primary contexts -------------------------------------------------------------- */

CUresult
emu_cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    emu_device *device = emu_device_get(dev);

    if (pctx == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (device->primary == NULL) {
        emu_context *context;
        CUresult status = context_new(device, device->primary_flags, &context);

        if (status != CUDA_SUCCESS) {
            return status;
        }
        context->primary = true;
        device->primary = context;
    }
    device->primary_count++;
    *pctx = device->primary;
    return CUDA_SUCCESS;
}

static CUresult
primary_destroy(emu_device *device)
{
    emu_context *context = device->primary;

    if (context != NULL && !emu_users_can_wait(&context->object)) {
        return CUDA_ERROR_NOT_PERMITTED;
    }
    device->primary = NULL;
    device->primary_count = 0;
    if (context != NULL) {
        context_destroy(context);
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuDevicePrimaryCtxRelease(CUdevice dev)
{
    emu_device *device = emu_device_get(dev);

    if (device->primary_count == 0) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (device->primary_count == 1) {
        return primary_destroy(device);
    }
    device->primary_count--;
    return CUDA_SUCCESS;
}

CUresult
emu_cuDevicePrimaryCtxReset(CUdevice dev)
{
    return primary_destroy(emu_device_get(dev));
}

CUresult
emu_cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
    emu_device *device = emu_device_get(dev);

    if (!context_flags_are_valid(flags)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    device->primary_flags = flags;
    if (device->primary != NULL) {
        device->primary->flags = flags;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
    emu_device *device = emu_device_get(dev);

    if (flags == NULL || active == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *flags = device->primary_flags;
    *active = device->primary != NULL;
    return CUDA_SUCCESS;
}

/* -- the stack of the calling thread ----------------------------------------------- */

CUresult
emu_cuCtxPushCurrent(CUcontext ctx)
{
    emu_context *context = emu_context_get(ctx);

    if (context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return emu_context_push(context, ctx);
}

CUresult
emu_cuCtxPopCurrent(CUcontext *pctx)
{
    CUcontext top = emu_context_top_handle();

    if (top == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    emu_context_pop();
    if (pctx != NULL) {
        *pctx = top;
    }
    return CUDA_SUCCESS;
}

/* Replace the top of the stack; NULL removes it. */
CUresult
emu_cuCtxSetCurrent(CUcontext ctx)
{
    emu_context *context = emu_context_get(ctx);

    if (ctx != NULL && context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    emu_context_pop();
    if (context == NULL) {
        return CUDA_SUCCESS;
    }
    return emu_context_push(context, ctx);
}

EMU_GETTER(emu_cuCtxGetCurrent, (CUcontext * pctx), pctx, emu_context_top_handle())

/* -- facts about a context --------------------------------------------------------- */

/* A failed context still has its facts: see the doors of these calls. */
EMU_GETTER(emu_cuCtxGetDevice, (emu_context * context, CUdevice *device), device,
           context->device->ordinal)
EMU_GETTER(emu_cuCtxGetDevice_v2, (CUdevice * device, emu_context *ctx), device,
           ctx->device->ordinal)
EMU_GETTER(emu_cuCtxGetFlags, (emu_context * context, unsigned int *flags), flags,
           context->flags)
EMU_GETTER(emu_cuCtxGetApiVersion, (emu_context * ctx, unsigned int *version), version,
           ctx->api_version)
EMU_GETTER(emu_cuCtxGetId, (emu_context * ctx, unsigned long long *ctxId), ctxId,
           ctx->id)

/* -- newer forms ------------------------------------------------------------------- */

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
