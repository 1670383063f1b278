/* The common part of TextureReference and SurfaceReference. See reference.h. */
#include "python/driver/texture/reference.h"

#include "python/support/errors.h"
#include "python/driver/context.h"
#include "python/driver/memory/texture_array.h"
#include "python/driver/resource.h"

int
pcu_reference_wrapper_check(pcu_reference_wrapper *self, const char *routine)
{
    if (self->module == NULL) {
        return 0;
    }
    return pcu_resource_check((pcu_resource *)self->module, routine);
}

void
pcu_reference_wrapper_touch(pcu_reference_wrapper *self)
{
    if (self->module != NULL) {
        pcu_reference_store_touch(self->module, self->ref);
    }
}

int
pcu_reference_wrapper_not_bound(pcu_reference_wrapper *self, const char *routine,
                                const char *what)
{
    return pcu_raise_detail(self->st, routine, CUDA_ERROR_INVALID_VALUE,
                            "the %s reference '%s' is bound to no %s",
                            pcu_reference_noun(self->ref), self->ref->name, what);
}

void
pcu_reference_wrapper_bind_array(pcu_reference_wrapper *self, PyObject *array)
{
    self->ref->bound = PCU_BOUND_ARRAY;
    pcu_reference_wrapper_touch(self);
    Py_XSETREF(self->ref->array, Py_NewRef(array));
}

PyObject *
pcu_reference_wrapper_array_new(pcu_reference_wrapper *self, const char *routine,
                                CUarray handle)
{
    if (self->ref->array != NULL) {
        return Py_NewRef(self->ref->array);
    }
    if (self->module == NULL || handle == NULL) {
        pcu_reference_wrapper_not_bound(self, routine, "array");
        return NULL;
    }
    return pcu_texture_array_wrap_new(self->st, ((pcu_resource *)self->module)->ctx,
                                      handle, self->module);
}

int
pcu_reference_wrapper_check_context(pcu_reference_wrapper *self, const char *routine,
                                    PyObject *array)
{
    if (self->module == NULL) {
        return 0;
    }
    const pcu_context_record *theirs = pcu_context_rec(((pcu_resource *)array)->ctx);
    const pcu_context_record *ours =
        pcu_context_rec(((pcu_resource *)self->module)->ctx);
    if (theirs->handle == ours->handle) {
        return 0;
    }
    return pcu_raise_detail(self->st, routine, CUDA_ERROR_INVALID_CONTEXT,
                            "the array belongs to another context (device %d) than the "
                            "%s reference '%s' (device %d)",
                            (int)theirs->device, pcu_reference_noun(self->ref),
                            self->ref->name, (int)ours->device);
}

/* -- slots ------------------------------------------------------------------------- */

int
pcu_reference_wrapper_traverse(PyObject *op, visitproc visit, void *arg)
{
    pcu_reference_wrapper *self = (pcu_reference_wrapper *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->module);
    Py_VISIT(self->dict);
    if (self->module == NULL && self->ref != NULL) {
        Py_VISIT(self->ref->array);
    }
    return 0;
}

/* Keep the module: it owns the reference. */
int
pcu_reference_wrapper_clear(PyObject *op)
{
    Py_CLEAR(((pcu_reference_wrapper *)op)->dict);
    return 0;
}

void
pcu_reference_wrapper_dealloc(PyObject *op)
{
    pcu_reference_wrapper *self = (pcu_reference_wrapper *)op;
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    if (self->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    pcu_reference_wrapper_clear(op);
    if (self->module == NULL) {
        pcu_reference_free(self->ref);
    }
    Py_CLEAR(self->module);
    type->tp_free(op);
    Py_DECREF(type);
}

PyObject *
pcu_reference_wrapper_repr(PyObject *op)
{
    pcu_reference *ref = ((pcu_reference_wrapper *)op)->ref;
    return PyUnicode_FromFormat("<%s '%s'>", Py_TYPE(op)->tp_name, ref->name);
}

PyGetSetDef pcu_reference_wrapper_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyMemberDef pcu_reference_wrapper_members[] = {
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(pcu_reference_wrapper, dict),
     Py_READONLY, NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(pcu_reference_wrapper, weakrefs),
     Py_READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
