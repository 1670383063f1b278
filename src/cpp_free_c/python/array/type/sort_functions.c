/* The function by which pycuda's Python modules sort arrays. */

#include "python/array/type/members.h"

#include "python/array/sort/few_first.h"
#include "python/array/sort/sort.h"
#include "python/array/type/arguments.h"

/* The arguments of the functions here; objects are borrowed. */
typedef struct {
    pcu_array_args shared;
    int axis;
    bool keys;
    bool indices;
    bool descending;
    bool in_place;
    size_t count;
} sort_args;

static const pcu_word sort_words[] = {
    PCU_WORD("axis", pcu_as_int, sort_args, axis),
    PCU_WORD("keys", pcu_as_bool, sort_args, keys),
    PCU_WORD("indices", pcu_as_bool, sort_args, indices),
    PCU_WORD("descending", pcu_as_bool, sort_args, descending),
    PCU_WORD("in_place", pcu_as_bool, sort_args, in_place),
    PCU_WORD("count", pcu_as_size, sort_args, count),
    PCU_ARRAY_WORDS(sort_args),
};

PCU_SIGNATURE(sort, sort_words,
              "_sort($module, a, /, axis=-1, keys=True, indices=False, "
              "descending=False, in_place=False, stream=None, allocator=None)\n--\n\n"
              "Enqueue a stable sort along an axis; return the elements, their indices "
              "before the sort, or both.")

static PyObject *
sort_function(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    sort_args a = {.shared = pcu_array_defaults(), .axis = -1, .keys = true};
    if (pcu_args_parse(st, &sort_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (!(a.keys || a.indices) || (a.in_place && (!a.keys || a.indices))) {
        PyErr_SetString(PyExc_ValueError,
                        "_sort: in place are the elements only, else the elements, "
                        "the indices or both");
        return NULL;
    }
    pcu_sort_call call = {.x = a.shared.a,
                          .axis = a.axis,
                          .keys = a.keys,
                          .indices = a.indices,
                          .descending = a.descending,
                          .in_place = a.in_place,
                          .allocator = a.shared.allocator,
                          .stream = a.shared.stream};
    return pcu_sort(st, &call);
}

PCU_SIGNATURE(
    few, sort_words,
    "_first_few($module, a, count, descending=False, stream=None, "
    "allocator=None, /)\n--\n\n"
    "Enqueue the selection of the first elements of an order; return them and "
    "their indices, or NotImplemented.")

static PyObject *
few_function(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    sort_args a = {.shared = pcu_array_defaults()};
    if (pcu_args_parse(st, &few_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    pcu_few_call call = {.x = a.shared.a,
                         .count = a.count,
                         .descending = a.descending,
                         .allocator = a.shared.allocator,
                         .stream = a.shared.stream};
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
