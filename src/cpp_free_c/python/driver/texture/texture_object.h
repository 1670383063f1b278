/* Texture and surface objects: kernels read and write images through them.
 *
 * Invariant: an object holds the image that it reads. It is released only after the
 * launches that use it. Callers: reference.c makes objects, launch/ passes them. */
#ifndef PYTHON_DRIVER_TEXTURE_TEXTURE_OBJECT_H
#define PYTHON_DRIVER_TEXTURE_TEXTURE_OBJECT_H

#include "python/support/args.h"

#include "python/driver/memory/texture_array.h"
#include "python/driver/resource.h"

/* -- texture_description.c: the image, and how kernels read it --------------------- */

/* A description. The elements are for checks that the driver does
 * not make. */
typedef struct {
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUarray_format format;
    unsigned int channels;
    const char *name; /* of the reference that the object is for, or NULL */
} pcu_texture_spec;

/* The vocabulary of TextureObject. */
extern PCU_HIDDEN const pcu_word pcu_texture_words[15];

/* Read the arguments of TextureObject. *source is borrowed from them. */
PCU_HIDDEN PCU_RAISES int pcu_texture_describe(pcu_state *st,
                                               const pcu_signature *signature,
                                               PyObject *args, PyObject *kwargs,
                                               pcu_texture_spec *spec,
                                               PyObject **source);

/* -- texture_object.c -------------------------------------------------------------- */

/* A TextureObject or SurfaceObject: the driver's object and the image that it reads. */
typedef struct {
    pcu_resource base;
    PyObject *source; /* strong: an Array or device memory; None: not held */
    bool used;        /* a kernel may be using it: wait before the release */
} pcu_texture;

/* Make the object in ctx, which is current. The object holds `source`. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_texture_new(pcu_state *st, PyObject *ctx,
                                                const pcu_texture_spec *spec,
                                                PyObject *source);
PCU_HIDDEN PCU_NEWREF PyObject *pcu_surface_new(pcu_state *st, PyObject *ctx,
                                                PyObject *array);

/* The handle of the array, or the address of the memory, that a TextureObject or
 * SurfaceObject reads; 0 if the value is neither, or the memory is not of this package.
 */
PCU_HIDDEN uint64_t pcu_texture_source_word(pcu_state *st, PyObject *value);

/* Pass an object to a kernel: store its handle and mark it as used. Return 1, or 0 if
 * the value is neither a TextureObject nor a SurfaceObject. Raise if it was released.
 */
PCU_HIDDEN PCU_RAISES int pcu_texture_argument(pcu_state *st, PyObject *value,
                                               CUdeviceptr *handle);

#endif
