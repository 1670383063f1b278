/* The driver's calls on texture and surface objects (memory/texture.h). */
#include "device/memory/texture.h"

#include "device/api/entry/entry.h"
#include "device/api/entry/users.h"

static CUresult
texture_check(const CUDA_TEXTURE_DESC *texture)
{
    for (int i = 0; i < 3; i++) {
        if (texture->addressMode[i] > 3) {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (texture->filterMode > 1 || texture->mipmapFilterMode > 1 ||
        texture->maxAnisotropy > 16) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult
texture_release(uint64_t handle, emu_kind kind)
{
    emu_texture_object *object = emu_texture_get(handle, kind);

    if (object == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_count_free(object->object.context);
    object->object.destroy(&object->object);
    return CUDA_SUCCESS;
}

CUresult
emu_cuTexObjectCreate(emu_context *context, CUtexObject *pTexObject,
                      const CUDA_RESOURCE_DESC *pResDesc,
                      const CUDA_TEXTURE_DESC *pTexDesc,
                      const CUDA_RESOURCE_VIEW_DESC *pResViewDesc)
{
    uint64_t handle;

    if (pTexObject == NULL || pResDesc == NULL || pTexDesc == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = texture_check(pTexDesc);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = emu_texture_create(context, EMU_TEXTURE, pResDesc, pTexDesc, pResViewDesc,
                                &handle);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    *pTexObject = handle;
    return CUDA_SUCCESS;
}

CUresult
emu_cuTexObjectDestroy(CUtexObject texObject)
{
    return texture_release(texObject, EMU_TEXTURE);
}

CUresult
emu_cuSurfObjectCreate(emu_context *context, CUsurfObject *pSurfObject,
                       const CUDA_RESOURCE_DESC *pResDesc)
{
    uint64_t handle;

    if (pSurfObject == NULL || pResDesc == NULL ||
        pResDesc->resType != CU_RESOURCE_TYPE_ARRAY) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const emu_array *array = emu_object_get(pResDesc->res.array.hArray, EMU_ARRAY);

    if (array == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if ((array->descriptor.Flags & EMU_ARRAY_SURFACE) == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status =
        emu_texture_create(context, EMU_SURFACE, pResDesc, NULL, NULL, &handle);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    *pSurfObject = handle;
    return CUDA_SUCCESS;
}

CUresult
emu_cuSurfObjectDestroy(CUsurfObject surfObject)
{
    return texture_release(surfObject, EMU_SURFACE);
}

/* -- descriptors ------------------------------------------------------------------- */

/* A call that stores a descriptor of the live `object`, if the condition holds. */
#define TEXTURE_GETTER(name, kind, Type, condition, member)               \
    CUresult emu_cu##name(Type *out, unsigned long long handle)           \
    {                                                                     \
        const emu_texture_object *object = emu_texture_get(handle, kind); \
                                                                          \
        if (object == NULL || out == NULL || !(condition)) {              \
            return CUDA_ERROR_INVALID_VALUE;                              \
        }                                                                 \
        *out = object->slot->member;                                      \
        return CUDA_SUCCESS;                                              \
    }

TEXTURE_GETTER(TexObjectGetResourceDesc, EMU_TEXTURE, CUDA_RESOURCE_DESC, true,
               resource)
TEXTURE_GETTER(TexObjectGetTextureDesc, EMU_TEXTURE, CUDA_TEXTURE_DESC, true, texture)
TEXTURE_GETTER(TexObjectGetResourceViewDesc, EMU_TEXTURE, CUDA_RESOURCE_VIEW_DESC,
               object->slot->has_view, view)
TEXTURE_GETTER(SurfObjectGetResourceDesc, EMU_SURFACE, CUDA_RESOURCE_DESC, true,
               resource)
