/* The extension module pycuda._driver: its state, and the setup of every type in order.
 */

#define PCU_IMPORT_NUMPY
#include "python/support/pcu.h"

static PyObject *
refuse_reduce(PyObject *self, PyObject *Py_UNUSED(unused))
{
    return PyErr_Format(PyExc_TypeError, "cannot pickle '%s' object",
                        Py_TYPE(self)->tp_name);
}

/* Without this method, pickle's protocols 0 and 1 write an object that they cannot
 * create again: they do not know that its type has no constructor. A subclass may
 * define a __reduce__ of its own. */
static PyMethodDef refuse_reduce_def = {
    "__reduce__", refuse_reduce, METH_NOARGS,
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
        PyObject *method = PyDescr_NewMethod(*slot, &refuse_reduce_def);
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
pcu_add_methods(PyTypeObject *type, PyMethodDef *methods)
{
    for (PyMethodDef *def = methods; def->ml_name != NULL; def++) {
        PyObject *method = def->ml_flags & METH_CLASS
                               ? PyDescr_NewClassMethod(type, def)
                               : PyDescr_NewMethod(type, def);
        int rc = -1;
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

/* The definitions that getset descriptors point into: they must live as long as the
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

/* What a program has assigned goes before what the driver says. */
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
    int rc = value == NULL ? PyDict_DelItemString(dict, row->name)
                           : PyDict_SetItemString(dict, row->name, value);
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
        return 0; /* a method of that name goes before */
    }
    row->get = get;
    row->value = (void *)(intptr_t)given->value;
    row->def = (PyGetSetDef){.name = row->name,
                             .get = property_get,
                             .set = property_set,
                             .doc = given->name,
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

static int
module_setup_strings(pcu_state *st)
{
#define INTERN(name)                                    \
    st->str_##name = PyUnicode_InternFromString(#name); \
    if (st->str_##name == NULL) {                       \
        return -1;                                      \
    }
    PCU_STATE_STRINGS(INTERN)
#undef INTERN
    return 0;
}

/* Every list of the state filled: a forgotten setup is found at import, not at first
 * use. */
static int
module_check_state(pcu_state *st)
{
    const char *missing = NULL;
#define CHECK_TYPE(name) missing = st->name == NULL ? #name : missing;
#define CHECK_ERROR(name) missing = st->exc_##name == NULL ? #name : missing;
#define CHECK_ENUM(name, doc) missing = st->enum_##name == NULL ? #name : missing;
    PCU_STATE_TYPES(CHECK_TYPE)
    PCU_STATE_ERRORS(CHECK_ERROR)
    PCU_ENUM_CLASSES(CHECK_ENUM)
    if (missing != NULL) {
        PyErr_Format(PyExc_SystemError, "pycuda._driver: %s was not set up", missing);
        return -1;
    }
    return 0;
}

static int
module_exec(PyObject *m)
{
    static int (*const setups[])(PyObject *, pcu_state *) = {
        pcu_errors_setup,   pcu_enums_setup,    pcu_library_setup,  pcu_context_setup,
        pcu_device_setup,   pcu_stream_setup,   pcu_event_setup,    pcu_devmem_setup,
        pcu_managed_setup,  pcu_ipc_setup,      pcu_hostmem_setup,  pcu_hostarray_setup,
        pcu_memcpy_setup,   pcu_handlers_setup, pcu_cumodule_setup, pcu_function_setup,
        pcu_array_setup,    pcu_memcpynd_setup, pcu_texture_setup,  pcu_texref_setup,
        pcu_mempool_setup,  pcu_dlpack_setup,   pcu_linker_setup,   pcu_gl_setup,
        pcu_profiler_setup, pcu_curand_setup,   pcu_gpuarray_setup,
    };
    pcu_state *st = pcu_state_of_module(m);
    /* The current contexts of a thread are one C variable, whoever asks. */
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError,
                        "pycuda._driver works in the main interpreter only, not in a "
                        "subinterpreter");
        return -1;
    }
    if (PyArray_ImportNumPyAPI() < 0 || module_setup_strings(st) < 0) {
        return -1;
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(setups); i++) {
        if (setups[i](m, st) < 0) {
            return -1;
        }
    }
    return module_check_state(st);
}

static int
module_traverse(PyObject *m, visitproc visit, void *arg)
{
    pcu_state *st = pcu_state_of_module(m);
#define VISIT_TYPE(name) Py_VISIT(st->name);
#define VISIT_ERROR(name) Py_VISIT(st->exc_##name);
#define VISIT_STRING(name) Py_VISIT(st->str_##name);
#define VISIT_OBJECT(name) Py_VISIT(st->name);
#define VISIT_ENUM(name, doc) Py_VISIT(st->enum_##name);
    PCU_STATE_TYPES(VISIT_TYPE)
    PCU_STATE_ERRORS(VISIT_ERROR)
    PCU_STATE_STRINGS(VISIT_STRING)
    PCU_STATE_OBJECTS(VISIT_OBJECT)
    PCU_ENUM_CLASSES(VISIT_ENUM)
    return 0;
}

static int
module_clear(PyObject *m)
{
    pcu_state *st = pcu_state_of_module(m);
#define CLEAR_TYPE(name) Py_CLEAR(st->name);
#define CLEAR_ERROR(name) Py_CLEAR(st->exc_##name);
#define CLEAR_STRING(name) Py_CLEAR(st->str_##name);
#define CLEAR_OBJECT(name) Py_CLEAR(st->name);
#define CLEAR_ENUM(name, doc) Py_CLEAR(st->enum_##name);
    PCU_STATE_TYPES(CLEAR_TYPE)
    PCU_STATE_ERRORS(CLEAR_ERROR)
    PCU_STATE_STRINGS(CLEAR_STRING)
    PCU_STATE_OBJECTS(CLEAR_OBJECT)
    PCU_ENUM_CLASSES(CLEAR_ENUM)
    return 0;
}

static void
module_free(void *m)
{
    pcu_state *st = pcu_state_of_module((PyObject *)m);
    module_clear((PyObject *)m);
    while (st->properties != NULL) {
        struct pcu_property_block *block = st->properties;
        st->properties = block->next;
        PyMem_Free(block);
    }
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL},
};

PyDoc_STRVAR(module_doc,
             "The CUDA driver interface. Import pycuda.driver instead of this module.");

struct PyModuleDef pcu_module_def = {
    PyModuleDef_HEAD_INIT,   .m_name = "pycuda._driver",
    .m_doc = module_doc,     .m_size = sizeof(pcu_state),
    .m_slots = module_slots, .m_traverse = module_traverse,
    .m_clear = module_clear, .m_free = module_free,
};

PyMODINIT_FUNC PyInit__driver(void);

PyMODINIT_FUNC
PyInit__driver(void)
{
    return PyModuleDef_Init(&pcu_module_def);
}
