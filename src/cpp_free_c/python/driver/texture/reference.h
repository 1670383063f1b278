/* Texture and surface references: their state, and bringing it to the device.
 *
 * Two kinds stand behind the Python types. A VARIABLE is 16 bytes of constant memory
 * that pycuda-textures.hpp declares: a texture object, then what was declared. A DRIVER
 * reference is a CUtexref of the driver: PTX that says .texref, or code of a compiler
 * before CUDA 12. A FREE reference belongs to no module.
 *
 * Invariant: a reference lives in its module's list, where every TextureReference of
 * one name finds the same one. The module holds what is bound. Nothing here is locked:
 * all of it runs under the interpreter lock, and what releases that takes no pointer
 * across but the module's. */
#ifndef PYTHON_DRIVER_TEXTURE_REFERENCE_H
#define PYTHON_DRIVER_TEXTURE_REFERENCE_H

#include "python/support/base.h"

#include "python/driver/texture/object.h"

typedef enum { PCU_REF_FREE, PCU_REF_VARIABLE, PCU_REF_DRIVER } pcu_ref_kind;

typedef enum {
    PCU_BOUND_NOT,
    PCU_BOUND_ARRAY,
    PCU_BOUND_LINEAR,
    PCU_BOUND_PITCHED
} pcu_ref_bound;

typedef struct pcu_ref {
    struct pcu_ref *next; /* of the same module */
    char *name;           /* owned */
    pcu_ref_kind kind;
    int is_surface;
    CUdeviceptr variable;  /* VARIABLE: its address */
    unsigned int declared; /* VARIABLE: element, channels, read mode, dimensions */
    CUtexref texref;       /* DRIVER */
    CUsurfref surfref;

    pcu_ref_bound bound;
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

    int changed;      /* object does not show the state */
    int stored;       /* the variable holds object */
    PyObject *object; /* strong: TextureObject or SurfaceObject; NULL before */
} pcu_ref;

/* The references of a module, and who may be reading their variables. */
typedef struct pcu_refs {
    pcu_ref *first;
    int changed;           /* some reference has to be stored */
    int unsettled;         /* the last store may not have happened yet */
    unsigned long stores;  /* how many there were */
    CUstream store_stream; /* the last was queued there */
    PyObject *event;       /* strong: an Event behind it; NULL before */
    int readers; /* launches since then: 0, 1: all in `reader`, 2: in several */
    CUstream reader;
    unsigned long epoch; /* of the streams above; see refs_is_stream */
    PyObject *retired;   /* strong list: objects replaced by that store; or NULL */
} pcu_refs;

/* Before a launch of the module's code into a stream: store what changed, and order the
 * launch behind the last store. */
PCU_HIDDEN PCU_RAISES int pcu_refs_launch(PyObject *module, CUstream stream);

/* The reference of a name, found or made. NULL with an exception if the module has no
 * such variable. */
PCU_HIDDEN PCU_RAISES pcu_ref *pcu_refs_get(PyObject *module, const char *name,
                                            int is_surface);

/* A reference that belongs to no module. */
PCU_HIDDEN PCU_RAISES pcu_ref *pcu_ref_new_free(void);

/* Note that a reference was changed: its next launch brings it to the device. */
PCU_HIDDEN void pcu_ref_touch(PyObject *module, pcu_ref *ref);

/* Drop what a reference holds, and itself. */
PCU_HIDDEN void pcu_ref_free(pcu_ref *ref);

/* For Module's slots. */
PCU_HIDDEN int pcu_refs_traverse(pcu_refs *refs, visitproc visit, void *arg);
PCU_HIDDEN void pcu_refs_free(pcu_refs *refs);

/* 0 if texrefs holds texture references only; with `bound` also that each is bound. */
PCU_HIDDEN PCU_RAISES int pcu_texrefs_check(pcu_state *st, PyObject *texrefs,
                                            int bound);

/* Methods for Module: get_texref, get_surfref. */
extern PCU_HIDDEN PyMethodDef pcu_texref_module_methods[];

#endif
