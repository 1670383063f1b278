/* The driver's calls on CUDA arrays and mipmapped arrays (memory/array.h). */
#include "device/memory/array.h"

#include "device/api/entry/entry.h"
#include "device/api/entry/release_count.h"
#include "device/api/entry/running.h"

CUresult
emu_cuArrayCreate(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(ArrayCreate, &context);

    if (status == CUDA_SUCCESS && (pHandle == NULL || pAllocateArray == NULL)) {
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

    if (status == CUDA_SUCCESS && (pHandle == NULL || pAllocateArray == NULL)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = emu_array_create(context, pAllocateArray, pHandle);
    }
    return emu_leave(status);
}

/* Find the array of a call that describes it. */
static CUresult
array_find(CUarray handle, const void *out, const emu_array **array)
{
    *array = emu_object_get(handle, EMU_ARRAY);
    if (*array == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (out == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    emu_context *context;
    const emu_array *array;
    CUresult status = EMU_ENTER_CONTEXT(ArrayGetDescriptor, &context);

    if (status == CUDA_SUCCESS) {
        status = array_find(hArray, pArrayDescriptor, &array);
    }
    if (status == CUDA_SUCCESS) {
        pArrayDescriptor->Width = array->descriptor.Width;
        pArrayDescriptor->Height = array->descriptor.Height;
        pArrayDescriptor->Format = array->descriptor.Format;
        pArrayDescriptor->NumChannels = array->descriptor.NumChannels;
    }
    return emu_leave(status);
}

CUresult
emu_cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    emu_context *context;
    const emu_array *array;
    CUresult status = EMU_ENTER_CONTEXT(Array3DGetDescriptor, &context);

    if (status == CUDA_SUCCESS) {
        status = array_find(hArray, pArrayDescriptor, &array);
    }
    if (status == CUDA_SUCCESS) {
        *pArrayDescriptor = array->descriptor;
    }
    return emu_leave(status);
}

/* Destroy an array or a mipmapped array (NULL: there is none), unless another object
 * owns it. A nested call cannot wait for the work that may use it. */
static CUresult
array_destroy(emu_object *object, bool is_owned)
{
    uint64_t ticket;

    if (object == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (emu_running_cannot_settle(object->context, &ticket)) {
        return CUDA_ERROR_NOT_PERMITTED;
    }
    if (is_owned) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    emu_count_free(object->context);
    object->destroy(object);
    return CUDA_SUCCESS;
}

CUresult
emu_cuArrayDestroy(CUarray hArray)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(ArrayDestroy, &context);

    if (status == CUDA_SUCCESS) {
        emu_array *array = emu_object_get(hArray, EMU_ARRAY);
        /* A mipmapped array owns its levels, an OpenGL registration its image. */
        const bool is_owned =
            array != NULL && (array->parent != NULL || array->keeper != NULL);

        status = array_destroy((emu_object *)array, is_owned);
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

    if (status == CUDA_SUCCESS && (pHandle == NULL || pMipmappedArrayDesc == NULL)) {
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

        if (mipmap == NULL) {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
        else if (pLevelArray == NULL || level >= mipmap->level_count) {
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

        status = array_destroy((emu_object *)mipmap, false);
    }
    return emu_leave(status);
}
