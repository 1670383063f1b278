/* Green contexts: the driver's calls. See device/api/entry/green_context.h. */
#include <string.h>

#include "device/api/entry/context_stack.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/green_context.h"
#include "device/api/stream/stream.h"

/* The least part, and the step between sizes of parts. */
enum { LEAST_PART = 2, PART_STEP = 2 };

/* Descriptions are numbers, since no call frees them: a mark, the device, the size. */
enum {
    DESCRIPTION_MARK = 0x67,
    DEVICE_SHIFT = 16,
    MARK_SHIFT = 24,
    SIZE_MASK = 0xffff
};

/* Behind the type of a resource: the device that it is of. */
static void
resource_fill(CUdevResource *resource, const emu_device *device, unsigned int count)
{
    memset(resource, 0, sizeof(*resource));
    resource->type = CU_DEV_RESOURCE_TYPE_SM;
    resource->_internal_padding[0] = DESCRIPTION_MARK;
    resource->_internal_padding[1] = (unsigned char)device->ordinal;
    resource->sm.smCount = count;
    resource->sm.minSmPartitionSize = LEAST_PART;
    resource->sm.smCoscheduledAlignment = PART_STEP;
}

/* The device of a resource; NULL: this library did not make it. */
static emu_device *
resource_device(const CUdevResource *resource)
{
    if (resource->type != CU_DEV_RESOURCE_TYPE_SM ||
        resource->_internal_padding[0] != DESCRIPTION_MARK) {
        return NULL;
    }
    return emu_device_get(resource->_internal_padding[1]);
}

static CUresult
resource_check(const CUdevResource *out, CUdevResourceType type)
{
    if (out == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (type != CU_DEV_RESOURCE_TYPE_SM) {
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    }
    return CUDA_SUCCESS;
}

/* -- resources --------------------------------------------------------------------- */

CUresult
emu_cuDeviceGetDevResource(CUdevice device, CUdevResource *resource,
                           CUdevResourceType type)
{
    emu_device *found;
    CUresult status = EMU_ENTER(DeviceGetDevResource);

    if (status == CUDA_SUCCESS) {
        status = resource_check(resource, type);
    }
    if (status == CUDA_SUCCESS) {
        status = emu_device_find(device, &found);
    }
    if (status == CUDA_SUCCESS) {
        resource_fill(resource, found, (unsigned int)found->limits.multiprocessors);
    }
    return emu_leave(status);
}

/* The multiprocessors of a live context: all of the device, or those of a part. */
static unsigned int
context_multiprocessors(CUcontext handle)
{
    const emu_green_context *green = emu_green_context_get(handle);

    if (green != NULL) {
        return green->multiprocessors;
    }
    return (unsigned int)emu_context_get(handle)->device->limits.multiprocessors;
}

CUresult
emu_cuCtxGetDevResource(CUcontext hCtx, CUdevResource *resource, CUdevResourceType type)
{
    CUresult status = EMU_ENTER(CtxGetDevResource);

    if (status == CUDA_SUCCESS) {
        status = resource_check(resource, type);
    }
    if (status == CUDA_SUCCESS) {
        const emu_context *context = emu_context_get(hCtx);

        if (context == NULL) {
            status = CUDA_ERROR_INVALID_CONTEXT;
        }
        else {
            resource_fill(resource, context->device, context_multiprocessors(hCtx));
        }
    }
    return emu_leave(status);
}

/* Divide `input` into at most `most` parts. Return their number. */
static unsigned int
resource_split(CUdevResource *result, unsigned int most, const CUdevResource *input,
               CUdevResource *remaining, unsigned int least)
{
    const emu_device *device = resource_device(input);
    const unsigned int all = input->sm.smCount;
    unsigned int size = LEAST_PART, parts;

    if (least > size) {
        size = (least + PART_STEP - 1) / PART_STEP * PART_STEP;
    }
    parts = all / size;
    if (result == NULL) {
        return parts;
    }
    if (parts > most) {
        parts = most;
    }
    for (unsigned int i = 0; i < parts; i++) {
        resource_fill(&result[i], device, size);
    }
    if (remaining != NULL) {
        resource_fill(remaining, device, all - parts * size);
        if (remaining->sm.smCount == 0) {
            remaining->type = CU_DEV_RESOURCE_TYPE_INVALID;
        }
    }
    return parts;
}

CUresult
emu_cuDevSmResourceSplitByCount(CUdevResource *result, unsigned int *nbGroups,
                                const CUdevResource *input, CUdevResource *remaining,
                                unsigned int useFlags, unsigned int minCount)
{
    CUresult status = EMU_ENTER(DevSmResourceSplitByCount);

    if (status == CUDA_SUCCESS && (nbGroups == NULL || input == NULL || useFlags > 3)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS && resource_device(input) == NULL) {
        status = CUDA_ERROR_INVALID_RESOURCE_TYPE;
    }
    if (status == CUDA_SUCCESS &&
        (minCount > input->sm.smCount || input->sm.smCount < LEAST_PART)) {
        status = CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    }
    if (status == CUDA_SUCCESS) {
        *nbGroups = resource_split(result, *nbGroups, input, remaining, minCount);
    }
    return emu_leave(status);
}

CUresult
emu_cuDevResourceGenerateDesc(CUdevResourceDesc *phDesc, CUdevResource *resources,
                              unsigned int nbResources)
{
    uintptr_t count = 0;
    const emu_device *device = NULL;
    CUresult status = EMU_ENTER(DevResourceGenerateDesc);

    if (status == CUDA_SUCCESS &&
        (phDesc == NULL || resources == NULL || nbResources == 0)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned int i = 0; status == CUDA_SUCCESS && i < nbResources; i++) {
        const emu_device *next = resource_device(&resources[i]);

        if (next == NULL) {
            status = CUDA_ERROR_INVALID_RESOURCE_TYPE;
        }
        else if (device != NULL && next != device) {
            status = CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
        }
        device = next;
        count += resources[i].sm.smCount;
    }
    if (status == CUDA_SUCCESS && count > (uintptr_t)device->limits.multiprocessors) {
        status = CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    }
    if (status == CUDA_SUCCESS) {
        *phDesc =
            (CUdevResourceDesc)((uintptr_t)DESCRIPTION_MARK << MARK_SHIFT |
                                (uintptr_t)device->ordinal << DEVICE_SHIFT | count);
    }
    return emu_leave(status);
}

/* -- green contexts ---------------------------------------------------------------- */

static CUresult
green_find(CUgreenCtx handle, emu_green_context **green)
{
    *green = emu_object_get(handle, EMU_GREEN_CONTEXT);
    if (*green == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return CUDA_SUCCESS;
}

static CUresult
green_new(emu_device *device, unsigned int count, CUcontext primary, CUgreenCtx *out)
{
    emu_green_context *green = NULL;
    CUresult status = EMU_ENTER(GreenCtxCreate);

    if (status == CUDA_SUCCESS) {
        green = emu_object_new(EMU_GREEN_CONTEXT, sizeof(*green), NULL, NULL);
        if (green == NULL) {
            status = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    if (status == CUDA_SUCCESS) {
        green->device = device;
        green->multiprocessors = count;
        green->primary = primary;
        *out = green;
    }
    return emu_leave(status);
}

CUresult
emu_cuGreenCtxCreate(CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev,
                     unsigned int flags)
{
    const uintptr_t bits = (uintptr_t)desc;
    CUcontext primary;
    CUresult status = emu_cuDevicePrimaryCtxRetain(&primary, dev);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (phCtx == NULL || flags != CU_GREEN_CTX_DEFAULT_STREAM ||
        bits >> MARK_SHIFT != DESCRIPTION_MARK ||
        (CUdevice)(bits >> DEVICE_SHIFT & 0xff) != dev) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    else {
        status = green_new(emu_device_get(dev), bits & SIZE_MASK, primary, phCtx);
    }
    if (status != CUDA_SUCCESS) {
        /* The context was held a moment ago, so this cannot fail. */
        (void)emu_cuDevicePrimaryCtxRelease(dev);
    }
    return status;
}

CUresult
emu_cuGreenCtxDestroy(CUgreenCtx hCtx)
{
    emu_green_context *green;
    CUdevice device = 0;
    CUresult status = EMU_ENTER(GreenCtxDestroy);

    if (status == CUDA_SUCCESS) {
        status = green_find(hCtx, &green);
    }
    if (status == CUDA_SUCCESS) {
        device = green->device->ordinal;
        emu_object_free(&green->object);
    }
    status = emu_leave(status);
    if (status == CUDA_SUCCESS) {
        status = emu_cuDevicePrimaryCtxRelease(device);
    }
    return status;
}

CUresult
emu_cuCtxFromGreenCtx(CUcontext *pContext, CUgreenCtx hCtx)
{
    emu_green_context *green;
    CUresult status = EMU_ENTER(CtxFromGreenCtx);

    if (status == CUDA_SUCCESS) {
        status = green_find(hCtx, &green);
    }
    if (status == CUDA_SUCCESS && pContext == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *pContext = (CUcontext)(void *)green;
    }
    return emu_leave(status);
}

CUresult
emu_cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource *resource,
                             CUdevResourceType type)
{
    emu_green_context *green;
    CUresult status = EMU_ENTER(GreenCtxGetDevResource);

    if (status == CUDA_SUCCESS) {
        status = green_find(hCtx, &green);
    }
    if (status == CUDA_SUCCESS) {
        status = resource_check(resource, type);
    }
    if (status == CUDA_SUCCESS) {
        resource_fill(resource, green->device, green->multiprocessors);
    }
    return emu_leave(status);
}

CUresult
emu_cuGreenCtxGetId(CUgreenCtx greenCtx, unsigned long long *greenCtxId)
{
    emu_green_context *green;
    CUresult status = EMU_ENTER(GreenCtxGetId);

    if (status == CUDA_SUCCESS) {
        status = green_find(greenCtx, &green);
    }
    if (status == CUDA_SUCCESS && greenCtxId == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *greenCtxId = green->object.serial;
    }
    return emu_leave(status);
}

/* -- streams and events ------------------------------------------------------------ */

/* Make a call with a context current. */
static CUresult
context_run(CUcontext context, CUresult (*call)(void *), void *argument)
{
    CUresult status = emu_cuCtxPushCurrent(context);

    if (status == CUDA_SUCCESS) {
        status = call(argument);
        (void)emu_cuCtxPopCurrent(NULL); /* it was pushed above */
    }
    return status;
}

/* The context of a green one; NULL for a handle that is none. */
static CUcontext
green_to_context(CUgreenCtx handle)
{
    CUcontext context = NULL;

    if (emu_cuCtxFromGreenCtx(&context, handle) != CUDA_SUCCESS) {
        return NULL;
    }
    return context;
}

typedef struct {
    CUstream *stream;
    CUgreenCtx green;
    unsigned int flags;
    int priority;
} stream_wish;

static CUresult
stream_make(void *argument)
{
    const stream_wish *wish = argument;
    CUresult status =
        emu_cuStreamCreateWithPriority(wish->stream, wish->flags, wish->priority);

    if (status == CUDA_SUCCESS) {
        (*wish->stream)->green = wish->green;
    }
    return status;
}

CUresult
emu_cuGreenCtxStreamCreate(CUstream *phStream, CUgreenCtx greenCtx, unsigned int flags,
                           int priority)
{
    stream_wish wish = {phStream, greenCtx, flags, priority};
    CUcontext context = green_to_context(greenCtx);

    if (context == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (phStream == NULL || flags != EMU_STREAM_NON_BLOCKING) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return context_run(context, stream_make, &wish);
}

static CUresult
event_record(void *argument)
{
    return emu_cuEventRecord(argument, CU_STREAM_LEGACY);
}

static CUresult
event_wait(void *argument)
{
    return emu_cuStreamWaitEvent(CU_STREAM_LEGACY, argument, 0);
}

/* All that this thread has enqueued in the context is done, once the deferred work has
 * run. An event in the null stream then stands for all streams. */
CUresult
emu_cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent)
{
    CUresult status = EMU_ENTER(CtxRecordEvent);

    if (status == CUDA_SUCCESS && emu_context_get(hCtx) == NULL) {
        status = CUDA_ERROR_INVALID_CONTEXT;
    }
    status = emu_leave(status);
    if (status == CUDA_SUCCESS) {
        status = context_run(hCtx, event_record, hEvent);
    }
    return status;
}

CUresult
emu_cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent)
{
    CUresult status = EMU_ENTER(CtxWaitEvent);

    if (status == CUDA_SUCCESS && emu_context_get(hCtx) == NULL) {
        status = CUDA_ERROR_INVALID_CONTEXT;
    }
    status = emu_leave(status);
    if (status == CUDA_SUCCESS) {
        status = context_run(hCtx, event_wait, hEvent);
    }
    return status;
}

CUresult
emu_cuGreenCtxRecordEvent(CUgreenCtx hCtx, CUevent hEvent)
{
    CUcontext context = green_to_context(hCtx);

    if (context == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return emu_cuCtxRecordEvent(context, hEvent);
}

CUresult
emu_cuGreenCtxWaitEvent(CUgreenCtx hCtx, CUevent hEvent)
{
    CUcontext context = green_to_context(hCtx);

    if (context == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return emu_cuCtxWaitEvent(context, hEvent);
}
