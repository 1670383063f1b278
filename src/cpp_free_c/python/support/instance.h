/* The common part of plain objects: instances with attributes and weak references that
 * own no driver handle.
 *
 * Invariant: pcu_instance is the first member of the object's struct, and the object
 * owns nothing else that must be released. Callers: Device, the array descriptors,
 * PointerHolderBase and PageLockedAllocator use the functions as type slots. */
#ifndef PYTHON_SUPPORT_INSTANCE_H
#define PYTHON_SUPPORT_INSTANCE_H

#include "python/support/base.h"

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
