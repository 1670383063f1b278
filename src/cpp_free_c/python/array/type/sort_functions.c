/* The function by which pycuda's Python modules sort arrays. */

#include "python/array/type/members.h"

#include "python/array/sort/few_first.h"
#include "python/array/sort/sort.h"
#include "python/array/type/arguments.h"
#include "python/driver/memory/pool.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"

/* The arguments of the functions here; objects are borrowed. */
typedef struct {
    pcu_gpuarray *array;
    int axis;
    int keys;
    int indices;
    int descending;
    int in_place;
    CUstream stream;
    PyObject *allocator;
    size_t count;
} sort_args;

static const pcu_word sort_words[] = {
    PCU_WORD("array", pcu_as_array, sort_args, array),
    PCU_WORD("axis", pcu_as_int, sort_args, axis),
    PCU_WORD("keys", pcu_as_bool, sort_args, keys),
    PCU_WORD("indices", pcu_as_bool, sort_args, indices),
    PCU_WORD("descending", pcu_as_bool, sort_args, descending),
    PCU_WORD("in_place", pcu_as_bool, sort_args, in_place),
    PCU_WORD("stream", pcu_as_stream, sort_args, stream),
    PCU_WORD("allocator", pcu_as_allocator, sort_args, allocator),
    PCU_WORD("count", pcu_as_size, sort_args, count),
};

PCU_SIGNATURE(sort, sort_words,
              "_sort($module, array, /, axis=-1, keys=True, indices=False, "
              "descending=False, in_place=False, stream=None, allocator=None)\n--\n\n"
              "Enqueue a stable sort along an axis; return the elements, their indices "
              "before the sort, or both.")

static PyObject *
sort_function(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    sort_args a = {
        .axis = -1, .keys = 1, .stream = pcu_stream_current(), .allocator = Py_None};
    if (pcu_args_parse(st, &sort_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (!(a.keys || a.indices) || (a.in_place && (!a.keys || a.indices))) {
        PyErr_SetString(PyExc_ValueError,
                        "_sort: in place are the elements only, else the elements, "
                        "the indices or both");
        return NULL;
    }
    pcu_sort_call call = {.x = a.array,
                          .axis = a.axis,
                          .keys = a.keys,
                          .indices = a.indices,
                          .descending = a.descending,
                          .in_place = a.in_place,
                          .allocator = a.allocator,
                          .stream = a.stream};
    return pcu_sort(st, &call);
}

PCU_SIGNATURE(
    few, sort_words,
    "_first_few($module, array, count, descending=False, stream=None, "
    "allocator=None, /)\n--\n\n"
    "Enqueue the selection of the first elements of an order; return them and "
    "their indices, or NotImplemented.")

static PyObject *
few_function(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    sort_args a = {.stream = pcu_stream_current(), .allocator = Py_None};
    if (pcu_args_parse(st, &few_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    pcu_few_call call = {.x = a.array,
                         .count = a.count,
                         .descending = a.descending,
                         .allocator = a.allocator,
                         .stream = a.stream};
    if (call.x->ndim == 1 && call.count > call.x->count) {
        PyErr_Format(PyExc_ValueError, "top_k: k=%zu, but the array has %zu elements",
                     call.count, call.x->count);
        return NULL;
    }
    return pcu_few_first(st, &call);
}

PyMethodDef pcu_sort_functions[] = {
    {"_first_few", (PyCFunction)(void (*)(void))few_function,
     METH_FASTCALL | METH_KEYWORDS, few_doc},
    {"_sort", (PyCFunction)(void (*)(void))sort_function, METH_FASTCALL | METH_KEYWORDS,
     sort_doc},
    {NULL, NULL, 0, NULL},
};
