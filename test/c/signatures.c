/* A module with a copy of the argument parser, for test_args.py. */
#include "python/support/args.c"

struct PyModuleDef pcu_module_def = {PyModuleDef_HEAD_INIT, .m_name = "planted"};

#ifndef STORED
#    define STORED PyObject *
#endif

typedef struct {
    PyObject *a;
    PyObject *b;
    PyObject *c;
} values;

/* The core's has a hint that needs NumPy. */
int
pcu_refuse_array(const char *function, PyObject *value)
{
    PyErr_Format(PyExc_TypeError, "%s takes a GPUArray, not %R", function, value);
    return -1;
}

static int
as_object(pcu_state *st, PyObject *value, void *out, const char *name)
{
    (void)st;
    if (value == Py_Ellipsis) {
        PyErr_Format(PyExc_ValueError, "%s is an ellipsis", name);
        return -1;
    }
    if (value == Py_NotImplemented) {
        return PCU_NOT_AN_ARRAY;
    }
    *(PyObject **)out = value;
    return 0;
}

typedef STORED as_object_stores;

static const pcu_word words[] = {
    PCU_WORD("a", as_object, values, a),
    PCU_WORD("b", as_object, values, b),
    PCU_WORD("long_name", as_object, values, c),
};

#ifdef ONLY
PCU_SIGNATURE_OF_ONE(only, "a", as_object, "only(a)\n--\n\n")

void *
only_place(ONLY *variable)
{
    return PCU_ONLY(only, variable);
}
#endif

#ifdef PLANTED
PCU_SIGNATURE(planted, words, PLANTED)
#endif

/* The text and the arguments; the values that arrive, None for those not given. */
static PyObject *
call(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    (void)module;
    values got = {Py_None, Py_None, Py_None};
    pcu_signature signature = {.doc = PyUnicode_AsUTF8(args[0]),
                               .words = words,
                               .words_count = Py_ARRAY_LENGTH(words)};
    if (args_read_signature(&signature) < 0) {
        return NULL;
    }
    int rc = pcu_args_parse(NULL, &signature, args + 1, nargs - 1, kwnames, &got);
    PyMem_Free((void *)signature.parameters);
    return rc < 0 ? NULL : PyTuple_Pack(3, got.a, got.b, got.c);
}

static PyMethodDef functions[] = {
    {"call", (PyCFunction)(void (*)(void))call, METH_FASTCALL | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "signatures",
                                        .m_methods = functions, .m_size = -1};

PyMODINIT_FUNC
PyInit_signatures(void)
{
    if (pcu_args_setup(NULL, NULL) < 0) {
        return NULL;
    }
    return PyModule_Create(&definition);
}
