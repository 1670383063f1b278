/* The functions by which pycuda's Python modules call operations and reductions: by
 * their numbers in _array_ops and _array_reductions. */

#include "python/array/type/members.h"

#include "python/array/element_type.h"
#include "python/array/ops/reduction.h"
#include "python/array/ops/ufunc.h"
#include "python/driver/memory/pool.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"

/* -- elementwise ------------------------------------------------------------------- */

typedef struct {
    int op;
    PyObject *inputs; /* borrowed, as are all objects */
    PyObject *out;
    PyObject *dtype;
    PyObject *stream;
    PyObject *allocator;
} elementwise_args;

static int
elementwise_read_options(pcu_state *st, const elementwise_args *a,
                         pcu_ufunc_options *options)
{
    options->stream = pcu_stream_current();
    if (a->allocator != Py_None) {
        options->allocator = a->allocator;
    }
    if (pcu_ufunc_read_outs(a->out, pcu_ops[a->op].name, options->outs) < 0 ||
        pcu_type_read(st, a->dtype, &options->dtype) < 0) {
        return -1;
    }
    if (a->stream == Py_None) {
        return 0;
    }
    return pcu_as_stream(st, a->stream, &options->stream, "stream");
}

PyDoc_STRVAR(operation_elementwise_doc,
             "_elementwise($module, op, inputs, /, out=None, dtype=None, stream=None, "
             "allocator=None)\n--\n\n"
             "Enqueue the elementwise operation of that number on a tuple of inputs.");

static PyObject *
operation_elementwise(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"op", pcu_as_int, offsetof(elementwise_args, op)},
        {"inputs", pcu_as_object, offsetof(elementwise_args, inputs)},
        {"out", pcu_as_object, offsetof(elementwise_args, out)},
        {"dtype", pcu_as_object, offsetof(elementwise_args, dtype)},
        {"stream", pcu_as_object, offsetof(elementwise_args, stream)},
        {"allocator", pcu_as_allocator, offsetof(elementwise_args, allocator)},
    };
    static const pcu_argtable table = {"_elementwise", specs, 6, 2, 2};
    pcu_state *st = pcu_state_of_module(m);
    elementwise_args a = {
        .out = Py_None, .dtype = Py_None, .stream = Py_None, .allocator = Py_None};
    pcu_ufunc_options options = {.outs = {NULL, NULL}, .dtype = PCU_T_NONE};
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (a.op < 0 || a.op >= PCU_OP_COUNT || !PyTuple_Check(a.inputs) ||
        PyTuple_GET_SIZE(a.inputs) != pcu_ops[a.op].inputs) {
        PyErr_SetString(PyExc_TypeError, "no operation has this number and inputs");
        return NULL;
    }
    if (elementwise_read_options(st, &a, &options) < 0) {
        return NULL;
    }
    return pcu_ufunc_require(st, a.op, ((PyTupleObject *)a.inputs)->ob_item, &options);
}

/* -- reductions -------------------------------------------------------------------- */

typedef struct {
    int op;
    PyObject *inputs; /* borrowed, as are all objects */
    PyObject *axis;
    int keepdims;
    PyObject *dtype;
    PyObject *out;
    CUstream stream;
    PyObject *allocator;
    PyObject *ddof;
} reduce_args;

/* The inputs of the reduction as initialised arrays. */
static int
reduce_read_inputs(pcu_state *st, const reduce_args *a, pcu_reduction_call *call)
{
    const pcu_reduction_row *row = &pcu_reductions[a->op];
    for (int i = 0; i < row->inputs; i++) {
        PyObject *input = PyTuple_GET_ITEM(a->inputs, i);
        if (!pcu_is_array(st, input)) {
            const char *hint = "";
            if (PyArray_Check(input)) {
                hint = "; copy it with to_gpu()";
            }
            PyErr_Format(PyExc_TypeError, "%s takes a GPUArray, not %s%s", row->name,
                         Py_TYPE(input)->tp_name, hint);
            return -1;
        }
        call->inputs[i] = (pcu_gpuarray *)input;
        if (pcu_gpuarray_ready(call->inputs[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
reduce_read_ddof(PyObject *ddof, double *out)
{
    if (ddof == NULL) {
        return 0;
    }
    *out = PyFloat_AsDouble(ddof);
    if (PyErr_Occurred()) {
        return -1;
    }
    return 0;
}

PyDoc_STRVAR(
    operation_reduce_doc,
    "_reduce($module, op, inputs, /, axis=None, keepdims=False, dtype=None, out=None, "
    "stream=None, allocator=None, ddof=0)\n--\n\n"
    "Enqueue the reduction of that number on a tuple of GPUArrays.");

static PyObject *
operation_reduce(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"op", pcu_as_int, offsetof(reduce_args, op)},
        {"inputs", pcu_as_object, offsetof(reduce_args, inputs)},
        {"axis", pcu_as_object, offsetof(reduce_args, axis)},
        {"keepdims", pcu_as_bool, offsetof(reduce_args, keepdims)},
        {"dtype", pcu_as_object, offsetof(reduce_args, dtype)},
        {"out", pcu_as_object, offsetof(reduce_args, out)},
        {"stream", pcu_as_stream, offsetof(reduce_args, stream)},
        {"allocator", pcu_as_allocator, offsetof(reduce_args, allocator)},
        {"ddof", pcu_as_object, offsetof(reduce_args, ddof)},
    };
    static const pcu_argtable table = {"_reduce", specs, 9, 2, 2};
    pcu_state *st = pcu_state_of_module(m);
    reduce_args a = {.axis = Py_None,
                     .dtype = Py_None,
                     .out = Py_None,
                     .stream = pcu_stream_current(),
                     .allocator = Py_None};
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (a.op < 0 || a.op >= PCU_REDUCE_COUNT || !PyTuple_Check(a.inputs) ||
        PyTuple_GET_SIZE(a.inputs) != pcu_reductions[a.op].inputs) {
        PyErr_SetString(PyExc_TypeError, "no reduction has this number and inputs");
        return NULL;
    }
    pcu_reduction_call call = {.op = a.op,
                               .axis = a.axis,
                               .keepdims = a.keepdims,
                               .out = a.out,
                               .allocator = a.allocator,
                               .stream = a.stream};
    if (reduce_read_inputs(st, &a, &call) < 0 ||
        pcu_type_read(st, a.dtype, &call.dtype) < 0 ||
        reduce_read_ddof(a.ddof, &call.ddof) < 0) {
        return NULL;
    }
    return pcu_reduce(st, &call);
}

PyMethodDef pcu_operation_functions[] = {
    {"_elementwise", (PyCFunction)(void (*)(void))operation_elementwise,
     METH_FASTCALL | METH_KEYWORDS, operation_elementwise_doc},
    {"_reduce", (PyCFunction)(void (*)(void))operation_reduce,
     METH_FASTCALL | METH_KEYWORDS, operation_reduce_doc},
    {NULL, NULL, 0, NULL},
};
