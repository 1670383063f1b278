/* The function by which pycuda's Python modules call elementwise operations: by their
 * numbers in _array_ops. */

#include "python/array/type/members.h"

#include "python/array/element_type.h"
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

static const pcu_word elementwise_words[] = {
    {"op", pcu_as_int, offsetof(elementwise_args, op)},
    {"inputs", pcu_as_object, offsetof(elementwise_args, inputs)},
    {"out", pcu_as_object, offsetof(elementwise_args, out)},
    {"dtype", pcu_as_object, offsetof(elementwise_args, dtype)},
    {"stream", pcu_as_object, offsetof(elementwise_args, stream)},
    {"allocator", pcu_as_allocator, offsetof(elementwise_args, allocator)},
};

PCU_SIGNATURE(operation_elementwise, elementwise_words,
              "_elementwise($module, op, inputs, /, out=None, dtype=None, stream=None, "
              "allocator=None)\n--\n\n"
              "Enqueue the elementwise operation of that number on a tuple of inputs.")

static PyObject *
operation_elementwise(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    elementwise_args a = {
        .out = Py_None, .dtype = Py_None, .stream = Py_None, .allocator = Py_None};
    pcu_ufunc_options options = {.outs = {NULL, NULL}, .dtype = PCU_T_NONE};
    if (pcu_args_parse(st, &operation_elementwise_signature, args, nargs, kwnames, &a) <
        0) {
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

PyMethodDef pcu_operation_functions[] = {
    {"_elementwise", (PyCFunction)(void (*)(void))operation_elementwise,
     METH_FASTCALL | METH_KEYWORDS, operation_elementwise_doc},
    {NULL, NULL, 0, NULL},
};
