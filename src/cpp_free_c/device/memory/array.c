/* CUDA arrays and mipmapped arrays: making, describing, destroying. */
#include "device/memory/array.h"

#include "device/api/entry.h"
#include "device/api/context.h"
#include "device/api/faults.h"
#include "device/api/stream.h"

#define LARGEST_SIDE ((size_t)1 << 28)

size_t
emu_array_format_size(CUarray_format format)
{
    switch (format) {
        case 0x01:
        case 0x08:
            return 1;
        case 0x02:
        case 0x09:
        case 0x10:
            return 2;
        case 0x03:
        case 0x0a:
        case 0x20:
            return 4;
        default:
            return 0;
    }
}

static void
destroy_array(emu_object *object)
{
    emu_array *array = (emu_array *)object;

    if (array->parent) {
        array->parent->levels[array->level] = NULL;
    }
    if (array->keeper) {
        *array->keeper = NULL;
    }
    (void)emu_memory_free(array->memory); /* it alone may free it: it is alive */
    emu_object_free(object);
}

static bool
valid(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    bool cubemap = (d->Flags & EMU_ARRAY_CUBEMAP) != 0;
    bool layered = (d->Flags & EMU_ARRAY_LAYERED) != 0;

    if (!emu_array_format_size(d->Format) ||
        (d->NumChannels != 1 && d->NumChannels != 2 && d->NumChannels != 4)) {
        return false;
    }
    if (d->Width == 0 || d->Width > LARGEST_SIDE || d->Height > LARGEST_SIDE ||
        d->Depth > LARGEST_SIDE) {
        return false;
    }
    if (cubemap) {
        return d->Width == d->Height && (layered ? d->Depth % 6 == 0 : d->Depth == 6) &&
               d->Depth > 0;
    }
    if (layered) {
        return d->Depth > 0;
    }
    return d->Depth == 0 || d->Height > 0;
}

static size_t
at_least_one(size_t value)
{
    return value ? value : 1;
}

static void
shape(emu_array *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    array->descriptor = *descriptor;
    array->element =
        emu_array_format_size(descriptor->Format) * descriptor->NumChannels;
    array->width = descriptor->Width;
    array->height = at_least_one(descriptor->Height);
    array->depth = at_least_one(descriptor->Depth);
    array->pitch = array->width * array->element;
    array->slice = array->pitch * array->height; /* fits: sides are below 2^28 */
}

static CUresult
allocate(emu_context *context, size_t size, emu_allocation **memory)
{
    emu_memory_request request = {.kind = EMU_MEMORY_ARRAY,
                                  .size = size,
                                  .device = context->device->ordinal,
                                  .context = context};

    return emu_memory_allocate(&request, memory);
}

CUresult
emu_array_create(emu_context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                 emu_array **out)
{
    emu_array *array;
    CUresult status = CUDA_ERROR_OUT_OF_MEMORY;

    if (!valid(descriptor)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    array = emu_object_new(EMU_ARRAY, sizeof(*array), context, destroy_array);
    if (!array) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    shape(array, descriptor);
    if (array->slice <= emu_memory_tables.size &&
        array->depth <= emu_memory_tables.size / array->slice) {
        status = allocate(context, array->slice * array->depth, &array->memory);
    }
    if (status != CUDA_SUCCESS) {
        emu_object_free(&array->object);
        return status;
    }
    array->base = array->memory->base;
    array->memory->owner = array;
    *out = array;
    return CUDA_SUCCESS;
}

CUresult
emu_cuArrayCreate(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(ArrayCreate, &context);

    if (status == CUDA_SUCCESS && (!pHandle || !pAllocateArray)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        CUDA_ARRAY3D_DESCRIPTOR descriptor = {
            .Width = pAllocateArray->Width,
            .Height = pAllocateArray->Height,
            .Format = pAllocateArray->Format,
            .NumChannels = pAllocateArray->NumChannels};

        status = emu_array_create(context, &descriptor, pHandle);
    }
    return emu_leave(status);
}

CUresult
emu_cuArray3DCreate(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(Array3DCreate, &context);

    if (status == CUDA_SUCCESS && (!pHandle || !pAllocateArray)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = emu_array_create(context, pAllocateArray, pHandle);
    }
    return emu_leave(status);
}

CUresult
emu_cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(ArrayGetDescriptor, &context);

    if (status == CUDA_SUCCESS) {
        const emu_array *array = emu_object_get(hArray, EMU_ARRAY);

        if (!array) {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
        else if (!pArrayDescriptor) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else {
            pArrayDescriptor->Width = array->descriptor.Width;
            pArrayDescriptor->Height = array->descriptor.Height;
            pArrayDescriptor->Format = array->descriptor.Format;
            pArrayDescriptor->NumChannels = array->descriptor.NumChannels;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(Array3DGetDescriptor, &context);

    if (status == CUDA_SUCCESS) {
        const emu_array *array = emu_object_get(hArray, EMU_ARRAY);

        if (!array) {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
        else if (!pArrayDescriptor) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else {
            *pArrayDescriptor = array->descriptor;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuArrayDestroy(CUarray hArray)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(ArrayDestroy, &context);

    if (status == CUDA_SUCCESS) {
        emu_array *array = emu_object_get(hArray, EMU_ARRAY);
        uint64_t ticket;

        if (array && emu_stream_cannot_settle(array->object.context, &ticket)) {
            status = CUDA_ERROR_NOT_PERMITTED;
        }
        else if (array && !array->parent && !array->keeper) {
            emu_count_free(array->object.context);
            destroy_array(&array->object);
        }
        else {
            /* A level is destroyed with its mipmapped array only, and an OpenGL image
             * with its registration. */
            status = CUDA_ERROR_INVALID_HANDLE;
        }
    }
    return emu_leave(status);
}

/* -- mipmapped --------------------------------------------------------------------- */

static void
destroy_mipmap(emu_object *object)
{
    emu_mipmap *mipmap = (emu_mipmap *)object;

    /* The context may have destroyed levels before: they are listed there too. */
    for (unsigned int i = 0; i < mipmap->level_count; i++) {
        if (mipmap->levels[i]) {
            destroy_array(&mipmap->levels[i]->object);
        }
    }
    emu_object_free(object);
}

static size_t
halve(size_t side)
{
    return side > 1 ? side / 2 : side;
}

static CUresult
create_levels(emu_context *context, emu_mipmap *mipmap, unsigned int count)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor = mipmap->descriptor;
    bool stacked = (descriptor.Flags & (EMU_ARRAY_LAYERED | EMU_ARRAY_CUBEMAP)) != 0;

    for (unsigned int i = 0; i < count; i++) {
        CUresult status = emu_array_create(context, &descriptor, &mipmap->levels[i]);

        if (status != CUDA_SUCCESS) {
            return status;
        }
        mipmap->levels[i]->parent = mipmap;
        mipmap->levels[i]->level = i;
        mipmap->level_count++;
        descriptor.Width = halve(descriptor.Width);
        descriptor.Height = halve(descriptor.Height);
        descriptor.Depth = stacked ? descriptor.Depth : halve(descriptor.Depth);
    }
    return CUDA_SUCCESS;
}

/* As many levels as halving the longest side allows, at least one. */
static unsigned int
clamp_levels(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned int asked)
{
    bool stacked = (d->Flags & (EMU_ARRAY_LAYERED | EMU_ARRAY_CUBEMAP)) != 0;
    size_t side = d->Width > d->Height ? d->Width : d->Height;
    unsigned int most = 1;

    if (!stacked && d->Depth > side) {
        side = d->Depth;
    }
    while (side > 1) {
        side /= 2;
        most++;
    }
    if (most > EMU_ARRAY_LEVELS) {
        most = EMU_ARRAY_LEVELS;
    }
    return asked == 0 ? 1 : asked > most ? most : asked;
}

CUresult
emu_cuMipmappedArrayCreate(CUmipmappedArray *pHandle,
                           const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                           unsigned int numMipmapLevels)
{
    emu_context *context;
    emu_mipmap *mipmap = NULL;
    CUresult status = EMU_ENTER_CONTEXT(MipmappedArrayCreate, &context);

    if (status == CUDA_SUCCESS &&
        (!pHandle || !pMipmappedArrayDesc || !valid(pMipmappedArrayDesc))) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        mipmap = emu_object_new(EMU_MIPMAP, sizeof(*mipmap), context, destroy_mipmap);
        status = mipmap ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (status == CUDA_SUCCESS) {
        mipmap->descriptor = *pMipmappedArrayDesc;
        status = create_levels(context, mipmap,
                               clamp_levels(pMipmappedArrayDesc, numMipmapLevels));
        if (status == CUDA_SUCCESS) {
            *pHandle = mipmap;
        }
        else {
            destroy_mipmap(&mipmap->object);
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuMipmappedArrayGetLevel(CUarray *pLevelArray, CUmipmappedArray hMipmappedArray,
                             unsigned int level)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(MipmappedArrayGetLevel, &context);

    if (status == CUDA_SUCCESS) {
        const emu_mipmap *mipmap = emu_object_get(hMipmappedArray, EMU_MIPMAP);

        if (!mipmap) {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
        else if (!pLevelArray || level >= mipmap->level_count) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else {
            *pLevelArray = mipmap->levels[level];
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(MipmappedArrayDestroy, &context);

    if (status == CUDA_SUCCESS) {
        emu_mipmap *mipmap = emu_object_get(hMipmappedArray, EMU_MIPMAP);
        uint64_t ticket;

        if (mipmap && emu_stream_cannot_settle(mipmap->object.context, &ticket)) {
            status = CUDA_ERROR_NOT_PERMITTED;
        }
        else if (mipmap) {
            emu_count_free(mipmap->object.context);
            destroy_mipmap(&mipmap->object);
        }
        else {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
    }
    return emu_leave(status);
}
