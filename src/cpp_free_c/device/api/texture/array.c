/* The driver's calls on CUDA arrays and mipmapped arrays (memory/texture.h). */
#include "device/memory/texture.h"

#include "device/api/entry/entry.h"
#include "device/api/entry/users.h"
#include "device/api/entry/turn.h"

CUresult
emu_cuArrayCreate(emu_context *context, CUarray *pHandle,
                  const CUDA_ARRAY_DESCRIPTOR *pAllocateArray)
{
    if (pHandle == NULL || pAllocateArray == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUDA_ARRAY3D_DESCRIPTOR descriptor = {.Width = pAllocateArray->Width,
                                          .Height = pAllocateArray->Height,
                                          .Format = pAllocateArray->Format,
                                          .NumChannels = pAllocateArray->NumChannels};

    return emu_array_create(context, &descriptor, pHandle);
}

CUresult
emu_cuArray3DCreate(emu_context *context, CUarray *pHandle,
                    const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray)
{
    if (pHandle == NULL || pAllocateArray == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return emu_array_create(context, pAllocateArray, pHandle);
}

CUresult
emu_cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, emu_array *array)
{
    if (pArrayDescriptor == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    pArrayDescriptor->Width = array->descriptor.Width;
    pArrayDescriptor->Height = array->descriptor.Height;
    pArrayDescriptor->Format = array->descriptor.Format;
    pArrayDescriptor->NumChannels = array->descriptor.NumChannels;
    return CUDA_SUCCESS;
}

EMU_GETTER(emu_cuArray3DGetDescriptor,
           (CUDA_ARRAY3D_DESCRIPTOR * pArrayDescriptor, emu_array *array),
           pArrayDescriptor, array->descriptor)

/* Destroy an array or a mipmapped array, unless another object owns it. A nested call
 * cannot wait for the work that may use it. */
static CUresult
array_destroy(emu_object *object, bool is_owned)
{
    if (emu_running_cannot_settle(object->context)) {
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
emu_cuArrayDestroy(emu_array *array)
{
    /* A mipmapped array owns its levels, an OpenGL registration its image. */
    const bool is_owned = array->parent != NULL || array->keeper != NULL;

    return array_destroy(&array->object, is_owned);
}

/* -- mipmapped --------------------------------------------------------------------- */

CUresult
emu_cuMipmappedArrayCreate(emu_context *context, CUmipmappedArray *pHandle,
                           const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                           unsigned int numMipmapLevels)
{
    if (pHandle == NULL || pMipmappedArrayDesc == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return emu_mipmap_create(context, pMipmappedArrayDesc, numMipmapLevels, pHandle);
}

CUresult
emu_cuMipmappedArrayGetLevel(CUarray *pLevelArray, emu_mipmap *mipmap,
                             unsigned int level)
{
    if (pLevelArray == NULL || level >= mipmap->level_count) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pLevelArray = mipmap->levels[level];
    return CUDA_SUCCESS;
}

CUresult
emu_cuMipmappedArrayDestroy(emu_mipmap *mipmap)
{
    return array_destroy(&mipmap->object, false);
}
