/* The references of a module, and storing changed ones on the device.
 *
 * Invariant: each name has one reference in its module's list, and every
 * TextureReference of that name shows this one. The list holds the arrays that are
 * bound. Everything runs under the interpreter lock. A function that may release the
 * lock keeps no pointer across that, except the module's.
 * Callers: launch.c before each launch, module.c for the type's slots, and
 * module_references.c. */
#ifndef PYTHON_DRIVER_TEXTURE_REFERENCE_STORE_H
#define PYTHON_DRIVER_TEXTURE_REFERENCE_STORE_H

#include "python/support/base.h"

#include "python/driver/texture/reference.h"

/* The references of a module, and the launches that may be reading their variables. */
typedef struct pcu_reference_store {
    pcu_reference *first;
    int changed;           /* a reference must be stored */
    int unsettled;         /* the last store may not have run yet */
    unsigned long stores;  /* the number of stores */
    CUstream store_stream; /* the stream of the last store */
    PyObject *event;       /* strong: an Event after the last store; NULL at first */
    int readers; /* launches since then: 0: none, 1: all in `reader`, 2: others */
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
                                                             int is_surface);

/* Note that a reference was changed. The next launch stores it. */
PCU_HIDDEN void pcu_reference_store_touch(PyObject *module, pcu_reference *ref);

/* Visit and free the store of a module. NULL is allowed. */
PCU_HIDDEN int pcu_reference_store_traverse(pcu_reference_store *store, visitproc visit,
                                            void *arg);
PCU_HIDDEN void pcu_reference_store_free(pcu_reference_store *store);

#endif
