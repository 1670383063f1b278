/* The functions by which pycuda's Python modules move elements at index arrays. */

#include "python/array/type/members.h"

#include "python/array/element_type.h"
#include "python/array/index/items.h"
#include "python/array/index/report.h"
#include "python/array/index/take.h"
#include "python/array/layout.h"
#include "python/array/ops/operations.h"
#include "python/array/type/arguments.h"
#include "python/driver/context.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"
#include "python/support/docs.h"

/* The arguments of the functions here; objects are borrowed. */
typedef struct {
    pcu_array_args shared;
    PyObject *indices;
    PyObject *values; /* in _put an array */
    pcu_bounds mode;
    PyObject *index;
} index_args;

/* The number of an axis from 0 on; PCU_AXIS_FLAT for None. */
static int
index_read_axis(const char *function, const pcu_array_args *a, int *axis)
{
    *axis = PCU_AXIS_FLAT;
    if (a->axis == Py_None) {
        return 0;
    }
    if (pcu_as_int(NULL, a->axis, axis, "axis") < 0) {
        return -1;
    }
    return pcu_axis_place(function, axis, a->a->ndim);
}

typedef pcu_bounds index_as_mode_stores;

static int
index_as_mode(pcu_state *Py_UNUSED(st), PyObject *value, void *out, const char *name)
{
    static const char *const names[] = {
        [PCU_BOUNDS_NOTE] = "raise",
        [PCU_BOUNDS_WRAP] = "wrap",
        [PCU_BOUNDS_CLIP] = "clip",
    };
    size_t place = pcu_find_word(value, names, Py_ARRAY_LENGTH(names));
    if (place == Py_ARRAY_LENGTH(names)) {
        PyErr_Format(PyExc_ValueError, "%s must be 'raise', 'wrap' or 'clip', not %R",
                     name, value);
        return -1;
    }
    *(pcu_bounds *)out = (pcu_bounds)place;
    return 0;
}

static const pcu_word index_words[] = {
    PCU_WORD("indices", pcu_as_object, index_args, indices),
    PCU_WORD("mode", index_as_mode, index_args, mode),
    PCU_WORD("values", pcu_as_object, index_args, values),
    PCU_WORD("index", pcu_as_object, index_args, index),
    PCU_ARRAY_WORDS(index_args),
};

PCU_SIGNATURE(
    index_take, index_words,
    "take($module, /, a, indices, out=None, stream=None, axis=None, mode='raise')\n"
    "--\n\n"
    "Return the elements at indices.\n"
    "\nParameters\n----------\n"
    "a : GPUArray\n"
    "    Array of any dtype.\n"
    "indices : GPUArray or array_like\n"
    "    Integers. Flat indices follow the order in memory.\n" PCU_DOC_OUT
        PCU_DOC_STREAM PCU_DOC_AXIS_OR_FLAT
    "mode : {\"raise\", \"wrap\", \"clip\"}, optional\n"
    "    What an index out of bounds means. With \"raise\" negative ones\n"
    "    count from the end.\n"
    "\nReturns\n-------\n"
    "GPUArray\n"
    "    The result: ``out``, or a new array of the dtype of ``a``,\n"
    "    with the axes of the indices in the place of the axis.\n"
    "\nRaises\n------\n"
    "IndexError\n"
    "    If an index of the host is out of bounds. For one on the\n"
    "    device, the next call that waits raises it.\n"
    "\nSee Also\n--------\n"
    "put : Assign to the elements.\n"
    "\nNotes\n-----\n" PCU_DOC_NO_WAIT
    "\nExamples\n--------\n"
    ">>> x = gpuarray.to_gpu(np.array([1.5, 2.5, 3.5]))\n"
    ">>> gpuarray.take(x, gpuarray.to_gpu(np.array([2, 0])))\n"
    "array([3.5, 1.5])")

static PyObject *
index_take(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    index_args a = {.shared = pcu_array_defaults(), .mode = PCU_BOUNDS_NOTE};
    int axis;
    if (pcu_args_parse(pcu_state_of_module(m), &index_take_signature, args, nargs,
                       kwnames, &a) < 0 ||
        index_read_axis("take", &a.shared, &axis) < 0) {
        return NULL;
    }
    return pcu_take(a.shared.a, a.indices, axis, a.shared.out, a.mode, a.shared.stream);
}

PCU_SIGNATURE(index_put, index_words,
              "_put($module, a, indices, values, /, mode='raise', stream=None)\n--\n\n"
              "Assign an array of values to the elements at flat indices.")

static PyObject *
index_put(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    pcu_gpuarray *values = NULL;
    index_args a = {.shared = pcu_array_defaults(), .mode = PCU_BOUNDS_NOTE};
    if (pcu_args_parse(st, &index_put_signature, args, nargs, kwnames, &a) < 0 ||
        pcu_array_argument(st, "put", a.values, &values) < 0 ||
        pcu_put(a.shared.a, a.indices, values, a.mode, a.shared.stream) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PCU_SIGNATURE(
    index_take_along, index_words,
    "_take_along_axis($module, a, indices, axis, /, stream=None)\n--\n\n"
    "Return the elements at indices along an axis, with indices for each line.")

static PyObject *
index_take_along(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    index_args a = {.shared = pcu_array_defaults()};
    int axis;
    if (pcu_args_parse(pcu_state_of_module(m), &index_take_along_signature, args, nargs,
                       kwnames, &a) < 0 ||
        index_read_axis("take_along_axis", &a.shared, &axis) < 0) {
        return NULL;
    }
    if (axis == PCU_AXIS_FLAT) {
        PyErr_SetString(PyExc_TypeError, "take_along_axis: the axis must be a number");
        return NULL;
    }
    return pcu_take_along_axis(a.shared.a, a.indices, axis, a.shared.stream);
}

PCU_SIGNATURE(
    index_put_along, index_words,
    "_put_along_axis($module, a, indices, values, axis, /, stream=None)\n--\n\n"
    "Assign values to the elements at indices along an axis.")

static PyObject *
index_put_along(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    index_args a = {.shared = pcu_array_defaults()};
    int axis;
    if (pcu_args_parse(pcu_state_of_module(m), &index_put_along_signature, args, nargs,
                       kwnames, &a) < 0 ||
        index_read_axis("put_along_axis", &a.shared, &axis) < 0) {
        return NULL;
    }
    if (axis == PCU_AXIS_FLAT) {
        PyErr_SetString(PyExc_TypeError, "put_along_axis: the axis must be a number");
        return NULL;
    }
    if (pcu_put_along_axis(a.shared.a, a.indices, a.values, axis, a.shared.stream) <
        0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PCU_SIGNATURE(
    index_apply, index_words,
    "_apply_at($module, op, a, index, values, /)\n--\n\n"
    "Enqueue the operation of that number on elements at an index and values.")

static PyObject *
index_apply(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    index_args a = {.shared = pcu_array_defaults()};
    if (pcu_args_parse(pcu_state_of_module(m), &index_apply_signature, args, nargs,
                       kwnames, &a) < 0) {
        return NULL;
    }
    if (a.shared.op < 0 || a.shared.op >= PCU_OP_COUNT ||
        pcu_ops[a.shared.op].inputs != 2 || !pcu_type_is_number(a.shared.a->type)) {
        PyErr_SetString(PyExc_TypeError, "no operation has this number and dtype");
        return NULL;
    }
    PyObject *const *items = &a.index;
    Py_ssize_t n = 1;
    if (PyTuple_Check(a.index)) {
        items = ((PyTupleObject *)a.index)->ob_item;
        n = PyTuple_GET_SIZE(a.index);
    }
    if (pcu_index_apply(a.shared.a, a.shared.op, items, n, a.values,
                        pcu_stream_current()) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(index_announce_doc,
             "_index_report($module, /)\n--\n\n"
             "Return (address, statement): what a kernel needs to note an index out of "
             "bounds.");

static PyObject *
index_announce(PyObject *m, PyObject *Py_UNUSED(unused))
{
    CUdeviceptr address = 0;
    uint32_t site = 0;
    PyObject *owner = pcu_context_require(pcu_state_of_module(m), "cuLaunchKernel");
    if (owner == NULL) {
        return NULL;
    }
    int rc = pcu_index_report_announce((pcu_context *)owner, &address, &site);
    Py_DECREF(owner);
    if (rc < 0) {
        return NULL;
    }
    return Py_BuildValue("KI", (unsigned long long)address, (unsigned)site);
}

PyMethodDef pcu_public_index_functions[] = {
    PCU_METHOD("take", index_take),
    {NULL, NULL, 0, NULL},
};

PyMethodDef pcu_index_functions[] = {
    PCU_METHOD("_apply_at", index_apply),
    {"_index_report", index_announce, METH_NOARGS, index_announce_doc},
    PCU_METHOD("_put", index_put),
    PCU_METHOD("_take_along_axis", index_take_along),
    PCU_METHOD("_put_along_axis", index_put_along),
    {NULL, NULL, 0, NULL},
};
