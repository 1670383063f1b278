/* Reductions as programs call them: methods of GPUArray, functions of pycuda.gpuarray,
 * and _reduce, which pycuda's modules call with the number of a reduction.
 *
 * An ordinary call is enqueued here. What the kernels do not know, such as `initial`
 * and `where`, is the work of one Python function: `general` in
 * functions/reductions.py. */

#include "python/array/type/members.h"

#include "python/array/element_type.h"
#include "python/array/ops/reduction.h"
#include "python/array/type/forwarding.h"
#include "python/driver/memory/pool.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"

/* -- calls ------------------------------------------------------------------------- */

/* The arguments of every signature; objects are borrowed. */
typedef struct {
    PyObject *a;
    PyObject *axis;
    PyObject *dtype;
    PyObject *out;
    PyObject *initial;
    PyObject *where;
    PyObject *allocator;
    PyObject *ddof;
    int keepdims;
    CUstream stream;
    int op;           /* of _reduce */
    PyObject *inputs; /* of _reduce */
} reduction_args;

#define AT(field) offsetof(reduction_args, field)
static const pcu_word reduction_words[] = {
    {"a", pcu_as_object, AT(a)},
    {"axis", pcu_as_object, AT(axis)},
    {"dtype", pcu_as_object, AT(dtype)},
    {"out", pcu_as_object, AT(out)},
    {"initial", pcu_as_object, AT(initial)},
    {"where", pcu_as_object, AT(where)},
    {"allocator", pcu_as_allocator, AT(allocator)},
    {"ddof", pcu_as_object, AT(ddof)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"stream", pcu_as_stream, AT(stream)},
    {"op", pcu_as_int, AT(op)},
    {"inputs", pcu_as_object, AT(inputs)},
};

static void
reduction_args_init(reduction_args *a)
{
    *a = (reduction_args){.axis = Py_None,
                          .dtype = Py_None,
                          .out = Py_None,
                          .initial = Py_None,
                          .where = Py_True,
                          .allocator = Py_None,
                          .stream = pcu_stream_current()};
}

/* An input as an initialised array. */
static int
reduction_read_input(pcu_state *st, int op, PyObject *input, pcu_gpuarray **array)
{
    if (!pcu_is_array(st, input)) {
        const char *hint = "";
        if (PyArray_Check(input)) {
            hint = "; copy it with to_gpu()";
        }
        PyErr_Format(PyExc_TypeError, "%s takes a GPUArray, not %s%s",
                     pcu_reductions[op].name, Py_TYPE(input)->tp_name, hint);
        return -1;
    }
    *array = (pcu_gpuarray *)input;
    return pcu_gpuarray_ready(*array);
}

static int
reduction_read_ddof(PyObject *ddof, double *out)
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

/* Enqueue the reduction of these inputs. */
static PyObject *
reduction_enqueue(pcu_state *st, int op, PyObject *const *inputs,
                  const reduction_args *a)
{
    pcu_reduction_call call = {.op = op,
                               .axis = a->axis,
                               .keepdims = a->keepdims,
                               .out = a->out,
                               .allocator = a->allocator,
                               .stream = a->stream};
    for (int i = 0; i < pcu_reductions[op].inputs; i++) {
        if (reduction_read_input(st, op, inputs[i], &call.inputs[i]) < 0) {
            return NULL;
        }
    }
    if (pcu_type_read(st, a->dtype, &call.dtype) < 0 ||
        reduction_read_ddof(a->ddof, &call.ddof) < 0) {
        return NULL;
    }
    return pcu_reduce(st, &call);
}

/* 1 if NaN has no place in the dtype or the output of a reduction that leaves out NaN:
 * the kernel would convert the elements before it looks. -1 for a wrong dtype. */
static int
reduction_loses_nan(pcu_state *st, int op, PyObject *input, const reduction_args *a)
{
    int type = PCU_T_NONE;
    int is_sum = op == PCU_REDUCE_NANSUM || op == PCU_REDUCE_NANPROD;
    int is_mean =
        op == PCU_REDUCE_NANMEAN || op == PCU_REDUCE_NANVAR || op == PCU_REDUCE_NANSTD;
    if ((!is_sum && !is_mean) || !pcu_is_array(st, input)) {
        return 0;
    }
    int own = ((pcu_gpuarray *)input)->type;
    if (!pcu_type_is_number(own) || pcu_type_is_exact(own)) {
        return 0;
    }
    if (a->dtype != Py_None) {
        if (pcu_type_read(st, a->dtype, &type) < 0) {
            return -1;
        }
        return !pcu_type_casts(own, type);
    }
    return pcu_is_array(st, a->out) &&
           pcu_type_is_exact(((pcu_gpuarray *)a->out)->type);
}

/* 1 if a kernel does what the arguments ask for, -1 on error. The difference of two
 * bool values is no bool. */
static int
reduction_is_plain(pcu_state *st, int op, PyObject *input, const reduction_args *a)
{
    if (op == PCU_REDUCE_PTP && pcu_is_array(st, input) &&
        ((pcu_gpuarray *)input)->type == PCU_T_BOOL) {
        return 0;
    }
    int is_spread = pcu_reductions[op].rule == PCU_REDUCE_TO_SPREAD;
    int loses_nan = reduction_loses_nan(st, op, input, a);
    if (loses_nan != 0) {
        return -(loses_nan < 0);
    }
    return a->initial == Py_None && a->where == Py_True &&
           !(is_spread && a->dtype != Py_None);
}

/* Run a method, or a function where self is NULL. */
static PyObject *
reduction_call(pcu_state *st, PyObject *self, int op, const pcu_signature *signature,
               PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    reduction_args a;
    reduction_args_init(&a);
    a.a = self;
    if (pcu_args_parse(st, signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    int plain = reduction_is_plain(st, op, a.a, &a);
    if (plain < 0) {
        return NULL;
    }
    if (!plain) {
        return pcu_forward_by_name("pycuda._array.functions.reductions", "general",
                                   pcu_reductions[op].name, self, signature, args,
                                   nargs, kwnames);
    }
    return reduction_enqueue(st, op, &a.a, &a);
}

PCU_SIGNATURE(
    operation_reduce, reduction_words,
    "_reduce($module, op, inputs, /, axis=None, keepdims=False, dtype=None, out=None, "
    "stream=None, allocator=None, ddof=0)\n--\n\n"
    "Enqueue the reduction of that number on a tuple of GPUArrays.")

static PyObject *
operation_reduce(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    reduction_args a;
    reduction_args_init(&a);
    if (pcu_args_parse(st, &operation_reduce_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (a.op < 0 || a.op >= PCU_REDUCE_COUNT || !PyTuple_Check(a.inputs) ||
        PyTuple_GET_SIZE(a.inputs) != pcu_reductions[a.op].inputs) {
        PyErr_SetString(PyExc_TypeError, "no reduction has this number and inputs");
        return NULL;
    }
    return reduction_enqueue(st, a.op, ((PyTupleObject *)a.inputs)->ob_item, &a);
}

/* -- methods ----------------------------------------------------------------------- */

/* The method `name`: its number in tables/array_reductions.h, and its docstring. */
#define METHOD(name, NUMBER, text)                                               \
    PCU_SIGNATURE(method_##name, reduction_words, text)                          \
    static PyObject *method_##name(PyObject *self, PyObject *const *args,        \
                                   Py_ssize_t nargs, PyObject *kwnames)          \
    {                                                                            \
        return reduction_call(((pcu_gpuarray *)self)->st, self, NUMBER,          \
                              &method_##name##_signature, args, nargs, kwnames); \
    }

METHOD(sum, PCU_REDUCE_SUM,
       "sum($self, /, axis=None, dtype=None, out=None, keepdims=False, "
       "initial=None, where=True)\n"
       "--\n"
       "\n"
       "Return the sum along all axes or some; integers are summed in 64 bits.")
METHOD(prod, PCU_REDUCE_PROD,
       "prod($self, /, axis=None, dtype=None, out=None, keepdims=False, "
       "initial=None, where=True)\n"
       "--\n"
       "\n"
       "Return the product along all axes or some.")
METHOD(min, PCU_REDUCE_MIN,
       "min($self, /, axis=None, out=None, keepdims=False, initial=None, "
       "where=True)\n"
       "--\n"
       "\n"
       "Return the smallest element along all axes or some.")
METHOD(max, PCU_REDUCE_MAX,
       "max($self, /, axis=None, out=None, keepdims=False, initial=None, "
       "where=True)\n"
       "--\n"
       "\n"
       "Return the largest element along all axes or some.")
METHOD(argmin, PCU_REDUCE_ARGMIN,
       "argmin($self, /, axis=None, out=None, *, keepdims=False)\n"
       "--\n"
       "\n"
       "Return the index of the first smallest element.")
METHOD(argmax, PCU_REDUCE_ARGMAX,
       "argmax($self, /, axis=None, out=None, *, keepdims=False)\n"
       "--\n"
       "\n"
       "Return the index of the first largest element.")
METHOD(mean, PCU_REDUCE_MEAN,
       "mean($self, /, axis=None, dtype=None, out=None, keepdims=False, *, "
       "where=True)\n"
       "--\n"
       "\n"
       "Return the mean along all axes or some.")
METHOD(var, PCU_REDUCE_VAR,
       "var($self, /, axis=None, dtype=None, out=None, ddof=0, "
       "keepdims=False, *, where=True)\n"
       "--\n"
       "\n"
       "Return the variance along all axes or some, in one pass over the "
       "elements.")
METHOD(std, PCU_REDUCE_STD,
       "std($self, /, axis=None, dtype=None, out=None, ddof=0, "
       "keepdims=False, *, where=True)\n"
       "--\n"
       "\n"
       "Return the standard deviation along all axes or some.")
METHOD(ptp, PCU_REDUCE_PTP,
       "ptp($self, /, axis=None, out=None, keepdims=False)\n--\n\n"
       "Return the difference of the largest and the smallest element.")
METHOD(any, PCU_REDUCE_ANY,
       "any($self, /, stream=None, allocator=None, axis=None, keepdims=False, "
       "out=None, *, initial=None, where=True)\n"
       "--\n"
       "\n"
       "Return whether any element is true: a bool array, without axes unless "
       "axis is given.")
METHOD(all, PCU_REDUCE_ALL,
       "all($self, /, stream=None, allocator=None, axis=None, keepdims=False, "
       "out=None, *, initial=None, where=True)\n"
       "--\n"
       "\n"
       "Return whether all elements are true: a bool array, without axes "
       "unless axis is given.")

#define METHOD_ROW(name)                                       \
    {                                                          \
#        name, (PyCFunction)(void (*)(void))method_##name,     \
            METH_FASTCALL | METH_KEYWORDS, method_##name##_doc \
    }

PyMethodDef pcu_reduction_methods[] = {
    METHOD_ROW(sum),       METHOD_ROW(prod),   METHOD_ROW(min),  METHOD_ROW(max),
    METHOD_ROW(argmin),    METHOD_ROW(argmax), METHOD_ROW(mean), METHOD_ROW(var),
    METHOD_ROW(std),       METHOD_ROW(ptp),    METHOD_ROW(any),  METHOD_ROW(all),
    {NULL, NULL, 0, NULL},
};

/* -- functions of pycuda.gpuarray -------------------------------------------------- */

#define FUNCTION(name, NUMBER, text)                                               \
    PCU_SIGNATURE(function_##name, reduction_words, text)                          \
    static PyObject *function_##name(PyObject *m, PyObject *const *args,           \
                                     Py_ssize_t nargs, PyObject *kwnames)          \
    {                                                                              \
        return reduction_call(pcu_state_of_module(m), NULL, NUMBER,                \
                              &function_##name##_signature, args, nargs, kwnames); \
    }

FUNCTION(sum, PCU_REDUCE_SUM,
         "sum($module, a, dtype=None, stream=None, allocator=None, *, axis=None, "
         "keepdims=False, out=None, initial=None, where=True)\n"
         "--\n"
         "\n"
         "Return the sum. Small integers are added in 64 bits.\n"
         "\n"
         "The reduction is along all axes or along ``axis``, a number or a "
         "tuple. With\n"
         "``keepdims`` these axes stay with length 1. The result is always an "
         "array, which may\n"
         "have no axes. ``where`` is a mask of the elements that count. "
         "``initial`` is one\n"
         "more element.")
FUNCTION(prod, PCU_REDUCE_PROD,
         "prod($module, a, dtype=None, stream=None, allocator=None, *, axis=None, "
         "keepdims=False, out=None, initial=None, where=True)\n"
         "--\n"
         "\n"
         "Return the product.\n"
         "\n"
         "The reduction is along all axes or along ``axis``, a number or a "
         "tuple. With\n"
         "``keepdims`` these axes stay with length 1. The result is always an "
         "array, which may\n"
         "have no axes. ``where`` is a mask of the elements that count. "
         "``initial`` is one\n"
         "more element.")
FUNCTION(min, PCU_REDUCE_MIN,
         "min($module, a, stream=None, *, axis=None, keepdims=False, out=None, "
         "allocator=None, initial=None, where=True)\n"
         "--\n"
         "\n"
         "Return the least element; ValueError if none.\n"
         "\n"
         "The reduction is along all axes or along ``axis``, a number or a "
         "tuple. With\n"
         "``keepdims`` these axes stay with length 1. The result is always an "
         "array, which may\n"
         "have no axes. ``where`` is a mask of the elements that count. "
         "``initial`` is one\n"
         "more element.")
FUNCTION(max, PCU_REDUCE_MAX,
         "max($module, a, stream=None, *, axis=None, keepdims=False, out=None, "
         "allocator=None, initial=None, where=True)\n"
         "--\n"
         "\n"
         "Return the greatest element; ValueError if none.\n"
         "\n"
         "The reduction is along all axes or along ``axis``, a number or a "
         "tuple. With\n"
         "``keepdims`` these axes stay with length 1. The result is always an "
         "array, which may\n"
         "have no axes. ``where`` is a mask of the elements that count. "
         "``initial`` is one\n"
         "more element.")
FUNCTION(argmin, PCU_REDUCE_ARGMIN,
         "argmin($module, a, stream=None, *, axis=None, keepdims=False, out=None, "
         "allocator=None)\n"
         "--\n"
         "\n"
         "Return the index of the first least element.\n"
         "\n"
         "The search is in the array in C order or along ``axis``. With "
         "``keepdims`` the axes\n"
         "stay with length 1. The result is an array of int64, which may have "
         "no axes. NaN is\n"
         "less and greater than all numbers.")
FUNCTION(argmax, PCU_REDUCE_ARGMAX,
         "argmax($module, a, stream=None, *, axis=None, keepdims=False, out=None, "
         "allocator=None)\n"
         "--\n"
         "\n"
         "Return the index of the first greatest element.\n"
         "\n"
         "The search is in the array in C order or along ``axis``. With "
         "``keepdims`` the axes\n"
         "stay with length 1. The result is an array of int64, which may have "
         "no axes. NaN is\n"
         "less and greater than all numbers.")
FUNCTION(
    count_nonzero, PCU_REDUCE_COUNT_NONZERO,
    "count_nonzero($module, a, stream=None, *, axis=None, keepdims=False, out=None, "
    "allocator=None)\n"
    "--\n"
    "\n"
    "Return the number of elements that are not 0, along all axes or along "
    "``axis``.")
FUNCTION(any, PCU_REDUCE_ANY,
         "any($module, a, stream=None, allocator=None, axis=None, keepdims=False, "
         "out=None, *, initial=None, where=True)\n"
         "--\n"
         "\n"
         "Return whether any element is true.\n"
         "\n"
         "The reduction is along all axes or along ``axis``, a number or a "
         "tuple. With\n"
         "``keepdims`` these axes stay with length 1. The result is always an "
         "array, which may\n"
         "have no axes. ``where`` is a mask of the elements that count. "
         "``initial`` is one\n"
         "more element.")
FUNCTION(all, PCU_REDUCE_ALL,
         "all($module, a, stream=None, allocator=None, axis=None, keepdims=False, "
         "out=None, *, initial=None, where=True)\n"
         "--\n"
         "\n"
         "Return whether all elements are true.\n"
         "\n"
         "The reduction is along all axes or along ``axis``, a number or a "
         "tuple. With\n"
         "``keepdims`` these axes stay with length 1. The result is always an "
         "array, which may\n"
         "have no axes. ``where`` is a mask of the elements that count. "
         "``initial`` is one\n"
         "more element.")
FUNCTION(mean, PCU_REDUCE_MEAN,
         "mean($module, a, dtype=None, stream=None, allocator=None, *, axis=None, "
         "keepdims=False, out=None, where=True)\n"
         "--\n"
         "\n"
         "Return the mean, along all axes or along ``axis``.\n"
         "\n"
         "``where`` is a mask of the elements that count.")
FUNCTION(var, PCU_REDUCE_VAR,
         "var($module, a, axis=None, ddof=0, keepdims=False, *, out=None, stream=None, "
         "allocator=None, where=True)\n"
         "--\n"
         "\n"
         "Return the variance.\n"
         "\n"
         "The mean squared distance from the mean, with ``count - ddof`` as "
         "divisor, along all\n"
         "axes or along ``axis``. One pass over the elements; numbers far from "
         "0 lose no\n"
         "digits. Integers give float64, complex numbers the dtype of their "
         "parts. ``where`` is\n"
         "a mask of the elements that count.")
FUNCTION(std, PCU_REDUCE_STD,
         "std($module, a, axis=None, ddof=0, keepdims=False, *, out=None, stream=None, "
         "allocator=None, where=True)\n"
         "--\n"
         "\n"
         "Return the standard deviation: the root of the variance.\n"
         "\n"
         "The mean squared distance from the mean, with ``count - ddof`` as "
         "divisor, along all\n"
         "axes or along ``axis``. One pass over the elements; numbers far from "
         "0 lose no\n"
         "digits. Integers give float64, complex numbers the dtype of their "
         "parts. ``where`` is\n"
         "a mask of the elements that count.")

/* NumPy's order of arguments. */
FUNCTION(nansum, PCU_REDUCE_NANSUM,
         "nansum($module, a, axis=None, dtype=None, out=None, keepdims=False, "
         "initial=None, where=True, *, stream=None, allocator=None)\n"
         "--\n"
         "\n"
         "Return the sum of the elements that are not NaN, 0 if none.\n"
         "\n"
         "Along all axes or along ``axis``, a number or a tuple; with "
         "``keepdims`` these axes\n"
         "stay with length 1. The result is always an array, which may have no "
         "axes. ``where``\n"
         "is a mask of the elements that count.")
FUNCTION(nanprod, PCU_REDUCE_NANPROD,
         "nanprod($module, a, axis=None, dtype=None, out=None, keepdims=False, "
         "initial=None, where=True, *, stream=None, allocator=None)\n"
         "--\n"
         "\n"
         "Return the product of the elements that are not NaN, 1 if none.\n"
         "\n"
         "Along all axes or along ``axis``, a number or a tuple; with "
         "``keepdims`` these axes\n"
         "stay with length 1. The result is always an array, which may have no "
         "axes. ``where``\n"
         "is a mask of the elements that count.")
FUNCTION(nanmin, PCU_REDUCE_NANMIN,
         "nanmin($module, a, axis=None, out=None, keepdims=False, initial=None, "
         "where=True, *, stream=None, allocator=None)\n"
         "--\n"
         "\n"
         "Return the least element that is not NaN, NaN if none is.\n"
         "\n"
         "ValueError for an array without elements.\n"
         "\n"
         "Along all axes or along ``axis``, a number or a tuple; with "
         "``keepdims`` these axes\n"
         "stay with length 1. The result is always an array, which may have no "
         "axes. ``where``\n"
         "is a mask of the elements that count.")
FUNCTION(nanmax, PCU_REDUCE_NANMAX,
         "nanmax($module, a, axis=None, out=None, keepdims=False, initial=None, "
         "where=True, *, stream=None, allocator=None)\n"
         "--\n"
         "\n"
         "Return the greatest element that is not NaN, NaN if none is.\n"
         "\n"
         "ValueError for an array without elements.\n"
         "\n"
         "Along all axes or along ``axis``, a number or a tuple; with "
         "``keepdims`` these axes\n"
         "stay with length 1. The result is always an array, which may have no "
         "axes. ``where``\n"
         "is a mask of the elements that count.")
FUNCTION(nanargmin, PCU_REDUCE_NANARGMIN,
         "nanargmin($module, a, axis=None, out=None, *, keepdims=False, "
         "stream=None, allocator=None)\n"
         "--\n"
         "\n"
         "Return the index of the first least element, NaN aside.\n"
         "\n"
         "The index is -1 where all elements are NaN: the call does not wait to "
         "find out.\n"
         "ValueError for an array without elements.")
FUNCTION(nanargmax, PCU_REDUCE_NANARGMAX,
         "nanargmax($module, a, axis=None, out=None, *, keepdims=False, "
         "stream=None, allocator=None)\n"
         "--\n"
         "\n"
         "Return the index of the first greatest element, NaN aside.\n"
         "\n"
         "The index is -1 where all elements are NaN: the call does not wait to "
         "find out.\n"
         "ValueError for an array without elements.")
FUNCTION(nanmean, PCU_REDUCE_NANMEAN,
         "nanmean($module, a, axis=None, dtype=None, out=None, keepdims=False, "
         "*, where=True, stream=None, allocator=None)\n"
         "--\n"
         "\n"
         "Return the mean of the elements that are not NaN, NaN if none is.\n"
         "\n"
         "Along all axes or along ``axis``, a number or a tuple; with "
         "``keepdims`` these axes\n"
         "stay with length 1. The result is always an array, which may have no "
         "axes. ``where``\n"
         "is a mask of the elements that count.")
FUNCTION(nanvar, PCU_REDUCE_NANVAR,
         "nanvar($module, a, axis=None, dtype=None, out=None, ddof=0, "
         "keepdims=False, *, where=True, stream=None, allocator=None)\n"
         "--\n"
         "\n"
         "Return the variance of the elements that are not NaN.\n"
         "\n"
         "The divisor is their number less ``ddof``; NaN where that is not "
         "positive.\n"
         "\n"
         "Along all axes or along ``axis``, a number or a tuple; with "
         "``keepdims`` these axes\n"
         "stay with length 1. The result is always an array, which may have no "
         "axes. ``where``\n"
         "is a mask of the elements that count.")
FUNCTION(nanstd, PCU_REDUCE_NANSTD,
         "nanstd($module, a, axis=None, dtype=None, out=None, ddof=0, "
         "keepdims=False, *, where=True, stream=None, allocator=None)\n"
         "--\n"
         "\n"
         "Return the standard deviation of the elements that are not NaN.\n"
         "\n"
         "The divisor is their number less ``ddof``; NaN where that is not "
         "positive.\n"
         "\n"
         "Along all axes or along ``axis``, a number or a tuple; with "
         "``keepdims`` these axes\n"
         "stay with length 1. The result is always an array, which may have no "
         "axes. ``where``\n"
         "is a mask of the elements that count.")
FUNCTION(ptp, PCU_REDUCE_PTP,
         "ptp($module, a, axis=None, out=None, *, keepdims=False, stream=None, "
         "allocator=None)\n"
         "--\n"
         "\n"
         "Return the difference of the greatest and the least element, in one "
         "pass.\n"
         "\n"
         "Along all axes or along ``axis``. Differences of integers wrap "
         "around, as NumPy's do.\n"
         "ValueError for an array without elements.")

#define FUNCTION_ROW(name)                                       \
    {                                                            \
#        name, (PyCFunction)(void (*)(void))function_##name,     \
            METH_FASTCALL | METH_KEYWORDS, function_##name##_doc \
    }

PyMethodDef pcu_public_reduction_functions[] = {
    FUNCTION_ROW(sum),           FUNCTION_ROW(prod),      FUNCTION_ROW(min),
    FUNCTION_ROW(max),           FUNCTION_ROW(argmin),    FUNCTION_ROW(argmax),
    FUNCTION_ROW(count_nonzero), FUNCTION_ROW(any),       FUNCTION_ROW(all),
    FUNCTION_ROW(mean),          FUNCTION_ROW(var),       FUNCTION_ROW(std),
    FUNCTION_ROW(nansum),        FUNCTION_ROW(nanprod),   FUNCTION_ROW(nanmin),
    FUNCTION_ROW(nanmax),        FUNCTION_ROW(nanargmin), FUNCTION_ROW(nanargmax),
    FUNCTION_ROW(nanmean),       FUNCTION_ROW(nanvar),    FUNCTION_ROW(nanstd),
    FUNCTION_ROW(ptp),           {NULL, NULL, 0, NULL},
};

PyMethodDef pcu_reduction_functions[] = {
    {"_reduce", (PyCFunction)(void (*)(void))operation_reduce,
     METH_FASTCALL | METH_KEYWORDS, operation_reduce_doc},
    {NULL, NULL, 0, NULL},
};
