/* The driver's calls on texture and surface objects (memory/texture.h). */
#include "device/memory/texture.h"

#include "device/api/entry.h"
#include "device/api/release_count.h"

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

    if (!object) {
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

    if (status == CUDA_SUCCESS && (!pTexObject || !pResDesc || !pTexDesc)) {
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
emu_cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(TexObjectGetResourceDesc, &context);

    if (status == CUDA_SUCCESS) {
        const emu_texture_object *object = emu_texture_get(texObject, EMU_TEXTURE);

        if (object && pResDesc) {
            *pResDesc = object->slot->resource;
        }
        else {
            status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(TexObjectGetTextureDesc, &context);

    if (status == CUDA_SUCCESS) {
        const emu_texture_object *object = emu_texture_get(texObject, EMU_TEXTURE);

        if (object && pTexDesc) {
            *pTexDesc = object->slot->texture;
        }
        else {
            status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *pResViewDesc,
                                   CUtexObject texObject)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(TexObjectGetResourceViewDesc, &context);

    if (status == CUDA_SUCCESS) {
        const emu_texture_object *object = emu_texture_get(texObject, EMU_TEXTURE);

        if (object && pResViewDesc && object->slot->has_view) {
            *pResViewDesc = object->slot->view;
        }
        else {
            status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc)
{
    emu_context *context;
    uint64_t handle;
    CUresult status = EMU_ENTER_CONTEXT(SurfObjectCreate, &context);

    if (status == CUDA_SUCCESS &&
        (!pSurfObject || !pResDesc || pResDesc->resType != CU_RESOURCE_TYPE_ARRAY)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        const emu_array *array = emu_object_get(pResDesc->res.array.hArray, EMU_ARRAY);

        if (!array) {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
        else if (!(array->descriptor.Flags & EMU_ARRAY_SURFACE)) {
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

CUresult
emu_cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(SurfObjectGetResourceDesc, &context);

    if (status == CUDA_SUCCESS) {
        const emu_texture_object *object = emu_texture_get(surfObject, EMU_SURFACE);

        if (object && pResDesc) {
            *pResDesc = object->slot->resource;
        }
        else {
            status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    return emu_leave(status);
}
