/* Reductions as programs call them: methods of GPUArray, functions of pycuda.gpuarray,
 * and _reduce, which pycuda's modules call with the number of a reduction.
 *
 * An ordinary call is enqueued here. With `initial` or `where`, which the kernels do
 * not know, the Python function of the same name does the work. */

#include "python/array/type/members.h"

#include "python/array/element_type.h"
#include "python/array/ops/reduction.h"
#include "python/array/type/forwarding.h"
#include "python/driver/memory/pool.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"

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

/* A signature. */
typedef struct {
    const pcu_argspec *specs;
    int count;
    int places; /* arguments that may be given by position, without self */
} reduction_signature;

#define AT(field) offsetof(reduction_args, field)
static const pcu_argspec method_sum_specs[] = {
    {"axis", pcu_as_object, AT(axis)},       {"dtype", pcu_as_object, AT(dtype)},
    {"out", pcu_as_object, AT(out)},         {"keepdims", pcu_as_bool, AT(keepdims)},
    {"initial", pcu_as_object, AT(initial)}, {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec method_mean_specs[] = {
    {"axis", pcu_as_object, AT(axis)},   {"dtype", pcu_as_object, AT(dtype)},
    {"out", pcu_as_object, AT(out)},     {"keepdims", pcu_as_bool, AT(keepdims)},
    {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec method_var_specs[] = {
    {"axis", pcu_as_object, AT(axis)},       {"dtype", pcu_as_object, AT(dtype)},
    {"out", pcu_as_object, AT(out)},         {"ddof", pcu_as_object, AT(ddof)},
    {"keepdims", pcu_as_bool, AT(keepdims)}, {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec method_min_specs[] = {
    {"axis", pcu_as_object, AT(axis)},       {"out", pcu_as_object, AT(out)},
    {"keepdims", pcu_as_bool, AT(keepdims)}, {"initial", pcu_as_object, AT(initial)},
    {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec method_argmin_specs[] = {
    {"axis", pcu_as_object, AT(axis)},
    {"out", pcu_as_object, AT(out)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
};
static const pcu_argspec method_any_specs[] = {
    {"stream", pcu_as_stream, AT(stream)},
    {"allocator", pcu_as_allocator, AT(allocator)},
    {"axis", pcu_as_object, AT(axis)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"out", pcu_as_object, AT(out)},
    {"initial", pcu_as_object, AT(initial)},
    {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec numpy_any_specs[] = {
    {"a", pcu_as_object, AT(a)},         {"axis", pcu_as_object, AT(axis)},
    {"out", pcu_as_object, AT(out)},     {"keepdims", pcu_as_bool, AT(keepdims)},
    {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec function_sum_specs[] = {
    {"a", pcu_as_object, AT(a)},
    {"dtype", pcu_as_object, AT(dtype)},
    {"stream", pcu_as_stream, AT(stream)},
    {"allocator", pcu_as_allocator, AT(allocator)},
    {"axis", pcu_as_object, AT(axis)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"out", pcu_as_object, AT(out)},
    {"initial", pcu_as_object, AT(initial)},
    {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec function_mean_specs[] = {
    {"a", pcu_as_object, AT(a)},
    {"dtype", pcu_as_object, AT(dtype)},
    {"stream", pcu_as_stream, AT(stream)},
    {"allocator", pcu_as_allocator, AT(allocator)},
    {"axis", pcu_as_object, AT(axis)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"out", pcu_as_object, AT(out)},
    {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec function_min_specs[] = {
    {"a", pcu_as_object, AT(a)},
    {"stream", pcu_as_stream, AT(stream)},
    {"axis", pcu_as_object, AT(axis)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"out", pcu_as_object, AT(out)},
    {"allocator", pcu_as_allocator, AT(allocator)},
    {"initial", pcu_as_object, AT(initial)},
    {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec function_any_specs[] = {
    {"a", pcu_as_object, AT(a)},
    {"stream", pcu_as_stream, AT(stream)},
    {"allocator", pcu_as_allocator, AT(allocator)},
    {"axis", pcu_as_object, AT(axis)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"out", pcu_as_object, AT(out)},
    {"initial", pcu_as_object, AT(initial)},
    {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec function_var_specs[] = {
    {"a", pcu_as_object, AT(a)},
    {"axis", pcu_as_object, AT(axis)},
    {"ddof", pcu_as_object, AT(ddof)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"out", pcu_as_object, AT(out)},
    {"stream", pcu_as_stream, AT(stream)},
    {"allocator", pcu_as_allocator, AT(allocator)},
    {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec reduce_specs[] = {
    {"op", pcu_as_int, AT(op)},
    {"inputs", pcu_as_object, AT(inputs)},
    {"axis", pcu_as_object, AT(axis)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"dtype", pcu_as_object, AT(dtype)},
    {"out", pcu_as_object, AT(out)},
    {"stream", pcu_as_stream, AT(stream)},
    {"allocator", pcu_as_allocator, AT(allocator)},
    {"ddof", pcu_as_object, AT(ddof)},
};

static const reduction_signature method_sum_signature = {method_sum_specs, 6, 6};
static const reduction_signature method_mean_signature = {method_mean_specs, 5, 4};
static const reduction_signature method_var_signature = {method_var_specs, 6, 5};
static const reduction_signature method_min_signature = {method_min_specs, 5, 5};
static const reduction_signature method_argmin_signature = {method_argmin_specs, 3, 2};
static const reduction_signature method_any_signature = {method_any_specs, 7, 5};
static const reduction_signature numpy_any_signature = {numpy_any_specs, 5, 4};
static const reduction_signature function_sum_signature = {function_sum_specs, 9, 4};
static const reduction_signature function_mean_signature = {function_mean_specs, 8, 4};
static const reduction_signature function_min_signature = {function_min_specs, 8, 2};
static const reduction_signature function_argmin_signature = {function_min_specs, 6, 2};
static const reduction_signature function_any_signature = {function_any_specs, 8, 6};
static const reduction_signature function_var_signature = {function_var_specs, 8, 4};

/* -- calls ------------------------------------------------------------------------- */

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

/* 1 if a kernel does what the arguments ask for. */
static int
reduction_is_plain(int op, const reduction_args *a)
{
    int is_spread = pcu_reductions[op].rule == PCU_REDUCE_TO_SPREAD;
    return a->initial == Py_None && a->where == Py_True &&
           !(is_spread && a->dtype != Py_None);
}

static int
reduction_parse(pcu_state *st, int op, const reduction_signature *signature,
                PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                int required, reduction_args *a)
{
    const pcu_argtable table = {pcu_reductions[op].name, signature->specs,
                                signature->count, required, 0};
    if (nargs > signature->places) {
        PyErr_Format(PyExc_TypeError,
                     "%s() takes at most %d positional arguments (%zd given)",
                     table.function, signature->places, nargs);
        return -1;
    }
    return pcu_args_parse(st, &table, args, nargs, kwnames, a);
}

static PyObject *
reduction_method(PyObject *self, int op, const reduction_signature *signature,
                 const char *module, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    pcu_state *st = ((pcu_gpuarray *)self)->st;
    reduction_args a;
    reduction_args_init(&a);
    if (reduction_parse(st, op, signature, args, nargs, kwnames, 0, &a) < 0) {
        return NULL;
    }
    if (!reduction_is_plain(op, &a)) {
        return pcu_gpuarray_forward(self, module, pcu_reductions[op].name, args, nargs,
                                    kwnames);
    }
    return reduction_enqueue(st, op, &self, &a);
}

static PyObject *
reduction_function(PyObject *m, int op, const reduction_signature *signature,
                   const char *module, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    reduction_args a;
    reduction_args_init(&a);
    if (reduction_parse(st, op, signature, args, nargs, kwnames, 1, &a) < 0) {
        return NULL;
    }
    if (!reduction_is_plain(op, &a)) {
        return pcu_forward(module, pcu_reductions[op].name, args, nargs, kwnames);
    }
    return reduction_enqueue(st, op, &a.a, &a);
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
    static const pcu_argtable table = {"_reduce", reduce_specs, 9, 2, 2};
    pcu_state *st = pcu_state_of_module(m);
    reduction_args a;
    reduction_args_init(&a);
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
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

/* The method `name`: its number in tables/array_reductions.h, its signature, the module
 * of the Python function of that name. */
#define METHOD(name, NUMBER, signature, module, text)                            \
    PyDoc_STRVAR(method_##name##_doc, text);                                     \
    static PyObject *method_##name(PyObject *self, PyObject *const *args,        \
                                   Py_ssize_t nargs, PyObject *kwnames)          \
    {                                                                            \
        return reduction_method(self, NUMBER, &(signature), module, args, nargs, \
                                kwnames);                                        \
    }

#define NUMPY_METHODS "pycuda._array.numpy_methods"
#define REDUCTIONS "pycuda._array.reductions"

METHOD(sum, PCU_REDUCE_SUM, method_sum_signature, NUMPY_METHODS,
       "sum($self, /, axis=None, dtype=None, out=None, keepdims=False, "
       "initial=None, where=True)\n"
       "--\n"
       "\n"
       "Return the sum along all axes or some; integers are summed in 64 bits.")
METHOD(prod, PCU_REDUCE_PROD, method_sum_signature, NUMPY_METHODS,
       "prod($self, /, axis=None, dtype=None, out=None, keepdims=False, "
       "initial=None, where=True)\n"
       "--\n"
       "\n"
       "Return the product along all axes or some.")
METHOD(min, PCU_REDUCE_MIN, method_min_signature, NUMPY_METHODS,
       "min($self, /, axis=None, out=None, keepdims=False, initial=None, "
       "where=True)\n"
       "--\n"
       "\n"
       "Return the smallest element along all axes or some.")
METHOD(max, PCU_REDUCE_MAX, method_min_signature, NUMPY_METHODS,
       "max($self, /, axis=None, out=None, keepdims=False, initial=None, "
       "where=True)\n"
       "--\n"
       "\n"
       "Return the largest element along all axes or some.")
METHOD(argmin, PCU_REDUCE_ARGMIN, method_argmin_signature, NUMPY_METHODS,
       "argmin($self, /, axis=None, out=None, *, keepdims=False)\n"
       "--\n"
       "\n"
       "Return the index of the first smallest element.")
METHOD(argmax, PCU_REDUCE_ARGMAX, method_argmin_signature, NUMPY_METHODS,
       "argmax($self, /, axis=None, out=None, *, keepdims=False)\n"
       "--\n"
       "\n"
       "Return the index of the first largest element.")
METHOD(mean, PCU_REDUCE_MEAN, method_mean_signature, NUMPY_METHODS,
       "mean($self, /, axis=None, dtype=None, out=None, keepdims=False, *, "
       "where=True)\n"
       "--\n"
       "\n"
       "Return the mean along all axes or some.")
METHOD(var, PCU_REDUCE_VAR, method_var_signature, NUMPY_METHODS,
       "var($self, /, axis=None, dtype=None, out=None, ddof=0, "
       "keepdims=False, *, where=True)\n"
       "--\n"
       "\n"
       "Return the variance along all axes or some, in one pass over the "
       "elements.")
METHOD(std, PCU_REDUCE_STD, method_var_signature, NUMPY_METHODS,
       "std($self, /, axis=None, dtype=None, out=None, ddof=0, "
       "keepdims=False, *, where=True)\n"
       "--\n"
       "\n"
       "Return the standard deviation along all axes or some.")
METHOD(any, PCU_REDUCE_ANY, method_any_signature, REDUCTIONS,
       "any($self, /, stream=None, allocator=None, axis=None, keepdims=False, "
       "out=None, *, initial=None, where=True)\n"
       "--\n"
       "\n"
       "Return whether any element is true: a bool array, without axes unless "
       "axis is given.")
METHOD(all, PCU_REDUCE_ALL, method_any_signature, REDUCTIONS,
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
    METHOD_ROW(sum),    METHOD_ROW(prod),   METHOD_ROW(min),  METHOD_ROW(max),
    METHOD_ROW(argmin), METHOD_ROW(argmax), METHOD_ROW(mean), METHOD_ROW(var),
    METHOD_ROW(std),    METHOD_ROW(any),    METHOD_ROW(all),  {NULL, NULL, 0, NULL},
};

/* -- functions of pycuda.gpuarray -------------------------------------------------- */

#define FUNCTION(name, NUMBER, signature, module, text)                         \
    PyDoc_STRVAR(function_##name##_doc, text);                                  \
    static PyObject *function_##name(PyObject *m, PyObject *const *args,        \
                                     Py_ssize_t nargs, PyObject *kwnames)       \
    {                                                                           \
        return reduction_function(m, NUMBER, &(signature), module, args, nargs, \
                                  kwnames);                                     \
    }

FUNCTION(sum, PCU_REDUCE_SUM, function_sum_signature, REDUCTIONS,
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
FUNCTION(prod, PCU_REDUCE_PROD, function_sum_signature, REDUCTIONS,
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
FUNCTION(min, PCU_REDUCE_MIN, function_min_signature, REDUCTIONS,
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
FUNCTION(max, PCU_REDUCE_MAX, function_min_signature, REDUCTIONS,
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
FUNCTION(argmin, PCU_REDUCE_ARGMIN, function_argmin_signature, REDUCTIONS,
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
FUNCTION(argmax, PCU_REDUCE_ARGMAX, function_argmin_signature, REDUCTIONS,
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
    count_nonzero, PCU_REDUCE_COUNT_NONZERO, function_argmin_signature, REDUCTIONS,
    "count_nonzero($module, a, stream=None, *, axis=None, keepdims=False, out=None, "
    "allocator=None)\n"
    "--\n"
    "\n"
    "Return the number of elements that are not 0, along all axes or along "
    "``axis``.")
FUNCTION(any, PCU_REDUCE_ANY, function_any_signature, REDUCTIONS,
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
FUNCTION(all, PCU_REDUCE_ALL, function_any_signature, REDUCTIONS,
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
FUNCTION(mean, PCU_REDUCE_MEAN, function_mean_signature, REDUCTIONS,
         "mean($module, a, dtype=None, stream=None, allocator=None, *, axis=None, "
         "keepdims=False, out=None, where=True)\n"
         "--\n"
         "\n"
         "Return the mean, along all axes or along ``axis``.\n"
         "\n"
         "``where`` is a mask of the elements that count.")
FUNCTION(var, PCU_REDUCE_VAR, function_var_signature, REDUCTIONS,
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
FUNCTION(std, PCU_REDUCE_STD, function_var_signature, REDUCTIONS,
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

/* np.any and np.all: the order of arguments is another one than in pycuda.gpuarray. */
#define NUMPY_REDUCTIONS "pycuda._array.numpy_reductions"
FUNCTION(numpy_any, PCU_REDUCE_ANY, numpy_any_signature, NUMPY_REDUCTIONS,
         "numpy_any($module, a, axis=None, out=None, keepdims=False, *, where=True)\n"
         "--\n"
         "\n"
         "Return whether any element is true, with the arguments of NumPy.")
FUNCTION(numpy_all, PCU_REDUCE_ALL, numpy_any_signature, NUMPY_REDUCTIONS,
         "numpy_all($module, a, axis=None, out=None, keepdims=False, *, where=True)\n"
         "--\n"
         "\n"
         "Return whether all elements are true, with the arguments of NumPy.")

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
    FUNCTION_ROW(numpy_any),     FUNCTION_ROW(numpy_all), {NULL, NULL, 0, NULL},
};

PyMethodDef pcu_reduction_functions[] = {
    {"_reduce", (PyCFunction)(void (*)(void))operation_reduce,
     METH_FASTCALL | METH_KEYWORDS, operation_reduce_doc},
    {NULL, NULL, 0, NULL},
};
