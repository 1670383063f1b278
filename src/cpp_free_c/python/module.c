/* The extension module pycuda._driver: its definition, its state, and the call of all
 * setup functions.
 *
 * Invariant: after the import every type, exception and enumeration of the state is
 * set. The interpreter is the only caller. */

#define PCU_IMPORT_NUMPY
#include "python/support/call_site.h"
#include "driver/events.h"
#include "python/support/setup.h"
#include "python/support/type.h"

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

/* Check that all lists of the state are filled. A missing setup function is then found
 * at import instead of at first use. */
static int
module_check_state(pcu_state *st)
{
    const char *missing = NULL;
#define CHECK(member, name)   \
    if (st->member == NULL) { \
        missing = name;       \
    }
#define CHECK_TYPE(name) CHECK(name, #name)
#define CHECK_ERROR(name) CHECK(exc_##name, #name)
#define CHECK_ENUM(name, doc) CHECK(enum_##name, #name)
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
#define SETUP_ROW(name) pcu_##name##_setup,
    static int (*const setups[])(PyObject *, pcu_state *) = {PCU_SETUPS(SETUP_ROW)};
#undef SETUP_ROW
    pcu_state *st = pcu_state_of_module(m);
    /* The current context of a thread is a C variable, which all interpreters share. */
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
    pcu_free_properties(st);
    pcu_call_sites_finish(st);
    pcu_context_record *rec = pcu_context_record_first();
    for (; rec != NULL; rec = rec->next) {
        pcu_events_forget(rec); /* the names of its kernels go */
    }
    pcu_events_finish();
    Py_CLEAR(st->launch_names);
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

/* An ELF note, which the linker puts near the start of the file. pycuda/_start.py looks
 * for it: the library of the original PyCUDA has the same name. */
static const struct {
    unsigned name_size, content_size, type;
    char name[12];
} module_note __attribute__((used, aligned(4), section(".note.pycuda"))) = {
    sizeof("pycuda-c"), 0, 1, "pycuda-c"};

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
