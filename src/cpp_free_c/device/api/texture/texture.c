/* The driver's calls on texture and surface objects (memory/texture.h). */
#include "device/memory/texture.h"

#include "device/api/entry/entry.h"
#include "device/api/entry/release_count.h"

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
emu_cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                      const CUDA_TEXTURE_DESC *pTexDesc,
                      const CUDA_RESOURCE_VIEW_DESC *pResViewDesc)
{
    emu_context *context;
    uint64_t handle;
    CUresult status = EMU_ENTER_CONTEXT(TexObjectCreate, &context);

    if (status == CUDA_SUCCESS &&
        (pTexObject == NULL || pResDesc == NULL || pTexDesc == NULL)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = texture_check(pTexDesc);
    }
    if (status == CUDA_SUCCESS) {
        status = emu_texture_create(context, EMU_TEXTURE, pResDesc, pTexDesc,
                                    pResViewDesc, &handle);
    }
    if (status == CUDA_SUCCESS) {
        *pTexObject = handle;
    }
    return emu_leave(status);
}

CUresult
emu_cuTexObjectDestroy(CUtexObject texObject)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(TexObjectDestroy, &context);

    if (status == CUDA_SUCCESS) {
        status = texture_release(texObject, EMU_TEXTURE);
    }
    return emu_leave(status);
}

CUresult
emu_cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc)
{
    emu_context *context;
    uint64_t handle;
    CUresult status = EMU_ENTER_CONTEXT(SurfObjectCreate, &context);

    if (status == CUDA_SUCCESS && (pSurfObject == NULL || pResDesc == NULL ||
                                   pResDesc->resType != CU_RESOURCE_TYPE_ARRAY)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        const emu_array *array = emu_object_get(pResDesc->res.array.hArray, EMU_ARRAY);

        if (array == NULL) {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
        else if ((array->descriptor.Flags & EMU_ARRAY_SURFACE) == 0) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (status == CUDA_SUCCESS) {
        status =
            emu_texture_create(context, EMU_SURFACE, pResDesc, NULL, NULL, &handle);
    }
    if (status == CUDA_SUCCESS) {
        *pSurfObject = handle;
    }
    return emu_leave(status);
}

CUresult
emu_cuSurfObjectDestroy(CUsurfObject surfObject)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(SurfObjectDestroy, &context);

    if (status == CUDA_SUCCESS) {
        status = texture_release(surfObject, EMU_SURFACE);
    }
    return emu_leave(status);
}

/* -- descriptors ------------------------------------------------------------------- */

/* A call that stores a descriptor of the live `object`, if the condition holds. */
#define TEXTURE_GETTER(name, kind, Type, condition, member)                   \
    CUresult emu_cu##name(Type *out, unsigned long long handle)               \
    {                                                                         \
        emu_context *context;                                                 \
        CUresult status = EMU_ENTER_CONTEXT(name, &context);                  \
                                                                              \
        if (status == CUDA_SUCCESS) {                                         \
            const emu_texture_object *object = emu_texture_get(handle, kind); \
                                                                              \
            if (object != NULL && out != NULL && (condition)) {               \
                *out = object->slot->member;                                  \
            }                                                                 \
            else {                                                            \
                status = CUDA_ERROR_INVALID_VALUE;                            \
            }                                                                 \
        }                                                                     \
        return emu_leave(status);                                             \
    }

TEXTURE_GETTER(TexObjectGetResourceDesc, EMU_TEXTURE, CUDA_RESOURCE_DESC, true,
               resource)
TEXTURE_GETTER(TexObjectGetTextureDesc, EMU_TEXTURE, CUDA_TEXTURE_DESC, true, texture)
TEXTURE_GETTER(TexObjectGetResourceViewDesc, EMU_TEXTURE, CUDA_RESOURCE_VIEW_DESC,
               object->slot->has_view, view)
TEXTURE_GETTER(SurfObjectGetResourceDesc, EMU_SURFACE, CUDA_RESOURCE_DESC, true,
               resource)
