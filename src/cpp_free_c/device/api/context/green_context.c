/* Green contexts: the driver's calls. See entry/context_stack.h. */
#include <string.h>

#include "device/api/entry/context_stack.h"
#include "device/api/entry/entry.h"
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
    const emu_device *found = emu_device_get(device);
    CUresult status = resource_check(resource, type);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    resource_fill(resource, found, (unsigned int)found->limits.multiprocessors);
    return CUDA_SUCCESS;
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
    CUresult status = resource_check(resource, type);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    const emu_context *context = emu_context_get(hCtx);

    if (context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    resource_fill(resource, context->device, context_multiprocessors(hCtx));
    return CUDA_SUCCESS;
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
    if (nbGroups == NULL || input == NULL || useFlags > 3) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (resource_device(input) == NULL) {
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    }
    if (minCount > input->sm.smCount || input->sm.smCount < LEAST_PART) {
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    }
    *nbGroups = resource_split(result, *nbGroups, input, remaining, minCount);
    return CUDA_SUCCESS;
}

CUresult
emu_cuDevResourceGenerateDesc(CUdevResourceDesc *phDesc, CUdevResource *resources,
                              unsigned int nbResources)
{
    uintptr_t count = 0;

    if (phDesc == NULL || resources == NULL || nbResources == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const emu_device *device = resource_device(&resources[0]);

    for (unsigned int i = 0; i < nbResources; i++) {
        const emu_device *next = resource_device(&resources[i]);

        if (next == NULL) {
            return CUDA_ERROR_INVALID_RESOURCE_TYPE;
        }
        if (next != device) {
            return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
        }
        count += resources[i].sm.smCount;
    }
    if (count > (uintptr_t)device->limits.multiprocessors) {
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    }
    *phDesc = (CUdevResourceDesc)((uintptr_t)DESCRIPTION_MARK << MARK_SHIFT |
                                  (uintptr_t)device->ordinal << DEVICE_SHIFT | count);
    return CUDA_SUCCESS;
}

/* -- green contexts ---------------------------------------------------------------- */

CUresult
emu_cuGreenCtxCreate(CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev,
                     unsigned int flags)
{
    const uintptr_t bits = (uintptr_t)desc;
    CUcontext primary;

    if (phCtx == NULL || flags != CU_GREEN_CTX_DEFAULT_STREAM ||
        bits >> MARK_SHIFT != DESCRIPTION_MARK ||
        (CUdevice)(bits >> DEVICE_SHIFT & 0xff) != dev) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = emu_cuDevicePrimaryCtxRetain(&primary, dev);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    emu_green_context *green =
        emu_object_new(EMU_GREEN_CONTEXT, sizeof(*green), NULL, NULL);
    if (green == NULL) {
        /* The context was held a moment ago, so this cannot fail. */
        (void)emu_cuDevicePrimaryCtxRelease(dev);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    green->device = emu_device_get(dev);
    green->multiprocessors = bits & SIZE_MASK;
    green->primary = primary;
    *phCtx = green;
    return CUDA_SUCCESS;
}

CUresult
emu_cuGreenCtxDestroy(emu_green_context *green)
{
    const CUdevice device = green->device->ordinal;

    emu_object_free(&green->object);
    return emu_cuDevicePrimaryCtxRelease(device);
}

EMU_GETTER(emu_cuCtxFromGreenCtx, (CUcontext * pContext, emu_green_context *green),
           pContext, (CUcontext)(void *)green)

CUresult
emu_cuGreenCtxGetDevResource(emu_green_context *green, CUdevResource *resource,
                             CUdevResourceType type)
{
    CUresult status = resource_check(resource, type);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    resource_fill(resource, green->device, green->multiprocessors);
    return CUDA_SUCCESS;
}

EMU_GETTER(emu_cuGreenCtxGetId,
           (emu_green_context * green, unsigned long long *greenCtxId), greenCtxId,
           green->object.serial)

/* -- streams and events ------------------------------------------------------------ */

/* The context of a handle, which must not have failed. */
static CUresult
context_find(CUcontext handle, emu_context **context)
{
    *context = emu_context_get(handle);
    if (*context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return emu_context_status(*context);
}

CUresult
emu_cuGreenCtxStreamCreate(CUstream *phStream, emu_green_context *green,
                           unsigned int flags, int priority)
{
    emu_context *context;

    if (phStream == NULL || flags != EMU_STREAM_NON_BLOCKING) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = context_find(green->primary, &context);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = emu_cuStreamCreateWithPriority(context, phStream, flags, priority);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    (*phStream)->green = green;
    return CUDA_SUCCESS;
}

/* All that this thread has enqueued in the context is done, once the deferred work has
 * run. An event in the null stream then stands for all streams. */
CUresult
emu_cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent)
{
    emu_context *context;
    CUresult status = context_find(hCtx, &context);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    return emu_cuEventRecord(hEvent, context->null_stream);
}

CUresult
emu_cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent)
{
    emu_context *context;
    CUresult status = context_find(hCtx, &context);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    return emu_cuStreamWaitEvent(context->null_stream, hEvent, 0);
}

CUresult
emu_cuGreenCtxRecordEvent(emu_green_context *green, CUevent hEvent)
{
    return emu_cuCtxRecordEvent(green->primary, hEvent);
}

CUresult
emu_cuGreenCtxWaitEvent(emu_green_context *green, CUevent hEvent)
{
    return emu_cuCtxWaitEvent(green->primary, hEvent);
}
