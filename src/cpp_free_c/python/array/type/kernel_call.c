/* The type _KernelCall, the base of ElementwiseKernel and ReductionKernel: calls of a
 * program's own kernels without Python code.
 *
 * The first call in a context runs the Python method _run, which compiles the kernel,
 * checks the arguments and hands over a plan with _remember. A later call with plain
 * arguments is checked, packed and launched here. Every other call goes to _run: other
 * keywords, arrays that need a copy, all errors about arguments.
 *
 * Invariant: a plan never changes. A call holds a reference, because converting a
 * number may run code that installs another plan. */
#include "python/array/type/kernel_arguments.h"

#include "python/array/construction.h"
#include "python/array/type/launch_shape.h"
#include "python/driver/context.h"
#include "python/driver/launch/function_description.h"
#include "python/driver/launch/launch.h"
#include "python/driver/launch/prepared_format.h"
#include "python/driver/launch/prepared_values.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"
#include "python/support/setup.h"
#include "python/support/type.h"

enum {
    CALL_LEADING_MAX = 2, /* addresses before the program's arguments */
    CALL_TRAILING_MAX = 2 /* numbers after them */
};

/* What calls in one context need. */
typedef struct {
    Py_ssize_t references; /* changes under the interpreter lock */
    PyObject *context;     /* strong, as are all objects */
    PyObject *stages[2];   /* prepared Functions; the second of reductions only */
    PyObject *dtypes;      /* tuple: what the kernel declares, None for numbers */
    PyObject *uses;        /* bytes: how it uses each argument */
    Py_ssize_t first;      /* the place of the array that gives the size */
    PyArray_Descr *result; /* of a reduction; NULL: an elementwise kernel */
    unsigned int threads;  /* of a block of a reduction */
    unsigned int each;     /* elements of a thread of a reduction, at least */
    size_t most_blocks;    /* of a reduction */
} call_plan;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    pcu_state *st;
    call_plan *plan; /* counted reference; NULL before the first call */
} kernel_call;

/* One call in progress. */
typedef struct {
    const call_plan *plan;
    pcu_kernel_arguments arguments;
    CUstream stream;
    PyObject *allocator; /* borrowed; NULL: that of the first array */
} call_run;

/* -- plans ------------------------------------------------------------------------- */

static void
call_plan_release(call_plan *plan)
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

typedef struct {
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

/* 1 if the arguments of _remember make a plan. */
static int
remember_is_valid(pcu_state *st, const remember_args *a)
{
    Py_ssize_t wanted = 1 + (a->result != Py_None);
    if (!PyTuple_Check(a->stages) || PyTuple_GET_SIZE(a->stages) != wanted ||
        !PyTuple_Check(a->dtypes) || !PyBytes_Check(a->uses) ||
        PyTuple_GET_SIZE(a->dtypes) != PyBytes_GET_SIZE(a->uses) ||
        a->first >= (size_t)PyTuple_GET_SIZE(a->dtypes) ||
        (a->result != Py_None &&
         (!PyArray_DescrCheck(a->result) || a->threads == 0 || a->each == 0))) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < wanted; i++) {
        if (!PyObject_TypeCheck(PyTuple_GET_ITEM(a->stages, i), st->Function)) {
            return 0;
        }
    }
    return PyBytes_AS_STRING(a->uses)[a->first] != PCU_USE_SCALAR;
}

PyDoc_STRVAR(
    call_remember_doc,
    "_remember($self, context, stages, dtypes, uses, first, result=None, threads=0, "
    "each=0, most_blocks=0, /)\n--\n\n"
    "Store what later calls in this context need.\n\n"
    "stages has the prepared functions, dtypes and uses are those of _gather. For a\n"
    "reduction, result is the dtype of its result, and the numbers decide its blocks.");

static PyObject *
call_remember(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"context", pcu_as_object, offsetof(remember_args, context)},
        {"stages", pcu_as_object, offsetof(remember_args, stages)},
        {"dtypes", pcu_as_object, offsetof(remember_args, dtypes)},
        {"uses", pcu_as_object, offsetof(remember_args, uses)},
        {"first", pcu_as_size, offsetof(remember_args, first)},
        {"result", pcu_as_object, offsetof(remember_args, result)},
        {"threads", pcu_as_uint, offsetof(remember_args, threads)},
        {"each", pcu_as_uint, offsetof(remember_args, each)},
        {"most_blocks", pcu_as_size, offsetof(remember_args, most_blocks)},
    };
    static const pcu_argtable table = {"_remember", specs, 9, 5, 9};
    kernel_call *self = (kernel_call *)op;
    remember_args a = {.result = Py_None};
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (!remember_is_valid(self->st, &a)) {
        PyErr_SetString(PyExc_TypeError, "these values are no plan of a kernel's call");
        return NULL;
    }
    call_plan *plan = PyMem_Calloc(1, sizeof(*plan));
    if (plan == NULL) {
        return PyErr_NoMemory();
    }
    plan->references = 1;
    plan->context = Py_NewRef(a.context);
    plan->stages[0] = Py_NewRef(PyTuple_GET_ITEM(a.stages, 0));
    plan->dtypes = Py_NewRef(a.dtypes);
    plan->uses = Py_NewRef(a.uses);
    plan->first = (Py_ssize_t)a.first;
    if (a.result != Py_None) {
        plan->stages[1] = Py_NewRef(PyTuple_GET_ITEM(a.stages, 1));
        plan->result = (PyArray_Descr *)Py_NewRef(a.result);
    }
    plan->threads = a.threads;
    plan->each = a.each;
    plan->most_blocks = a.most_blocks;
    call_plan *old = self->plan;
    self->plan = plan;
    call_plan_release(old);
    Py_RETURN_NONE;
}

/* -- packing ----------------------------------------------------------------------- */

/* A launch of a stage: what precedes and follows the program's arguments. */
typedef struct {
    PyObject *function; /* borrowed from the plan */
    int leading;
    CUdeviceptr addresses[CALL_LEADING_MAX];
    int trailing;
    uint64_t numbers[CALL_TRAILING_MAX];
    pcu_launch_shape shape;
} call_launch;

/* Write the bytes of an address or a number of this file. The host is little-endian. */
static void
call_put_word(const pcu_prepared *plan, Py_ssize_t i, uint64_t word,
              unsigned char *block)
{
    memcpy(block + plan->items[i].offset, &word,
           Py_MIN(plan->items[i].size, sizeof(word)));
}

/* Write all values. 1 if done, 0 if Python has to handle the call, -1 on error. The
 * addresses come last: converting a number may run code that frees an array. */
static int
call_put_values(const call_run *run, const call_launch *launch,
                const pcu_prepared *plan, unsigned char *block)
{
    pcu_function *function = (pcu_function *)launch->function;
    const pcu_kernel_arguments *arguments = &run->arguments;
    for (Py_ssize_t i = 0; i < arguments->count; i++) {
        if (arguments->uses[i] == PCU_USE_SCALAR &&
            pcu_prepared_put(function, plan, launch->leading + i, arguments->args[i],
                             block) < 0) {
            return -1;
        }
    }
    for (Py_ssize_t i = 0; i < arguments->count; i++) {
        CUdeviceptr address = 0;
        int known = 1;
        if (arguments->uses[i] == PCU_USE_SCALAR) {
            continue;
        }
        known = pcu_kernel_arguments_address(arguments, i, &address);
        if (known <= 0) {
            return known;
        }
        call_put_word(plan, launch->leading + i, address, block);
    }
    for (int i = 0; i < launch->leading; i++) {
        call_put_word(plan, i, launch->addresses[i], block);
    }
    for (int i = 0; i < launch->trailing; i++) {
        call_put_word(plan, launch->leading + arguments->count + i, launch->numbers[i],
                      block);
    }
    return 1;
}

/* Pack the parameters by a plan that the caller holds. Returns what call_put_values
 * returns. */
static int
call_pack(const call_run *run, const call_launch *launch, const pcu_prepared *plan,
          pcu_argument_buffer *buffer)
{
    pcu_function *function = (pcu_function *)launch->function;
    if (plan->count != launch->leading + run->arguments.count + launch->trailing ||
        function->texrefs != NULL) {
        return 0;
    }
    if (!function->described && pcu_function_describe(function) < 0) {
        return -1;
    }
    unsigned char *block = pcu_argument_buffer_reserve(buffer, plan->size, 1);
    if (block == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memset(block, 0, plan->size);
    return call_put_values(run, launch, plan, block);
}

/* Pack and launch a stage. 1 if done, 0 if Python has to handle the call, -1 on error.
 */
static int
call_enqueue(const call_run *run, const call_launch *launch)
{
    pcu_function *function = (pcu_function *)launch->function;
    pcu_argument_buffer buffer;
    pcu_prepared *plan = function->prepared;
    if (plan == NULL) {
        return 0;
    }
    pcu_argument_buffer_init(&buffer);
    plan->references++;
    int rc = call_pack(run, launch, plan, &buffer);
    pcu_prepared_release(plan);
    if (rc > 0 &&
        pcu_launch_run(function, &launch->shape, buffer.data, buffer.used) < 0) {
        rc = -1;
    }
    pcu_argument_buffer_free(&buffer);
    return rc;
}

/* -- elementwise ------------------------------------------------------------------- */

/* Run an elementwise kernel on the elements of the first array. */
static int
call_elementwise(const call_run *run)
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
    if (pcu_gpuarray_splay(first, &blocks, &threads) < 0) {
        return -1;
    }
    call_launch launch = {
        .function = run->plan->stages[0],
        .trailing = 1,
        .numbers = {first->count},
        .shape = {
            .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .stream = run->stream}};
    return call_enqueue(run, &launch);
}

/* -- reductions -------------------------------------------------------------------- */

/* The number of blocks that reduce `size` elements, and how many elements a thread
 * takes. */
static size_t
call_cut(const call_plan *plan, size_t size, size_t *each)
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
call_reduction(const call_run *run, PyObject **out)
{
    const call_plan *plan = run->plan;
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
        call_launch launch = {.function = plan->stages[stage],
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
        rc = call_enqueue(run, &launch);
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

/* Read the keywords: 1 if this file understands them, 0 if not, -1 on error. */
static int
call_read_keywords(pcu_state *st, PyObject *const *values, PyObject *kwnames,
                   call_run *run)
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
        if (run->plan->result == NULL ||
            PyUnicode_CompareWithASCIIString(name, "allocator") != 0) {
            return 0;
        }
        if (values[i] != Py_None) {
            run->allocator = values[i];
        }
    }
    return 1;
}

/* Fill the arguments if every array certainly fits. Returns what call_put_values
 * returns. */
static int
call_read_arguments(kernel_call *self, PyObject *const *args, Py_ssize_t nargs,
                    call_run *run)
{
    const call_plan *plan = run->plan;
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
call_by_plan(kernel_call *self, const call_plan *plan, PyObject *const *args,
             Py_ssize_t nargs, PyObject *kwnames, PyObject **out)
{
    call_run run = {.plan = plan, .stream = pcu_stream_current()};
    int rc = call_read_keywords(self->st, args + nargs, kwnames, &run);
    if (rc > 0) {
        rc = call_read_arguments(self, args, nargs, &run);
    }
    if (rc <= 0) {
        return rc;
    }
    if (plan->result != NULL) {
        return call_reduction(&run, out);
    }
    rc = call_elementwise(&run);
    if (rc > 0) {
        *out = Py_NewRef(Py_None);
    }
    return rc;
}

/* 1 if the plan belongs to the context in which this call works. */
static int
call_plan_applies(kernel_call *self)
{
    if (self->plan == NULL) {
        return 0;
    }
    pcu_context *ctx = pcu_context_launch_borrow(self->st);
    if (ctx == NULL) {
        PyErr_Clear(); /* _run raises the error of this case */
        return 0;
    }
    return (PyObject *)ctx == self->plan->context;
}

static PyObject *
call_vectorcall(PyObject *op, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    kernel_call *self = (kernel_call *)op;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    PyObject *out = NULL;
    if (call_plan_applies(self)) {
        call_plan *plan = self->plan;
        plan->references++;
        int rc = call_by_plan(self, plan, args, nargs, kwnames, &out);
        call_plan_release(plan);
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
    const call_plan *plan = ((kernel_call *)op)->plan;
    Py_VISIT(Py_TYPE(op));
    if (plan != NULL) {
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
    call_plan *plan = self->plan;
    self->plan = NULL;
    call_plan_release(plan);
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
    {"_remember", (PyCFunction)(void (*)(void))call_remember,
     METH_FASTCALL | METH_KEYWORDS, call_remember_doc},
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
