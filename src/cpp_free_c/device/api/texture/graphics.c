/* The calls on OpenGL's objects: registering and mapping, in the old and the new
 * interface.
 *
 * A registration has its own memory in its context, which keeps its content between two
 * mappings. A GPU shares the memory with OpenGL instead. */
#include "device/memory/array.h"
#include "device/memory/memory.h"
#include "device/api/entry/entry.h"
#include "device/api/texture/opengl.h"
#include "device/api/entry/release_count.h"
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
    CUresult status;

    if (!found->image) {
        return emu_memory_allocate(&request, &resource->memory);
    }
    status = emu_array_create(context, &found->descriptor, &resource->array);
    if (status == CUDA_SUCCESS) {
        resource->array->keeper = &resource->array;
    }
    return status;
}

static CUresult
graphics_register(emu_context *context, const emu_gl_name *found, graphics **out)
{
    graphics *resource;
    CUresult status = emu_gl_check_context();

    if (status == CUDA_SUCCESS && found == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status != CUDA_SUCCESS) {
        return status;
    }
    resource =
        emu_object_new(EMU_GRAPHICS, sizeof(*resource), context, graphics_destroy);
    if (resource == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    resource->name = found->name;
    resource->image = found->image;
    status = graphics_allocate(context, resource, found);
    if (status == CUDA_SUCCESS) {
        *out = resource;
    }
    else {
        emu_object_free(&resource->object);
    }
    return status;
}

CUresult
emu_cuGraphicsGLRegisterBuffer(CUgraphicsResource *pCudaResource, GLuint buffer,
                               unsigned int Flags)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GraphicsGLRegisterBuffer, &context);

    if (status == CUDA_SUCCESS && (pCudaResource == NULL || Flags > LARGEST_FLAGS)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = graphics_register(context, emu_gl_find(buffer, false), pCudaResource);
    }
    return emu_leave(status);
}

CUresult
emu_cuGraphicsGLRegisterImage(CUgraphicsResource *pCudaResource, GLuint image,
                              GLenum target, unsigned int Flags)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GraphicsGLRegisterImage, &context);

    if (status == CUDA_SUCCESS && (pCudaResource == NULL || Flags > LARGEST_FLAGS)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        const emu_gl_name *found = emu_gl_find(image, true);

        if (found != NULL && found->target != target) {
            found = NULL;
        }
        status = graphics_register(context, found, pCudaResource);
    }
    return emu_leave(status);
}

CUresult
emu_cuGraphicsUnregisterResource(CUgraphicsResource handle)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GraphicsUnregisterResource, &context);

    if (status == CUDA_SUCCESS) {
        graphics *resource = emu_object_get(handle, EMU_GRAPHICS);

        if (resource == NULL || resource->old) {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
        else if (resource->mapped) {
            status = CUDA_ERROR_ALREADY_MAPPED;
        }
        else {
            emu_count_free(resource->object.context);
            graphics_destroy(&resource->object);
        }
    }
    return emu_leave(status);
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
                 const CUgraphicsResource *handles, CUstream stream, bool map)
{
    CUresult status = graphics_check_all(count, handles, !map);

    if (status == CUDA_SUCCESS && emu_stream_get(context, stream) == NULL) {
        status = CUDA_ERROR_INVALID_HANDLE;
    }
    for (unsigned int i = 0; status == CUDA_SUCCESS && i < count; i++) {
        handles[i]->mapped = map;
    }
    return status;
}

CUresult
emu_cuGraphicsMapResources(unsigned int count, CUgraphicsResource *resources,
                           CUstream hStream)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GraphicsMapResources, &context);

    if (status == CUDA_SUCCESS) {
        status = graphics_map_all(context, count, resources, hStream, true);
    }
    return emu_leave(status);
}

CUresult
emu_cuGraphicsUnmapResources(unsigned int count, CUgraphicsResource *resources,
                             CUstream hStream)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GraphicsUnmapResources, &context);

    if (status == CUDA_SUCCESS) {
        status = graphics_map_all(context, count, resources, hStream, false);
    }
    return emu_leave(status);
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
    emu_context *context;
    graphics *resource;
    CUresult status = EMU_ENTER_CONTEXT(GraphicsResourceGetMappedPointer, &context);

    if (status == CUDA_SUCCESS) {
        status = graphics_find_mapped(handle, &resource);
    }
    if (status == CUDA_SUCCESS && resource->image) {
        status = CUDA_ERROR_NOT_MAPPED_AS_POINTER;
    }
    if (status == CUDA_SUCCESS) {
        if (pDevPtr != NULL) {
            *pDevPtr = resource->memory->base;
        }
        if (pSize != NULL) {
            *pSize = (size_t)resource->memory->size;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuGraphicsSubResourceGetMappedArray(CUarray *pArray, CUgraphicsResource handle,
                                        unsigned int arrayIndex, unsigned int mipLevel)
{
    emu_context *context;
    graphics *resource;
    CUresult status = EMU_ENTER_CONTEXT(GraphicsSubResourceGetMappedArray, &context);

    if (status == CUDA_SUCCESS) {
        status = graphics_find_mapped(handle, &resource);
    }
    if (status == CUDA_SUCCESS && !resource->image) {
        status = CUDA_ERROR_NOT_MAPPED_AS_ARRAY;
    }
    if (status == CUDA_SUCCESS && (pArray == NULL || arrayIndex > 0 || mipLevel > 0)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *pArray = resource->array;
    }
    return emu_leave(status);
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
    return emu_leave(EMU_ENTER(GLInit));
}

CUresult
emu_cuGLRegisterBufferObject(GLuint buffer)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GLRegisterBufferObject, &context);

    if (status == CUDA_SUCCESS && graphics_find_old(context, buffer) != NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        graphics *resource;

        status = graphics_register(context, emu_gl_find(buffer, false), &resource);
        if (status == CUDA_SUCCESS) {
            resource->old = true;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuGLUnregisterBufferObject(GLuint buffer)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GLUnregisterBufferObject, &context);

    if (status == CUDA_SUCCESS) {
        graphics *resource = graphics_find_old(context, buffer);

        if (resource == NULL) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else if (resource->mapped) {
            status = CUDA_ERROR_ALREADY_MAPPED;
        }
        else {
            graphics_destroy(&resource->object);
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuGLMapBufferObject(CUdeviceptr *dptr, size_t *size, GLuint buffer)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GLMapBufferObject, &context);

    if (status == CUDA_SUCCESS) {
        graphics *resource = graphics_find_old(context, buffer);

        if (resource == NULL || dptr == NULL || size == NULL) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else if (resource->mapped) {
            status = CUDA_ERROR_MAP_FAILED;
        }
        else {
            resource->mapped = true;
            *dptr = resource->memory->base;
            *size = (size_t)resource->memory->size;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuGLUnmapBufferObject(GLuint buffer)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GLUnmapBufferObject, &context);

    if (status == CUDA_SUCCESS) {
        graphics *resource = graphics_find_old(context, buffer);

        if (resource == NULL || !resource->mapped) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else {
            resource->mapped = false;
        }
    }
    return emu_leave(status);
}

/* -- contexts ---------------------------------------------------------------------- */

CUresult
emu_cuGLCtxCreate(CUcontext *pCtx, unsigned int Flags, CUdevice device)
{
    CUresult status = EMU_ENTER(GLCtxCreate);

    if (status == CUDA_SUCCESS) {
        status = emu_gl_check_context();
    }
    status = emu_leave(status);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    return emu_cuCtxCreate(pCtx, Flags, device);
}

CUresult
emu_cuGLGetDevices(unsigned int *pCudaDeviceCount, CUdevice *pCudaDevices,
                   unsigned int cudaDeviceCount, CUGLDeviceList deviceList)
{
    CUresult status = EMU_ENTER(GLGetDevices);

    if (status == CUDA_SUCCESS && (pCudaDeviceCount == NULL || pCudaDevices == NULL ||
                                   deviceList < 1 || deviceList > 3)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = emu_gl_check_context();
    }
    if (status == CUDA_SUCCESS) {
        unsigned int count = (unsigned int)emu_device_count;

        if (count > cudaDeviceCount) {
            count = cudaDeviceCount;
        }
        *pCudaDeviceCount = count;
        for (unsigned int i = 0; i < count; i++) {
            pCudaDevices[i] = (CUdevice)i;
        }
    }
    return emu_leave(status);
}
