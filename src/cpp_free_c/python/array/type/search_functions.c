/* Searches in sorted arrays: a method of GPUArray and functions of pycuda.gpuarray; and
 * _count, by which pycuda's modules count values in bins. */

#include "python/array/type/members.h"

#include "python/array/element_type.h"
#include "python/array/ops/count.h"
#include "python/array/ops/search.h"
#include "python/array/type/arguments.h"
#include "python/array/type/forwarding.h"
#include "python/support/docs.h"

/* The arguments of the functions; objects are borrowed. */
typedef struct {
    pcu_array_args shared;
    PyObject *sorted;
    PyObject *values;
    pcu_gpuarray *sorter;
    bool right; /* the words side and right */
} search_args;

typedef bool search_as_side_stores;

static int
search_as_side(pcu_state *Py_UNUSED(st), PyObject *value, void *out, const char *name)
{
    static const char *const sides[] = {"left", "right"};
    size_t place = pcu_find_word(value, sides, Py_ARRAY_LENGTH(sides));
    if (place == Py_ARRAY_LENGTH(sides)) {
        PyErr_Format(PyExc_ValueError, "%s must be 'left' or 'right', not %R", name,
                     value);
        return -1;
    }
    *(bool *)out = place != 0;
    return 0;
}

static PyObject *
search_enqueue(pcu_state *st, const char *name, bool digitize, const search_args *a)
{
    pcu_search_call call = {.name = name,
                            .sorter = a->sorter,
                            .right = a->right,
                            .digitize = digitize,
                            .allocator = a->shared.allocator,
                            .stream = a->shared.stream};
    if (pcu_array_argument(st, name, a->sorted, &call.sorted) < 0 ||
        pcu_array_argument(st, name, a->values, &call.values) < 0) {
        return NULL;
    }
    return pcu_search(st, &call);
}

/* Whether values is a number, which Python has to copy to the device. */
static bool
search_is_number(pcu_state *st, const search_args *a)
{
    return a->values != NULL && !pcu_is_array(st, a->values) &&
           (PyNumber_Check(a->values) || PyArray_CheckScalar(a->values)) &&
           !PyArray_Check(a->values);
}

static const pcu_word search_words[] = {
    PCU_WORD("v", pcu_as_object, search_args, values),
    PCU_WORD("side", search_as_side, search_args, right),
    PCU_WORD("sorter", pcu_as_optional_array, search_args, sorter),
    PCU_WORD("a", pcu_as_object, search_args, sorted),
    PCU_WORD("x", pcu_as_object, search_args, values),
    PCU_WORD("bins", pcu_as_object, search_args, sorted),
    PCU_WORD("right", pcu_as_bool, search_args, right),
    PCU_ARRAY_WORDS(search_args),
};

PCU_SIGNATURE(method_searchsorted, search_words,
              "searchsorted($self, v, side='left', sorter=None)\n"
              "--\n\n"
              "Return the places at which values go into this sorted array.\n"
              "\nParameters\n----------\n"
              "v : GPUArray, number or sequence\n"
              "    The values.\n"
              "side : {\"left\", \"right\"}, optional\n"
              "    Whether a place is before equal elements or behind them.\n"
              "sorter : GPUArray, optional\n"
              "    Indices that sort the array, if it is not sorted.\n"
              "\nReturns\n-------\n"
              "GPUArray\n"
              "    A new array of int64 in the shape of ``v``.\n"
              "\nRaises\n------\n"
              "ValueError\n"
              "    If the array has more than one axis, or if ``side`` is\n"
              "    something else.\n"
              "\nSee Also\n--------\n"
              "pycuda.gpuarray.searchsorted : The function, which takes a stream.")

static PyObject *
method_searchsorted(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    pcu_state *st = ((pcu_gpuarray *)self)->st;
    search_args a = {.shared = pcu_array_defaults(), .sorted = self};
    if (pcu_args_parse(st, &method_searchsorted_signature, args, nargs, kwnames, &a) <
        0) {
        return NULL;
    }
    if (search_is_number(st, &a)) {
        return pcu_gpuarray_forward(self, "pycuda._array.functions.sorting",
                                    "searchsorted", args, nargs, kwnames);
    }
    return search_enqueue(st, "searchsorted", false, &a);
}

PCU_SIGNATURE(function_searchsorted, search_words,
              "searchsorted($module, a, v, side='left', sorter=None, *, stream=None, "
              "allocator=None)\n"
              "--\n\n"
              "Return the places at which values go into a sorted array.\n"
              "\nParameters\n----------\n"
              "a : GPUArray\n"
              "    Array with one axis, sorted from least to greatest, with NaN\n"
              "    behind all numbers.\n"
              "v : GPUArray, number or sequence\n"
              "    The values.\n"
              "side : {\"left\", \"right\"}, optional\n"
              "    Whether a place is before equal elements or behind them.\n"
              "sorter : GPUArray, optional\n"
              "    Indices that sort ``a``, if it is not sorted.\n" PCU_DOC_STREAM
                  PCU_DOC_ALLOCATOR_OF_ARRAY
              "\nReturns\n-------\n"
              "GPUArray\n"
              "    A new array of int64 in the shape of ``v``.\n"
              "\nRaises\n------\n"
              "ValueError\n"
              "    If ``a`` has more than one axis, or if ``side`` is something\n"
              "    else.\n"
              "\nSee Also\n--------\n"
              "sort : Sort an array.\n"
              "\nNotes\n-----\n"
              "The call does not wait. The values are compared in the common\n"
              "dtype.\n"
              "\nExamples\n--------\n"
              ">>> a = gpuarray.to_gpu(np.array([1.0, 2, 3]))\n"
              ">>> gpuarray.searchsorted(a, gpuarray.to_gpu(np.array([2.5, 0])))\n"
              "array([2, 0])")

static PyObject *
function_searchsorted(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    search_args a = {.shared = pcu_array_defaults()};
    if (pcu_args_parse(st, &function_searchsorted_signature, args, nargs, kwnames, &a) <
        0) {
        return NULL;
    }
    if (search_is_number(st, &a)) {
        return pcu_forward("pycuda._array.functions.sorting", "searchsorted", args,
                           nargs, kwnames);
    }
    return search_enqueue(st, "searchsorted", false, &a);
}

PCU_SIGNATURE(
    function_digitize, search_words,
    "digitize($module, x, bins, right=False, *, stream=None, allocator=None)\n"
    "--\n\n"
    "Return the number of the bin that each element lies in.\n"
    "\nParameters\n----------\n"
    "x : GPUArray or number\n"
    "    Real numbers.\n"
    "bins : GPUArray or sequence of number\n"
    "    Edges, which rise or fall monotonically. Those on the device\n"
    "    are not tested, those on the host are tested and copied.\n"
    "right : bool, optional\n"
    "    If true, a bin has its right edge instead of its left one.\n" PCU_DOC_STREAM
        PCU_DOC_ALLOCATOR_OF_ARRAY
    "\nReturns\n-------\n"
    "GPUArray\n"
    "    A new array of int64 in the shape of ``x``. Elements before\n"
    "    all edges are in bin 0, those behind all in ``len(bins)``.\n"
    "\nRaises\n------\n"
    "TypeError\n"
    "    If the elements are complex.\n"
    "ValueError\n"
    "    If the edges on the host are not monotonic.\n"
    "\nSee Also\n--------\n"
    "histogram : How many elements lie in each bin.\n"
    "\nNotes\n-----\n" PCU_DOC_NO_WAIT
    "\nExamples\n--------\n"
    ">>> gpuarray.digitize(gpuarray.to_gpu(np.array([0.5, 1.5])), [0, 1, 2])\n"
    "array([1, 2])")

static PyObject *
function_digitize(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    search_args a = {.shared = pcu_array_defaults()};
    if (pcu_args_parse(st, &function_digitize_signature, args, nargs, kwnames, &a) <
        0) {
        return NULL;
    }
    if (!pcu_is_array(st, a.sorted) || search_is_number(st, &a)) {
        return pcu_forward("pycuda._array.functions.sorting", "digitize", args, nargs,
                           kwnames);
    }
    a.right = !a.right; /* the side on which values go that equal an edge */
    return search_enqueue(st, "digitize", true, &a);
}

/* -- counts ------------------------------------------------------------------------ */

typedef struct {
    pcu_array_args shared;
    int variant;          /* PCU_VARIANT_BIN_BY_*; the word kind */
    pcu_gpuarray *values; /* borrowed, as are all objects */
    PyObject *edges;
    pcu_gpuarray *edges_out;
    pcu_gpuarray *weights;
    size_t bins;
    double first;
    double last;
} count_args;

typedef int count_as_kind_stores;

static int
count_as_kind(pcu_state *Py_UNUSED(st), PyObject *value, void *out,
              const char *Py_UNUSED(name))
{
    static const char *const kinds[] = {"value", "distance", "search"};
    static const int variants[] = {PCU_VARIANT_BIN_BY_VALUE,
                                   PCU_VARIANT_BIN_BY_DISTANCE,
                                   PCU_VARIANT_BIN_BY_SEARCH};
    size_t place = pcu_find_word(value, kinds, Py_ARRAY_LENGTH(kinds));
    if (place == Py_ARRAY_LENGTH(kinds)) {
        PyErr_Format(PyExc_ValueError, "no count finds bins by %R", value);
        return -1;
    }
    *(int *)out = variants[place];
    return 0;
}

/* Edges: None, a GPUArray, or a NumPy array with one axis that a launch can pass. */
static int
count_read_edges(pcu_state *st, PyObject *edges, pcu_count_call *call)
{
    if (edges == Py_None) {
        return 0;
    }
    if (!PyArray_Check(edges)) {
        return pcu_array_argument(st, "_count", edges, &call->edges);
    }
    PyArrayObject *array = (PyArrayObject *)edges;
    call->edge_type = pcu_type_of_dtype(PyArray_DESCR(array));
    if (PyArray_NDIM(array) != 1 || !PyArray_ISCARRAY_RO(array) ||
        !pcu_type_is_number(call->edge_type) ||
        (size_t)PyArray_SIZE(array) != call->bins + 1) {
        PyErr_SetString(PyExc_ValueError, "the edges do not belong to the bins");
        return -1;
    }
    call->edge_values = PyArray_DATA(array);
    return 0;
}

static const pcu_word count_words[] = {
    PCU_WORD("kind", count_as_kind, count_args, variant),
    PCU_WORD("values", pcu_as_array, count_args, values),
    PCU_WORD("edges", pcu_as_object, count_args, edges),
    PCU_WORD("edges_out", pcu_as_optional_array, count_args, edges_out),
    PCU_WORD("weights", pcu_as_optional_array, count_args, weights),
    PCU_WORD("bins", pcu_as_size, count_args, bins),
    PCU_WORD("first", pcu_as_double, count_args, first),
    PCU_WORD("last", pcu_as_double, count_args, last),
    PCU_ARRAY_WORDS(count_args),
};

PCU_SIGNATURE(function_count, count_words,
              "_count($module, kind, values, edges, edges_out, weights, bins, first, "
              "last, /, stream=None, allocator=None)\n--\n\n"
              "Enqueue a count of values in bins: int64, or float64 with weights.")

static PyObject *
function_count(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    count_args a = {.shared = pcu_array_defaults()};
    if (pcu_args_parse(st, &function_count_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    pcu_count_call call = {.variant = a.variant,
                           .values = a.values,
                           .edges_out = a.edges_out,
                           .weights = a.weights,
                           .bins = a.bins,
                           .first = a.first,
                           .last = a.last,
                           .allocator = a.shared.allocator,
                           .stream = a.shared.stream};
    if (count_read_edges(st, a.edges, &call) < 0) {
        return NULL;
    }
    return pcu_count(st, &call);
}

PyMethodDef pcu_search_methods[] = {
    PCU_METHOD("searchsorted", method_searchsorted),
    {NULL, NULL, 0, NULL},
};

PyMethodDef pcu_search_functions[] = {
    PCU_METHOD("_count", function_count),
    {NULL, NULL, 0, NULL},
};

PyMethodDef pcu_public_search_functions[] = {
    PCU_METHOD("searchsorted", function_searchsorted),
    PCU_METHOD("digitize", function_digitize),
    {NULL, NULL, 0, NULL},
};
