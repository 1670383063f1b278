/* Making types. Invariant and callers: see type.h. */
#include "python/support/type.h"

static PyObject *
type_refuse_reduce(PyObject *self, PyObject *Py_UNUSED(unused))
{
    return PyErr_Format(PyExc_TypeError, "cannot pickle '%s' object",
                        Py_TYPE(self)->tp_name);
}

/* Without this method, pickle's protocols 0 and 1 write an object that cannot be
 * created again, because its type has no constructor. A subclass may define its own
 * __reduce__. */
static PyMethodDef type_refuse_reduce_def = {
    "__reduce__", type_refuse_reduce, METH_NOARGS,
    "__reduce__($self, /)\n--\n\n"
    "Raise TypeError: a resource of the driver belongs to its process."};

int
pcu_add_type(PyObject *m, PyTypeObject **slot, PyType_Spec *spec, PyObject *bases)
{
    PyObject *type = PyType_FromModuleAndSpec(m, spec, bases);
    if (type == NULL) {
        return -1;
    }
    *slot = (PyTypeObject *)type;
    if (PyType_HasFeature(*slot, Py_TPFLAGS_DISALLOW_INSTANTIATION)) {
        PyObject *method = PyDescr_NewMethod(*slot, &type_refuse_reduce_def);
        int rc = -1;
        if (method != NULL) {
            rc = PyDict_SetItemString((*slot)->tp_dict, "__reduce__", method);
        }
        Py_XDECREF(method);
        if (rc < 0) {
            return -1;
        }
        PyType_Modified(*slot);
    }
    return PyModule_AddType(m, *slot);
}

int
pcu_add_private_type(PyObject *m, PyTypeObject **slot, PyType_Spec *spec,
                     const char *name)
{
    PyObject *type = PyType_FromModuleAndSpec(m, spec, NULL);
    if (type == NULL) {
        return -1;
    }
    *slot = (PyTypeObject *)type;
    return PyModule_AddObjectRef(m, name, type);
}

int
pcu_add_methods(PyTypeObject *type, PyMethodDef *methods)
{
    for (PyMethodDef *def = methods; def->ml_name != NULL; def++) {
        PyObject *method = NULL;
        int rc = -1;
        if (def->ml_flags & METH_CLASS) {
            method = PyDescr_NewClassMethod(type, def);
        }
        else {
            method = PyDescr_NewMethod(type, def);
        }
        if (method != NULL) {
            rc = PyObject_SetAttrString((PyObject *)type, def->ml_name, method);
        }
        Py_XDECREF(method);
        if (rc < 0) {
            return -1;
        }
    }
    return 0;
}

int
pcu_add_getset(PyTypeObject *type, PyGetSetDef *getset)
{
    for (PyGetSetDef *def = getset; def->name != NULL; def++) {
        PyObject *descriptor = PyDescr_NewGetSet(type, def);
        int rc = -1;
        if (descriptor != NULL) {
            rc = PyObject_SetAttrString((PyObject *)type, def->name, descriptor);
        }
        Py_XDECREF(descriptor);
        if (rc < 0) {
            return -1;
        }
    }
    return 0;
}

/* The definitions to which getset descriptors point. They must live as long as the
 * types, which hold the module. */
typedef struct {
    PyGetSetDef def;
    char name[64];
    getter get;
    void *value;
} property_row;

struct pcu_property_block {
    struct pcu_property_block *next;
    property_row rows[];
};

/* A value that the program assigned takes precedence over the driver's. */
static PyObject *
property_get(PyObject *op, void *closure)
{
    const property_row *row = closure;
    PyObject *dict = PyObject_GenericGetDict(op, NULL);
    PyObject *name = NULL;
    if (dict != NULL) {
        name = PyUnicode_FromString(row->name);
    }
    PyObject *value = NULL;
    if (name != NULL) {
        value = Py_XNewRef(PyDict_GetItemWithError(dict, name));
    }
    if (name != NULL && value == NULL && !PyErr_Occurred()) {
        value = row->get(op, row->value);
    }
    Py_XDECREF(name);
    Py_XDECREF(dict);
    return value;
}

static int
property_set(PyObject *op, PyObject *value, void *closure)
{
    const property_row *row = closure;
    PyObject *dict = PyObject_GenericGetDict(op, NULL);
    if (dict == NULL) {
        return -1;
    }
    int rc;
    if (value == NULL) {
        rc = PyDict_DelItemString(dict, row->name);
    }
    else {
        rc = PyDict_SetItemString(dict, row->name, value);
    }
    if (rc < 0 && value == NULL && PyErr_ExceptionMatches(PyExc_KeyError)) {
        PyErr_Format(PyExc_AttributeError, "no %s was assigned to this %s", row->name,
                     Py_TYPE(op)->tp_name);
    }
    Py_DECREF(dict);
    return rc;
}

static int
property_add(PyTypeObject *type, property_row *row, const pcu_property *given,
             getter get)
{
    for (size_t k = 0; given->name[k] != '\0' && k + 1 < sizeof(row->name); k++) {
        row->name[k] = (char)Py_TOLOWER(given->name[k]);
    }
    if (PyDict_GetItemString(type->tp_dict, row->name) != NULL) {
        return 0; /* a method of that name takes precedence */
    }
    row->get = get;
    row->value = (void *)(intptr_t)given->value;
    row->def = (PyGetSetDef){.name = row->name,
                             .get = property_get,
                             .set = property_set,
                             .doc = given->doc,
                             .closure = row};
    PyObject *property = PyDescr_NewGetSet(type, &row->def);
    int rc = -1;
    if (property != NULL) {
        rc = PyObject_SetAttrString((PyObject *)type, row->name, property);
    }
    Py_XDECREF(property);
    return rc;
}

int
pcu_add_properties(pcu_state *st, PyTypeObject *type, const pcu_property *rows,
                   size_t count, getter get)
{
    struct pcu_property_block *block =
        PyMem_Calloc(1, sizeof(*block) + count * sizeof(block->rows[0]));
    if (block == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    block->next = st->properties;
    st->properties = block;
    for (size_t i = 0; i < count; i++) {
        if (property_add(type, &block->rows[i], &rows[i], get) < 0) {
            return -1;
        }
    }
    return 0;
}

void
pcu_free_properties(pcu_state *st)
{
    while (st->properties != NULL) {
        struct pcu_property_block *block = st->properties;
        st->properties = block->next;
        PyMem_Free(block);
    }
}

/* -- the type slots of plain objects ----------------------------------------------- */

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
