/* A texture or surface reference: its state, and the texture object that shows it.
 *
 * There are three kinds. A VARIABLE is 16 bytes of constant memory that
 * pycuda-textures.hpp declares: a texture object, then a description of the
 * declaration. A DRIVER reference is a CUtexref of the driver: from PTX with .texref,
 * or from the code of a compiler before CUDA 12. A FREE reference belongs to no module.
 *
 * Invariant: everything here runs under the interpreter lock; there is no other lock.
 * Callers: reference_store.c owns the references of a module, reference_wrapper.c those
 * of no module. */
#ifndef PYTHON_DRIVER_TEXTURE_REFERENCE_H
#define PYTHON_DRIVER_TEXTURE_REFERENCE_H

#include "python/support/base.h"

#include "python/driver/resource.h"
#include "python/driver/texture/texture_object.h"

typedef enum {
    PCU_REFERENCE_FREE,
    PCU_REFERENCE_VARIABLE,
    PCU_REFERENCE_DRIVER
} pcu_reference_kind;

typedef enum {
    PCU_BOUND_NOT,
    PCU_BOUND_ARRAY,
    PCU_BOUND_LINEAR,
    PCU_BOUND_PITCHED
} pcu_reference_bound;

typedef struct pcu_reference {
    struct pcu_reference *next; /* of the same module */
    char *name;                 /* owned */
    pcu_reference_kind kind;
    int is_surface;
    CUdeviceptr variable;  /* VARIABLE: its address */
    unsigned int declared; /* VARIABLE: element, channels, read mode, dimensions */
    CUtexref texref;       /* DRIVER */
    CUsurfref surfref;

    pcu_reference_bound bound;
    PyObject *array;     /* strong; ARRAY */
    CUdeviceptr address; /* LINEAR, PITCHED */
    size_t bytes;        /* LINEAR */
    size_t width;        /* PITCHED */
    size_t height;
    size_t pitch;
    CUarray_format format;
    int channels;
    CUaddress_mode modes[3];
    CUfilter_mode filter;
    unsigned int flags;

    int changed;      /* the state has changed since object was made */
    int stored;       /* the variable holds the handle of object */
    PyObject *object; /* strong: TextureObject or SurfaceObject; NULL at first */
} pcu_reference;

/* "texture" or "surface", for messages. */
static inline const char *
pcu_reference_noun(const pcu_reference *ref)
{
    if (ref->is_surface) {
        return "surface";
    }
    return "texture";
}

/* Make a reference in its first state. It belongs to no module yet. */
PCU_HIDDEN PCU_RAISES pcu_reference *pcu_reference_new(const char *name,
                                                       int is_surface);

/* Find the variable of a module, or the reference of the driver, that has the
 * reference's name. LogicError if there is none. */
PCU_HIDDEN PCU_RAISES int pcu_reference_resolve(pcu_resource *module,
                                                pcu_reference *ref);

/* Make the texture or surface object that shows the state of the reference. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_reference_object_new(pcu_state *st, PyObject *ctx,
                                                         const pcu_reference *ref);

/* Release a reference and the objects that it holds. NULL is allowed. */
PCU_HIDDEN void pcu_reference_free(pcu_reference *ref);

#endif
