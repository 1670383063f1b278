/* The calls on OpenGL's objects: registering and mapping, in the old and the new
 * interface.
 *
 * A registration has its own memory in its context, which keeps its content between two
 * mappings. A GPU shares the memory with OpenGL instead. */
#include "device/memory/texture.h"
#include "device/memory/memory.h"
#include "device/api/entry/entry.h"
#include "device/api/texture/opengl.h"
#include "device/api/entry/users.h"
#include "device/api/stream/stream.h"

enum { LARGEST_FLAGS = 15 };

typedef struct CUgraphicsResource_st {
    emu_object object;
    unsigned int name;
    bool old; /* of cuGLRegisterBufferObject, which finds it by its name */
    bool mapped;
    emu_allocation *memory; /* of a buffer */
    emu_array *array;       /* of an image; NULL once the context has destroyed it */
    bool image;
} graphics;

/* -- registering ------------------------------------------------------------------- */

static void
graphics_destroy(emu_object *object)
{
    graphics *resource = (graphics *)object;

    if (resource->memory != NULL) {
        (void)emu_memory_free(resource->memory); /* nothing else may free it */
    }
    if (resource->array != NULL) {
        resource->array->object.destroy(&resource->array->object);
    }
    emu_object_free(object);
}

static CUresult
graphics_allocate(emu_context *context, graphics *resource, const emu_gl_name *found)
{
    emu_memory_request request = {.kind = EMU_MEMORY_GRAPHICS,
                                  .size = found->bytes,
                                  .device = context->device->ordinal,
                                  .context = context};

    if (!found->image) {
        return emu_memory_allocate(&request, &resource->memory);
    }
    CUresult status = emu_array_create(context, &found->descriptor, &resource->array);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    resource->array->keeper = &resource->array;
    return CUDA_SUCCESS;
}

static CUresult
graphics_register(emu_context *context, const emu_gl_name *found, graphics **out)
{
    CUresult status = emu_gl_check_context();

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (found == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    graphics *resource =
        emu_object_new(EMU_GRAPHICS, sizeof(*resource), context, graphics_destroy);
    if (resource == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    resource->name = found->name;
    resource->image = found->image;
    status = graphics_allocate(context, resource, found);
    if (status != CUDA_SUCCESS) {
        emu_object_free(&resource->object);
        return status;
    }
    *out = resource;
    return CUDA_SUCCESS;
}

CUresult
emu_cuGraphicsGLRegisterBuffer(emu_context *context, CUgraphicsResource *pCudaResource,
                               GLuint buffer, unsigned int Flags)
{
    if (pCudaResource == NULL || Flags > LARGEST_FLAGS) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return graphics_register(context, emu_gl_find(buffer, false), pCudaResource);
}

CUresult
emu_cuGraphicsGLRegisterImage(emu_context *context, CUgraphicsResource *pCudaResource,
                              GLuint image, GLenum target, unsigned int Flags)
{
    if (pCudaResource == NULL || Flags > LARGEST_FLAGS) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const emu_gl_name *found = emu_gl_find(image, true);

    if (found != NULL && found->target != target) {
        found = NULL;
    }
    return graphics_register(context, found, pCudaResource);
}

CUresult
emu_cuGraphicsUnregisterResource(graphics *resource)
{
    if (resource->old) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (resource->mapped) {
        return CUDA_ERROR_ALREADY_MAPPED;
    }
    emu_count_free(resource->object.context);
    graphics_destroy(&resource->object);
    return CUDA_SUCCESS;
}

/* -- mapping ----------------------------------------------------------------------- */

static CUresult
graphics_check_all(unsigned int count, const CUgraphicsResource *handles, bool mapped)
{
    if (count == 0 || handles == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned int i = 0; i < count; i++) {
        const graphics *resource = emu_object_get(handles[i], EMU_GRAPHICS);

        if (resource == NULL || resource->old) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        if (resource->mapped && !mapped) {
            return CUDA_ERROR_ALREADY_MAPPED;
        }
        if (!resource->mapped && mapped) {
            return CUDA_ERROR_NOT_MAPPED;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult
graphics_map_all(emu_context *context, unsigned int count,
                 const CUgraphicsResource *handles, CUstream handle, bool map)
{
    emu_stream *stream;
    CUresult status = graphics_check_all(count, handles, !map);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = emu_stream_find(context, handle, &stream);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    for (unsigned int i = 0; i < count; i++) {
        handles[i]->mapped = map;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuGraphicsMapResources(emu_context *context, unsigned int count,
                           CUgraphicsResource *resources, CUstream hStream)
{
    return graphics_map_all(context, count, resources, hStream, true);
}

CUresult
emu_cuGraphicsUnmapResources(emu_context *context, unsigned int count,
                             CUgraphicsResource *resources, CUstream hStream)
{
    return graphics_map_all(context, count, resources, hStream, false);
}

static CUresult
graphics_find_mapped(CUgraphicsResource handle, graphics **resource)
{
    *resource = emu_object_get(handle, EMU_GRAPHICS);
    if (*resource == NULL || (*resource)->old) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!(*resource)->mapped) {
        return CUDA_ERROR_NOT_MAPPED;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuGraphicsResourceGetMappedPointer(CUdeviceptr *pDevPtr, size_t *pSize,
                                       CUgraphicsResource handle)
{
    graphics *resource;
    CUresult status = graphics_find_mapped(handle, &resource);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (resource->image) {
        return CUDA_ERROR_NOT_MAPPED_AS_POINTER;
    }
    if (pDevPtr != NULL) {
        *pDevPtr = resource->memory->base;
    }
    if (pSize != NULL) {
        *pSize = (size_t)resource->memory->size;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuGraphicsSubResourceGetMappedArray(CUarray *pArray, CUgraphicsResource handle,
                                        unsigned int arrayIndex, unsigned int mipLevel)
{
    graphics *resource;
    CUresult status = graphics_find_mapped(handle, &resource);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (!resource->image) {
        return CUDA_ERROR_NOT_MAPPED_AS_ARRAY;
    }
    if (pArray == NULL || arrayIndex > 0 || mipLevel > 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pArray = resource->array;
    return CUDA_SUCCESS;
}

/* -- the interface before CUDA 3 --------------------------------------------------- */

static graphics *
graphics_find_old(const emu_context *context, GLuint name)
{
    for (emu_object *object = context->object.owned; object != NULL;
         object = object->next) {
        graphics *resource = (graphics *)object;

        if (object->kind == EMU_GRAPHICS && resource->old && resource->name == name) {
            return resource;
        }
    }
    return NULL;
}

CUresult
emu_cuGLInit(void)
{
    return CUDA_SUCCESS;
}

CUresult
emu_cuGLRegisterBufferObject(emu_context *context, GLuint buffer)
{
    if (graphics_find_old(context, buffer) != NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    graphics *resource;
    CUresult status = graphics_register(context, emu_gl_find(buffer, false), &resource);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    resource->old = true;
    return CUDA_SUCCESS;
}

CUresult
emu_cuGLUnregisterBufferObject(emu_context *context, GLuint buffer)
{
    graphics *resource = graphics_find_old(context, buffer);

    if (resource == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (resource->mapped) {
        return CUDA_ERROR_ALREADY_MAPPED;
    }
    graphics_destroy(&resource->object);
    return CUDA_SUCCESS;
}

CUresult
emu_cuGLMapBufferObject(emu_context *context, CUdeviceptr *dptr, size_t *size,
                        GLuint buffer)
{
    graphics *resource = graphics_find_old(context, buffer);

    if (resource == NULL || dptr == NULL || size == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (resource->mapped) {
        return CUDA_ERROR_MAP_FAILED;
    }
    resource->mapped = true;
    *dptr = resource->memory->base;
    *size = (size_t)resource->memory->size;
    return CUDA_SUCCESS;
}

CUresult
emu_cuGLUnmapBufferObject(emu_context *context, GLuint buffer)
{
    graphics *resource = graphics_find_old(context, buffer);

    if (resource == NULL || !resource->mapped) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    resource->mapped = false;
    return CUDA_SUCCESS;
}

/* -- contexts ---------------------------------------------------------------------- */

CUresult
emu_cuGLCtxCreate(CUcontext *pCtx, unsigned int Flags, CUdevice device)
{
    CUresult status = emu_gl_check_context();

    if (status != CUDA_SUCCESS) {
        return status;
    }
    return emu_cuCtxCreate(pCtx, Flags, device);
}

CUresult
emu_cuGLGetDevices(unsigned int *pCudaDeviceCount, CUdevice *pCudaDevices,
                   unsigned int cudaDeviceCount, CUGLDeviceList deviceList)
{
    if (pCudaDeviceCount == NULL || pCudaDevices == NULL || deviceList < 1 ||
        deviceList > 3) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = emu_gl_check_context();
    if (status != CUDA_SUCCESS) {
        return status;
    }
    unsigned int count = (unsigned int)emu_device_count;

    if (count > cudaDeviceCount) {
        count = cudaDeviceCount;
    }
    *pCudaDeviceCount = count;
    for (unsigned int i = 0; i < count; i++) {
        pCudaDevices[i] = (CUdevice)i;
    }
    return CUDA_SUCCESS;
}
