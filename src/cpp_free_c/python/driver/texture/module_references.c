/* The references of a module, for Module and for launches. See reference.h. */
#include "python/driver/texture/reference.h"

#include "python/support/convert.h"
#include "python/support/args.h"

typedef struct {
    PyObject *name;
} references_name_args;

static const pcu_word references_words[] = {
    PCU_WORD("name", pcu_as_object, references_name_args, name)};

static PyObject *
references_of_module(PyObject *module, const pcu_signature *signature, bool is_surface,
                     PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = ((pcu_resource *)module)->st;
    references_name_args a = {0};
    if (pcu_args_parse(st, signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    const char *name = pcu_as_name(a.name, "name");
    const char *routine = "cuModuleGetTexRef";
    PyTypeObject *type = st->TextureReference;
    if (is_surface) {
        routine = "cuModuleGetSurfRef";
        type = st->SurfaceReference;
    }
    if (name == NULL || pcu_resource_check((pcu_resource *)module, routine) < 0) {
        return NULL;
    }
    pcu_reference *ref = pcu_reference_store_get(module, name, is_surface);

    pcu_reference_wrapper *self = NULL;
    if (ref != NULL) {
        self = (pcu_reference_wrapper *)type->tp_alloc(type, 0);
    }
    if (self != NULL) {
        self->st = st;
        self->module = Py_NewRef(module);
        self->ref = ref;
    }
    return (PyObject *)self;
}

PCU_SIGNATURE(references_get_texref, references_words,
              "get_texref($self, /, name)\n--\n\n"
              "Return the reference of a texture of the module.\n"
              "\nParameters\n----------\n"
              "name : str\n"
              "    Name of the ``texture<>`` variable.\n"
              "\nReturns\n-------\n"
              "TextureReference\n"
              "    The reference, which keeps the module.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    If there is no such variable.\n"
              "\nSee Also\n--------\n"
              "TextureObject : An argument of a kernel, without a variable.\n"
              "matrix_to_texref : Bind a matrix.")

static PyObject *
references_get_texref(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    return references_of_module(op, &references_get_texref_signature, 0, args, nargs,
                                kwnames);
}

PCU_SIGNATURE(references_get_surfref, references_words,
              "get_surfref($self, /, name)\n--\n\n"
              "Return the reference of a surface of the module.\n"
              "\nParameters\n----------\n"
              "name : str\n"
              "    Name of the ``surface<>`` variable.\n"
              "\nReturns\n-------\n"
              "SurfaceReference\n"
              "    The reference, which keeps the module.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    If there is no such variable.\n"
              "\nSee Also\n--------\n"
              "SurfaceObject : An argument of a kernel, without a variable.")

static PyObject *
references_get_surfref(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames)
{
    return references_of_module(op, &references_get_surfref_signature, 1, args, nargs,
                                kwnames);
}

PyMethodDef pcu_module_reference_methods[] = {
    PCU_METHOD("get_texref", references_get_texref),
    PCU_METHOD("get_surfref", references_get_surfref),
    {NULL, NULL, 0, NULL},
};

static int
references_check_one(pcu_state *st, PyObject *item, Py_ssize_t i, bool bound)
{
    if (!PyObject_TypeCheck(item, st->TextureReference) &&
        !PyObject_TypeCheck(item, st->SurfaceReference)) {
        const char *hint = "";
        if (PyLong_Check(item)) {
            hint =
                ". The block is an argument of prepared_call(grid, block, ...), not "
                "of prepare()";
        }
        PyErr_Format(PyExc_TypeError,
                     "texrefs[%zd] must be a TextureReference, not %s%s", i,
                     Py_TYPE(item)->tp_name, hint);
        return -1;
    }
    const pcu_reference *ref = ((pcu_reference_wrapper *)item)->ref;
    if (bound && ref->bound == PCU_BOUND_NOT) {
        return pcu_raise_detail(st, "cuLaunchKernel", CUDA_ERROR_INVALID_VALUE,
                                "texrefs[%zd], the %s reference '%s', is bound to "
                                "nothing; use set_array or "
                                "set_address",
                                i, pcu_reference_noun(ref), ref->name);
    }
    return 0;
}

int
pcu_module_references_check(pcu_state *st, PyObject *texrefs, bool bound)
{
    PyObject *items = PySequence_Fast(texrefs, "texrefs must be a sequence");
    int rc = -1;
    if (items != NULL) {
        rc = 0;
    }
    for (Py_ssize_t i = 0; rc == 0 && i < PySequence_Fast_GET_SIZE(items); i++) {
        rc = references_check_one(st, PySequence_Fast_GET_ITEM(items, i), i, bound);
    }
    Py_XDECREF(items);
    return rc;
}
