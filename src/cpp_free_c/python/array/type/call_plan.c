/* Plans of calls: see kernel_call.h. */
#include "python/array/type/kernel_call.h"

#include "python/support/args.h"
#include "python/support/convert.h"

/* How many prepared functions each kind has. */
static const char *const call_kind_names[PCU_CALL_KINDS] = {"elementwise", "reduction",
                                                            "scan", "range"};
static const Py_ssize_t call_stages[PCU_CALL_KINDS] = {1, 2, 1, 1};

void
pcu_call_plan_release(pcu_call_plan *plan)
{
    if (plan == NULL || --plan->references > 0) {
        return;
    }
    Py_CLEAR(plan->stages[0]);
    Py_CLEAR(plan->stages[1]);
    Py_CLEAR(plan->dtypes);
    Py_CLEAR(plan->uses);
    Py_CLEAR(plan->result);
    Py_CLEAR(plan->context);
    PyMem_Free(plan);
}

/* The arguments of _remember, borrowed. */
typedef struct {
    PyObject *kind;
    PyObject *context;
    PyObject *stages;
    PyObject *dtypes;
    PyObject *uses;
    size_t first;
    PyObject *result;
    unsigned int threads;
    unsigned int each;
    size_t most_blocks;
} remember_args;

/* The kind of kernel that the arguments of _remember describe; PCU_CALL_KINDS: none. */
static pcu_call_kind
remember_kind(const remember_args *a)
{
    return (pcu_call_kind)pcu_find_word(a->kind, call_kind_names, PCU_CALL_KINDS);
}

/* Whether the stages are as many Functions as the kind has. */
static bool
remember_has_stages(pcu_state *st, const remember_args *a, Py_ssize_t wanted)
{
    if (!PyTuple_Check(a->stages) || PyTuple_GET_SIZE(a->stages) != wanted) {
        return false;
    }
    for (Py_ssize_t i = 0; i < wanted; i++) {
        if (!PyObject_TypeCheck(PyTuple_GET_ITEM(a->stages, i), st->Function)) {
            return false;
        }
    }
    return true;
}

/* Whether there is a dtype and a use for each argument, and the first array is one. */
static bool
remember_has_arguments(const remember_args *a)
{
    if (!PyTuple_Check(a->dtypes) || !PyBytes_Check(a->uses) ||
        PyTuple_GET_SIZE(a->dtypes) != PyBytes_GET_SIZE(a->uses) ||
        a->first >= (size_t)PyTuple_GET_SIZE(a->dtypes)) {
        return false;
    }
    return PyBytes_AS_STRING(a->uses)[a->first] != PCU_USE_SCALAR;
}

/* Whether the dtype of the result and the numbers fit the kind: elementwise kernels
 * have none. */
static bool
remember_has_result(const remember_args *a, pcu_call_kind kind)
{
    if (kind == PCU_CALL_ELEMENTWISE || kind == PCU_CALL_RANGE) {
        return a->result == Py_None;
    }
    return PyArray_DescrCheck(a->result) && a->threads != 0 && a->each != 0;
}

/* Whether the arguments of _remember make a plan. */
static bool
remember_is_valid(pcu_state *st, const remember_args *a)
{
    pcu_call_kind kind = remember_kind(a);
    return kind < PCU_CALL_KINDS && remember_has_stages(st, a, call_stages[kind]) &&
           remember_has_arguments(a) && remember_has_result(a, kind);
}

const pcu_word pcu_call_plan_words[10] = {
    PCU_WORD("kind", pcu_as_object, remember_args, kind),
    PCU_WORD("context", pcu_as_object, remember_args, context),
    PCU_WORD("stages", pcu_as_object, remember_args, stages),
    PCU_WORD("dtypes", pcu_as_object, remember_args, dtypes),
    PCU_WORD("uses", pcu_as_object, remember_args, uses),
    PCU_WORD("first", pcu_as_size, remember_args, first),
    PCU_WORD("result", pcu_as_object, remember_args, result),
    PCU_WORD("threads", pcu_as_uint, remember_args, threads),
    PCU_WORD("each", pcu_as_uint, remember_args, each),
    PCU_WORD("most_blocks", pcu_as_size, remember_args, most_blocks),
};

pcu_call_plan *
pcu_call_plan_new(pcu_state *st, const pcu_signature *signature, PyObject *const *args,
                  Py_ssize_t nargs, PyObject *kwnames)
{
    remember_args a = {.result = Py_None};
    if (pcu_args_parse(st, signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (!remember_is_valid(st, &a)) {
        PyErr_SetString(PyExc_TypeError, "these values are no plan of a kernel's call");
        return NULL;
    }
    pcu_call_plan *plan = PyMem_Calloc(1, sizeof(*plan));
    if (plan == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    plan->references = 1;
    plan->kind = remember_kind(&a);
    plan->context = Py_NewRef(a.context);
    plan->stages[0] = Py_NewRef(PyTuple_GET_ITEM(a.stages, 0));
    if (plan->kind == PCU_CALL_REDUCTION) {
        plan->stages[1] = Py_NewRef(PyTuple_GET_ITEM(a.stages, 1));
    }
    plan->dtypes = Py_NewRef(a.dtypes);
    plan->uses = Py_NewRef(a.uses);
    plan->first = (Py_ssize_t)a.first;
    if (a.result != Py_None) {
        plan->result = (PyArray_Descr *)Py_NewRef(a.result);
    }
    plan->threads = a.threads;
    plan->each = a.each;
    plan->most_blocks = a.most_blocks;
    return plan;
}
