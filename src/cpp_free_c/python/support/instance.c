/* The type slots of plain objects. Invariant and callers: see instance.h. */
#include "python/support/instance.h"

PyMemberDef pcu_instance_members[] = {
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(pcu_instance, dict), Py_READONLY, NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(pcu_instance, weakrefs), Py_READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

int
pcu_instance_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(((pcu_instance *)op)->dict);
    return 0;
}

int
pcu_instance_clear(PyObject *op)
{
    Py_CLEAR(((pcu_instance *)op)->dict);
    return 0;
}

void
pcu_instance_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    if (((pcu_instance *)op)->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    pcu_instance_clear(op);
    type->tp_free(op);
    Py_DECREF(type);
}
