/* The description of a texture object: the image, and how kernels read it.
 *
 * Callers: texture_object.c reads the arguments of TextureObject, reference.c describes
 * the state of a reference. */
#ifndef PYTHON_DRIVER_TEXTURE_TEXTURE_DESCRIPTION_H
#define PYTHON_DRIVER_TEXTURE_TEXTURE_DESCRIPTION_H

#include "python/support/args.h"

#include "python/driver/memory/array_descriptor.h"

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

#endif
