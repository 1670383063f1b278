/* Medians, quantiles and percentiles: functions of pycuda.gpuarray.
 *
 * An ordinary call is enqueued here. With `weights` the Python function of the same
 * name does the work. */

#include "python/array/type/members.h"

#include "python/array/element_type.h"
#include "python/array/layout.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/reduction_axes.h"
#include "python/array/sort/quantile.h"
#include "python/array/type/arguments.h"
#include "python/array/type/forwarding.h"
#include "python/support/docs.h"

/* -- sentences of docstrings ------------------------------------------------------- */

#define DOC_OVERWRITE_NOT_USED           \
    "overwrite_input : bool, optional\n" \
    "    Not used; NumPy has this parameter.\n"

#define DOC_COMPLEX_ERROR \
    "TypeError\n"         \
    "    If the elements are complex.\n"

#define DOC_QUANTILES                                                      \
    "\nParameters\n----------\n" PCU_DOC_NUMBERS                           \
    "q : number or array_like\n"                                           \
    "    Quantiles, from 0 to 1. The axes of an array come first in the\n" \
    "    result.\n"

#define DOC_PERCENTILES                                                    \
    "\nParameters\n----------\n" PCU_DOC_NUMBERS                           \
    "q : number or array_like\n"                                           \
    "    Percentiles, from 0 to 100. The axes of an array come first in\n" \
    "    the result.\n"

/* The other parameters. */
#define DOC_QUANTILE_OPTIONS                                                        \
    PCU_DOC_AXES PCU_DOC_OUT DOC_OVERWRITE_NOT_USED                                 \
        "method : str, optional\n"                                                  \
        "    One of NumPy's 13 methods.\n" PCU_DOC_KEEPDIMS                         \
        "weights : GPUArray, optional\n"                                            \
        "    Weights in the shape of ``a``, or with one axis for lines along one\n" \
        "    axis. The method is then \"inverted_cdf\".\n" PCU_DOC_STREAM

#define DOC_QUANTILE_RESULT                                               \
    "\nReturns\n-------\n"                                                \
    "GPUArray\n"                                                          \
    "    The result: ``out``, or a new array. Integers become float64,\n" \
    "    unless the method returns elements. It is NaN for a line with\n" \
    "    a NaN.\n"

#define DOC_NANQUANTILE_RESULT                                            \
    "\nReturns\n-------\n"                                                \
    "GPUArray\n"                                                          \
    "    The result: ``out``, or a new array. Integers become float64,\n" \
    "    unless the method returns elements. It is NaN for a line\n"      \
    "    without such elements.\n"

#define DOC_QUANTILE_ERRORS                                                        \
    "\nRaises\n------\n" DOC_COMPLEX_ERROR                                         \
    "ValueError\n"                                                                 \
    "    If ``q`` is out of range, if there is no element, or if the weights or\n" \
    "    the method do not fit.\n"

#define DOC_QUANTILE_NOTES                                                \
    "\nNotes\n-----\n"                                                    \
    "A generated kernel sorts lines of up to 256 elements and computes\n" \
    "all quantiles; longer lines are sorted before.\n"

#define QUANTILE_MODULE "pycuda._array.functions.quantiles"

/* The arguments of all functions here; objects are borrowed. */
typedef struct {
    pcu_array_args shared;
    PyObject *q;
    bool overwrite_input; /* of no effect */
    PyObject *method;
    PyObject *weights;
} quantile_args;

/* A function. */
typedef struct {
    const char *name;
    bool is_median;
    bool is_percent; /* q is from 0 to 100 */
    bool skips_nan;
} quantile_function;

/* The argument q. */
typedef struct {
    PyObject *values; /* NULL, or an array of doubles */
    double number;    /* if values is NULL */
    bool is_python;   /* a number of Python, which has no dtype */
    bool is_integer;
    int type; /* pcu_type of floats, else FLOAT64 */
} quantile_q;

/* -- the argument q ---------------------------------------------------------------- */

/* Divide percentages by 100 in their own precision, as NumPy does. */
static double
quantile_hundredth(double value, int type)
{
    if (type == PCU_T_FLOAT32 || type == PCU_T_FLOAT16) {
        return (double)((float)value / 100.0F);
    }
    return value / 100;
}

/* Divide percentages by 100, and check that all values are from 0 to 1. */
static int
quantile_check_q(const quantile_function *f, quantile_q *q)
{
    double *values = &q->number;
    size_t count = 1;
    if (q->values != NULL) {
        values = PyArray_DATA((PyArrayObject *)q->values);
        count = (size_t)PyArray_SIZE((PyArrayObject *)q->values);
    }
    for (size_t i = 0; i < count; i++) {
        if (f->is_percent) {
            values[i] = quantile_hundredth(values[i], q->type);
        }
        if (!(values[i] >= 0 && values[i] <= 1)) {
            PyErr_Format(PyExc_ValueError, "%s: every q must be in the range [0, %d]",
                         f->name, f->is_percent ? 100 : 1);
            return -1;
        }
    }
    return 0;
}

static int
quantile_read_array(const quantile_function *f, PyArrayObject *given, quantile_q *q)
{
    char kind = PyArray_DESCR(given)->kind;
    if (kind != 'b' && kind != 'i' && kind != 'u' && kind != 'f') {
        PyErr_Format(PyExc_TypeError, "%s: q must be real numbers, not %S", f->name,
                     (PyObject *)PyArray_DESCR(given));
        return -1;
    }
    q->is_integer = kind == 'i' || kind == 'u';
    if (kind == 'f') {
        int type = pcu_type_of_dtype(PyArray_DESCR(given));
        q->type = pcu_type_is_number(type) ? type : PCU_T_FLOAT64;
    }
    q->values =
        PyArray_FROM_OTF((PyObject *)given, NPY_DOUBLE,
                         NPY_ARRAY_CARRAY | NPY_ARRAY_ENSURECOPY | NPY_ARRAY_FORCECAST);
    return q->values == NULL ? -1 : 0;
}

/* Read q: a number, or anything of which NumPy makes an array. */
static int
quantile_read_q(pcu_state *st, const quantile_function *f, PyObject *value,
                quantile_q *q)
{
    *q = (quantile_q){.type = PCU_T_FLOAT64};
    if (PyFloat_CheckExact(value) || PyLong_CheckExact(value)) {
        q->is_python = true;
        q->is_integer = PyLong_CheckExact(value);
        q->number = PyFloat_AsDouble(value);
        if (q->number == -1 && PyErr_Occurred()) {
            return -1;
        }
        return quantile_check_q(f, q);
    }
    PyObject *host = NULL;
    if (pcu_is_array(st, value)) {
        host = PyObject_CallMethod(value, "get", NULL);
    }
    else {
        host = PyArray_FROM_O(value);
    }
    if (host == NULL) {
        return -1;
    }
    int rc = quantile_read_array(f, (PyArrayObject *)host, q);
    Py_DECREF(host);
    if (rc == 0 && quantile_check_q(f, q) < 0) {
        Py_CLEAR(q->values);
        rc = -1;
    }
    return rc;
}

/* -- the other arguments ----------------------------------------------------------- */

static int
quantile_check_input(const quantile_function *f, const pcu_gpuarray *x)
{
    if (!pcu_type_is_number(x->type) ||
        (!f->is_median && pcu_type_is_complex(x->type))) {
        PyErr_Format(PyExc_TypeError, "%s takes real numbers, not %S", f->name,
                     (PyObject *)x->dtype);
        return -1;
    }
    return 0;
}

static int
quantile_read_method(const quantile_function *f, PyObject *name,
                     pcu_quantile_call *call)
{
    call->method = &pcu_quantile_median;
    if (f->is_median) {
        return 0;
    }
    if (name == NULL) {
        call->method = pcu_quantile_default_method();
        return 0;
    }
    call->method = pcu_quantile_find_method(name);
    if (call->method == NULL) {
        PyErr_Format(PyExc_ValueError, "%s: method is one of %s, not %R", f->name,
                     PCU_QUANTILE_METHODS, name);
        return -1;
    }
    return 0;
}

/* Choose the type of the results. */
static int
quantile_choose_type(const quantile_function *f, const quantile_q *q,
                     pcu_quantile_call *call)
{
    int type = call->x->type;
    bool is_exact = pcu_type_is_exact(type);
    call->type = type;
    if (call->method->is_element || (call->method->rule == PCU_QUANTILE_LINEAR &&
                                     q->is_integer && !f->is_percent)) {
        call->is_element = true;
        return 0;
    }
    if (is_exact) {
        call->type = PCU_T_FLOAT64;
    }
    if (f->is_median || q->is_python || is_exact) {
        return 0;
    }
    return pcu_type_promote(type, q->type, &call->type);
}

/* The result itself, or `out` with its elements. */
static PyObject *
quantile_into(pcu_state *st, const quantile_function *f, PyObject *result,
              PyObject *out, CUstream stream)
{
    pcu_gpuarray *target = (pcu_gpuarray *)out;
    pcu_gpuarray *source = (pcu_gpuarray *)result;
    if (result == NULL || out == Py_None) {
        return result;
    }
    if (pcu_check_out(st, f->name, out, source->ndim, source->shape) == 0 &&
        (f->is_median || f->skips_nan || /* NumPy converts these */
         pcu_check_out_type(f->name, target, source->type) == 0) &&
        pcu_device_copy(target, source, stream) == 0) {
        Py_DECREF(result);
        return Py_NewRef(out);
    }
    Py_DECREF(result);
    return NULL;
}

/* -- the functions ----------------------------------------------------------------- */

/* Read the argument `axis`: it may also be a list, as NumPy takes it here. */
static int
quantile_read_axes(const quantile_function *f, PyObject *axis, int ndim,
                   unsigned char *reduced)
{
    PyObject *axes = PyList_Check(axis) ? PyList_AsTuple(axis) : Py_NewRef(axis);
    if (axes == NULL) {
        return -1;
    }
    int rc = pcu_reduction_axes_read(f->name, axes, ndim, reduced);
    Py_DECREF(axes);
    return rc;
}

/* Enqueue a call whose arguments were parsed. */
static PyObject *
quantile_enqueue(pcu_state *st, const quantile_function *f, const quantile_args *a)
{
    unsigned char reduced[PCU_MAX_NDIM + 1];
    quantile_q q = {.is_python = true, .type = PCU_T_FLOAT64};
    pcu_quantile_call call = {.name = f->name,
                              .x = a->shared.a,
                              .reduced = reduced,
                              .q = &q.number,
                              .count = 1,
                              .keepdims = a->shared.keepdims,
                              .stream = a->shared.stream};
    PyObject *result = NULL;
    if (quantile_check_input(f, a->shared.a) < 0 ||
        quantile_read_axes(f, a->shared.axis, call.x->ndim, reduced) < 0) {
        return NULL;
    }
    if (!f->is_median && quantile_read_q(st, f, a->q, &q) < 0) {
        return NULL;
    }
    if (quantile_read_method(f, a->method, &call) == 0 &&
        quantile_choose_type(f, &q, &call) == 0) {
        bool is_exact = pcu_type_is_exact(call.x->type);
        call.skips_nan = f->skips_nan && !is_exact;
        call.needs_values =
            !f->is_median && (!f->skips_nan || pcu_type_is_exact(call.type));
        call.is_single = q.type == PCU_T_FLOAT32 || q.type == PCU_T_FLOAT16;
        if (q.values != NULL) {
            PyArrayObject *values = (PyArrayObject *)q.values;
            call.q = PyArray_DATA(values);
            call.count = (size_t)PyArray_SIZE(values);
            call.ndim = PyArray_NDIM(values);
            call.shape = PyArray_DIMS(values);
        }
        result = pcu_quantile(st, &call);
    }
    Py_XDECREF(q.values);
    return quantile_into(st, f, result, a->shared.out, a->shared.stream);
}

static const pcu_word quantile_words[] = {
    PCU_WORD("q", pcu_as_object, quantile_args, q),
    PCU_WORD("overwrite_input", pcu_as_bool, quantile_args, overwrite_input),
    PCU_WORD("method", pcu_as_object, quantile_args, method),
    PCU_WORD("weights", pcu_as_object, quantile_args, weights),
    PCU_ARRAY_WORDS(quantile_args),
};

static PyObject *
quantile_call(PyObject *m, const quantile_function *f, const pcu_signature *signature,
              PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    quantile_args a = {.shared = pcu_array_defaults(), .weights = Py_None};
    if (pcu_args_parse(st, signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (a.weights != Py_None) {
        return pcu_forward_by_name(QUANTILE_MODULE, "weighted", f->name, NULL,
                                   signature, args, nargs, kwnames);
    }
    return quantile_enqueue(st, f, &a);
}

#define QUANTILE_FUNCTION(name, ...)                                           \
    static PyObject *function_##name(PyObject *m, PyObject *const *args,       \
                                     Py_ssize_t nargs, PyObject *kwnames)      \
    {                                                                          \
        static const quantile_function f = {#name, __VA_ARGS__};               \
        return quantile_call(m, &f, &function_##name##_signature, args, nargs, \
                             kwnames);                                         \
    }

/* A function with the argument q, and one without. */
#define QUANTILE_BY_Q(name, is_percent, skips_nan, text)                     \
    PCU_SIGNATURE(function_##name, quantile_words,                           \
                  #name                                                      \
                  "($module, /, a, q, axis=None, out=None, "                 \
                  "overwrite_input=False, method='linear', "                 \
                  "keepdims=False, weights=None, stream=None)\n--\n\n" text) \
    QUANTILE_FUNCTION(name, false, is_percent, skips_nan)
#define QUANTILE_MEDIAN(name, skips_nan, text)              \
    PCU_SIGNATURE(function_##name, quantile_words,          \
                  #name                                     \
                  "($module, /, a, axis=None, out=None, "   \
                  "overwrite_input=False, keepdims=False, " \
                  "stream=None)\n--\n\n" text)              \
    QUANTILE_FUNCTION(name, true, false, skips_nan)

QUANTILE_BY_Q(quantile, false, false,
              "Return quantiles of the elements.\n" DOC_QUANTILES DOC_QUANTILE_OPTIONS
                  DOC_QUANTILE_RESULT DOC_QUANTILE_ERRORS
              "\nSee Also\n--------\n"
              "percentile : From 0 to 100.\n" DOC_QUANTILE_NOTES
              "\nExamples\n--------\n"
              ">>> x = gpuarray.to_gpu(np.array([1.0, 2, 3, 5]))\n"
              ">>> print(gpuarray.quantile(x, 0.5))\n"
              "2.5")
QUANTILE_BY_Q(percentile, true, false,
              "Return percentiles of the elements.\n" DOC_PERCENTILES
                  DOC_QUANTILE_OPTIONS DOC_QUANTILE_RESULT DOC_QUANTILE_ERRORS
              "\nSee Also\n--------\n"
              "quantile : From 0 to 1.\n" DOC_QUANTILE_NOTES
              "\nExamples\n--------\n"
              ">>> x = gpuarray.to_gpu(np.array([1.0, 2, 3, 5]))\n"
              ">>> print(gpuarray.percentile(x, 50))\n"
              "2.5")
QUANTILE_BY_Q(nanquantile, false, true,
              "Return quantiles of the elements that are not NaN.\n" DOC_QUANTILES
                  DOC_QUANTILE_OPTIONS DOC_NANQUANTILE_RESULT DOC_QUANTILE_ERRORS
              "\nSee Also\n--------\n"
              "quantile : NaNs count.\n"
              "\nExamples\n--------\n"
              ">>> x = gpuarray.to_gpu(np.array([1.0, np.nan, 3]))\n"
              ">>> print(gpuarray.nanquantile(x, 0.5))\n"
              "2.0")
QUANTILE_BY_Q(nanpercentile, true, true,
              "Return percentiles of the elements that are not NaN.\n" DOC_PERCENTILES
                  DOC_QUANTILE_OPTIONS DOC_NANQUANTILE_RESULT DOC_QUANTILE_ERRORS
              "\nSee Also\n--------\n"
              "percentile : NaNs count.\n"
              "\nExamples\n--------\n"
              ">>> x = gpuarray.to_gpu(np.array([1.0, np.nan, 3]))\n"
              ">>> print(gpuarray.nanpercentile(x, 50))\n"
              "2.0")
QUANTILE_MEDIAN(
    median, false,
    "Return the median: the middle element, or the mean of both middle elements.\n"
    "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_AXES PCU_DOC_OUT
        DOC_OVERWRITE_NOT_USED PCU_DOC_KEEPDIMS PCU_DOC_STREAM
    "\nReturns\n-------\n"
    "GPUArray\n"
    "    The result: ``out``, or a new array. Integers become float64.\n"
    "    It is NaN for a line with a NaN or without elements.\n"
    "\nRaises\n------\n" DOC_COMPLEX_ERROR
    "\nSee Also\n--------\n"
    "quantile : Other quantiles.\n"
    "\nExamples\n--------\n"
    ">>> x = gpuarray.to_gpu(np.array([1.0, 2, 3, 5]))\n"
    ">>> print(gpuarray.median(x))\n"
    "2.5")
QUANTILE_MEDIAN(nanmedian, true,
                "Return the median of the elements that are not NaN.\n"
                "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_AXES PCU_DOC_OUT
                    DOC_OVERWRITE_NOT_USED PCU_DOC_KEEPDIMS PCU_DOC_STREAM
                "\nReturns\n-------\n"
                "GPUArray\n"
                "    The result: ``out``, or a new array. Integers become\n"
                "    float64. It is NaN for a line without such elements.\n"
                "\nRaises\n------\n" DOC_COMPLEX_ERROR
                "\nSee Also\n--------\n"
                "median : NaNs count.\n"
                "\nExamples\n--------\n"
                ">>> x = gpuarray.to_gpu(np.array([1.0, np.nan, 3]))\n"
                ">>> print(gpuarray.nanmedian(x))\n"
                "2.0")

#define QUANTILE_ROW(name) PCU_METHOD(#name, function_##name)

PyMethodDef pcu_public_quantile_functions[] = {
    QUANTILE_ROW(quantile),      QUANTILE_ROW(percentile), QUANTILE_ROW(nanquantile),
    QUANTILE_ROW(nanpercentile), QUANTILE_ROW(median),     QUANTILE_ROW(nanmedian),
    {NULL, NULL, 0, NULL},
};
