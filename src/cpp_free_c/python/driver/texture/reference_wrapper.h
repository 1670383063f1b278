/* The common part of TextureReference and SurfaceReference: a Python object around a
 * pcu_reference.
 *
 * Invariant: a wrapper of a module's reference holds the module, which owns the
 * reference. A wrapper without a module owns its reference.
 * Callers: texture_reference.c, surface_reference.c, module_references.c. */
#ifndef PYTHON_DRIVER_TEXTURE_REFERENCE_WRAPPER_H
#define PYTHON_DRIVER_TEXTURE_REFERENCE_WRAPPER_H

#include "python/support/base.h"

#include "python/support/driver_call.h"
#include "python/driver/texture/reference.h"

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

#endif
