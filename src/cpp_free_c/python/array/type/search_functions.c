/* Searches in sorted arrays: a method of GPUArray and functions of pycuda.gpuarray; and
 * _count, by which pycuda's modules count values in bins. */

#include "python/array/type/members.h"

#include "python/array/element_type.h"
#include "python/array/ops/count.h"
#include "python/array/ops/search.h"
#include "python/array/type/arguments.h"
#include "python/array/type/forwarding.h"
#include "python/driver/memory/pool.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"

/* The arguments of the functions; objects are borrowed. */
typedef struct {
    PyObject *sorted;
    PyObject *values;
    PyObject *side;
    PyObject *sorter;
    int right;
    PyObject *allocator;
    CUstream stream;
} search_args;

static int
search_read_side(PyObject *side, int *right)
{
    if (side == NULL) {
        return 0;
    }
    if (PyUnicode_Check(side)) {
        if (PyUnicode_CompareWithASCIIString(side, "left") == 0) {
            *right = 0;
            return 0;
        }
        if (PyUnicode_CompareWithASCIIString(side, "right") == 0) {
            *right = 1;
            return 0;
        }
    }
    PyErr_Format(PyExc_ValueError, "side must be 'left' or 'right', not %R", side);
    return -1;
}

static PyObject *
search_enqueue(pcu_state *st, const char *name, int digitize, const search_args *a)
{
    pcu_search_call call = {.name = name,
                            .right = a->right,
                            .digitize = digitize,
                            .allocator = a->allocator,
                            .stream = a->stream};
    if (pcu_array_argument(st, name, a->sorted, &call.sorted) < 0 ||
        pcu_array_argument(st, name, a->values, &call.values) < 0 ||
        search_read_side(a->side, &call.right) < 0) {
        return NULL;
    }
    if (a->sorter != Py_None &&
        pcu_array_argument(st, name, a->sorter, &call.sorter) < 0) {
        return NULL;
    }
    return pcu_search(st, &call);
}

/* 1 if values is a number, which Python has to copy to the device. */
static int
search_is_number(pcu_state *st, const search_args *a)
{
    return a->values != NULL && !pcu_is_array(st, a->values) &&
           (PyNumber_Check(a->values) || PyArray_CheckScalar(a->values)) &&
           !PyArray_Check(a->values);
}

static const pcu_word search_words[] = {
    PCU_WORD("v", pcu_as_object, search_args, values),
    PCU_WORD("side", pcu_as_object, search_args, side),
    PCU_WORD("sorter", pcu_as_object, search_args, sorter),
    PCU_WORD("a", pcu_as_object, search_args, sorted),
    PCU_WORD("stream", pcu_as_stream, search_args, stream),
    PCU_WORD("allocator", pcu_as_allocator, search_args, allocator),
    PCU_WORD("x", pcu_as_object, search_args, values),
    PCU_WORD("bins", pcu_as_object, search_args, sorted),
    PCU_WORD("right", pcu_as_bool, search_args, right),
};

PCU_SIGNATURE(method_searchsorted, search_words,
              "searchsorted($self, v, side='left', sorter=None)\n--\n\n"
              "Return the places at which values go into this sorted array: see\n"
              "``pycuda.gpuarray.searchsorted``.")

static PyObject *
method_searchsorted(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    pcu_state *st = ((pcu_gpuarray *)self)->st;
    search_args a = {.sorted = self,
                     .sorter = Py_None,
                     .allocator = Py_None,
                     .stream = pcu_stream_current()};
    if (pcu_args_parse(st, &method_searchsorted_signature, args, nargs, kwnames, &a) <
        0) {
        return NULL;
    }
    if (search_is_number(st, &a)) {
        return pcu_gpuarray_forward(self, "pycuda._array.functions.sorting",
                                    "searchsorted", args, nargs, kwnames);
    }
    return search_enqueue(st, "searchsorted", 0, &a);
}

PCU_SIGNATURE(
    function_searchsorted, search_words,
    "searchsorted($module, a, v, side='left', sorter=None, *, stream=None, "
    "allocator=None)\n--\n\n"
    "Return the places at which values go into a sorted array, int64 of ``v``'s "
    "shape.\n"
    "\n"
    "``a`` has one axis and is sorted from least to greatest, with NaN behind all\n"
    "numbers, or ``sorter`` has the indices that sort it. The place of a value is "
    "before\n"
    "equal elements with ``side=\"left\"``, behind them with ``\"right\"``. ``v`` is "
    "an\n"
    "array of any shape or a number. The values are compared in the common dtype.")

static PyObject *
function_searchsorted(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    search_args a = {
        .sorter = Py_None, .allocator = Py_None, .stream = pcu_stream_current()};
    if (pcu_args_parse(st, &function_searchsorted_signature, args, nargs, kwnames, &a) <
        0) {
        return NULL;
    }
    if (search_is_number(st, &a)) {
        return pcu_forward("pycuda._array.functions.sorting", "searchsorted", args,
                           nargs, kwnames);
    }
    return search_enqueue(st, "searchsorted", 0, &a);
}

PCU_SIGNATURE(
    function_digitize, search_words,
    "digitize($module, x, bins, right=False, *, stream=None, allocator=None)\n--\n\n"
    "Return the number of the bin that each element lies in, int64 of ``x``'s shape.\n"
    "\n"
    "Bin ``i`` is from ``bins[i - 1]`` to ``bins[i]``, with its left edge, or with "
    "its\n"
    "right edge if ``right``. Elements before all edges are in bin 0, those behind all "
    "in\n"
    "``len(bins)``. ``bins`` rises or falls monotonically: a GPUArray, whose elements "
    "are\n"
    "not tested, or a sequence on the host, which is tested and copied. ValueError if "
    "it\n"
    "is not monotonic, TypeError for complex numbers.")

static PyObject *
function_digitize(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    search_args a = {
        .sorter = Py_None, .allocator = Py_None, .stream = pcu_stream_current()};
    if (pcu_args_parse(st, &function_digitize_signature, args, nargs, kwnames, &a) <
        0) {
        return NULL;
    }
    if (!pcu_is_array(st, a.sorted) || search_is_number(st, &a)) {
        return pcu_forward("pycuda._array.functions.sorting", "digitize", args, nargs,
                           kwnames);
    }
    a.right = !a.right; /* the side on which values go that equal an edge */
    return search_enqueue(st, "digitize", 1, &a);
}

/* -- counts ------------------------------------------------------------------------ */

typedef struct {
    PyObject *kind; /* borrowed, as are all objects */
    PyObject *values;
    PyObject *edges;
    PyObject *edges_out;
    PyObject *weights;
    size_t bins;
    double first;
    double last;
    PyObject *allocator;
    CUstream stream;
} count_args;

static int
count_read_kind(PyObject *kind, int *variant)
{
    static const struct {
        const char *name;
        int variant;
    } kinds[] = {
        {"value", PCU_VARIANT_BIN_BY_VALUE},
        {"distance", PCU_VARIANT_BIN_BY_DISTANCE},
        {"search", PCU_VARIANT_BIN_BY_SEARCH},
    };
    for (size_t i = 0; PyUnicode_Check(kind) && i < Py_ARRAY_LENGTH(kinds); i++) {
        if (PyUnicode_CompareWithASCIIString(kind, kinds[i].name) == 0) {
            *variant = kinds[i].variant;
            return 0;
        }
    }
    PyErr_Format(PyExc_ValueError, "no count finds bins by %R", kind);
    return -1;
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
    PCU_WORD("kind", pcu_as_object, count_args, kind),
    PCU_WORD("values", pcu_as_object, count_args, values),
    PCU_WORD("edges", pcu_as_object, count_args, edges),
    PCU_WORD("edges_out", pcu_as_object, count_args, edges_out),
    PCU_WORD("weights", pcu_as_object, count_args, weights),
    PCU_WORD("bins", pcu_as_size, count_args, bins),
    PCU_WORD("first", pcu_as_double, count_args, first),
    PCU_WORD("last", pcu_as_double, count_args, last),
    PCU_WORD("stream", pcu_as_stream, count_args, stream),
    PCU_WORD("allocator", pcu_as_allocator, count_args, allocator),
};

PCU_SIGNATURE(function_count, count_words,
              "_count($module, kind, values, edges, edges_out, weights, bins, first, "
              "last, /, stream=None, allocator=None)\n--\n\n"
              "Enqueue a count of values in bins: int64, or float64 with weights.")

static PyObject *
function_count(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    count_args a = {.allocator = Py_None, .stream = pcu_stream_current()};
    if (pcu_args_parse(st, &function_count_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    pcu_count_call call = {.bins = a.bins,
                           .first = a.first,
                           .last = a.last,
                           .allocator = a.allocator,
                           .stream = a.stream};
    if (count_read_kind(a.kind, &call.variant) < 0 ||
        pcu_array_argument(st, "_count", a.values, &call.values) < 0) {
        return NULL;
    }
    if (count_read_edges(st, a.edges, &call) < 0) {
        return NULL;
    }
    if (a.edges_out != Py_None &&
        pcu_array_argument(st, "_count", a.edges_out, &call.edges_out) < 0) {
        return NULL;
    }
    if (a.weights != Py_None &&
        pcu_array_argument(st, "weights", a.weights, &call.weights) < 0) {
        return NULL;
    }
    return pcu_count(st, &call);
}

PyMethodDef pcu_search_methods[] = {
    {"searchsorted", (PyCFunction)(void (*)(void))method_searchsorted,
     METH_FASTCALL | METH_KEYWORDS, method_searchsorted_doc},
    {NULL, NULL, 0, NULL},
};

PyMethodDef pcu_search_functions[] = {
    {"_count", (PyCFunction)(void (*)(void))function_count,
     METH_FASTCALL | METH_KEYWORDS, function_count_doc},
    {NULL, NULL, 0, NULL},
};

PyMethodDef pcu_public_search_functions[] = {
    {"searchsorted", (PyCFunction)(void (*)(void))function_searchsorted,
     METH_FASTCALL | METH_KEYWORDS, function_searchsorted_doc},
    {"digitize", (PyCFunction)(void (*)(void))function_digitize,
     METH_FASTCALL | METH_KEYWORDS, function_digitize_doc},
    {NULL, NULL, 0, NULL},
};
