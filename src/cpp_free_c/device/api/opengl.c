/* OpenGL's objects as the device sees them: registering, mapping, both interfaces.
 *
 * A registration has memory of its own, in its context, which keeps its content between
 * two mappings. A GPU shares it with OpenGL instead. */
#include "device/api/opengl.h"

#include "device/memory/array.h"
#include "device/api/context.h"
#include "device/api/faults.h"
#include "device/api/stream.h"

enum { DECLARED_MOST = 64, LARGEST_FLAGS = 15 };

typedef struct {
    bool used, image;
    unsigned int name, target;
    size_t bytes;                       /* of a buffer */
    CUDA_ARRAY3D_DESCRIPTOR descriptor; /* of an image */
} declaration;

typedef struct CUgraphicsResource_st {
    emu_object object;
    unsigned int name;
    bool old; /* of cuGLRegisterBufferObject: found by its name */
    bool mapped;
    emu_allocation *memory; /* of a buffer */
    emu_array *array;       /* of an image; NULL once the context has destroyed it */
    bool image;
} graphics;

static declaration declared[DECLARED_MOST]; /* guarded by the API lock */

/* -- names ------------------------------------------------------------------------- */

static declaration *
find_name(unsigned int name, bool image)
{
    for (size_t i = 0; i < DECLARED_MOST; i++) {
        if (declared[i].used && declared[i].name == name &&
            declared[i].image == image) {
            return &declared[i];
        }
    }
    return NULL;
}

static int
declare(const declaration *new, bool keep)
{
    int result = 0;
    declaration *place;

    emu_lock();
    place = find_name(new->name, new->image);
    for (size_t i = 0; i < DECLARED_MOST && !place && keep; i++) {
        place = declared[i].used ? NULL : &declared[i];
    }
    if (place) {
        *place = *new;
        place->used = keep;
    }
    else if (keep) {
        result = -1;
    }
    emu_unlock();
    return result;
}

int
emu_gl_buffer(unsigned int name, size_t bytes)
{
    declaration new = {.name = name, .bytes = bytes};

    return declare(&new, bytes != 0);
}

int
emu_gl_image(unsigned int name, unsigned int target, size_t width, size_t height,
             size_t depth, unsigned int format, unsigned int channels)
{
    declaration new = {
        .image = true,
        .name = name,
        .target = target,
        .descriptor = {width, height, depth, format, channels, EMU_ARRAY_SURFACE}};

    return declare(&new, width != 0);
}

/* Whether the calling thread has what stands for a current OpenGL context. */
static CUresult
check_opengl(void)
{
    for (size_t i = 0; i < DECLARED_MOST; i++) {
        if (declared[i].used) {
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_GRAPHICS_CONTEXT;
}

/* -- registering ------------------------------------------------------------------- */

static void
destroy(emu_object *object)
{
    graphics *resource = (graphics *)object;

    if (resource->memory) {
        (void)emu_memory_free(resource->memory); /* it alone may free it */
    }
    if (resource->array) {
        resource->array->object.destroy(&resource->array->object);
    }
    emu_object_free(object);
}

static CUresult
give_memory(emu_context *context, graphics *resource, const declaration *found)
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
register_name(emu_context *context, const declaration *found, graphics **out)
{
    graphics *resource;
    CUresult status = check_opengl();

    if (status == CUDA_SUCCESS && !found) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status != CUDA_SUCCESS) {
        return status;
    }
    resource = emu_object_new(EMU_GRAPHICS, sizeof(*resource), context, destroy);
    if (!resource) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    resource->name = found->name;
    resource->image = found->image;
    status = give_memory(context, resource, found);
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

    if (status == CUDA_SUCCESS && (!pCudaResource || Flags > LARGEST_FLAGS)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = register_name(context, find_name(buffer, false), pCudaResource);
    }
    return emu_leave(status);
}

CUresult
emu_cuGraphicsGLRegisterImage(CUgraphicsResource *pCudaResource, GLuint image,
                              GLenum target, unsigned int Flags)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GraphicsGLRegisterImage, &context);

    if (status == CUDA_SUCCESS && (!pCudaResource || Flags > LARGEST_FLAGS)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        const declaration *found = find_name(image, true);

        if (found && found->target != target) {
            found = NULL;
        }
        status = register_name(context, found, pCudaResource);
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

        if (!resource || resource->old) {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
        else if (resource->mapped) {
            status = CUDA_ERROR_ALREADY_MAPPED;
        }
        else {
            emu_count_free(resource->object.context);
            destroy(&resource->object);
        }
    }
    return emu_leave(status);
}

/* -- mapping ----------------------------------------------------------------------- */

static CUresult
check_all(unsigned int count, const CUgraphicsResource *handles, bool mapped)
{
    if (count == 0 || !handles) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned int i = 0; i < count; i++) {
        const graphics *resource = emu_object_get(handles[i], EMU_GRAPHICS);

        if (!resource || resource->old) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        if (resource->mapped != mapped) {
            return mapped ? CUDA_ERROR_NOT_MAPPED : CUDA_ERROR_ALREADY_MAPPED;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult
map_all(emu_context *context, unsigned int count, const CUgraphicsResource *handles,
        CUstream stream, bool map)
{
    CUresult status = check_all(count, handles, !map);

    if (status == CUDA_SUCCESS && !emu_stream_get(context, stream)) {
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
        status = map_all(context, count, resources, hStream, true);
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
        status = map_all(context, count, resources, hStream, false);
    }
    return emu_leave(status);
}

static CUresult
find_mapped(CUgraphicsResource handle, graphics **resource)
{
    *resource = emu_object_get(handle, EMU_GRAPHICS);
    if (!*resource || (*resource)->old) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return (*resource)->mapped ? CUDA_SUCCESS : CUDA_ERROR_NOT_MAPPED;
}

CUresult
emu_cuGraphicsResourceGetMappedPointer(CUdeviceptr *pDevPtr, size_t *pSize,
                                       CUgraphicsResource handle)
{
    emu_context *context;
    graphics *resource;
    CUresult status = EMU_ENTER_CONTEXT(GraphicsResourceGetMappedPointer, &context);

    if (status == CUDA_SUCCESS) {
        status = find_mapped(handle, &resource);
    }
    if (status == CUDA_SUCCESS && resource->image) {
        status = CUDA_ERROR_NOT_MAPPED_AS_POINTER;
    }
    if (status == CUDA_SUCCESS) {
        if (pDevPtr) {
            *pDevPtr = resource->memory->base;
        }
        if (pSize) {
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
        status = find_mapped(handle, &resource);
    }
    if (status == CUDA_SUCCESS && !resource->image) {
        status = CUDA_ERROR_NOT_MAPPED_AS_ARRAY;
    }
    if (status == CUDA_SUCCESS && (!pArray || arrayIndex > 0 || mipLevel > 0)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *pArray = resource->array;
    }
    return emu_leave(status);
}

/* -- the interface before CUDA 3 --------------------------------------------------- */

static graphics *
find_old(const emu_context *context, GLuint name)
{
    for (emu_object *object = context->objects; object; object = object->next) {
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

    if (status == CUDA_SUCCESS && find_old(context, buffer)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        graphics *resource;

        status = register_name(context, find_name(buffer, false), &resource);
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
        graphics *resource = find_old(context, buffer);

        if (!resource) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else if (resource->mapped) {
            status = CUDA_ERROR_ALREADY_MAPPED;
        }
        else {
            destroy(&resource->object);
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
        graphics *resource = find_old(context, buffer);

        if (!resource || !dptr || !size) {
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
        graphics *resource = find_old(context, buffer);

        if (!resource || !resource->mapped) {
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
        status = check_opengl();
    }
    status = emu_leave(status);
    return status == CUDA_SUCCESS ? emu_cuCtxCreate(pCtx, Flags, device) : status;
}

CUresult
emu_cuGLGetDevices(unsigned int *pCudaDeviceCount, CUdevice *pCudaDevices,
                   unsigned int cudaDeviceCount, CUGLDeviceList deviceList)
{
    CUresult status = EMU_ENTER(GLGetDevices);

    if (status == CUDA_SUCCESS &&
        (!pCudaDeviceCount || !pCudaDevices || deviceList < 1 || deviceList > 3)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = check_opengl();
    }
    if (status == CUDA_SUCCESS) {
        unsigned int count = (unsigned int)emu_device_count;

        *pCudaDeviceCount = count < cudaDeviceCount ? count : cudaDeviceCount;
        for (unsigned int i = 0; i < *pCudaDeviceCount; i++) {
            pCudaDevices[i] = (CUdevice)i;
        }
    }
    return emu_leave(status);
}
