/* Making types while the module is set up: their methods and properties.
 *
 * Invariant: types that cannot be constructed by programs refuse to be pickled.
 * Callers: the setup functions of the types' files, and module.c. */
#ifndef PYTHON_SUPPORT_TYPE_H
#define PYTHON_SUPPORT_TYPE_H

#include "python/support/base.h"

/* Make a type from a spec, store it in *slot, and add it to the module under its short
 * name. */
PCU_HIDDEN PCU_RAISES int pcu_add_type(PyObject *m, PyTypeObject **slot,
                                       PyType_Spec *spec, PyObject *bases);

/* The same for a type that another public module than pycuda.driver gives to programs:
 * it is in the module under `name`, which begins with an underscore. */
PCU_HIDDEN PCU_RAISES int pcu_add_private_type(PyObject *m, PyTypeObject **slot,
                                               PyType_Spec *spec, const char *name);

/* Add methods to a type during setup. A part of a type in another file uses it. */
PCU_HIDDEN PCU_RAISES int pcu_add_methods(PyTypeObject *type, PyMethodDef *methods);

/* Add getset descriptors to a type during setup. */
PCU_HIDDEN PCU_RAISES int pcu_add_getset(PyTypeObject *type, PyGetSetDef *getset);

typedef struct {
    const char *name;
    long value;
    const char *doc;
} pcu_property;

/* Add a property for each row of a table, under the row's name in lower case. The
 * getter's closure is the row's value. A program may assign a property; the assigned
 * value is used until the program deletes it. */
PCU_HIDDEN PCU_RAISES int pcu_add_properties(pcu_state *st, PyTypeObject *type,
                                             const pcu_property *rows, size_t count,
                                             getter get);

/* Free the memory that pcu_add_properties allocated. */
PCU_HIDDEN void pcu_free_properties(pcu_state *st);

/* -- objects with attributes and weak references that own no driver handle --------- */

/* pcu_instance is the first member of the object's struct, and the object owns nothing
 * else that must be released. Device, the array descriptors, PointerHolderBase and
 * PageLockedAllocator use the functions as type slots. */

typedef struct {
    PyObject_HEAD
    PyObject *dict; /* attributes that programs add */
    PyObject *weakrefs;
} pcu_instance;

PCU_HIDDEN int pcu_instance_traverse(PyObject *op, visitproc visit, void *arg);
PCU_HIDDEN int pcu_instance_clear(PyObject *op);
PCU_HIDDEN void pcu_instance_dealloc(PyObject *op);

extern PCU_HIDDEN PyMemberDef pcu_instance_members[];

#endif
