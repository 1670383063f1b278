/* Texture and surface references: their state, the references of a module, and the
 * Python objects.
 *
 * There are three kinds. A VARIABLE is 16 bytes of constant memory that
 * pycuda-textures.hpp declares: a texture object, then a description of the
 * declaration. A DRIVER reference is a CUtexref of the driver: from PTX with .texref,
 * or from the code of a compiler before CUDA 12. A FREE reference belongs to no module.
 *
 * Invariant: everything here runs under the interpreter lock; there is no other lock. A
 * function that may release it keeps no pointer across that, except the module's. Each
 * name has one reference in its module's list, and every TextureReference of that name
 * shows this one. The list holds the arrays that are bound. */
#ifndef PYTHON_DRIVER_TEXTURE_REFERENCE_H
#define PYTHON_DRIVER_TEXTURE_REFERENCE_H

#include "python/support/base.h"

#include "python/support/driver_call.h"
#include "python/driver/resource.h"
#include "python/driver/texture/texture_object.h"

/* -- reference.c: the state, and the texture object that shows it ------------------ */

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
    bool is_surface;
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

    bool changed;     /* the state has changed since object was made */
    bool stored;      /* the variable holds the handle of object */
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
                                                       bool is_surface);

/* Find the variable of a module, or the reference of the driver, that has the
 * reference's name. LogicError if there is none. */
PCU_HIDDEN PCU_RAISES int pcu_reference_resolve(pcu_resource *module,
                                                pcu_reference *ref);

/* Make the texture or surface object that shows the state of the reference. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_reference_object_new(pcu_state *st, PyObject *ctx,
                                                         const pcu_reference *ref);

/* Release a reference and the objects that it holds. NULL is allowed. */
PCU_HIDDEN void pcu_reference_free(pcu_reference *ref);

/* -- reference_store.c: the references of a module, on the device ------------------ */

/* The launches since the last store. */
typedef enum {
    PCU_READERS_NONE,
    PCU_READERS_ONE_STREAM, /* all are in the stream `reader` */
    PCU_READERS_OTHERS
} pcu_reference_readers;

/* The references of a module, and the launches that may be reading their variables. */
typedef struct pcu_reference_store {
    pcu_reference *first;
    bool changed;          /* a reference must be stored */
    bool unsettled;        /* the last store may not have run yet */
    unsigned long stores;  /* the number of stores */
    CUstream store_stream; /* the stream of the last store */
    PyObject *event;       /* strong: an Event after the last store; NULL at first */
    pcu_reference_readers readers;
    CUstream reader;
    unsigned long epoch; /* of the streams above; see refs_is_stream */
    PyObject *retired;   /* strong list: objects replaced by that store; or NULL */
} pcu_reference_store;

/* Before a launch of the module's code into a stream: store the references that
 * changed, and order the launch after the last store. */
PCU_HIDDEN PCU_RAISES int pcu_reference_store_launch(PyObject *module, CUstream stream);

/* Find the reference of a name, or make it. NULL with an exception if the module has no
 * such variable. */
PCU_HIDDEN PCU_RAISES pcu_reference *pcu_reference_store_get(PyObject *module,
                                                             const char *name,
                                                             bool is_surface);

/* Note that a reference was changed. The next launch stores it. */
PCU_HIDDEN void pcu_reference_store_touch(PyObject *module, pcu_reference *ref);

/* Visit and free the store of a module. NULL is allowed. */
PCU_HIDDEN int pcu_reference_store_traverse(pcu_reference_store *store, visitproc visit,
                                            void *arg);
PCU_HIDDEN void pcu_reference_store_free(pcu_reference_store *store);

/* -- reference_wrapper.c: a Python object around a pcu_reference ------------------- */

/* A wrapper of a module's reference holds the module, which owns the reference. A
 * wrapper without a module owns its reference. */

typedef struct {
    PyObject_HEAD
    pcu_state *st;
    PyObject *module; /* strong: owns the reference; NULL if the kind is FREE */
    PyObject *dict;
    PyObject *weakrefs;
    pcu_reference *ref; /* owned only if module is NULL */
} pcu_reference_wrapper;

/* Raise if the reference's module was released. */
PCU_HIDDEN PCU_RAISES int pcu_reference_wrapper_check(pcu_reference_wrapper *self,
                                                      const char *routine);

/* Call the driver for a reference of kind DRIVER. For the other kinds only check. */
#define PCU_REFERENCE_CALL(rc, self, name, args)                      \
    do {                                                              \
        (rc) = pcu_reference_wrapper_check((self), "cu" #name);       \
        if ((rc) == 0 && (self)->ref->kind == PCU_REFERENCE_DRIVER) { \
            PCU_CALL(rc, (self)->st, name, args);                     \
        }                                                             \
    } while (0)

/* Note that the state was changed. */
PCU_HIDDEN void pcu_reference_wrapper_touch(pcu_reference_wrapper *self);

/* Raise: the reference is bound to no `what`. */
PCU_HIDDEN PCU_RAISES int pcu_reference_wrapper_not_bound(pcu_reference_wrapper *self,
                                                          const char *routine,
                                                          const char *what);

/* Bind an array. The reference holds it. */
PCU_HIDDEN void pcu_reference_wrapper_bind_array(pcu_reference_wrapper *self,
                                                 PyObject *array);

/* The Array that is bound. `handle` is the driver's answer, NULL if it was not asked.
 */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_reference_wrapper_array_new(
    pcu_reference_wrapper *self, const char *routine, CUarray handle);

/* Raise if the array belongs to another context than the reference's module. */
PCU_HIDDEN PCU_RAISES int pcu_reference_wrapper_check_context(
    pcu_reference_wrapper *self, const char *routine, PyObject *array);

/* Slots and tables of both types. */
PCU_HIDDEN int pcu_reference_wrapper_traverse(PyObject *op, visitproc visit, void *arg);
PCU_HIDDEN int pcu_reference_wrapper_clear(PyObject *op);
PCU_HIDDEN void pcu_reference_wrapper_dealloc(PyObject *op);
PCU_HIDDEN PyObject *pcu_reference_wrapper_repr(PyObject *op);
extern PCU_HIDDEN PyGetSetDef pcu_reference_wrapper_getset[];
extern PCU_HIDDEN PyMemberDef pcu_reference_wrapper_members[];

/* -- module_references.c: for Module and for launches ------------------------------ */

/* Check that texrefs is a sequence of texture and surface references. With `bound` also
 * check that each reference is bound. */
PCU_HIDDEN PCU_RAISES int pcu_module_references_check(pcu_state *st, PyObject *texrefs,
                                                      bool bound);

/* Methods of Module: get_texref, get_surfref. */
extern PCU_HIDDEN PyMethodDef pcu_module_reference_methods[];

#endif
