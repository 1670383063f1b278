/* The functions by which pycuda's Python modules join arrays and copy elements from
 * other places. */

#include "python/array/type/members.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/layout.h"
#include "python/array/ops/host_transfer.h"
#include "python/array/ops/join.h"
#include "python/array/ops/remap.h"
#include "python/array/type/arguments.h"
#include "python/array/type/forwarding.h"
#include "python/driver/memory/pool.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"
#include "python/support/docs.h"

/* -- joins: the arrays ------------------------------------------------------------- */

typedef struct {
    PyObject *arrays; /* borrowed, as are all objects */
    int axis;
    bool is_new; /* a new axis */
    PyObject *dtype;
    bool f_order;
    PyObject *allocator;
    CUstream stream;
} join_args;

/* One of the arrays on the device; NumPy's arrays are copied there. */
static PyObject *
join_array_new(pcu_state *st, PyObject *value, CUstream stream)
{
    if (pcu_is_array(st, value)) {
        if (pcu_gpuarray_ready((pcu_gpuarray *)value) < 0) {
            return NULL;
        }
        return Py_NewRef(value);
    }
    if (PyArray_Check(value)) {
        return pcu_host_transfer_new(st, value, NULL, stream, false);
    }
    PyErr_Format(PyExc_TypeError, "only GPUArrays can be joined, not %s",
                 Py_TYPE(value)->tp_name);
    return NULL;
}

/* A view with a new axis of length 1. Steals the reference. */
static PyObject *
join_with_axis_new(PyObject *value, int axis)
{
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    pcu_gpuarray *array = (pcu_gpuarray *)value;
    if (array->ndim >= PCU_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "the result would have more than %d axes",
                     PCU_MAX_NDIM);
        Py_DECREF(value);
        return NULL;
    }
    for (int i = 0; i <= array->ndim; i++) {
        int from = i < axis ? i : i - 1;
        shape[i] = i == axis ? 1 : array->shape[from];
        strides[i] = i == axis ? 0 : array->strides[from];
    }
    pcu_gpuarray *view =
        pcu_gpuarray_view_new(array, array->ndim + 1, shape, strides, 0, NULL);
    Py_DECREF(value);
    return (PyObject *)view;
}

/* Whether two arrays have the same lengths except along an axis (-1: none). */
static bool
join_fits(const pcu_gpuarray *a, const pcu_gpuarray *b, int axis)
{
    if (a->ndim != b->ndim) {
        return false;
    }
    for (int i = 0; i < a->ndim; i++) {
        if (i != axis && a->shape[i] != b->shape[i]) {
            return false;
        }
    }
    return true;
}

static int
join_raise_shapes(const pcu_gpuarray *a, const pcu_gpuarray *b, const join_args *args)
{
    PyObject *first = pcu_shape_tuple_new(a->ndim, a->shape);
    PyObject *second = pcu_shape_tuple_new(b->ndim, b->shape);
    if (first != NULL && second != NULL && args->is_new) {
        PyErr_Format(PyExc_ValueError, "arrays of shape %S and %S cannot be stacked",
                     first, second);
    }
    else if (first != NULL && second != NULL) {
        PyErr_Format(PyExc_ValueError,
                     "arrays of shape %S and %S cannot be concatenated along axis %d",
                     first, second, args->axis);
    }
    Py_XDECREF(first);
    Py_XDECREF(second);
    return -1;
}

/* Count the axis of the arguments from 0 on. */
static int
join_place_axis(join_args *args, const pcu_gpuarray *first)
{
    int ndim = first->ndim + args->is_new;
    if (ndim == 0) {
        PyErr_SetString(PyExc_ValueError, "arrays without axes cannot be concatenated");
        return -1;
    }
    return pcu_axis_place(args->is_new ? "stack" : "concatenate", &args->axis, ndim);
}

/* Read the arrays into `arrays`, as new references. *count is how many there are, also
 * on failure. */
static int
join_read(pcu_state *st, join_args *args, PyObject *values, pcu_gpuarray **arrays,
          Py_ssize_t *count)
{
    Py_ssize_t n = PySequence_Fast_GET_SIZE(values);
    for (*count = 0; *count < n; ++*count) {
        PyObject *value =
            join_array_new(st, PySequence_Fast_GET_ITEM(values, *count), args->stream);
        if (value == NULL) {
            return -1;
        }
        arrays[*count] = (pcu_gpuarray *)value;
        if (*count == 0 && join_place_axis(args, arrays[0]) < 0) {
            Py_DECREF(value);
            return -1;
        }
    }
    for (Py_ssize_t i = 1; i < n; i++) {
        if (!join_fits(arrays[0], arrays[i], args->is_new ? -1 : args->axis)) {
            return join_raise_shapes(arrays[0], arrays[i], args);
        }
    }
    for (Py_ssize_t i = 0; args->is_new && i < n; i++) {
        PyObject *view = join_with_axis_new((PyObject *)arrays[i], args->axis);
        arrays[i] = (pcu_gpuarray *)view;
        if (view == NULL) {
            arrays[i] = arrays[--*count]; /* the last takes the place of the lost one */
            return -1;
        }
    }
    return 0;
}

/* -- joins: the result ------------------------------------------------------------- */

/* The dtype that was asked for, or the one to which NumPy promotes those of the arrays.
 */
static PyArray_Descr *
join_dtype_new(pcu_state *st, const join_args *args, pcu_gpuarray *const *arrays,
               Py_ssize_t count)
{
    PyArray_Descr *dtype = NULL;
    if (args->dtype != Py_None) {
        if (pcu_as_dtype(st, args->dtype, &dtype, "dtype") < 0) {
            return NULL;
        }
        return dtype;
    }
    Py_ssize_t same = 1;
    while (same < count && arrays[same]->dtype == arrays[0]->dtype) {
        same++;
    }
    if (same == count) {
        return (PyArray_Descr *)Py_NewRef((PyObject *)arrays[0]->dtype);
    }
    PyArray_Descr **dtypes = PyMem_New(PyArray_Descr *, (size_t)count);
    if (dtypes == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        dtypes[i] = arrays[i]->dtype;
    }
    dtype = PyArray_ResultType(0, NULL, count, dtypes);
    PyMem_Free(dtypes);
    return dtype;
}

/* The type that a bool array of others' elements has in arithmetic: see
 * remember_counts() in pycuda/_array/creation.py. */
static int
join_counts(pcu_gpuarray *result, pcu_gpuarray *const *arrays, Py_ssize_t count)
{
    int common = PCU_T_BOOL;
    if (result->type != PCU_T_BOOL) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        int type = arrays[i]->counts_as;
        if (arrays[i]->type != PCU_T_BOOL || type == PCU_T_BOOL) {
            return 0;
        }
        if (i == 0) {
            common = type;
        }
        else if (pcu_type_promote(common, type, &common) < 0) {
            return -1;
        }
    }
    result->counts_as = (unsigned char)common;
    return 0;
}

static PyObject *
join_result_new(pcu_state *st, const join_args *args, pcu_gpuarray *const *arrays,
                Py_ssize_t count)
{
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    pcu_gpuarray *first = arrays[0];
    PyObject *result = NULL;
    PyObject *allocator = first->allocator;
    memcpy(shape, first->shape, (size_t)first->ndim * sizeof(*shape));
    for (Py_ssize_t i = 1; i < count; i++) {
        if (pcu_add_size(shape[args->axis], arrays[i]->shape[args->axis],
                         &shape[args->axis]) < 0) {
            PyErr_SetString(PyExc_ValueError, "an array of that shape is too big");
            return NULL;
        }
    }
    PyArray_Descr *dtype = join_dtype_new(st, args, arrays, count);
    if (dtype == NULL) {
        return NULL;
    }
    if (args->allocator != Py_None) {
        allocator = args->allocator;
    }
    if (pcu_strides_in_order(args->f_order, first->ndim, shape,
                             (size_t)PyDataType_ELSIZE(dtype), strides) == 0) {
        result =
            pcu_gpuarray_new(st, NULL, first->ndim, shape, strides, dtype, allocator);
    }
    Py_DECREF(dtype);
    if (result != NULL && (join_counts((pcu_gpuarray *)result, arrays, count) < 0 ||
                           pcu_join((pcu_gpuarray *)result, arrays, count, args->axis,
                                    args->stream) < 0)) {
        Py_CLEAR(result);
    }
    return result;
}

/* Join a tuple of arrays. */
static PyObject *
join_tuple(pcu_state *st, join_args *a, PyObject *values)
{
    pcu_gpuarray *few[8];
    pcu_gpuarray **arrays = few;
    PyObject *result = NULL;
    Py_ssize_t count = 0;
    Py_ssize_t n = PyTuple_GET_SIZE(values);
    if (n == 0) {
        PyErr_SetString(PyExc_ValueError, "there are no arrays to join");
        return NULL;
    }
    if (n > (Py_ssize_t)Py_ARRAY_LENGTH(few)) {
        arrays = PyMem_New(pcu_gpuarray *, (size_t)n);
        if (arrays == NULL) {
            return PyErr_NoMemory();
        }
    }
    if (join_read(st, a, values, arrays, &count) == 0) {
        result = join_result_new(st, a, arrays, count);
    }
    while (count > 0) {
        Py_DECREF(arrays[--count]);
    }
    if (arrays != few) {
        PyMem_Free(arrays);
    }
    return result;
}

static PyObject *
join_arrays(pcu_state *st, join_args *a)
{
    PyObject *values = PySequence_Tuple(a->arrays);
    if (values == NULL) {
        return NULL;
    }
    PyObject *result = join_tuple(st, a, values);
    Py_DECREF(values);
    return result;
}

/* -- joins: the functions ---------------------------------------------------------- */

static const pcu_word join_words[] = {
    PCU_WORD("arrays", pcu_as_object, join_args, arrays),
    PCU_WORD("axis", pcu_as_int, join_args, axis),
    PCU_WORD("is_new", pcu_as_bool, join_args, is_new),
    PCU_WORD("dtype", pcu_as_object, join_args, dtype),
    PCU_WORD("f_order", pcu_as_bool, join_args, f_order),
    PCU_WORD("allocator", pcu_as_allocator, join_args, allocator),
    PCU_WORD("stream", pcu_as_stream, join_args, stream),
};

PCU_SIGNATURE(shape_join, join_words,
              "_join($module, arrays, axis, is_new, /, dtype=None, f_order=False, "
              "allocator=None, stream=None)\n--\n\n"
              "Return arrays joined along an axis, or along a new one.")

static PyObject *
shape_join(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    join_args a = {
        .dtype = Py_None, .allocator = Py_None, .stream = pcu_stream_current()};
    if (pcu_args_parse(st, &shape_join_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    return join_arrays(st, &a);
}

/* The arguments of a public function; the axis is an object. */
typedef struct {
    join_args join;
    PyObject *axis;
    PyObject *out;
    PyObject *casting;
} public_join_args;

static const pcu_word public_join_words[] = {
    PCU_WORD("arrays", pcu_as_object, public_join_args, join.arrays),
    PCU_WORD("axis", pcu_as_object, public_join_args, axis),
    PCU_WORD("allocator", pcu_as_allocator, public_join_args, join.allocator),
    PCU_WORD("out", pcu_as_object, public_join_args, out),
    PCU_WORD("dtype", pcu_as_object, public_join_args, join.dtype),
    PCU_WORD("casting", pcu_as_object, public_join_args, casting),
    PCU_WORD("stream", pcu_as_stream, public_join_args, join.stream),
};

/* What a function that joins arrays does. */
typedef struct {
    const pcu_signature *signature;
    const char *name;     /* in messages */
    bool is_new;          /* along a new axis */
    bool f_order;         /* in Fortran order unless the new axis is the first */
    const char *in_steps; /* the name in Python, for what takes more than one step */
} public_join;

static PyObject *
shape_public_join(PyObject *m, const public_join *kind, PyObject *const *args,
                  Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    public_join_args a = {.join = {.is_new = kind->is_new,
                                   .dtype = Py_None,
                                   .allocator = Py_None,
                                   .stream = pcu_stream_current()},
                          .out = Py_None,
                          .casting = Py_None};
    pcu_signature signature = *kind->signature;
    signature.function = kind->name;
    if (pcu_args_parse(st, &signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (a.axis == Py_None || a.out != Py_None || a.casting != Py_None ||
        a.join.dtype != Py_None) {
        return pcu_forward_by_name("pycuda._array.functions.joining", "in_steps",
                                   kind->in_steps, NULL, &signature, args, nargs,
                                   kwnames);
    }
    if (a.axis != NULL && pcu_as_int(st, a.axis, &a.join.axis, "axis") < 0) {
        return NULL;
    }
    a.join.f_order = kind->f_order && a.join.axis != 0;
    return join_arrays(st, &a.join);
}

PCU_SIGNATURE(
    shape_concatenate, public_join_words,
    "concatenate($module, /, arrays, axis=0, allocator=None, out=None, dtype=None, "
    "casting=None, stream=None)\n"
    "--\n\n"
    "Return the arrays joined along an existing axis.\n"
    "\nParameters\n----------\n"
    "arrays : sequence of GPUArray\n"
    "    The arrays, whose shapes differ along the axis only.\n"
    "axis : int or None, default 0\n"
    "    The axis. None joins the flattened arrays.\n" PCU_DOC_ALLOCATOR PCU_DOC_OUT
    "dtype : dtype_like, optional\n"
    "    Dtype of the result. The default is the common dtype.\n"
    "casting : str, optional\n"
    "    Rule of NumPy for the conversion. The default is "
    "\"same_kind\".\n" PCU_DOC_STREAM "\nReturns\n-------\n" PCU_DOC_RESULT
    "\nRaises\n------\n"
    "TypeError\n"
    "    If ``casting`` forbids a conversion.\n"
    "ValueError\n"
    "    If the shapes do not fit, or if there is no such axis.\n"
    "\nSee Also\n--------\n"
    "stack : A new axis.\n"
    "\nNotes\n-----\n" PCU_DOC_NO_WAIT
    "\nExamples\n--------\n"
    ">>> x = gpuarray.to_gpu(np.array([1, 2]))\n"
    ">>> gpuarray.concatenate([x, 10 * x])\n"
    "array([ 1,  2, 10, 20])")

static PyObject *
shape_concatenate(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    static const public_join kind = {&shape_concatenate_signature, "concatenate", false,
                                     false, "concatenate"};
    return shape_public_join(m, &kind, args, nargs, kwnames);
}

PCU_SIGNATURE(shape_stack, public_join_words,
              "stack($module, /, arrays, axis=0, allocator=None, out=None, dtype=None, "
              "casting=None, stream=None)\n"
              "--\n\n"
              "Return arrays of one shape joined along a new axis.\n"
              "\nParameters\n----------\n"
              "arrays : sequence of GPUArray\n"
              "    The arrays.\n"
              "axis : int, default 0\n"
              "    Place of the new axis in the result.\n" PCU_DOC_ALLOCATOR PCU_DOC_OUT
              "dtype : dtype_like, optional\n"
              "    Dtype of the result. The default is the common dtype.\n"
              "casting : str, optional\n"
              "    Rule of NumPy for the conversion. The default is "
              "\"same_kind\".\n" PCU_DOC_STREAM
              "\nReturns\n-------\n"
              "GPUArray\n"
              "    The result: ``out``, or a new array, in C order for axis 0, in\n"
              "    Fortran order for others.\n"
              "\nRaises\n------\n"
              "TypeError\n"
              "    If ``casting`` forbids a conversion.\n"
              "ValueError\n"
              "    If the shapes differ, or if there is no such axis.\n"
              "\nSee Also\n--------\n"
              "concatenate : An existing axis.\n"
              "\nNotes\n-----\n" PCU_DOC_NO_WAIT
              "\nExamples\n--------\n"
              ">>> x = gpuarray.to_gpu(np.array([1, 2]))\n"
              ">>> gpuarray.stack([x, 10 * x])\n"
              "array([[ 1,  2],\n"
              "       [10, 20]])")

static PyObject *
shape_stack(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const public_join kind = {&shape_stack_signature, "stack", true, true,
                                     "stack"};
    return shape_public_join(m, &kind, args, nargs, kwnames);
}

PCU_SIGNATURE(shape_numpy_stack, public_join_words,
              "_numpy_stack($module, /, arrays, axis=0, out=None, dtype=None, "
              "casting=None)\n--\n\n"
              "Do what numpy.stack does.")

static PyObject *
shape_numpy_stack(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    static const public_join kind = {&shape_numpy_stack_signature, "stack", true, false,
                                     "numpy.stack"};
    return shape_public_join(m, &kind, args, nargs, kwnames);
}

/* -- elements from other places ---------------------------------------------------- */

typedef struct {
    pcu_array_args shared;
    int rule;
    PyObject *shape;
    PyObject *firsts;
    PyObject *value;
} remap_args;

/* Read a tuple of integers, one for each axis. */
static int
remap_read_tuple(PyObject *tuple, int ndim, ptrdiff_t *numbers)
{
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != ndim) {
        PyErr_Format(PyExc_TypeError, "a tuple of %d integers is needed", ndim);
        return -1;
    }
    for (int i = 0; i < ndim; i++) {
        numbers[i] = PyNumber_AsSsize_t(PyTuple_GET_ITEM(tuple, i), PyExc_ValueError);
        if (numbers[i] == -1 && PyErr_Occurred()) {
            return -1;
        }
    }
    return 0;
}

static const pcu_word remap_words[] = {
    PCU_WORD("rule", pcu_as_int, remap_args, rule),
    PCU_WORD("shape", pcu_as_object, remap_args, shape),
    PCU_WORD("firsts", pcu_as_object, remap_args, firsts),
    PCU_WORD("value", pcu_as_object, remap_args, value),
    PCU_ARRAY_WORDS(remap_args),
};

PCU_SIGNATURE(
    shape_remap, remap_words,
    "_remap($module, a, rule, shape, firsts, /, value=None, stream=None)\n--\n"
    "\n"
    "Return a copy of that shape by a rule of ops/remap.h.")

static PyObject *
shape_remap(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    remap_args a = {.shared = pcu_array_defaults(), .value = Py_None};
    ptrdiff_t lengths[PCU_MAX_NDIM];
    ptrdiff_t firsts[PCU_MAX_NDIM];
    size_t shape[PCU_MAX_NDIM];
    if (pcu_args_parse(st, &shape_remap_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (a.rule < 0 || a.rule > PCU_REMAP_SYMMETRIC) {
        PyErr_SetString(PyExc_TypeError, "_remap takes a GPUArray and a rule");
        return NULL;
    }
    pcu_gpuarray *source = a.shared.a;
    if (remap_read_tuple(a.shape, source->ndim, lengths) < 0 ||
        remap_read_tuple(a.firsts, source->ndim, firsts) < 0) {
        return NULL;
    }
    for (int i = 0; i < source->ndim; i++) {
        if (lengths[i] < 0) {
            PyErr_Format(PyExc_ValueError, "axis %d cannot have %zd elements", i,
                         lengths[i]);
            return NULL;
        }
        shape[i] = (size_t)lengths[i];
    }
    pcu_remap_call call = {.rule = (pcu_remap_rule)a.rule,
                           .shape = shape,
                           .firsts = firsts,
                           .stream = a.shared.stream};
    if (call.rule == PCU_REMAP_CONSTANT) {
        call.value = a.value;
    }
    return pcu_remap_new(source, &call);
}

PyMethodDef pcu_public_shape_functions[] = {
    PCU_METHOD("concatenate", shape_concatenate),
    PCU_METHOD("stack", shape_stack),
    {NULL, NULL, 0, NULL},
};

PyMethodDef pcu_shape_functions[] = {
    PCU_METHOD("_join", shape_join),
    PCU_METHOD("_numpy_stack", shape_numpy_stack),
    PCU_METHOD("_remap", shape_remap),
    {NULL, NULL, 0, NULL},
};
