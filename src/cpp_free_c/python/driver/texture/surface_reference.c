/* SurfaceReference: binding an Array that kernels read and write. Programs written for
 * CUDA before 12 use it. See texture_reference.c for the common rules. */
#include "python/driver/texture/reference.h"

#include "python/support/convert.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/memory/texture_array.h"

typedef struct {
    PyObject *array;
    unsigned int flags;
} surfref_array_args;

static const pcu_word surfref_array_words[] = {
    PCU_WORD("array", pcu_as_texture_array, surfref_array_args, array),
    PCU_WORD("flags", pcu_as_uint, surfref_array_args, flags),
};

PCU_SIGNATURE(surfref_set_array, surfref_array_words,
              "set_array($self, /, array, flags=0)\n--\n\n"
              "Bind an Array for the next launches.\n"
              "\nParameters\n----------\n"
              "array : Array\n"
              "    Array made with ``array3d_flags.SURFACE_LDST``. The reference\n"
              "    holds it.\n"
              "flags : int, optional\n"
              "    Flags of the driver, which has none.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    If the array was made without that flag, or in another context.\n"
              "\nSee Also\n--------\n"
              "SurfaceReference.get_array : Return the Array.\n"
              "SurfaceObject : Pass the Array to a kernel.")

static PyObject *
surfref_set_array(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    pcu_reference_wrapper *self = (pcu_reference_wrapper *)op;
    surfref_array_args a = {0};
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    CUarray handle = NULL;
    int rc;
    if (pcu_args_parse(self->st, &surfref_set_array_signature, args, nargs, kwnames,
                       &a) < 0 ||
        pcu_texture_array_handle(a.array, "array", &handle) < 0 ||
        pcu_reference_wrapper_check_context(self, "cuSurfRefSetArray", a.array) < 0 ||
        pcu_texture_array_describe(self->st, a.array, &d) < 0) {
        return NULL;
    }
    if (!(d.Flags & CUDA_ARRAY3D_SURFACE_LDST)) {
        pcu_raise_detail(self->st, "cuSurfRefSetArray", CUDA_ERROR_INVALID_VALUE,
                         "the array was made without array3d_flags.SURFACE_LDST, so "
                         "kernels cannot write it");
        return NULL;
    }
    PCU_REFERENCE_CALL(rc, self, SurfRefSetArray,
                       (self->ref->surfref, handle, a.flags));
    if (rc < 0) {
        return NULL;
    }
    pcu_reference_wrapper_bind_array(self, a.array);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(surfref_get_array_doc,
             "get_array($self, /)\n--\n\n"
             "Return the Array that is bound.\n"
             "\nReturns\n-------\n"
             "Array\n"
             "    The Array.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If none is bound.");

static PyObject *
surfref_get_array(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_reference_wrapper *self = (pcu_reference_wrapper *)op;
    CUarray handle = NULL;
    int rc;
    PCU_REFERENCE_CALL(rc, self, SurfRefGetArray, (&handle, self->ref->surfref));
    if (rc < 0) {
        return NULL;
    }
    return pcu_reference_wrapper_array_new(self, "cuSurfRefGetArray", handle);
}

static PyMethodDef surfref_methods[] = {
    PCU_METHOD("set_array", surfref_set_array),
    {"get_array", surfref_get_array, METH_NOARGS, surfref_get_array_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(surfref_doc,
             "A ``surface<>`` variable of a module.\n"
             "\n"
             "``Module.get_surfref()`` returns it. Kernels read and write the bound\n"
             "Array through it.\n"
             "\nSee Also\n--------\n"
             "SurfaceObject : An argument of a kernel, without a variable.\n"
             "TextureReference : A ``texture<>`` variable.");

static PyType_Slot surfref_slots[] = {
    {Py_tp_doc, (void *)surfref_doc},
    {Py_tp_traverse, pcu_reference_wrapper_traverse},
    {Py_tp_clear, pcu_reference_wrapper_clear},
    {Py_tp_dealloc, pcu_reference_wrapper_dealloc},
    {Py_tp_repr, pcu_reference_wrapper_repr},
    {Py_tp_members, pcu_reference_wrapper_members},
    {Py_tp_getset, pcu_reference_wrapper_getset},
    {Py_tp_methods, surfref_methods},
    {0, NULL},
};

static PyType_Spec surfref_spec = {
    "pycuda._driver.SurfaceReference", sizeof(pcu_reference_wrapper), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
        Py_TPFLAGS_DISALLOW_INSTANTIATION,
    surfref_slots};

int
pcu_surface_reference_setup(PyObject *m, pcu_state *st)
{
    return pcu_add_type(m, &st->SurfaceReference, &surfref_spec, NULL);
}
