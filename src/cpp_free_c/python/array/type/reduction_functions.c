/* Reductions as programs call them: methods of GPUArray, functions of pycuda.gpuarray,
 * and _reduce, which pycuda's modules call with the number of a reduction.
 *
 * An ordinary call is enqueued here. What the kernels do not know, such as `initial`
 * and `where`, is the work of one Python function: `general` in
 * functions/reductions.py. */

#include "python/array/type/members.h"

#include "python/array/element_type.h"
#include "python/array/ops/reduction.h"
#include "python/array/type/arguments.h"
#include "python/array/type/forwarding.h"

/* -- calls ------------------------------------------------------------------------- */

/* Enqueue the reduction of these inputs. */
static PyObject *
reduction_enqueue(pcu_state *st, int op, pcu_gpuarray *const inputs[2],
                  const pcu_array_args *a)
{
    pcu_reduction_call call = {.op = op,
                               .inputs = {inputs[0], inputs[1]},
                               .axis = a->axis,
                               .keepdims = a->keepdims,
                               .dtype = a->dtype,
                               .ddof = a->ddof,
                               .out = a->out,
                               .allocator = a->allocator,
                               .stream = a->stream};
    return pcu_reduce(st, &call);
}

/* Whether NaN has no place in the dtype or the output of a reduction that leaves out
 * NaN: the kernel would convert the elements before it looks. */
static bool
reduction_loses_nan(pcu_state *st, int op, const pcu_array_args *a)
{
    bool is_sum = op == PCU_REDUCE_NANSUM || op == PCU_REDUCE_NANPROD;
    bool is_mean =
        op == PCU_REDUCE_NANMEAN || op == PCU_REDUCE_NANVAR || op == PCU_REDUCE_NANSTD;
    int own = a->a->type;
    if (!is_sum && !is_mean) {
        return false;
    }
    if (!pcu_type_is_number(own) || pcu_type_is_exact(own)) {
        return false;
    }
    if (a->dtype != PCU_T_NONE) {
        return !pcu_type_casts(own, a->dtype);
    }
    return pcu_is_array(st, a->out) &&
           pcu_type_is_exact(((pcu_gpuarray *)a->out)->type);
}

/* Whether a kernel does what the arguments ask for. The difference of two bool values
 * is no bool. */
static bool
reduction_is_plain(pcu_state *st, int op, const pcu_array_args *a)
{
    if (op == PCU_REDUCE_PTP && a->a->type == PCU_T_BOOL) {
        return false;
    }
    bool is_spread = pcu_reductions[op].rule == PCU_REDUCE_TO_SPREAD;
    return !reduction_loses_nan(st, op, a) && a->initial == Py_None &&
           a->where == Py_True && !(is_spread && a->dtype != PCU_T_NONE);
}

/* Run a method, or a function where self is NULL. */
static PyObject *
reduction_call(pcu_state *st, PyObject *self, int op, const pcu_signature *signature,
               PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_array_args a = pcu_array_defaults();
    a.a = (pcu_gpuarray *)self;
    if (pcu_args_parse(st, signature, args, nargs, kwnames, &a) < 0 ||
        pcu_gpuarray_ready(a.a) < 0) {
        return NULL;
    }
    if (!reduction_is_plain(st, op, &a)) {
        return pcu_forward_by_name("pycuda._array.functions.reductions", "general",
                                   pcu_reductions[op].name, self, signature, args,
                                   nargs, kwnames);
    }
    pcu_gpuarray *const inputs[2] = {a.a};
    return reduction_enqueue(st, op, inputs, &a);
}

PCU_SIGNATURE(
    operation_reduce, pcu_array_words,
    "_reduce($module, op, inputs, /, axis=None, keepdims=False, dtype=None, out=None, "
    "stream=None, allocator=None, ddof=0)\n--\n\n"
    "Enqueue the reduction of that number on a tuple of GPUArrays.")

static PyObject *
operation_reduce(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    pcu_array_args a = pcu_array_defaults();
    pcu_gpuarray *inputs[2] = {NULL, NULL};
    if (pcu_args_parse(st, &operation_reduce_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (a.op < 0 || a.op >= PCU_REDUCE_COUNT || !PyTuple_Check(a.inputs) ||
        PyTuple_GET_SIZE(a.inputs) != pcu_reductions[a.op].inputs) {
        PyErr_SetString(PyExc_TypeError, "no reduction has this number and inputs");
        return NULL;
    }
    for (int i = 0; i < pcu_reductions[a.op].inputs; i++) {
        if (pcu_array_argument(st, pcu_reductions[a.op].name,
                               PyTuple_GET_ITEM(a.inputs, i), &inputs[i]) < 0) {
            return NULL;
        }
    }
    return reduction_enqueue(st, a.op, inputs, &a);
}

/* -- methods ----------------------------------------------------------------------- */

/* The method `name`: its number in tables/array_reductions.h, and its docstring. */
#define METHOD(name, NUMBER, text)                                               \
    PCU_SIGNATURE(method_##name, pcu_array_words, text)                          \
    static PyObject *method_##name(PyObject *self, PyObject *const *args,        \
                                   Py_ssize_t nargs, PyObject *kwnames)          \
    {                                                                            \
        return reduction_call(((pcu_gpuarray *)self)->st, self, NUMBER,          \
                              &method_##name##_signature, args, nargs, kwnames); \
    }

METHOD(sum, PCU_REDUCE_SUM,
       "sum($self, /, axis=None, dtype=None, out=None, keepdims=False, "
       "initial=None, where=True)\n--\n\n"
       "Return the sum along all axes or some; integers are summed in 64 bits.")
METHOD(prod, PCU_REDUCE_PROD,
       "prod($self, /, axis=None, dtype=None, out=None, keepdims=False, "
       "initial=None, where=True)\n--\n\n"
       "Return the product along all axes or some.")
METHOD(min, PCU_REDUCE_MIN,
       "min($self, /, axis=None, out=None, keepdims=False, initial=None, "
       "where=True)\n--\n\n"
       "Return the smallest element along all axes or some.")
METHOD(max, PCU_REDUCE_MAX,
       "max($self, /, axis=None, out=None, keepdims=False, initial=None, "
       "where=True)\n--\n\n"
       "Return the largest element along all axes or some.")
METHOD(argmin, PCU_REDUCE_ARGMIN,
       "argmin($self, /, axis=None, out=None, *, keepdims=False)\n--\n\n"
       "Return the index of the first smallest element.")
METHOD(argmax, PCU_REDUCE_ARGMAX,
       "argmax($self, /, axis=None, out=None, *, keepdims=False)\n--\n\n"
       "Return the index of the first largest element.")
METHOD(mean, PCU_REDUCE_MEAN,
       "mean($self, /, axis=None, dtype=None, out=None, keepdims=False, *, "
       "where=True)\n--\n\n"
       "Return the mean along all axes or some.")
METHOD(var, PCU_REDUCE_VAR,
       "var($self, /, axis=None, dtype=None, out=None, ddof=0, "
       "keepdims=False, *, where=True)\n--\n\n"
       "Return the variance along all axes or some, in one pass over the "
       "elements.")
METHOD(std, PCU_REDUCE_STD,
       "std($self, /, axis=None, dtype=None, out=None, ddof=0, "
       "keepdims=False, *, where=True)\n--\n\n"
       "Return the standard deviation along all axes or some.")
METHOD(ptp, PCU_REDUCE_PTP,
       "ptp($self, /, axis=None, out=None, keepdims=False)\n--\n\n"
       "Return the difference of the largest and the smallest element.")
METHOD(any, PCU_REDUCE_ANY,
       "any($self, /, stream=None, allocator=None, axis=None, keepdims=False, "
       "out=None, *, initial=None, where=True)\n--\n\n"
       "Return whether any element is true: a bool array, without axes unless "
       "axis is given.")
METHOD(all, PCU_REDUCE_ALL,
       "all($self, /, stream=None, allocator=None, axis=None, keepdims=False, "
       "out=None, *, initial=None, where=True)\n--\n\n"
       "Return whether all elements are true: a bool array, without axes "
       "unless axis is given.")

#define METHOD_ROW(name) PCU_METHOD(#name, method_##name)

PyMethodDef pcu_reduction_methods[] = {
    METHOD_ROW(sum),       METHOD_ROW(prod),   METHOD_ROW(min),  METHOD_ROW(max),
    METHOD_ROW(argmin),    METHOD_ROW(argmax), METHOD_ROW(mean), METHOD_ROW(var),
    METHOD_ROW(std),       METHOD_ROW(ptp),    METHOD_ROW(any),  METHOD_ROW(all),
    {NULL, NULL, 0, NULL},
};

/* -- functions of pycuda.gpuarray -------------------------------------------------- */

#define REDUCTION_AXES                                                               \
    "The reduction is along all axes or along ``axis``, a number or a tuple. With\n" \
    "``keepdims`` these axes stay with length 1. The result is always an array,\n"   \
    "which may have no axes. ``where`` is a mask of the elements that count.\n"      \
    "``initial`` is one more element."
#define REDUCTION_SPREAD                                                           \
    "The mean squared distance from the mean, with ``count - ddof`` as divisor,\n" \
    "along all axes or along ``axis``. One pass over the elements; numbers far\n"  \
    "from 0 lose no digits. Integers give float64, complex numbers the dtype of\n" \
    "their parts. ``where`` is a mask of the elements that count."
#define REDUCTION_SEARCH                                                             \
    "The search is in the array in C order or along ``axis``. With ``keepdims``\n"   \
    "the axes stay with length 1. The result is an array of int64, which may have\n" \
    "no axes. NaN is less and greater than all numbers."
#define NAN_REDUCTION_AXES                                                           \
    "Along all axes or along ``axis``, a number or a tuple; with ``keepdims``\n"     \
    "these axes stay with length 1. The result is always an array, which may have\n" \
    "no axes. ``where`` is a mask of the elements that count."
#define NAN_REDUCTION_SEARCH                                                       \
    "The index is -1 where all elements are NaN: the call does not wait to find\n" \
    "out. ValueError for an array without elements."

#define FUNCTION(name, NUMBER, text)                                               \
    PCU_SIGNATURE(function_##name, pcu_array_words, text)                          \
    static PyObject *function_##name(PyObject *m, PyObject *const *args,           \
                                     Py_ssize_t nargs, PyObject *kwnames)          \
    {                                                                              \
        return reduction_call(pcu_state_of_module(m), NULL, NUMBER,                \
                              &function_##name##_signature, args, nargs, kwnames); \
    }

FUNCTION(sum, PCU_REDUCE_SUM,
         "sum($module, a, dtype=None, stream=None, allocator=None, *, axis=None, "
         "keepdims=False, out=None, initial=None, where=True)\n--\n\n"
         "Return the sum. Small integers are added in 64 bits.\n\n" REDUCTION_AXES)
FUNCTION(prod, PCU_REDUCE_PROD,
         "prod($module, a, dtype=None, stream=None, allocator=None, *, axis=None, "
         "keepdims=False, out=None, initial=None, where=True)\n--\n\n"
         "Return the product.\n\n" REDUCTION_AXES)
FUNCTION(min, PCU_REDUCE_MIN,
         "min($module, a, stream=None, *, axis=None, keepdims=False, out=None, "
         "allocator=None, initial=None, where=True)\n--\n\n"
         "Return the least element; ValueError if none.\n\n" REDUCTION_AXES)
FUNCTION(max, PCU_REDUCE_MAX,
         "max($module, a, stream=None, *, axis=None, keepdims=False, out=None, "
         "allocator=None, initial=None, where=True)\n--\n\n"
         "Return the greatest element; ValueError if none.\n\n" REDUCTION_AXES)
FUNCTION(argmin, PCU_REDUCE_ARGMIN,
         "argmin($module, a, stream=None, *, axis=None, keepdims=False, out=None, "
         "allocator=None)\n--\n\n"
         "Return the index of the first least element.\n\n" REDUCTION_SEARCH)
FUNCTION(argmax, PCU_REDUCE_ARGMAX,
         "argmax($module, a, stream=None, *, axis=None, keepdims=False, out=None, "
         "allocator=None)\n--\n\n"
         "Return the index of the first greatest element.\n\n" REDUCTION_SEARCH)
FUNCTION(
    count_nonzero, PCU_REDUCE_COUNT_NONZERO,
    "count_nonzero($module, a, stream=None, *, axis=None, keepdims=False, out=None, "
    "allocator=None)\n--\n\n"
    "Return the number of elements that are not 0, along all axes or along "
    "``axis``.")
FUNCTION(any, PCU_REDUCE_ANY,
         "any($module, a, stream=None, allocator=None, axis=None, keepdims=False, "
         "out=None, *, initial=None, where=True)\n--\n\n"
         "Return whether any element is true.\n\n" REDUCTION_AXES)
FUNCTION(all, PCU_REDUCE_ALL,
         "all($module, a, stream=None, allocator=None, axis=None, keepdims=False, "
         "out=None, *, initial=None, where=True)\n--\n\n"
         "Return whether all elements are true.\n\n" REDUCTION_AXES)
FUNCTION(mean, PCU_REDUCE_MEAN,
         "mean($module, a, dtype=None, stream=None, allocator=None, *, axis=None, "
         "keepdims=False, out=None, where=True)\n--\n\n"
         "Return the mean, along all axes or along ``axis``.\n\n"
         "``where`` is a mask of the elements that count.")
FUNCTION(var, PCU_REDUCE_VAR,
         "var($module, a, axis=None, ddof=0, keepdims=False, *, out=None, stream=None, "
         "allocator=None, where=True)\n--\n\n"
         "Return the variance.\n\n" REDUCTION_SPREAD)
FUNCTION(
    std, PCU_REDUCE_STD,
    "std($module, a, axis=None, ddof=0, keepdims=False, *, out=None, stream=None, "
    "allocator=None, where=True)\n--\n\n"
    "Return the standard deviation: the root of the variance.\n\n" REDUCTION_SPREAD)

/* NumPy's order of arguments. */
FUNCTION(nansum, PCU_REDUCE_NANSUM,
         "nansum($module, a, axis=None, dtype=None, out=None, keepdims=False, "
         "initial=None, where=True, *, stream=None, allocator=None)\n--\n\n"
         "Return the sum of the elements that are not NaN, 0 if "
         "none.\n\n" NAN_REDUCTION_AXES)
FUNCTION(nanprod, PCU_REDUCE_NANPROD,
         "nanprod($module, a, axis=None, dtype=None, out=None, keepdims=False, "
         "initial=None, where=True, *, stream=None, allocator=None)\n--\n\n"
         "Return the product of the elements that are not NaN, 1 if "
         "none.\n\n" NAN_REDUCTION_AXES)
FUNCTION(nanmin, PCU_REDUCE_NANMIN,
         "nanmin($module, a, axis=None, out=None, keepdims=False, initial=None, "
         "where=True, *, stream=None, allocator=None)\n--\n\n"
         "Return the least element that is not NaN, NaN if none is.\n\n"
         "ValueError for an array without elements.\n\n" NAN_REDUCTION_AXES)
FUNCTION(nanmax, PCU_REDUCE_NANMAX,
         "nanmax($module, a, axis=None, out=None, keepdims=False, initial=None, "
         "where=True, *, stream=None, allocator=None)\n--\n\n"
         "Return the greatest element that is not NaN, NaN if none is.\n\n"
         "ValueError for an array without elements.\n\n" NAN_REDUCTION_AXES)
FUNCTION(
    nanargmin, PCU_REDUCE_NANARGMIN,
    "nanargmin($module, a, axis=None, out=None, *, keepdims=False, stream=None, "
    "allocator=None)\n--\n\n"
    "Return the index of the first least element, NaN aside.\n\n" NAN_REDUCTION_SEARCH)
FUNCTION(nanargmax, PCU_REDUCE_NANARGMAX,
         "nanargmax($module, a, axis=None, out=None, *, keepdims=False, stream=None, "
         "allocator=None)\n--\n\n"
         "Return the index of the first greatest element, NaN "
         "aside.\n\n" NAN_REDUCTION_SEARCH)
FUNCTION(nanmean, PCU_REDUCE_NANMEAN,
         "nanmean($module, a, axis=None, dtype=None, out=None, keepdims=False, *, "
         "where=True, stream=None, allocator=None)\n--\n\n"
         "Return the mean of the elements that are not NaN, NaN if none "
         "is.\n\n" NAN_REDUCTION_AXES)
FUNCTION(nanvar, PCU_REDUCE_NANVAR,
         "nanvar($module, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, "
         "*, where=True, stream=None, allocator=None)\n--\n\n"
         "Return the variance of the elements that are not NaN.\n\n"
         "The divisor is their number less ``ddof``; NaN where that is not "
         "positive.\n\n" NAN_REDUCTION_AXES)
FUNCTION(nanstd, PCU_REDUCE_NANSTD,
         "nanstd($module, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, "
         "*, where=True, stream=None, allocator=None)\n--\n\n"
         "Return the standard deviation of the elements that are not NaN.\n\n"
         "The divisor is their number less ``ddof``; NaN where that is not "
         "positive.\n\n" NAN_REDUCTION_AXES)
FUNCTION(ptp, PCU_REDUCE_PTP,
         "ptp($module, a, axis=None, out=None, *, keepdims=False, stream=None, "
         "allocator=None)\n--\n\n"
         "Return the difference of the greatest and the least element, in one "
         "pass.\n\n"
         "Along all axes or along ``axis``. Differences of integers wrap "
         "around, as NumPy's do.\n"
         "ValueError for an array without elements.")

#define FUNCTION_ROW(name) PCU_METHOD(#name, function_##name)

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
    PCU_METHOD("_reduce", operation_reduce),
    {NULL, NULL, 0, NULL},
};
