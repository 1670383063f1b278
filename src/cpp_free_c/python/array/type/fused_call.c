/* The type _FusedCall, the base of FusedFunction: see fused.h. */
#include "python/array/type/fused.h"

#include "python/support/recording.h"
#include "python/support/setup.h"
#include "python/support/type.h"

enum { CALL_RUNS = 8, CALL_ARRAYS = 32 };

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    pcu_state *st;
    PyObject *runs[CALL_RUNS]; /* strong: weak references to _FusedRuns, the one used
                                  last first; NULL behind the last */
} fused_call;

/* -- keys -------------------------------------------------------------------------- */

/* Whether a value of Python is that of a key: of the same type, and for floats of the
 * same bits. Runs no Python code. */
static bool
key_has_value(PyObject *value, PyObject *wanted)
{
    if (value == wanted) {
        return true;
    }
    if (PyFloat_CheckExact(value) && PyFloat_CheckExact(wanted)) {
        double numbers[] = {PyFloat_AS_DOUBLE(value), PyFloat_AS_DOUBLE(wanted)};
        uint64_t bits[2];
        memcpy(bits, numbers, sizeof(bits));
        return bits[0] == bits[1];
    }
    if ((PyLong_CheckExact(value) && PyLong_CheckExact(wanted)) ||
        (PyUnicode_CheckExact(value) && PyUnicode_CheckExact(wanted))) {
        return PyObject_RichCompareBool(value, wanted, Py_EQ) == 1;
    }
    return false;
}

/* Whether an array is among others. */
static bool
key_has_array(PyObject *const *arrays, Py_ssize_t count, PyObject *array)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        if (arrays[i] == array) {
            return true;
        }
    }
    return false;
}

/* Whether the arguments are those of a run: store the arrays among them. An array that
 * comes twice has a key of Python. */
static bool
key_matches(const pcu_fused_run *run, PyObject *const *args, Py_ssize_t nargs,
            PyObject **arrays, Py_ssize_t *count)
{
    pcu_state *st = run->st;
    *count = 0;
    if (!PyTuple_Check(run->key) || PyTuple_GET_SIZE(run->key) != nargs ||
        nargs > CALL_ARRAYS) {
        return false;
    }
    for (Py_ssize_t i = 0; i < nargs; i++) {
        PyObject *wanted = PyTuple_GET_ITEM(run->key, i);
        if (!Py_IS_TYPE(wanted, st->GPUArray)) {
            if (!key_has_value(args[i], wanted)) {
                return false;
            }
        }
        else if (Py_IS_TYPE(args[i], st->GPUArray) &&
                 pcu_fused_has_layout((pcu_gpuarray *)args[i],
                                      (pcu_gpuarray *)wanted) &&
                 !key_has_array(arrays, *count, args[i])) {
            arrays[(*count)++] = args[i];
        }
        else {
            return false;
        }
    }
    return true;
}

/* -- the call ---------------------------------------------------------------------- */

/* Make a run the first one. */
static void
fused_call_move_to_front(fused_call *self, int k)
{
    PyObject *reference = self->runs[k];
    memmove(self->runs + 1, self->runs, (size_t)k * sizeof(*self->runs));
    self->runs[0] = reference;
}

/* The run for these arguments in the current context, NULL without an exception if none
 * of the last ones is. */
static PyObject *
fused_call_run_new(fused_call *self, PyObject *const *args, Py_ssize_t nargs,
                   PyObject **arrays, Py_ssize_t *count)
{
    const pcu_context *ctx = pcu_context_launch_borrow(self->st);
    if (ctx == NULL) {
        PyErr_Clear(); /* Python raises the error of this case */
        return NULL;
    }
    for (int k = 0; k < CALL_RUNS && self->runs[k] != NULL; k++) {
        PyObject *found = pcu_weakref_new(self->runs[k]);
        const pcu_fused_run *run = (const pcu_fused_run *)found;
        if (run != NULL && run->key != NULL && run->context == (const PyObject *)ctx &&
            key_matches(run, args, nargs, arrays, count)) {
            if (k != 0) {
                fused_call_move_to_front(self, k);
            }
            return found;
        }
        Py_XDECREF(found);
    }
    return NULL;
}

/* Read the keywords: a tuple of the arrays `out`, NULL without an exception if there
 * are others. */
static PyObject *
call_outs_new(pcu_state *st, PyObject *value, PyObject *kwnames)
{
    if (PyTuple_GET_SIZE(kwnames) != 1 || !Py_IS_TYPE(value, st->GPUArray) ||
        PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, 0), "out") != 0) {
        return NULL;
    }
    return PyTuple_Pack(1, value);
}

/* Whether a run has one result, of the dtype of `out`. Python casts. */
static bool
call_has_result(const pcu_fused_run *run, PyObject *out)
{
    if (!PyTuple_Check(run->result) || PyTuple_GET_SIZE(run->result) != 1 ||
        PyTuple_GET_SIZE(run->layouts) != 1) {
        return false;
    }
    PyObject *layout = PyTuple_GET_ITEM(run->layouts, 0);
    return Py_IS_TYPE(layout, run->st->GPUArray) &&
           ((pcu_gpuarray *)layout)->dtype == ((pcu_gpuarray *)out)->dtype;
}

/* Run a call with a known key: NULL without an exception if Python has to. */
static PyObject *
fused_call_in_c(fused_call *self, PyObject *const *args, Py_ssize_t nargs,
                PyObject *outs)
{
    PyObject *arrays[CALL_ARRAYS];
    Py_ssize_t count = 0;
    PyObject *result = NULL;
    PyObject *found = fused_call_run_new(self, args, nargs, arrays, &count);
    pcu_fused_run *run = (pcu_fused_run *)found;
    if (run != NULL &&
        (outs == NULL || call_has_result(run, PyTuple_GET_ITEM(outs, 0))) &&
        !pcu_fused_run_conflicts(run, arrays, count)) {
        result = pcu_fused_run_call(run, arrays, count, outs);
    }
    Py_XDECREF(found);
    if (result != NULL && outs != NULL && result != PyTuple_GET_ITEM(outs, 0)) {
        PyObject *out = PyTuple_GET_ITEM(outs, 0);
        int rc = PyObject_SetItem(out, Py_Ellipsis, result);
        Py_SETREF(result, rc < 0 ? NULL : Py_NewRef(out));
    }
    return result;
}

static PyObject *
fused_call_vectorcall(PyObject *op, PyObject *const *args, size_t nargsf,
                      PyObject *kwnames)
{
    fused_call *self = (fused_call *)op;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    PyObject *result = NULL;
    PyObject *outs = NULL;
    if (kwnames != NULL) {
        outs = call_outs_new(self->st, args[nargs], kwnames);
    }
    if ((kwnames == NULL || outs != NULL) && !pcu_is_recording(self->st)) {
        result = fused_call_in_c(self, args, nargs, outs);
    }
    Py_XDECREF(outs);
    if (result != NULL || PyErr_Occurred()) {
        return result;
    }
    PyObject *method = PyObject_GetAttr(op, self->st->str__run);
    if (method != NULL) {
        result = PyObject_Vectorcall(method, args, (size_t)nargs, kwnames);
        Py_DECREF(method);
    }
    return result;
}

/* -- the type ---------------------------------------------------------------------- */

PyDoc_STRVAR(fused_call_remember_doc,
             "_remember($self, run, /)\n--\n\n"
             "Use a _FusedRun for later calls with its key.");

static PyObject *
fused_call_remember(PyObject *op, PyObject *run)
{
    fused_call *self = (fused_call *)op;
    if (!Py_IS_TYPE(run, self->st->_FusedRun)) {
        PyErr_SetString(PyExc_TypeError, "run must be a _FusedRun");
        return NULL;
    }
    PyObject *reference = PyWeakref_NewRef(run, NULL);
    if (reference == NULL) {
        return NULL;
    }
    int k = 0;
    while (k < CALL_RUNS - 1 && self->runs[k] != NULL && self->runs[k] != reference) {
        k++;
    }
    PyObject *old = self->runs[k];
    self->runs[k] = reference;
    fused_call_move_to_front(self, k);
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

static PyObject *
fused_call_new(PyTypeObject *type, PyObject *Py_UNUSED(args),
               PyObject *Py_UNUSED(kwargs))
{
    pcu_state *st = pcu_state_of_type(type);
    if (st == NULL) {
        return NULL;
    }
    fused_call *self = (fused_call *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->st = st;
        self->vectorcall = fused_call_vectorcall;
    }
    return (PyObject *)self;
}

static int
fused_call_traverse(PyObject *op, visitproc visit, void *arg)
{
    fused_call *self = (fused_call *)op;
    Py_VISIT(Py_TYPE(op));
    for (int k = 0; k < CALL_RUNS; k++) {
        Py_VISIT(self->runs[k]);
    }
    return 0;
}

static int
fused_call_clear(PyObject *op)
{
    fused_call *self = (fused_call *)op;
    for (int k = 0; k < CALL_RUNS; k++) {
        Py_CLEAR(self->runs[k]);
    }
    return 0;
}

static void
fused_call_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    (void)fused_call_clear(op);
    type->tp_free(op);
    Py_DECREF(type);
}

static PyMethodDef fused_call_methods[] = {
    {"_remember", fused_call_remember, METH_O, fused_call_remember_doc},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef fused_call_members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(fused_call, vectorcall),
     Py_READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

PyDoc_STRVAR(fused_call_doc,
             "_FusedCall(*args, **kwargs)\n--\n\n"
             "Base of the class whose objects are fused functions.");

static PyType_Slot fused_call_slots[] = {
    {Py_tp_doc, (void *)fused_call_doc},
    {Py_tp_new, fused_call_new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_traverse, fused_call_traverse},
    {Py_tp_clear, fused_call_clear},
    {Py_tp_dealloc, fused_call_dealloc},
    {Py_tp_methods, fused_call_methods},
    {Py_tp_members, fused_call_members},
    {0, NULL},
};

static PyType_Spec fused_call_spec = {
    "pycuda._driver._FusedCall", sizeof(fused_call), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
        Py_TPFLAGS_HAVE_VECTORCALL,
    fused_call_slots};

int
pcu_fused_call_setup(PyObject *m, pcu_state *st)
{
    return pcu_add_type(m, &st->_FusedCall, &fused_call_spec, NULL);
}
