/* The type _KernelCall, the base of ElementwiseKernel, ReductionKernel and the scans:
 * calls of a program's own kernels without Python code.
 *
 * The first call in a context runs the Python method _prepare, which compiles the
 * kernel and hands over a plan with _remember. A call with plain arguments is checked,
 * packed and launched here. Every other call goes to the Python method _run, which
 * arranges the arguments: other keywords, arrays that need a copy, all errors about
 * arguments.
 *
 * call_plan.c has the plans, call_launch.c the launch. */
#include "python/array/type/kernel_call.h"

#include "python/array/construction.h"
#include "python/array/type/launch_shape.h"
#include "python/driver/context.h"
#include "python/driver/memory/pool.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"
#include "python/support/recording.h"
#include "python/support/setup.h"
#include "python/support/type.h"

/* The plans of an object: for all elements, and for a range or slice of them. */
enum { CALL_PLAN_WHOLE, CALL_PLAN_RANGE, CALL_PLANS };

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    pcu_state *st;
    pcu_call_plan
        *plans[CALL_PLANS]; /* counted references; NULL before the first call */
} kernel_call;

/* -- elementwise ------------------------------------------------------------------- */

/* Run an elementwise kernel on the elements of the first array. */
static int
call_elementwise(const pcu_call_run *run)
{
    const pcu_gpuarray *first = run->arguments.first;
    unsigned int blocks = 1;
    unsigned int threads = 1;
    if (first->dict != NULL) {
        return 0; /* the program may have assigned _grid or _block */
    }
    if (first->count == 0) {
        return 1;
    }
    if (pcu_gpuarray_splay(first, first->count, &blocks, &threads) < 0) {
        return -1;
    }
    pcu_call_launch launch = {
        .function = run->plan->stages[0],
        .trailing = 1,
        .numbers = {first->count},
        .shape = {
            .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .stream = run->stream}};
    return pcu_call_enqueue(run, &launch);
}

/* Run an elementwise kernel on some elements. */
static int
call_elementwise_range(const pcu_call_run *run, const pcu_call_bounds *bounds)
{
    const pcu_gpuarray *first = run->arguments.first;
    unsigned int blocks = 1;
    unsigned int threads = 1;
    if (first->count == 0) {
        return 1;
    }
    if (pcu_gpuarray_splay(first, bounds->count, &blocks, &threads) < 0) {
        return -1;
    }
    pcu_call_launch launch = {
        .function = run->plan->stages[0],
        .trailing = 3,
        .numbers = {(uint64_t)bounds->start, (uint64_t)bounds->stop,
                    (uint64_t)bounds->step},
        .shape = {
            .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .stream = run->stream}};
    return pcu_call_enqueue(run, &launch);
}

/* -- reductions -------------------------------------------------------------------- */

/* The number of blocks that reduce `size` elements, and how many elements a thread
 * takes. */
static size_t
call_cut(const pcu_call_plan *plan, size_t size, size_t *each)
{
    size_t threads = plan->threads;
    size_t least = threads * plan->each;
    if (size <= least) {
        *each = Py_MAX((size + threads - 1) / threads, 1);
        return 1;
    }
    size_t blocks = Py_MIN((size - 1) / least + 1, plan->most_blocks);
    *each = (size - 1) / (threads * blocks) + 1;
    return (size - 1) / (threads * *each) + 1;
}

/* Run the stages of a reduction until one value remains: *out is the result. */
static int
call_reduction(const pcu_call_run *run, PyObject **out)
{
    const pcu_call_plan *plan = run->plan;
    PyObject *source = NULL;
    PyObject *allocator = run->allocator;
    size_t size = run->arguments.first->count;
    int stage = 0;
    int rc = 1;
    if (allocator == NULL) {
        allocator = run->arguments.first->allocator;
    }
    Py_XINCREF(allocator);
    while (rc > 0 && *out == NULL) {
        size_t each = 1;
        size_t blocks = call_cut(plan, size, &each);
        int ndim = blocks > 1;
        PyObject *result = pcu_gpuarray_new(run->arguments.st, NULL, ndim, &blocks,
                                            NULL, plan->result, allocator);
        if (result == NULL) {
            rc = -1;
            break;
        }
        pcu_call_launch launch = {.function = plan->stages[stage],
                                  .leading = 1 + stage,
                                  .addresses = {((pcu_gpuarray *)result)->address},
                                  .trailing = 2,
                                  .numbers = {each, size},
                                  .shape = {.grid = {(unsigned int)blocks, 1, 1},
                                            .block = {plan->threads, 1, 1},
                                            .stream = run->stream}};
        if (source != NULL) {
            launch.addresses[1] = ((pcu_gpuarray *)source)->address;
        }
        rc = pcu_call_enqueue(run, &launch);
        Py_XSETREF(source, result); /* keeps the values until the next stage */
        if (blocks == 1 && rc > 0) {
            *out = Py_NewRef(result);
        }
        size = blocks;
        stage = 1;
    }
    Py_XDECREF(source);
    Py_XDECREF(allocator);
    return rc;
}

/* -- the call ---------------------------------------------------------------------- */

/* Read the keyword of a reduction or a selection: 1 if it is known, 0 if not, -1 on
 * error. */
static int
call_read_special(pcu_state *st, PyObject *name, PyObject *value, pcu_call_run *run,
                  pcu_call_selection *selection)
{
    if (run->plan->kind != PCU_CALL_REDUCTION) {
        return pcu_call_select(selection, name, value) > 0;
    }
    if (PyUnicode_CompareWithASCIIString(name, "allocator") != 0) {
        return 0;
    }
    PyObject *allocator = NULL;
    if (pcu_as_allocator(st, value, &allocator, "allocator") < 0) {
        return -1;
    }
    if (allocator != Py_None) {
        run->allocator = allocator;
    }
    return 1;
}

/* Read the keywords: 1 if this file understands them, 0 if not, -1 on error. */
static int
call_read_keywords(pcu_state *st, PyObject *const *values, PyObject *kwnames,
                   pcu_call_run *run, pcu_call_selection *selection)
{
    Py_ssize_t count = 0;
    if (kwnames != NULL) {
        count = PyTuple_GET_SIZE(kwnames);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        if (name == st->str_stream ||
            PyUnicode_CompareWithASCIIString(name, "stream") == 0) {
            if (pcu_as_stream(st, values[i], &run->stream, "stream") < 0) {
                return -1;
            }
            continue;
        }
        int known = call_read_special(st, name, values[i], run, selection);
        if (known <= 0) {
            return known;
        }
    }
    return 1;
}

/* Fill the arguments if every array certainly fits, and the bounds of a selection.
 * Returns what pcu_call_enqueue returns. */
static int
call_read_arguments(kernel_call *self, PyObject *const *args, Py_ssize_t nargs,
                    pcu_call_run *run, const pcu_call_selection *selection,
                    pcu_call_bounds *bounds)
{
    const pcu_call_plan *plan = run->plan;
    pcu_kernel_arguments *arguments = &run->arguments;
    if (nargs != PyTuple_GET_SIZE(plan->dtypes) ||
        !Py_IS_TYPE(args[plan->first], self->st->GPUArray)) {
        return 0;
    }
    arguments->st = self->st;
    arguments->count = nargs;
    arguments->args = args;
    arguments->dtypes = plan->dtypes;
    arguments->uses = PyBytes_AS_STRING(plan->uses);
    arguments->first = (const pcu_gpuarray *)args[plan->first];
    arguments->extent = arguments->first->count;
    if (selection->value != NULL) {
        int known = pcu_call_bounds_fill(bounds, selection, arguments->extent);
        if (known <= 0) {
            return known;
        }
        arguments->extent = bounds->extent;
    }
    for (Py_ssize_t i = 0; i < nargs; i++) {
        if (arguments->uses[i] == PCU_USE_SCALAR) {
            continue;
        }
        int known = pcu_kernel_arguments_check(arguments, i);
        if (known <= 0) {
            return known;
        }
    }
    return 1;
}

/* Run the call by a plan that the caller holds: 1 and *out if done, 0 if Python has to
 * handle it, -1 on error. */
static int
call_by_plan(kernel_call *self, const pcu_call_plan *plan, PyObject *const *args,
             Py_ssize_t nargs, PyObject *kwnames, PyObject **out)
{
    pcu_call_run run = {.plan = plan, .stream = pcu_stream_current()};
    if (plan->kind == PCU_CALL_SCAN) {
        return pcu_call_scan(self->st, &run, args, nargs, kwnames, out);
    }
    pcu_call_selection selection = {.value = NULL};
    pcu_call_bounds bounds;
    int rc = call_read_keywords(self->st, args + nargs, kwnames, &run, &selection);
    if (rc > 0) {
        rc = call_read_arguments(self, args, nargs, &run, &selection, &bounds);
    }
    if (rc <= 0) {
        return rc;
    }
    if (plan->kind == PCU_CALL_REDUCTION) {
        return call_reduction(&run, out);
    }
    if (plan->kind == PCU_CALL_RANGE) {
        rc = call_elementwise_range(&run, &bounds);
    }
    else {
        rc = call_elementwise(&run);
    }
    if (rc > 0) {
        *out = Py_NewRef(Py_None);
    }
    return rc;
}

/* The kind of plan for the keywords of a call; -1: they contradict each other. */
static int
call_kind_of(PyObject *const *values, PyObject *kwnames)
{
    pcu_call_selection selection = {.value = NULL};
    Py_ssize_t count = 0;
    if (kwnames != NULL) {
        count = PyTuple_GET_SIZE(kwnames);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (pcu_call_select(&selection, PyTuple_GET_ITEM(kwnames, i), values[i]) < 0) {
            return -1;
        }
    }
    return selection.value == NULL ? CALL_PLAN_WHOLE : CALL_PLAN_RANGE;
}

/* Whether the plan belongs to the context in which this call works. */
static bool
call_plan_applies(const kernel_call *self, const pcu_call_plan *plan)
{
    if (plan == NULL) {
        return false;
    }
    pcu_context *ctx = pcu_context_launch_borrow(self->st);
    if (ctx == NULL) {
        PyErr_Clear(); /* _prepare raises the error of this case */
        return false;
    }
    return (PyObject *)ctx == plan->context;
}

/* The plan of a kind for this context, which Python makes at the first call: *plan is
 * borrowed, NULL if there is none. */
static int
call_plan_get(kernel_call *self, int kind, pcu_call_plan **plan)
{
    *plan = self->plans[kind];
    if (call_plan_applies(self, *plan)) {
        return 0;
    }
    PyObject *done = PyObject_CallMethod((PyObject *)self, "_prepare", "O",
                                         kind == CALL_PLAN_RANGE ? Py_True : Py_False);
    if (done == NULL) {
        return -1;
    }
    Py_DECREF(done);
    *plan = self->plans[kind];
    if (!call_plan_applies(self, *plan)) {
        *plan = NULL;
    }
    return 0;
}

static PyObject *
call_vectorcall(PyObject *op, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    kernel_call *self = (kernel_call *)op;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    PyObject *out = NULL;
    pcu_call_plan *plan = NULL;
    if (pcu_is_recording(self->st)) {
        return pcu_record_kernel(self->st, op, args, nargs, kwnames);
    }
    int kind = call_kind_of(args + nargs, kwnames);
    if (kind >= 0 && call_plan_get(self, kind, &plan) < 0) {
        return NULL;
    }
    if (plan != NULL) {
        plan->references++;
        int rc = call_by_plan(self, plan, args, nargs, kwnames, &out);
        pcu_call_plan_release(plan);
        if (rc != 0) {
            return out;
        }
    }
    PyObject *run = PyObject_GetAttr(op, self->st->str__run);
    if (run == NULL) {
        return NULL;
    }
    out = PyObject_Vectorcall(run, args, (size_t)nargs, kwnames);
    Py_DECREF(run);
    return out;
}

/* -- the type ---------------------------------------------------------------------- */

PCU_SIGNATURE(
    call_remember, pcu_call_plan_words,
    "_remember($self, kind, context, stages, dtypes, uses, first, result=None, "
    "threads=0, each=0, most_blocks=0, /)\n--\n\n"
    "Store what later calls in this context need.\n\n"
    "The kind is 'elementwise', 'reduction', 'scan' or 'range', an elementwise\n"
    "kernel for some of the elements. stages has the prepared functions, dtypes what\n"
    "the kernel declares (None for a number). uses has a byte for each argument: 0 "
    "for\n"
    "a number, 1 for an array, 2 for an array of which the kernel uses the elements.\n"
    "first is the place of the array that gives the size. For a reduction or a scan,\n"
    "result is the dtype of its result, and the numbers decide its blocks.")

static PyObject *
call_remember(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    kernel_call *self = (kernel_call *)op;
    pcu_call_plan *plan =
        pcu_call_plan_new(self->st, &call_remember_signature, args, nargs, kwnames);
    if (plan == NULL) {
        return NULL;
    }
    pcu_call_plan **place = &self->plans[CALL_PLAN_WHOLE];
    if (plan->kind == PCU_CALL_RANGE) {
        place = &self->plans[CALL_PLAN_RANGE];
    }
    pcu_call_plan *old = *place;
    *place = plan;
    pcu_call_plan_release(old);
    Py_RETURN_NONE;
}

static PyObject *
call_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    pcu_state *st = pcu_state_of_type(type);
    if (st == NULL) {
        return NULL;
    }
    kernel_call *self = (kernel_call *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->st = st;
        self->vectorcall = call_vectorcall;
    }
    return (PyObject *)self;
}

static int
call_traverse(PyObject *op, visitproc visit, void *arg)
{
    kernel_call *self = (kernel_call *)op;
    Py_VISIT(Py_TYPE(op));
    for (int i = 0; i < CALL_PLANS; i++) {
        const pcu_call_plan *plan = self->plans[i];
        if (plan == NULL) {
            continue;
        }
        Py_VISIT(plan->context);
        Py_VISIT(plan->stages[0]);
        Py_VISIT(plan->stages[1]);
        Py_VISIT(plan->dtypes);
        Py_VISIT(plan->result);
    }
    return 0;
}

static int
call_clear(PyObject *op)
{
    kernel_call *self = (kernel_call *)op;
    for (int i = 0; i < CALL_PLANS; i++) {
        pcu_call_plan *plan = self->plans[i];
        self->plans[i] = NULL;
        pcu_call_plan_release(plan);
    }
    return 0;
}

static void
call_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    (void)call_clear(op);
    type->tp_free(op);
    Py_DECREF(type);
}

PyDoc_STRVAR(call_getstate_doc,
             "__getstate__($self, /)\n--\n\n"
             "Return the attributes for a copy, which makes a plan of its own.");

static PyObject *
call_getstate(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    PyObject *dict = PyObject_GetAttrString(op, "__dict__");
    if (dict == NULL) {
        PyErr_Clear(); /* an instance without attributes */
        Py_RETURN_NONE;
    }
    PyObject *state = PyDict_Copy(dict);
    Py_DECREF(dict);
    return state;
}

static PyMethodDef call_methods[] = {
    PCU_METHOD("_remember", call_remember),
    {"__getstate__", call_getstate, METH_NOARGS, call_getstate_doc},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef call_members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(kernel_call, vectorcall),
     Py_READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

PyDoc_STRVAR(call_doc,
             "_KernelCall(*args, **kwargs)\n--\n\n"
             "Base of the classes whose objects are kernels of a program.");

static PyType_Slot call_slots[] = {
    {Py_tp_doc, (void *)call_doc},
    {Py_tp_new, call_new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_traverse, call_traverse},
    {Py_tp_clear, call_clear},
    {Py_tp_dealloc, call_dealloc},
    {Py_tp_methods, call_methods},
    {Py_tp_members, call_members},
    {0, NULL},
};

static PyType_Spec call_spec = {"pycuda._driver._KernelCall", sizeof(kernel_call), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                    Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL,
                                call_slots};

int
pcu_kernel_call_setup(PyObject *m, pcu_state *st)
{
    return pcu_add_type(m, &st->_KernelCall, &call_spec, NULL);
}
