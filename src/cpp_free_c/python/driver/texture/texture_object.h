/* Texture and surface objects, for the files that make and pass them. */
#ifndef PYTHON_DRIVER_TEXTURE_TEXTURE_OBJECT_H
#define PYTHON_DRIVER_TEXTURE_TEXTURE_OBJECT_H

#include "python/support/base.h"

#include "python/driver/memory/array_descriptor.h"
#include "python/driver/resource.h"

/* TextureObject and SurfaceObject: a driver's object and what it looks at. */
typedef struct {
    pcu_resource base;
    PyObject *source; /* strong: an Array, or device memory; None if nobody holds it */
    int used;         /* a kernel may be reading through it: wait before it goes */
} pcu_texture;

/* What a texture looks at, with its elements: what the driver's checks leave out is
 * checked against those. */
typedef struct {
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUarray_format format;
    unsigned int channels;
    const char *name; /* of the reference that it is made for; NULL for none */
} pcu_texture_spec;

/* Make the object in ctx, which is current. `source` is held. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_texture_new(pcu_state *st, PyObject *ctx,
                                                const pcu_texture_spec *spec,
                                                PyObject *source);
PCU_HIDDEN PCU_NEWREF PyObject *pcu_surface_new(pcu_state *st, PyObject *ctx,
                                                PyObject *array);

/* A kernel argument: 1 and the object's handle, which counts as used from now on; 0 if
 * the value is neither a TextureObject nor a SurfaceObject; -1 if it was released. */
PCU_HIDDEN PCU_RAISES int pcu_texture_argument(pcu_state *st, PyObject *value,
                                               CUdeviceptr *handle);

#endif
