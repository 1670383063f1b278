/* The function by which pycuda's Python modules call elementwise operations: by their
 * numbers in _array_ops. */

#include "python/array/type/members.h"

#include "python/array/element_type.h"
#include "python/array/ops/ufunc.h"
#include "python/array/type/arguments.h"

/* -- elementwise ------------------------------------------------------------------- */

PCU_SIGNATURE(operation_elementwise, pcu_array_words,
              "_elementwise($module, op, inputs, /, out=None, dtype=None, stream=None, "
              "allocator=None)\n--\n\n"
              "Enqueue the elementwise operation of that number on a tuple of inputs.")

static PyObject *
operation_elementwise(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    pcu_array_args a = pcu_array_defaults();
    pcu_ufunc_options options = {.outs = {NULL, NULL}};
    if (pcu_args_parse(st, &operation_elementwise_signature, args, nargs, kwnames, &a) <
        0) {
        return NULL;
    }
    if (a.op < 0 || a.op >= PCU_OP_COUNT || !PyTuple_Check(a.inputs) ||
        PyTuple_GET_SIZE(a.inputs) != pcu_ops[a.op].inputs) {
        PyErr_SetString(PyExc_TypeError, "no operation has this number and inputs");
        return NULL;
    }
    options.dtype = a.dtype;
    options.stream = a.stream;
    if (a.allocator != Py_None) {
        options.allocator = a.allocator;
    }
    if (pcu_ufunc_read_outs(a.out, pcu_ops[a.op].name, options.outs) < 0) {
        return NULL;
    }
    return pcu_ufunc_require(st, a.op, ((PyTupleObject *)a.inputs)->ob_item, &options);
}

PyMethodDef pcu_operation_functions[] = {
    PCU_METHOD("_elementwise", operation_elementwise),
    {NULL, NULL, 0, NULL},
};
