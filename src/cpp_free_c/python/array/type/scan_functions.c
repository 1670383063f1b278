/* Cumulative operations: methods of GPUArray, and functions of pycuda.gpuarray. */

#include "python/array/type/members.h"

#include "python/array/element_type.h"
#include "python/array/layout.h"
#include "python/array/ops/scan.h"
#include "python/driver/memory/pool.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"

/* The arguments of all functions here. */
typedef struct {
    int op;
    PyObject *x; /* borrowed, as are all objects */
    PyObject *axis;
    PyObject *dtype;
    PyObject *out;
    int include_initial;
    CUstream stream;
} scan_args;

#define SCAN_X                                     \
    {                                              \
        "a", pcu_as_object, offsetof(scan_args, x) \
    }
#define SCAN_AXIS                                        \
    {                                                    \
        "axis", pcu_as_object, offsetof(scan_args, axis) \
    }
#define SCAN_DTYPE                                         \
    {                                                      \
        "dtype", pcu_as_object, offsetof(scan_args, dtype) \
    }
#define SCAN_OUT                                       \
    {                                                  \
        "out", pcu_as_object, offsetof(scan_args, out) \
    }
#define SCAN_STREAM                                          \
    {                                                        \
        "stream", pcu_as_stream, offsetof(scan_args, stream) \
    }

static int
scan_read_array(pcu_state *st, const char *name, PyObject *x)
{
    const char *hint = "";
    if (pcu_is_array(st, x)) {
        return pcu_gpuarray_ready((pcu_gpuarray *)x);
    }
    if (PyArray_Check(x)) {
        hint = "; copy it with to_gpu()";
    }
    PyErr_Format(PyExc_TypeError, "%s takes a GPUArray, not %s%s", name,
                 Py_TYPE(x)->tp_name, hint);
    return -1;
}

/* Read the argument axis; None becomes PCU_SCAN_FLAT. An array without axes takes 0 and
 * -1, as in NumPy. */
static int
scan_read_axis(const char *name, PyObject *value, int ndim, int *axis)
{
    unsigned long long bits = 0;
    *axis = PCU_SCAN_FLAT;
    if (value == Py_None) {
        return 0;
    }
    if (pcu_as_integer(value, INT_MIN, INT_MAX, &bits, "axis") < 0) {
        return -1;
    }
    int number = (int)bits;
    if (ndim == 0 && (number == 0 || number == -1)) {
        return 0;
    }
    *axis = pcu_place_axis(name, number, ndim);
    return *axis < 0 ? -1 : 0;
}

/* Scan an array whose other arguments were parsed. */
static PyObject *
scan_call(pcu_state *st, const char *name, const scan_args *a)
{
    pcu_scan_call call = {.op = a->op,
                          .name = name,
                          .include_initial = a->include_initial,
                          .out = a->out,
                          .stream = a->stream};
    if (scan_read_array(st, name, a->x) < 0) {
        return NULL;
    }
    call.x = (pcu_gpuarray *)a->x;
    if (scan_read_axis(name, a->axis, call.x->ndim, &call.axis) < 0 ||
        pcu_type_read(st, a->dtype, &call.dtype) < 0) {
        return NULL;
    }
    return pcu_scan(st, &call);
}

/* Parse the arguments of a method and call it. */
static PyObject *
scan_method(PyObject *op, const pcu_argtable *table, int number, PyObject *const *args,
            Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = ((pcu_gpuarray *)op)->st;
    scan_args a = {.op = number,
                   .x = op,
                   .axis = Py_None,
                   .dtype = Py_None,
                   .out = Py_None,
                   .stream = pcu_stream_current()};
    if (pcu_args_parse(st, table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    return scan_call(st, table->function, &a);
}

/* The same for a function of the module. */
static PyObject *
scan_function(PyObject *m, const pcu_argtable *table, int number, PyObject *const *args,
              Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    scan_args a = {.op = number,
                   .axis = Py_None,
                   .dtype = Py_None,
                   .out = Py_None,
                   .stream = pcu_stream_current()};
    if (pcu_args_parse(st, table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    return scan_call(st, table->function, &a);
}

/* The same for a function of the array API: only arrays with one axis need no axis. */
static PyObject *
scan_standard(PyObject *m, const pcu_argtable *table, int number, PyObject *const *args,
              Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    scan_args a = {.op = number,
                   .axis = Py_None,
                   .dtype = Py_None,
                   .out = Py_None,
                   .stream = pcu_stream_current()};
    if (pcu_args_parse(st, table, args, nargs, kwnames, &a) < 0 ||
        scan_read_array(st, table->function, a.x) < 0) {
        return NULL;
    }
    int ndim = ((pcu_gpuarray *)a.x)->ndim;
    if (ndim > 1 && a.axis == Py_None) {
        PyErr_Format(PyExc_ValueError,
                     "%s of an array with %d axes needs the argument axis",
                     table->function, ndim);
        return NULL;
    }
    return scan_call(st, table->function, &a);
}

/* -- methods ----------------------------------------------------------------------- */

PyDoc_STRVAR(scan_cumsum_method_doc,
             "cumsum($self, /, axis=None, dtype=None, out=None)\n--\n\n"
             "Return the sums up to each element, flat or along an axis.");

static PyObject *
scan_cumsum_method(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    static const pcu_argspec specs[] = {SCAN_AXIS, SCAN_DTYPE, SCAN_OUT};
    static const pcu_argtable table = {"cumsum", specs, 3, 0, 0};
    return scan_method(op, &table, PCU_OP_ADD, args, nargs, kwnames);
}

PyDoc_STRVAR(scan_cumprod_method_doc,
             "cumprod($self, /, axis=None, dtype=None, out=None)\n--\n\n"
             "Return the products up to each element, flat or along an axis.");

static PyObject *
scan_cumprod_method(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    static const pcu_argspec specs[] = {SCAN_AXIS, SCAN_DTYPE, SCAN_OUT};
    static const pcu_argtable table = {"cumprod", specs, 3, 0, 0};
    return scan_method(op, &table, PCU_OP_MULTIPLY, args, nargs, kwnames);
}

PyMethodDef pcu_scan_methods[] = {
    {"cumsum", (PyCFunction)(void (*)(void))scan_cumsum_method,
     METH_FASTCALL | METH_KEYWORDS, scan_cumsum_method_doc},
    {"cumprod", (PyCFunction)(void (*)(void))scan_cumprod_method,
     METH_FASTCALL | METH_KEYWORDS, scan_cumprod_method_doc},
    {NULL, NULL, 0, NULL},
};

/* -- functions --------------------------------------------------------------------- */

/* A function of NumPy: axis None scans all elements in C order. */
#define SCAN_FUNCTION(name, number, text)                                              \
    PyDoc_STRVAR(scan_##name##_doc, #name                                              \
                 "($module, /, a, axis=None, dtype=None, out=None, "                   \
                 "stream=None)\n--\n\n" text);                                         \
    static PyObject *scan_##name(PyObject *m, PyObject *const *args, Py_ssize_t nargs, \
                                 PyObject *kwnames)                                    \
    {                                                                                  \
        static const pcu_argspec specs[] = {SCAN_X, SCAN_AXIS, SCAN_DTYPE, SCAN_OUT,   \
                                            SCAN_STREAM};                              \
        static const pcu_argtable table = {#name, specs, 5, 1, 0};                     \
        return scan_function(m, &table, number, args, nargs, kwnames);                 \
    }

/* A function of the array API. */
#define SCAN_STANDARD(name, number, text)                                              \
    PyDoc_STRVAR(scan_##name##_doc, #name                                              \
                 "($module, a, /, axis=None, dtype=None, out=None, "                   \
                 "include_initial=False, stream=None)\n--\n\n" text);                  \
    static PyObject *scan_##name(PyObject *m, PyObject *const *args, Py_ssize_t nargs, \
                                 PyObject *kwnames)                                    \
    {                                                                                  \
        static const pcu_argspec specs[] = {                                           \
            SCAN_X,                                                                    \
            SCAN_AXIS,                                                                 \
            SCAN_DTYPE,                                                                \
            SCAN_OUT,                                                                  \
            {"include_initial", pcu_as_bool, offsetof(scan_args, include_initial)},    \
            SCAN_STREAM};                                                              \
        static const pcu_argtable table = {#name, specs, 6, 1, 1};                     \
        return scan_standard(m, &table, number, args, nargs, kwnames);                 \
    }

#define SCAN_RESULT                                                             \
    " The result has the array's shape, or one axis if axis is None. bool and " \
    "integers become the 64-bit integer of their sign unless dtype is given. "  \
    "out: an array of the result's shape. A generated kernel computes it."

SCAN_FUNCTION(cumsum, PCU_OP_ADD,
              "Return the sums up to each element, flat or along an axis.\n\n"
              "See numpy.cumsum." SCAN_RESULT)
SCAN_FUNCTION(cumprod, PCU_OP_MULTIPLY,
              "Return the products up to each element, flat or along an axis.\n\n"
              "See numpy.cumprod." SCAN_RESULT)
SCAN_FUNCTION(
    cummax, PCU_OP_MAXIMUM,
    "Return the largest of the elements up to each, flat or along an axis.\n\n"
    "NaN is larger than all numbers: see numpy.maximum.accumulate. The result "
    "has the array's dtype and shape, or one axis if axis is None. A generated "
    "kernel computes it.")
SCAN_FUNCTION(
    cummin, PCU_OP_MINIMUM,
    "Return the smallest of the elements up to each, flat or along an axis.\n\n"
    "NaN is smaller than all numbers: see numpy.minimum.accumulate. The result "
    "has the array's dtype and shape, or one axis if axis is None. A generated "
    "kernel computes it.")

#define SCAN_STANDARD_RESULT                                                        \
    " axis can be left out for an array with one axis. include_initial: each line " \
    "of the result begins with the value of no elements, so it is longer by one. "  \
    "bool and integers become the 64-bit integer of their sign unless dtype is "    \
    "given. A generated kernel computes it."

SCAN_STANDARD(cumulative_sum, PCU_OP_ADD,
              "Return the sums up to each element along an axis.\n\n"
              "A function of the array API standard." SCAN_STANDARD_RESULT)
SCAN_STANDARD(cumulative_prod, PCU_OP_MULTIPLY,
              "Return the products up to each element along an axis.\n\n"
              "A function of the array API standard." SCAN_STANDARD_RESULT)

PyDoc_STRVAR(scan_accumulate_doc,
             "_accumulate($module, op, a, /, axis=None, dtype=None, out=None, "
             "stream=None)\n--\n\n"
             "Enqueue a scan with the elementwise operation of that number; "
             "NotImplemented if it is not associative.");

static PyObject *
scan_accumulate(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"op", pcu_as_int, offsetof(scan_args, op)},
        SCAN_X,
        SCAN_AXIS,
        SCAN_DTYPE,
        SCAN_OUT,
        SCAN_STREAM,
    };
    static const pcu_argtable table = {"_accumulate", specs, 6, 2, 2};
    pcu_state *st = pcu_state_of_module(m);
    scan_args a = {.axis = Py_None,
                   .dtype = Py_None,
                   .out = Py_None,
                   .stream = pcu_stream_current()};
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (a.op < 0 || a.op >= PCU_OP_COUNT || !pcu_scan_has(a.op)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    return scan_call(st, pcu_ops[a.op].name, &a);
}

#define SCAN_ROW(name)                                       \
    {                                                        \
#        name, (PyCFunction)(void (*)(void))scan_##name,     \
            METH_FASTCALL | METH_KEYWORDS, scan_##name##_doc \
    }

PyMethodDef pcu_public_scan_functions[] = {
    SCAN_ROW(cumsum),      SCAN_ROW(cumprod),        SCAN_ROW(cummax),
    SCAN_ROW(cummin),      SCAN_ROW(cumulative_sum), SCAN_ROW(cumulative_prod),
    {NULL, NULL, 0, NULL},
};

PyMethodDef pcu_scan_functions[] = {
    {"_accumulate", (PyCFunction)(void (*)(void))scan_accumulate,
     METH_FASTCALL | METH_KEYWORDS, scan_accumulate_doc},
    {NULL, NULL, 0, NULL},
};
