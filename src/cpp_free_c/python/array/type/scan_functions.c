/* Cumulative operations: methods of GPUArray, and functions of pycuda.gpuarray. */

#include "python/array/type/members.h"

#include "python/array/element_type.h"
#include "python/array/layout.h"
#include "python/array/ops/scan.h"
#include "python/array/type/arguments.h"
#include "python/support/convert.h"
#include "python/support/docs.h"

/* -- sentences of docstrings ------------------------------------------------------- */

#define DOC_CUMULATIVE_DTYPE                                                   \
    "dtype : dtype_like, optional\n"                                           \
    "    Dtype of the result. The default is that of the elements; bool and\n" \
    "    integers become the integer of 64 bits of their sign.\n"

/* The sections of a function of the array API. */
#define DOC_STANDARD_SCAN                                                \
    "\nParameters\n----------\n" PCU_DOC_NUMBERS                         \
    "axis : int or None, default None\n"                                 \
    "    Axis along which to compute. It can be left out for an array\n" \
    "    with one axis.\n" DOC_CUMULATIVE_DTYPE PCU_DOC_OUT              \
    "include_initial : bool, optional\n"                                 \
    "    If true, each line of the result begins with the value of no\n" \
    "    elements, so it is longer by one.\n" PCU_DOC_STREAM             \
    "\nReturns\n-------\n" PCU_DOC_RESULT                                \
    "\nRaises\n------\n"                                                 \
    "ValueError\n"                                                       \
    "    If there is no such axis, or if it is missing.\n"

#define DOC_SAME_SHAPE                                                         \
    "GPUArray\n"                                                               \
    "    The result: ``out``, or a new array of the same shape, or with one\n" \
    "    axis if ``axis`` is None.\n"

/* Read the argument axis; None becomes PCU_SCAN_FLAT. An array without axes takes 0 and
 * -1, as in NumPy. */
static int
scan_read_axis(const char *name, PyObject *value, int ndim, int *axis)
{
    int number = 0;
    *axis = PCU_SCAN_FLAT;
    if (value == Py_None) {
        return 0;
    }
    if (pcu_as_int(NULL, value, &number, "axis") < 0) {
        return -1;
    }
    if (ndim == 0 && (number == 0 || number == -1)) {
        return 0;
    }
    *axis = number;
    return pcu_axis_place(name, axis, ndim);
}

/* Scan an array whose other arguments were parsed. */
static PyObject *
scan_call(pcu_state *st, const char *name, const pcu_array_args *a)
{
    pcu_scan_call call = {.op = a->op,
                          .name = name,
                          .x = a->a,
                          .dtype = a->dtype,
                          .include_initial = a->include_initial,
                          .out = a->out,
                          .stream = a->stream};
    if (scan_read_axis(name, a->axis, call.x->ndim, &call.axis) < 0) {
        return NULL;
    }
    return pcu_scan(st, &call);
}

/* Parse the arguments of a method, or of a function where self is NULL, and call it. */
static PyObject *
scan_run(pcu_state *st, PyObject *self, const pcu_signature *signature, int number,
         PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_array_args a = pcu_array_defaults();
    a.op = number;
    a.a = (pcu_gpuarray *)self;
    if (pcu_args_parse(st, signature, args, nargs, kwnames, &a) < 0 ||
        pcu_gpuarray_ready(a.a) < 0) {
        return NULL;
    }
    return scan_call(st, signature->function, &a);
}

/* The same for a function of the array API: only arrays with one axis need no axis. */
static PyObject *
scan_standard(PyObject *m, const pcu_signature *signature, int number,
              PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    pcu_array_args a = pcu_array_defaults();
    a.op = number;
    if (pcu_args_parse(st, signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (a.a->ndim > 1 && a.axis == Py_None) {
        PyObject *shape = pcu_shape_tuple_new(a.a->ndim, a.a->shape);
        if (shape != NULL) {
            PyErr_Format(PyExc_ValueError, "%s() of an array of shape %S needs an axis",
                         signature->function, shape);
            Py_DECREF(shape);
        }
        return NULL;
    }
    return scan_call(st, signature->function, &a);
}

/* -- methods ----------------------------------------------------------------------- */

PCU_SIGNATURE(scan_cumsum_method, pcu_array_words,
              "cumsum($self, /, axis=None, dtype=None, out=None)\n"
              "--\n\n"
              "Return the sums up to each element.\n"
              "\nParameters\n----------\n" PCU_DOC_AXIS_OR_FLAT DOC_CUMULATIVE_DTYPE
                  PCU_DOC_OUT "\nReturns\n-------\n" DOC_SAME_SHAPE
              "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
              "\nSee Also\n--------\n"
              "pycuda.gpuarray.cumsum : The function, which takes a stream.\n"
              "\nNotes\n-----\n" PCU_DOC_NO_WAIT
              "\nExamples\n--------\n"
              ">>> x = gpuarray.to_gpu(np.array([3.0, 1, 4]))\n"
              ">>> x.cumsum()\n"
              "array([3., 4., 8.])")

static PyObject *
scan_cumsum_method(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    return scan_run(((pcu_gpuarray *)op)->st, op, &scan_cumsum_method_signature,
                    PCU_OP_ADD, args, nargs, kwnames);
}

PCU_SIGNATURE(scan_cumprod_method, pcu_array_words,
              "cumprod($self, /, axis=None, dtype=None, out=None)\n"
              "--\n\n"
              "Return the products up to each element.\n"
              "\nParameters\n----------\n" PCU_DOC_AXIS_OR_FLAT DOC_CUMULATIVE_DTYPE
                  PCU_DOC_OUT "\nReturns\n-------\n" DOC_SAME_SHAPE
              "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
              "\nSee Also\n--------\n"
              "pycuda.gpuarray.cumprod : The function, which takes a stream.\n"
              "\nNotes\n-----\n" PCU_DOC_NO_WAIT
              "\nExamples\n--------\n"
              ">>> x = gpuarray.to_gpu(np.array([3.0, 1, 4]))\n"
              ">>> x.cumprod()\n"
              "array([ 3.,  3., 12.])")

static PyObject *
scan_cumprod_method(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    return scan_run(((pcu_gpuarray *)op)->st, op, &scan_cumprod_method_signature,
                    PCU_OP_MULTIPLY, args, nargs, kwnames);
}

PyMethodDef pcu_scan_methods[] = {
    PCU_METHOD("cumsum", scan_cumsum_method),
    PCU_METHOD("cumprod", scan_cumprod_method),
    {NULL, NULL, 0, NULL},
};

/* -- functions --------------------------------------------------------------------- */

/* A function of NumPy: axis None scans all elements in C order. */
#define SCAN_FUNCTION(name, number, text)                                              \
    PCU_SIGNATURE(scan_##name, pcu_array_words,                                        \
                  #name                                                                \
                  "($module, /, a, axis=None, dtype=None, out=None, "                  \
                  "stream=None)\n--\n\n" text)                                         \
    static PyObject *scan_##name(PyObject *m, PyObject *const *args, Py_ssize_t nargs, \
                                 PyObject *kwnames)                                    \
    {                                                                                  \
        return scan_run(pcu_state_of_module(m), NULL, &scan_##name##_signature,        \
                        number, args, nargs, kwnames);                                 \
    }

/* A function of the array API. */
#define SCAN_STANDARD(name, number, text)                                              \
    PCU_SIGNATURE(scan_##name, pcu_array_words,                                        \
                  #name                                                                \
                  "($module, a, /, axis=None, dtype=None, out=None, "                  \
                  "include_initial=False, stream=None)\n--\n\n" text)                  \
    static PyObject *scan_##name(PyObject *m, PyObject *const *args, Py_ssize_t nargs, \
                                 PyObject *kwnames)                                    \
    {                                                                                  \
        return scan_standard(m, &scan_##name##_signature, number, args, nargs,         \
                             kwnames);                                                 \
    }

SCAN_FUNCTION(cumsum, PCU_OP_ADD,
              "Return the sums up to each element.\n"
              "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_AXIS_OR_FLAT
                  DOC_CUMULATIVE_DTYPE PCU_DOC_OUT PCU_DOC_STREAM
              "\nReturns\n-------\n" DOC_SAME_SHAPE
              "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
              "\nSee Also\n--------\n"
              "GPUArray.cumsum : The method.\n"
              "\nNotes\n-----\n" PCU_DOC_NO_WAIT
              "\nExamples\n--------\n"
              ">>> x = gpuarray.to_gpu(np.array([3.0, 1, 4]))\n"
              ">>> gpuarray.cumsum(x)\n"
              "array([3., 4., 8.])")
SCAN_FUNCTION(cumprod, PCU_OP_MULTIPLY,
              "Return the products up to each element.\n"
              "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_AXIS_OR_FLAT
                  DOC_CUMULATIVE_DTYPE PCU_DOC_OUT PCU_DOC_STREAM
              "\nReturns\n-------\n" DOC_SAME_SHAPE
              "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
              "\nSee Also\n--------\n"
              "GPUArray.cumprod : The method.\n"
              "\nNotes\n-----\n" PCU_DOC_NO_WAIT
              "\nExamples\n--------\n"
              ">>> x = gpuarray.to_gpu(np.array([3.0, 1, 4]))\n"
              ">>> gpuarray.cumprod(x)\n"
              "array([ 3.,  3., 12.])")
SCAN_FUNCTION(
    cummax, PCU_OP_MAXIMUM,
    "Return the greatest of the elements up to each.\n"
    "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_AXIS_OR_FLAT
    "dtype : dtype_like, optional\n"
    "    Dtype of the result. The default is that of the elements.\n" PCU_DOC_OUT
        PCU_DOC_STREAM
    "\nReturns\n-------\n"
    "GPUArray\n"
    "    The result: ``out``, or a new array of the same shape, or with\n"
    "    one axis if ``axis`` is None. NaN is greater than all numbers.\n"
    "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
    "\nSee Also\n--------\n"
    "max : The greatest of all.\n"
    "\nNotes\n-----\n" PCU_DOC_NO_WAIT
    "\nExamples\n--------\n"
    ">>> x = gpuarray.to_gpu(np.array([3.0, 1, 4]))\n"
    ">>> gpuarray.cummax(x)\n"
    "array([3., 3., 4.])")
SCAN_FUNCTION(
    cummin, PCU_OP_MINIMUM,
    "Return the least of the elements up to each.\n"
    "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_AXIS_OR_FLAT
    "dtype : dtype_like, optional\n"
    "    Dtype of the result. The default is that of the elements.\n" PCU_DOC_OUT
        PCU_DOC_STREAM
    "\nReturns\n-------\n"
    "GPUArray\n"
    "    The result: ``out``, or a new array of the same shape, or with\n"
    "    one axis if ``axis`` is None. NaN is less than all numbers.\n"
    "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
    "\nSee Also\n--------\n"
    "min : The least of all.\n"
    "\nNotes\n-----\n" PCU_DOC_NO_WAIT
    "\nExamples\n--------\n"
    ">>> x = gpuarray.to_gpu(np.array([3.0, 1, 4]))\n"
    ">>> gpuarray.cummin(x)\n"
    "array([3., 1., 1.])")

SCAN_STANDARD(cumulative_sum, PCU_OP_ADD,
              "Return the sums up to each element along an axis.\n" DOC_STANDARD_SCAN
              "\nSee Also\n--------\n"
              "cumsum : NumPy's function.\n"
              "\nNotes\n-----\n" PCU_DOC_NO_WAIT
              "\nExamples\n--------\n"
              ">>> x = gpuarray.to_gpu(np.array([3.0, 1, 4]))\n"
              ">>> gpuarray.cumulative_sum(x, include_initial=True)\n"
              "array([0., 3., 4., 8.])")
SCAN_STANDARD(
    cumulative_prod, PCU_OP_MULTIPLY,
    "Return the products up to each element along an axis.\n" DOC_STANDARD_SCAN
    "\nSee Also\n--------\n"
    "cumprod : NumPy's function.\n"
    "\nNotes\n-----\n" PCU_DOC_NO_WAIT
    "\nExamples\n--------\n"
    ">>> x = gpuarray.to_gpu(np.array([3.0, 1, 4]))\n"
    ">>> gpuarray.cumulative_prod(x, include_initial=True)\n"
    "array([ 1.,  3.,  3., 12.])")

PCU_SIGNATURE(scan_accumulate, pcu_array_words,
              "_accumulate($module, op, a, /, axis=None, dtype=None, out=None, "
              "stream=None)\n--\n\n"
              "Enqueue a scan with the elementwise operation of that number; "
              "NotImplemented if it is not associative.")

static PyObject *
scan_accumulate(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    pcu_array_args a = pcu_array_defaults();
    if (pcu_args_parse(st, &scan_accumulate_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (a.op < 0 || a.op >= PCU_OP_COUNT || !pcu_scan_has(a.op)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    return scan_call(st, pcu_ops[a.op].name, &a);
}

#define SCAN_ROW(name) PCU_METHOD(#name, scan_##name)

PyMethodDef pcu_public_scan_functions[] = {
    SCAN_ROW(cumsum),      SCAN_ROW(cumprod),        SCAN_ROW(cummax),
    SCAN_ROW(cummin),      SCAN_ROW(cumulative_sum), SCAN_ROW(cumulative_prod),
    {NULL, NULL, 0, NULL},
};

PyMethodDef pcu_scan_functions[] = {
    PCU_METHOD("_accumulate", scan_accumulate),
    {NULL, NULL, 0, NULL},
};
