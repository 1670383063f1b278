/* The driver's calls on CUDA arrays and mipmapped arrays (memory/array.h). */
#include "device/memory/array.h"

#include "device/api/entry.h"
#include "device/api/release_count.h"
#include "device/api/running.h"

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

        if (array && emu_running_cannot_settle(array->object.context, &ticket)) {
            status = CUDA_ERROR_NOT_PERMITTED;
        }
        else if (array && !array->parent && !array->keeper) {
            emu_count_free(array->object.context);
            array->object.destroy(&array->object);
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

CUresult
emu_cuMipmappedArrayCreate(CUmipmappedArray *pHandle,
                           const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                           unsigned int numMipmapLevels)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(MipmappedArrayCreate, &context);

    if (status == CUDA_SUCCESS && (!pHandle || !pMipmappedArrayDesc)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status =
            emu_mipmap_create(context, pMipmappedArrayDesc, numMipmapLevels, pHandle);
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

        if (mipmap && emu_running_cannot_settle(mipmap->object.context, &ticket)) {
            status = CUDA_ERROR_NOT_PERMITTED;
        }
        else if (mipmap) {
            emu_count_free(mipmap->object.context);
            mipmap->object.destroy(&mipmap->object);
        }
        else {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
    }
    return emu_leave(status);
}
