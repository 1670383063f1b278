/* ArrayFlags: see flags.h. */

#include "python/array/flags.h"
#include "python/support/convert.h"

typedef struct {
    PyObject_HEAD
    char c_contiguous;
    char f_contiguous;
    char forc;
} array_flags;

PyObject *
pcu_array_flags_new(pcu_state *st, int contiguous)
{
    array_flags *flags = (array_flags *)st->ArrayFlags->tp_alloc(st->ArrayFlags, 0);
    if (flags != NULL) {
        flags->c_contiguous = (char)((contiguous & PCU_ARRAY_C) != 0);
        flags->f_contiguous = (char)((contiguous & PCU_ARRAY_F) != 0);
        flags->forc = (char)(contiguous != 0);
    }
    return (PyObject *)flags;
}

bool
pcu_array_flags_are_true(const pcu_gpuarray *self)
{
    const array_flags *flags = (const array_flags *)self->flags;
    return flags == NULL ||
           (Py_IS_TYPE(self->flags, self->st->ArrayFlags) &&
            flags->c_contiguous == ((self->contiguous & PCU_ARRAY_C) != 0) &&
            flags->f_contiguous == ((self->contiguous & PCU_ARRAY_F) != 0) &&
            flags->forc == (self->contiguous != 0));
}

/* Read one flag of another object's flags, such as a numpy array's: 1, 0, or -1. */
static int
flags_read(PyObject *flags, const char *name)
{
    PyObject *value = PyObject_GetAttrString(flags, name);
    if (value == NULL) {
        return -1;
    }
    int truth = PyObject_IsTrue(value);
    Py_DECREF(value);
    return truth;
}

/* The flags of an object that has c_contiguous and f_contiguous. */
static PyObject *
flags_copy_new(pcu_state *st, PyObject *source)
{
    int c = flags_read(source, "c_contiguous");
    if (c < 0) {
        return NULL;
    }
    int f = flags_read(source, "f_contiguous");
    if (f < 0) {
        return NULL;
    }
    return pcu_array_flags_new(st, c * PCU_ARRAY_C + f * PCU_ARRAY_F);
}

PCU_SIGNATURE_OF_ONE(flags, "ary", pcu_as_object,
                     "ArrayFlags(ary)\n"
                     "--\n\n"
                     "Describe how the elements of an array lie in memory.\n"
                     "\nParameters\n----------\n"
                     "ary : GPUArray\n"
                     "    The array.\n"
                     "\nSee Also\n--------\n"
                     "GPUArray.flags : The flags of an array.\n"
                     "\nExamples\n--------\n"
                     ">>> flags = gpuarray.zeros((2, 3)).flags\n"
                     ">>> flags.c_contiguous, flags[\"F_CONTIGUOUS\"]\n"
                     "(True, False)")

static PyObject *
flags_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    pcu_state *st = pcu_state_of_type(type);
    PyObject *ary = NULL;
    if (st == NULL || pcu_args_parse_tuple(st, &flags_signature, args, kwargs,
                                           PCU_ONLY(flags, &ary)) < 0) {
        return NULL;
    }
    if (pcu_is_array(st, ary)) {
        return pcu_array_flags_new(st, ((pcu_gpuarray *)ary)->contiguous);
    }
    PyObject *source = PyObject_GetAttrString(ary, "flags");
    if (source == NULL) {
        return NULL;
    }
    PyObject *flags = flags_copy_new(st, source);
    Py_DECREF(source);
    return flags;
}

static PyObject *
flags_repr(PyObject *op)
{
    array_flags *flags = (array_flags *)op;
    return PyUnicode_FromFormat("  C_CONTIGUOUS : %s\n  F_CONTIGUOUS : %s",
                                flags->c_contiguous ? "True" : "False",
                                flags->f_contiguous ? "True" : "False");
}

/* A flag by one of NumPy's names, flags["C_CONTIGUOUS"]. */
static PyObject *
flags_item(PyObject *op, PyObject *key)
{
    static const char *const names[][3] = {
        {"C_CONTIGUOUS", "CONTIGUOUS", "C"},
        {"F_CONTIGUOUS", "FORTRAN", "F"},
        {"FORC", "FORC", "FORC"},
    };
    const array_flags *flags = (array_flags *)op;
    const char values[] = {flags->c_contiguous, flags->f_contiguous, flags->forc};
    for (size_t i = 0; i < sizeof(values) && PyUnicode_Check(key); i++) {
        for (int k = 0; k < 3; k++) {
            if (PyUnicode_CompareWithASCIIString(key, names[i][k]) == 0) {
                return PyBool_FromLong(values[i]);
            }
        }
    }
    PyErr_SetObject(PyExc_KeyError, key);
    return NULL;
}

static int
flags_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(op));
    return 0;
}

static void
flags_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    type->tp_free(op);
    Py_DECREF(type);
}

static PyMemberDef flags_members[] = {
    {"c_contiguous", T_BOOL, offsetof(array_flags, c_contiguous), 0,
     "True if the elements are packed and the last axis varies fastest."},
    {"f_contiguous", T_BOOL, offsetof(array_flags, f_contiguous), 0,
     "True if the elements are packed and the first axis varies fastest."},
    {"forc", T_BOOL, offsetof(array_flags, forc), 0,
     "True if either of the other flags is true."},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot flags_slots[] = {
    {Py_tp_doc, (void *)flags_doc},   {Py_tp_new, flags_new},
    {Py_tp_repr, flags_repr},         {Py_tp_members, flags_members},
    {Py_mp_subscript, flags_item},    {Py_tp_dealloc, flags_dealloc},
    {Py_tp_traverse, flags_traverse}, {0, NULL},
};

PyType_Spec pcu_array_flags_spec = {"pycuda._driver.ArrayFlags", sizeof(array_flags), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                    flags_slots};
