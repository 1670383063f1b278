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
#include "python/support/docs.h"

/* -- sentences of docstrings ------------------------------------------------------- */

#define DOC_SUM_DTYPE                                                          \
    "dtype : dtype_like, optional\n"                                           \
    "    Dtype of the result. The default is that of the elements; bool and\n" \
    "    small integers become integers of 64 bits.\n"

#define DOC_MEAN_DTYPE                                                            \
    "dtype : dtype_like, optional\n"                                              \
    "    Dtype of the result. The default is that of the elements, float64 for\n" \
    "    integers.\n"

#define DOC_SPREAD_DTYPE                                                    \
    "dtype : dtype_like, optional\n"                                        \
    "    Dtype in which to compute. The default is that of the elements,\n" \
    "    float64 for integers.\n"

#define DOC_REDUCED \
    "GPUArray\n"    \
    "    The result: ``out``, or a new array, which may have no axes.\n"

#define DOC_REDUCED_OR_NAN                                                         \
    "GPUArray\n"                                                                   \
    "    The result: ``out``, or a new array, which may have no axes. It is NaN\n" \
    "    where an element is.\n"

#define DOC_REDUCED_TO_NAN                                                         \
    "GPUArray\n"                                                                   \
    "    The result: ``out``, or a new array, which may have no axes. It is NaN\n" \
    "    if there is no such element.\n"

#define DOC_REDUCED_INDEX                                                         \
    "GPUArray\n"                                                                  \
    "    The result: ``out``, or a new array of int64, which may have no axes.\n" \
    "    NaN is less and greater than all numbers.\n"

#define DOC_REDUCED_REAL                                                           \
    "GPUArray\n"                                                                   \
    "    The result: ``out``, or a new array of real numbers, which may have no\n" \
    "    axes. Integers give float64.\n"

/* The first sections of nanvar and nanstd. */
#define DOC_NAN_SPREAD                                                         \
    "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_AXES DOC_SPREAD_DTYPE \
        PCU_DOC_OUT PCU_DOC_DDOF PCU_DOC_KEEPDIMS PCU_DOC_WHERE PCU_DOC_STREAM \
            PCU_DOC_ALLOCATOR_OF_ARRAY                                         \
    "\nReturns\n-------\n"                                                     \
    "GPUArray\n"                                                               \
    "    The result: ``out``, or a new array of real numbers, which may\n"     \
    "    have no axes. Integers give float64. It is NaN where the\n"           \
    "    divisor is not positive.\n"

#define DOC_REDUCED_BOOL \
    "GPUArray\n"         \
    "    The result: ``out``, or a new array of bool, which may have no axes.\n"

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
       "sum($self, /, axis=None, dtype=None, out=None, keepdims=False, initial=None, "
       "where=True)\n"
       "--\n\n"
       "Return the sum of the elements.\n"
       "\nParameters\n----------\n" PCU_DOC_AXES DOC_SUM_DTYPE PCU_DOC_OUT
           PCU_DOC_KEEPDIMS PCU_DOC_INITIAL PCU_DOC_WHERE
       "\nReturns\n-------\n" DOC_REDUCED "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
       "\nSee Also\n--------\n"
       "pycuda.gpuarray.sum : The function, which takes a stream.\n"
       "\nNotes\n-----\n" PCU_DOC_NO_WAIT
       "\nExamples\n--------\n"
       ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
       ">>> print(x.sum())\n"
       "10.0")
METHOD(prod, PCU_REDUCE_PROD,
       "prod($self, /, axis=None, dtype=None, out=None, keepdims=False, initial=None,"
       " where=True)\n"
       "--\n\n"
       "Return the product of the elements.\n"
       "\nParameters\n----------\n" PCU_DOC_AXES DOC_SUM_DTYPE PCU_DOC_OUT
           PCU_DOC_KEEPDIMS PCU_DOC_INITIAL PCU_DOC_WHERE
       "\nReturns\n-------\n" DOC_REDUCED "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
       "\nSee Also\n--------\n"
       "pycuda.gpuarray.prod : The function, which takes a stream.\n"
       "\nNotes\n-----\n" PCU_DOC_NO_WAIT
       "\nExamples\n--------\n"
       ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
       ">>> print(x.prod())\n"
       "24.0")
METHOD(min, PCU_REDUCE_MIN,
       "min($self, /, axis=None, out=None, keepdims=False, initial=None, where=True)\n"
       "--\n\n"
       "Return the least element.\n"
       "\nParameters\n----------\n" PCU_DOC_AXES PCU_DOC_OUT PCU_DOC_KEEPDIMS
           PCU_DOC_INITIAL PCU_DOC_WHERE "\nReturns\n-------\n" DOC_REDUCED_OR_NAN
       "\nRaises\n------\n" PCU_DOC_NO_SUCH_ELEMENT
       "\nSee Also\n--------\n"
       "pycuda.gpuarray.min : The function, which takes a stream.\n"
       "\nNotes\n-----\n" PCU_DOC_NO_WAIT
       "\nExamples\n--------\n"
       ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
       ">>> print(x.min())\n"
       "1.0")
METHOD(max, PCU_REDUCE_MAX,
       "max($self, /, axis=None, out=None, keepdims=False, initial=None, where=True)\n"
       "--\n\n"
       "Return the greatest element.\n"
       "\nParameters\n----------\n" PCU_DOC_AXES PCU_DOC_OUT PCU_DOC_KEEPDIMS
           PCU_DOC_INITIAL PCU_DOC_WHERE "\nReturns\n-------\n" DOC_REDUCED_OR_NAN
       "\nRaises\n------\n" PCU_DOC_NO_SUCH_ELEMENT
       "\nSee Also\n--------\n"
       "pycuda.gpuarray.max : The function, which takes a stream.\n"
       "\nNotes\n-----\n" PCU_DOC_NO_WAIT
       "\nExamples\n--------\n"
       ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
       ">>> print(x.max())\n"
       "4.0")
METHOD(argmin, PCU_REDUCE_ARGMIN,
       "argmin($self, /, axis=None, out=None, *, keepdims=False)\n"
       "--\n\n"
       "Return the index of the first least element.\n"
       "\nParameters\n----------\n" PCU_DOC_AXIS_OR_FLAT PCU_DOC_OUT PCU_DOC_KEEPDIMS
       "\nReturns\n-------\n" DOC_REDUCED_INDEX
       "\nRaises\n------\n" PCU_DOC_NO_SUCH_ELEMENT
       "\nSee Also\n--------\n"
       "pycuda.gpuarray.argmin : The function, which takes a stream.\n"
       "\nNotes\n-----\n" PCU_DOC_NO_WAIT
       "\nExamples\n--------\n"
       ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
       ">>> print(x.argmin())\n"
       "0")
METHOD(argmax, PCU_REDUCE_ARGMAX,
       "argmax($self, /, axis=None, out=None, *, keepdims=False)\n"
       "--\n\n"
       "Return the index of the first greatest element.\n"
       "\nParameters\n----------\n" PCU_DOC_AXIS_OR_FLAT PCU_DOC_OUT PCU_DOC_KEEPDIMS
       "\nReturns\n-------\n" DOC_REDUCED_INDEX
       "\nRaises\n------\n" PCU_DOC_NO_SUCH_ELEMENT
       "\nSee Also\n--------\n"
       "pycuda.gpuarray.argmax : The function, which takes a stream.\n"
       "\nNotes\n-----\n" PCU_DOC_NO_WAIT
       "\nExamples\n--------\n"
       ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
       ">>> print(x.argmax())\n"
       "3")
METHOD(
    mean, PCU_REDUCE_MEAN,
    "mean($self, /, axis=None, dtype=None, out=None, keepdims=False, *, where=True)\n"
    "--\n\n"
    "Return the mean of the elements.\n"
    "\nParameters\n----------\n" PCU_DOC_AXES DOC_MEAN_DTYPE PCU_DOC_OUT
        PCU_DOC_KEEPDIMS PCU_DOC_WHERE "\nReturns\n-------\n" DOC_REDUCED
    "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
    "\nSee Also\n--------\n"
    "pycuda.gpuarray.mean : The function, which takes a stream.\n"
    "\nNotes\n-----\n" PCU_DOC_NO_WAIT
    "\nExamples\n--------\n"
    ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
    ">>> print(x.mean())\n"
    "2.5")
METHOD(var, PCU_REDUCE_VAR,
       "var($self, /, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, "
       "where=True)\n"
       "--\n\n"
       "Return the variance: the mean squared distance from the mean.\n"
       "\nParameters\n----------\n" PCU_DOC_AXES DOC_SPREAD_DTYPE PCU_DOC_OUT
           PCU_DOC_DDOF PCU_DOC_KEEPDIMS PCU_DOC_WHERE
       "\nReturns\n-------\n" DOC_REDUCED_REAL "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
       "\nSee Also\n--------\n"
       "pycuda.gpuarray.var : The function, which takes a stream.\n"
       "\nNotes\n-----\n"
       "The call does not wait. One pass over the elements computes the\n"
       "result; numbers far from 0 lose no digits.\n"
       "\nExamples\n--------\n"
       ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
       ">>> print(x.var())\n"
       "1.25")
METHOD(std, PCU_REDUCE_STD,
       "std($self, /, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, "
       "where=True)\n"
       "--\n\n"
       "Return the standard deviation: the root of the variance.\n"
       "\nParameters\n----------\n" PCU_DOC_AXES DOC_SPREAD_DTYPE PCU_DOC_OUT
           PCU_DOC_DDOF PCU_DOC_KEEPDIMS PCU_DOC_WHERE
       "\nReturns\n-------\n" DOC_REDUCED_REAL "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
       "\nSee Also\n--------\n"
       "pycuda.gpuarray.std : The function, which takes a stream.\n"
       "\nNotes\n-----\n"
       "The call does not wait. One pass over the elements computes the\n"
       "result; numbers far from 0 lose no digits.\n"
       "\nExamples\n--------\n"
       ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
       ">>> print(x.std())\n"
       "1.118033988749895")
METHOD(ptp, PCU_REDUCE_PTP,
       "ptp($self, /, axis=None, out=None, keepdims=False)\n"
       "--\n\n"
       "Return the difference of the greatest and the least element.\n"
       "\nParameters\n----------\n" PCU_DOC_AXES PCU_DOC_OUT PCU_DOC_KEEPDIMS
       "\nReturns\n-------\n"
       "GPUArray\n"
       "    The result: ``out``, or a new array, which may have no axes.\n"
       "    Differences of integers wrap around, as NumPy's do.\n"
       "\nRaises\n------\n" PCU_DOC_NO_SUCH_ELEMENT
       "\nSee Also\n--------\n"
       "pycuda.gpuarray.ptp : The function, which takes a stream.\n"
       "\nNotes\n-----\n" PCU_DOC_NO_WAIT
       "\nExamples\n--------\n"
       ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
       ">>> print(x.ptp())\n"
       "3.0")
METHOD(any, PCU_REDUCE_ANY,
       "any($self, /, stream=None, allocator=None, axis=None, keepdims=False, "
       "out=None, *, initial=None, where=True)\n"
       "--\n\n"
       "Return whether any element is true.\n"
       "\nParameters\n----------\n" PCU_DOC_STREAM PCU_DOC_ALLOCATOR_OF_ARRAY
           PCU_DOC_AXES PCU_DOC_KEEPDIMS PCU_DOC_OUT PCU_DOC_INITIAL PCU_DOC_WHERE
       "\nReturns\n-------\n" DOC_REDUCED_BOOL "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
       "\nSee Also\n--------\n"
       "pycuda.gpuarray.any : The function, which takes a stream.\n"
       "\nNotes\n-----\n" PCU_DOC_NO_WAIT
       "\nExamples\n--------\n"
       ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
       ">>> print((x > 3).any())\n"
       "True")
METHOD(all, PCU_REDUCE_ALL,
       "all($self, /, stream=None, allocator=None, axis=None, keepdims=False, "
       "out=None, *, initial=None, where=True)\n"
       "--\n\n"
       "Return whether all elements are true.\n"
       "\nParameters\n----------\n" PCU_DOC_STREAM PCU_DOC_ALLOCATOR_OF_ARRAY
           PCU_DOC_AXES PCU_DOC_KEEPDIMS PCU_DOC_OUT PCU_DOC_INITIAL PCU_DOC_WHERE
       "\nReturns\n-------\n" DOC_REDUCED_BOOL "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
       "\nSee Also\n--------\n"
       "pycuda.gpuarray.all : The function, which takes a stream.\n"
       "\nNotes\n-----\n" PCU_DOC_NO_WAIT
       "\nExamples\n--------\n"
       ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
       ">>> print((x > 1).all())\n"
       "False")

#define METHOD_ROW(name) PCU_METHOD(#name, method_##name)

PyMethodDef pcu_reduction_methods[] = {
    METHOD_ROW(sum),       METHOD_ROW(prod),   METHOD_ROW(min),  METHOD_ROW(max),
    METHOD_ROW(argmin),    METHOD_ROW(argmax), METHOD_ROW(mean), METHOD_ROW(var),
    METHOD_ROW(std),       METHOD_ROW(ptp),    METHOD_ROW(any),  METHOD_ROW(all),
    {NULL, NULL, 0, NULL},
};

/* -- functions of pycuda.gpuarray -------------------------------------------------- */

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
         "keepdims=False, out=None, initial=None, where=True)\n"
         "--\n\n"
         "Return the sum of the elements.\n"
         "\nParameters\n----------\n" PCU_DOC_NUMBERS DOC_SUM_DTYPE PCU_DOC_STREAM
             PCU_DOC_ALLOCATOR_OF_ARRAY PCU_DOC_AXES PCU_DOC_KEEPDIMS PCU_DOC_OUT
                 PCU_DOC_INITIAL PCU_DOC_WHERE "\nReturns\n-------\n" DOC_REDUCED
         "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
         "\nSee Also\n--------\n"
         "GPUArray.sum : The method.\n"
         "nansum : NaNs do not count.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT
         "\nExamples\n--------\n"
         ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
         ">>> gpuarray.sum(x, axis=0)\n"
         "array([4., 6.])")
FUNCTION(prod, PCU_REDUCE_PROD,
         "prod($module, a, dtype=None, stream=None, allocator=None, *, axis=None, "
         "keepdims=False, out=None, initial=None, where=True)\n"
         "--\n\n"
         "Return the product of the elements.\n"
         "\nParameters\n----------\n" PCU_DOC_NUMBERS DOC_SUM_DTYPE PCU_DOC_STREAM
             PCU_DOC_ALLOCATOR_OF_ARRAY PCU_DOC_AXES PCU_DOC_KEEPDIMS PCU_DOC_OUT
                 PCU_DOC_INITIAL PCU_DOC_WHERE "\nReturns\n-------\n" DOC_REDUCED
         "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
         "\nSee Also\n--------\n"
         "GPUArray.prod : The method.\n"
         "nanprod : NaNs do not count.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT
         "\nExamples\n--------\n"
         ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
         ">>> gpuarray.prod(x, axis=0)\n"
         "array([3., 8.])")
FUNCTION(min, PCU_REDUCE_MIN,
         "min($module, a, stream=None, *, axis=None, keepdims=False, out=None, "
         "allocator=None, initial=None, where=True)\n"
         "--\n\n"
         "Return the least element.\n"
         "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_STREAM PCU_DOC_AXES
             PCU_DOC_KEEPDIMS PCU_DOC_OUT PCU_DOC_ALLOCATOR_OF_ARRAY PCU_DOC_INITIAL
                 PCU_DOC_WHERE "\nReturns\n-------\n" DOC_REDUCED_OR_NAN
         "\nRaises\n------\n" PCU_DOC_NO_SUCH_ELEMENT
         "\nSee Also\n--------\n"
         "GPUArray.min : The method.\n"
         "minimum : The lesser of two arrays.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT
         "\nExamples\n--------\n"
         ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
         ">>> gpuarray.min(x, axis=0)\n"
         "array([1., 2.])")
FUNCTION(max, PCU_REDUCE_MAX,
         "max($module, a, stream=None, *, axis=None, keepdims=False, out=None, "
         "allocator=None, initial=None, where=True)\n"
         "--\n\n"
         "Return the greatest element.\n"
         "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_STREAM PCU_DOC_AXES
             PCU_DOC_KEEPDIMS PCU_DOC_OUT PCU_DOC_ALLOCATOR_OF_ARRAY PCU_DOC_INITIAL
                 PCU_DOC_WHERE "\nReturns\n-------\n" DOC_REDUCED_OR_NAN
         "\nRaises\n------\n" PCU_DOC_NO_SUCH_ELEMENT
         "\nSee Also\n--------\n"
         "GPUArray.max : The method.\n"
         "maximum : The greater of two arrays.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT
         "\nExamples\n--------\n"
         ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
         ">>> gpuarray.max(x, axis=0)\n"
         "array([3., 4.])")
FUNCTION(argmin, PCU_REDUCE_ARGMIN,
         "argmin($module, a, stream=None, *, axis=None, keepdims=False, out=None, "
         "allocator=None)\n"
         "--\n\n"
         "Return the index of the first least element.\n"
         "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_STREAM
             PCU_DOC_AXIS_OR_FLAT PCU_DOC_KEEPDIMS PCU_DOC_OUT
                 PCU_DOC_ALLOCATOR_OF_ARRAY "\nReturns\n-------\n" DOC_REDUCED_INDEX
         "\nRaises\n------\n" PCU_DOC_NO_SUCH_ELEMENT
         "\nSee Also\n--------\n"
         "GPUArray.argmin : The method.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT
         "\nExamples\n--------\n"
         ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
         ">>> gpuarray.argmin(x, axis=1)\n"
         "array([0, 0])")
FUNCTION(argmax, PCU_REDUCE_ARGMAX,
         "argmax($module, a, stream=None, *, axis=None, keepdims=False, out=None, "
         "allocator=None)\n"
         "--\n\n"
         "Return the index of the first greatest element.\n"
         "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_STREAM
             PCU_DOC_AXIS_OR_FLAT PCU_DOC_KEEPDIMS PCU_DOC_OUT
                 PCU_DOC_ALLOCATOR_OF_ARRAY "\nReturns\n-------\n" DOC_REDUCED_INDEX
         "\nRaises\n------\n" PCU_DOC_NO_SUCH_ELEMENT
         "\nSee Also\n--------\n"
         "GPUArray.argmax : The method.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT
         "\nExamples\n--------\n"
         ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
         ">>> gpuarray.argmax(x, axis=1)\n"
         "array([1, 1])")
FUNCTION(
    count_nonzero, PCU_REDUCE_COUNT_NONZERO,
    "count_nonzero($module, a, stream=None, *, axis=None, keepdims=False, out=None, "
    "allocator=None)\n"
    "--\n\n"
    "Return the number of elements that are not 0.\n"
    "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_STREAM PCU_DOC_AXES
        PCU_DOC_KEEPDIMS PCU_DOC_OUT PCU_DOC_ALLOCATOR_OF_ARRAY
    "\nReturns\n-------\n"
    "GPUArray\n"
    "    The result: ``out``, or a new array of int64, which may have\n"
    "    no axes.\n"
    "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
    "\nSee Also\n--------\n"
    "nonzero : Their indices.\n"
    "\nNotes\n-----\n" PCU_DOC_NO_WAIT
    "\nExamples\n--------\n"
    ">>> print(gpuarray.count_nonzero(gpuarray.to_gpu(np.array([0, 1, 2]))))\n"
    "2")
FUNCTION(any, PCU_REDUCE_ANY,
         "any($module, a, stream=None, allocator=None, axis=None, keepdims=False, "
         "out=None, *, initial=None, where=True)\n"
         "--\n\n"
         "Return whether any element is true.\n"
         "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_STREAM
             PCU_DOC_ALLOCATOR_OF_ARRAY PCU_DOC_AXES PCU_DOC_KEEPDIMS PCU_DOC_OUT
                 PCU_DOC_INITIAL PCU_DOC_WHERE "\nReturns\n-------\n" DOC_REDUCED_BOOL
         "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
         "\nSee Also\n--------\n"
         "GPUArray.any : The method.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT
         "\nExamples\n--------\n"
         ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
         ">>> gpuarray.any(x > 3, axis=0)\n"
         "array([False,  True])")
FUNCTION(all, PCU_REDUCE_ALL,
         "all($module, a, stream=None, allocator=None, axis=None, keepdims=False, "
         "out=None, *, initial=None, where=True)\n"
         "--\n\n"
         "Return whether all elements are true.\n"
         "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_STREAM
             PCU_DOC_ALLOCATOR_OF_ARRAY PCU_DOC_AXES PCU_DOC_KEEPDIMS PCU_DOC_OUT
                 PCU_DOC_INITIAL PCU_DOC_WHERE "\nReturns\n-------\n" DOC_REDUCED_BOOL
         "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
         "\nSee Also\n--------\n"
         "GPUArray.all : The method.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT
         "\nExamples\n--------\n"
         ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
         ">>> gpuarray.all(x > 1, axis=0)\n"
         "array([False,  True])")
FUNCTION(mean, PCU_REDUCE_MEAN,
         "mean($module, a, dtype=None, stream=None, allocator=None, *, axis=None, "
         "keepdims=False, out=None, where=True)\n"
         "--\n\n"
         "Return the mean of the elements.\n"
         "\nParameters\n----------\n" PCU_DOC_NUMBERS DOC_MEAN_DTYPE PCU_DOC_STREAM
             PCU_DOC_ALLOCATOR_OF_ARRAY PCU_DOC_AXES PCU_DOC_KEEPDIMS PCU_DOC_OUT
                 PCU_DOC_WHERE "\nReturns\n-------\n" DOC_REDUCED
         "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
         "\nSee Also\n--------\n"
         "GPUArray.mean : The method.\n"
         "average : Weighted means.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT
         "\nExamples\n--------\n"
         ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
         ">>> gpuarray.mean(x, axis=0)\n"
         "array([2., 3.])")
FUNCTION(var, PCU_REDUCE_VAR,
         "var($module, a, axis=None, ddof=0, keepdims=False, *, out=None, "
         "stream=None, allocator=None, where=True)\n"
         "--\n\n"
         "Return the variance: the mean squared distance from the mean.\n"
         "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_AXES PCU_DOC_DDOF
             PCU_DOC_KEEPDIMS PCU_DOC_OUT PCU_DOC_STREAM PCU_DOC_ALLOCATOR_OF_ARRAY
                 PCU_DOC_WHERE "\nReturns\n-------\n" DOC_REDUCED_REAL
         "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
         "\nSee Also\n--------\n"
         "GPUArray.var : The method.\n"
         "\nNotes\n-----\n"
         "The call does not wait. One pass over the elements computes the\n"
         "result; numbers far from 0 lose no digits.\n"
         "\nExamples\n--------\n"
         ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
         ">>> gpuarray.var(x, axis=0)\n"
         "array([1., 1.])")
FUNCTION(std, PCU_REDUCE_STD,
         "std($module, a, axis=None, ddof=0, keepdims=False, *, out=None, stream=None, "
         "allocator=None, where=True)\n"
         "--\n\n"
         "Return the standard deviation: the root of the variance.\n"
         "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_AXES PCU_DOC_DDOF
             PCU_DOC_KEEPDIMS PCU_DOC_OUT PCU_DOC_STREAM PCU_DOC_ALLOCATOR_OF_ARRAY
                 PCU_DOC_WHERE "\nReturns\n-------\n" DOC_REDUCED_REAL
         "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
         "\nSee Also\n--------\n"
         "GPUArray.std : The method.\n"
         "\nNotes\n-----\n"
         "The call does not wait. One pass over the elements computes the\n"
         "result; numbers far from 0 lose no digits.\n"
         "\nExamples\n--------\n"
         ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
         ">>> gpuarray.std(x, axis=0)\n"
         "array([1., 1.])")

/* NumPy's order of arguments. */
FUNCTION(nansum, PCU_REDUCE_NANSUM,
         "nansum($module, a, axis=None, dtype=None, out=None, keepdims=False, "
         "initial=None, where=True, *, stream=None, allocator=None)\n"
         "--\n\n"
         "Return the sum of the elements that are not NaN.\n"
         "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_AXES DOC_SUM_DTYPE
             PCU_DOC_OUT PCU_DOC_KEEPDIMS PCU_DOC_INITIAL PCU_DOC_WHERE PCU_DOC_STREAM
                 PCU_DOC_ALLOCATOR_OF_ARRAY
         "\nReturns\n-------\n"
         "GPUArray\n"
         "    The result: ``out``, or a new array, which may have no axes.\n"
         "    It is 0 if there is no such element.\n"
         "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
         "\nSee Also\n--------\n"
         "sum : NaNs count.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT
         "\nExamples\n--------\n"
         ">>> x = gpuarray.to_gpu(np.array([1.0, np.nan, 3]))\n"
         ">>> print(gpuarray.nansum(x))\n"
         "4.0")
FUNCTION(nanprod, PCU_REDUCE_NANPROD,
         "nanprod($module, a, axis=None, dtype=None, out=None, keepdims=False, "
         "initial=None, where=True, *, stream=None, allocator=None)\n"
         "--\n\n"
         "Return the product of the elements that are not NaN.\n"
         "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_AXES DOC_SUM_DTYPE
             PCU_DOC_OUT PCU_DOC_KEEPDIMS PCU_DOC_INITIAL PCU_DOC_WHERE PCU_DOC_STREAM
                 PCU_DOC_ALLOCATOR_OF_ARRAY
         "\nReturns\n-------\n"
         "GPUArray\n"
         "    The result: ``out``, or a new array, which may have no axes.\n"
         "    It is 1 if there is no such element.\n"
         "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
         "\nSee Also\n--------\n"
         "prod : NaNs count.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT
         "\nExamples\n--------\n"
         ">>> x = gpuarray.to_gpu(np.array([1.0, np.nan, 3]))\n"
         ">>> print(gpuarray.nanprod(x))\n"
         "3.0")
FUNCTION(nanmin, PCU_REDUCE_NANMIN,
         "nanmin($module, a, axis=None, out=None, keepdims=False, initial=None, "
         "where=True, *, stream=None, allocator=None)\n"
         "--\n\n"
         "Return the least element that is not NaN.\n"
         "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_AXES PCU_DOC_OUT
             PCU_DOC_KEEPDIMS PCU_DOC_INITIAL PCU_DOC_WHERE PCU_DOC_STREAM
                 PCU_DOC_ALLOCATOR_OF_ARRAY "\nReturns\n-------\n" DOC_REDUCED_TO_NAN
         "\nRaises\n------\n" PCU_DOC_NO_SUCH_ELEMENT
         "\nSee Also\n--------\n"
         "min : NaNs count.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT
         "\nExamples\n--------\n"
         ">>> x = gpuarray.to_gpu(np.array([1.0, np.nan, 3]))\n"
         ">>> print(gpuarray.nanmin(x))\n"
         "1.0")
FUNCTION(nanmax, PCU_REDUCE_NANMAX,
         "nanmax($module, a, axis=None, out=None, keepdims=False, initial=None, "
         "where=True, *, stream=None, allocator=None)\n"
         "--\n\n"
         "Return the greatest element that is not NaN.\n"
         "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_AXES PCU_DOC_OUT
             PCU_DOC_KEEPDIMS PCU_DOC_INITIAL PCU_DOC_WHERE PCU_DOC_STREAM
                 PCU_DOC_ALLOCATOR_OF_ARRAY "\nReturns\n-------\n" DOC_REDUCED_TO_NAN
         "\nRaises\n------\n" PCU_DOC_NO_SUCH_ELEMENT
         "\nSee Also\n--------\n"
         "max : NaNs count.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT
         "\nExamples\n--------\n"
         ">>> x = gpuarray.to_gpu(np.array([1.0, np.nan, 3]))\n"
         ">>> print(gpuarray.nanmax(x))\n"
         "3.0")
FUNCTION(nanargmin, PCU_REDUCE_NANARGMIN,
         "nanargmin($module, a, axis=None, out=None, *, keepdims=False, stream=None, "
         "allocator=None)\n"
         "--\n\n"
         "Return the index of the first least element that is not NaN.\n"
         "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_AXIS_OR_FLAT PCU_DOC_OUT
             PCU_DOC_KEEPDIMS PCU_DOC_STREAM PCU_DOC_ALLOCATOR_OF_ARRAY
         "\nReturns\n-------\n"
         "GPUArray\n"
         "    The result: ``out``, or a new array of int64, which may have\n"
         "    no axes. It is -1 where all elements are NaN.\n"
         "\nRaises\n------\n" PCU_DOC_NO_SUCH_ELEMENT
         "\nSee Also\n--------\n"
         "argmin : NaNs count.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT
         "\nExamples\n--------\n"
         ">>> x = gpuarray.to_gpu(np.array([1.0, np.nan, 3]))\n"
         ">>> print(gpuarray.nanargmin(x))\n"
         "0")
FUNCTION(nanargmax, PCU_REDUCE_NANARGMAX,
         "nanargmax($module, a, axis=None, out=None, *, keepdims=False, stream=None, "
         "allocator=None)\n"
         "--\n\n"
         "Return the index of the first greatest element that is not NaN.\n"
         "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_AXIS_OR_FLAT PCU_DOC_OUT
             PCU_DOC_KEEPDIMS PCU_DOC_STREAM PCU_DOC_ALLOCATOR_OF_ARRAY
         "\nReturns\n-------\n"
         "GPUArray\n"
         "    The result: ``out``, or a new array of int64, which may have\n"
         "    no axes. It is -1 where all elements are NaN.\n"
         "\nRaises\n------\n" PCU_DOC_NO_SUCH_ELEMENT
         "\nSee Also\n--------\n"
         "argmax : NaNs count.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT
         "\nExamples\n--------\n"
         ">>> x = gpuarray.to_gpu(np.array([1.0, np.nan, 3]))\n"
         ">>> print(gpuarray.nanargmax(x))\n"
         "2")
FUNCTION(nanmean, PCU_REDUCE_NANMEAN,
         "nanmean($module, a, axis=None, dtype=None, out=None, keepdims=False, *, "
         "where=True, stream=None, allocator=None)\n"
         "--\n\n"
         "Return the mean of the elements that are not NaN.\n"
         "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_AXES DOC_MEAN_DTYPE
             PCU_DOC_OUT PCU_DOC_KEEPDIMS PCU_DOC_WHERE PCU_DOC_STREAM
                 PCU_DOC_ALLOCATOR_OF_ARRAY "\nReturns\n-------\n" DOC_REDUCED_TO_NAN
         "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
         "\nSee Also\n--------\n"
         "mean : NaNs count.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT
         "\nExamples\n--------\n"
         ">>> x = gpuarray.to_gpu(np.array([1.0, np.nan, 3]))\n"
         ">>> print(gpuarray.nanmean(x))\n"
         "2.0")
FUNCTION(nanvar, PCU_REDUCE_NANVAR,
         "nanvar($module, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False,"
         " *, where=True, stream=None, allocator=None)\n"
         "--\n\n"
         "Return the variance of the elements that are not NaN.\n" DOC_NAN_SPREAD
         "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
         "\nSee Also\n--------\n"
         "var : NaNs count.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT
         "\nExamples\n--------\n"
         ">>> x = gpuarray.to_gpu(np.array([1.0, np.nan, 3]))\n"
         ">>> print(gpuarray.nanvar(x))\n"
         "1.0")
FUNCTION(
    nanstd, PCU_REDUCE_NANSTD,
    "nanstd($module, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False,"
    " *, where=True, stream=None, allocator=None)\n"
    "--\n\n"
    "Return the standard deviation of the elements that are not NaN.\n" DOC_NAN_SPREAD
    "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
    "\nSee Also\n--------\n"
    "std : NaNs count.\n"
    "\nNotes\n-----\n" PCU_DOC_NO_WAIT
    "\nExamples\n--------\n"
    ">>> x = gpuarray.to_gpu(np.array([1.0, np.nan, 3]))\n"
    ">>> print(gpuarray.nanstd(x))\n"
    "1.0")
FUNCTION(ptp, PCU_REDUCE_PTP,
         "ptp($module, a, axis=None, out=None, *, keepdims=False, stream=None, "
         "allocator=None)\n"
         "--\n\n"
         "Return the difference of the greatest and the least element.\n"
         "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_AXES PCU_DOC_OUT
             PCU_DOC_KEEPDIMS PCU_DOC_STREAM PCU_DOC_ALLOCATOR_OF_ARRAY
         "\nReturns\n-------\n"
         "GPUArray\n"
         "    The result: ``out``, or a new array, which may have no axes.\n"
         "    Differences of integers wrap around, as NumPy's do.\n"
         "\nRaises\n------\n" PCU_DOC_NO_SUCH_ELEMENT
         "\nSee Also\n--------\n"
         "GPUArray.ptp : The method.\n"
         "\nNotes\n-----\n" PCU_DOC_NO_WAIT
         "\nExamples\n--------\n"
         ">>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))\n"
         ">>> gpuarray.ptp(x, axis=0)\n"
         "array([2., 2.])")

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
