/* Views of a GPUArray: basic indexing, reshape, transpose and their relatives.
 *
 * A view shares the memory and holds its parent. No kernel runs here, save where a
 * reshape has to copy; and no Python object is made for shape, strides or address. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/array/gpuarray.h"

/* -- indexing ---------------------------------------------------------------------- */

/* The view that is being built. */
typedef struct {
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    ptrdiff_t offset;
    int ndim;
    int axis; /* the next axis of the array to be indexed */
} view_plan;

static int
view_take_axis(view_plan *plan, const pcu_gpuarray *self)
{
    if (plan->ndim >= PCU_MAX_NDIM) {
        PyErr_Format(PyExc_IndexError, "the result would have more than %d axes",
                     PCU_MAX_NDIM);
        return -1;
    }
    plan->shape[plan->ndim] = self->shape[plan->axis];
    plan->strides[plan->ndim] = self->strides[plan->axis];
    plan->ndim++;
    plan->axis++;
    return 0;
}

static int
view_take_new_axis(view_plan *plan)
{
    if (plan->ndim >= PCU_MAX_NDIM) {
        PyErr_Format(PyExc_IndexError, "the result would have more than %d axes",
                     PCU_MAX_NDIM);
        return -1;
    }
    plan->shape[plan->ndim] = 1;
    plan->strides[plan->ndim] = 0;
    plan->ndim++;
    return 0;
}

static int
view_take_index(view_plan *plan, const pcu_gpuarray *self, Py_ssize_t index)
{
    ptrdiff_t offset = 0;
    int axis = plan->axis;
    if (pcu_view_index(index, self->shape[axis], self->strides[axis], &offset) < 0) {
        PyErr_Format(PyExc_IndexError,
                     "index %zd is out of bounds for axis %d of length %zu", index,
                     axis, self->shape[axis]);
        return -1;
    }
    plan->offset += offset;
    plan->axis++;
    return 0;
}

static int
view_take_slice(view_plan *plan, const pcu_gpuarray *self, PyObject *item)
{
    Py_ssize_t start = 0;
    Py_ssize_t stop = 0;
    Py_ssize_t step = 0;
    ptrdiff_t offset = 0;
    int axis = plan->axis;
    if (PySlice_Unpack(item, &start, &stop, &step) < 0) {
        return -1;
    }
    /* an end that was left out comes as the farthest number, which is clipped alike */
    pcu_slice slice = {start, stop, step, 1, 1};
    if (view_take_axis(plan, self) < 0) {
        return -1;
    }
    if (pcu_view_slice(&slice, self->shape[axis], self->strides[axis],
                       &plan->shape[plan->ndim - 1], &plan->strides[plan->ndim - 1],
                       &offset) < 0) {
        PyErr_Format(PyExc_IndexError, "the slice %R leaves the array", item);
        return -1;
    }
    plan->offset += offset;
    return 0;
}

/* Is this an integer, and neither a bool nor an array of several? */
static int
view_is_integer(pcu_state *st, PyObject *item)
{
    if (PyLong_CheckExact(item)) {
        return 1;
    }
    if (pcu_is_array(st, item)) {
        const pcu_gpuarray *array = (pcu_gpuarray *)item;
        return array->ndim == 0 && array->type >= PCU_T_INT8 &&
               array->type <= PCU_T_UINT64;
    }
    if (PyBool_Check(item) || PyArray_IsScalar(item, Bool) || !PyIndex_Check(item)) {
        return 0;
    }
    return !PyArray_Check(item) || (PyArray_NDIM((PyArrayObject *)item) == 0 &&
                                    PyArray_ISINTEGER((PyArrayObject *)item));
}

static int
view_is_basic(pcu_state *st, PyObject *item)
{
    return item == Py_None || item == Py_Ellipsis || PySlice_Check(item) ||
           view_is_integer(st, item);
}

static int
view_take_item(view_plan *plan, const pcu_gpuarray *self, PyObject *item, int skip)
{
    if (item == Py_None) {
        return view_take_new_axis(plan);
    }
    if (item == Py_Ellipsis) {
        int rc = 0;
        for (int i = 0; rc == 0 && i < skip; i++) {
            rc = view_take_axis(plan, self);
        }
        return rc;
    }
    if (PySlice_Check(item)) {
        return view_take_slice(plan, self, item);
    }
    Py_ssize_t index = PyNumber_AsSsize_t(item, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred()) {
        return -1;
    }
    return view_take_index(plan, self, index);
}

/* Count the axes that the items take; how many an Ellipsis stands for is the rest. */
static int
view_count_items(const pcu_gpuarray *self, PyObject *const *items, Py_ssize_t n,
                 int *skip)
{
    Py_ssize_t taken = 0;
    int ellipses = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        ellipses += items[i] == Py_Ellipsis;
        taken += items[i] != Py_None && items[i] != Py_Ellipsis;
    }
    if (ellipses > 1) {
        PyErr_SetString(PyExc_IndexError, "an index can have one Ellipsis only");
        return -1;
    }
    if (taken > self->ndim) {
        PyErr_Format(PyExc_IndexError,
                     "too many indices: the array has %d axes, %zd were indexed",
                     self->ndim, taken);
        return -1;
    }
    *skip = self->ndim - (int)taken;
    return 0;
}

static pcu_gpuarray *
view_new(pcu_gpuarray *self, PyObject *const *items, Py_ssize_t n)
{
    view_plan plan;
    int skip = 0;
    plan.ndim = plan.axis = 0;
    plan.offset = 0;
    if (pcu_gpuarray_ready(self) < 0 || view_count_items(self, items, n, &skip) < 0) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        if (view_take_item(&plan, self, items[i], skip) < 0) {
            return NULL;
        }
    }
    while (plan.axis < self->ndim) {
        if (view_take_axis(&plan, self) < 0) {
            return NULL;
        }
    }
    return pcu_gpuarray_view_new(self, plan.ndim, plan.shape, plan.strides, plan.offset,
                                 NULL);
}

/* The items of an index; all basic: 1, else 0. */
static int
view_items(pcu_state *st, PyObject **index, PyObject *const **items, Py_ssize_t *n)
{
    *items = index;
    *n = 1;
    if (PyTuple_Check(*index)) {
        *items = ((PyTupleObject *)*index)->ob_item;
        *n = PyTuple_GET_SIZE(*index);
    }
    for (Py_ssize_t i = 0; i < *n; i++) {
        if (!view_is_basic(st, (*items)[i])) {
            return 0;
        }
    }
    return 1;
}

/* Read or assign through indices that are arrays or lists. */
static PyObject *
view_advanced(PyObject *op, PyObject *index, PyObject *value)
{
    PyObject *result = NULL;
    PyObject *module = PyImport_ImportModule("pycuda._array.indexing");
    if (module != NULL) {
        result = value == NULL
                     ? PyObject_CallMethod(module, "get_item", "OO", op, index)
                     : PyObject_CallMethod(module, "set_item", "OOO", op, index, value);
    }
    Py_XDECREF(module);
    return result;
}

PyObject *
pcu_gpuarray_subscript(PyObject *op, PyObject *index)
{
    PyObject *const *items;
    Py_ssize_t n;
    if (!view_items(((pcu_gpuarray *)op)->st, &index, &items, &n)) {
        return view_advanced(op, index, NULL);
    }
    return (PyObject *)view_new((pcu_gpuarray *)op, items, n);
}

int
pcu_gpuarray_ass_subscript(PyObject *op, PyObject *index, PyObject *value)
{
    PyObject *const *items;
    Py_ssize_t n;
    if (value == NULL) {
        PyErr_SetString(PyExc_TypeError, "elements of an array cannot be deleted");
        return -1;
    }
    if (!view_items(((pcu_gpuarray *)op)->st, &index, &items, &n)) {
        PyObject *done = view_advanced(op, index, value);
        Py_XDECREF(done);
        return done == NULL ? -1 : 0;
    }
    pcu_gpuarray *view = view_new((pcu_gpuarray *)op, items, n);
    if (view == NULL) {
        return -1;
    }
    int rc = pcu_gpuarray_assign(view, value, pcu_gpuarray_stream(view->st));
    Py_DECREF(view);
    return rc;
}

PyObject *
pcu_gpuarray_item(PyObject *op, Py_ssize_t index)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    if (self->ndim == 0 || index < 0 || (size_t)index >= self->shape[0]) {
        PyErr_Format(PyExc_IndexError, "index %zd is out of bounds for axis 0", index);
        return NULL;
    }
    return (PyObject *)pcu_gpuarray_view_new(self, self->ndim - 1, self->shape + 1,
                                             self->strides + 1,
                                             (ptrdiff_t)index * self->strides[0], NULL);
}

/* -- reshape ----------------------------------------------------------------------- */

static int
view_shape_mismatch(const pcu_gpuarray *self, PyObject *wanted)
{
    PyObject *shape = pcu_shape_tuple_new(self->ndim, self->shape);
    if (shape != NULL) {
        PyErr_Format(PyExc_ValueError,
                     "an array of shape %S (%zu elements) cannot have the shape %S",
                     shape, self->count, wanted);
        Py_DECREF(shape);
    }
    return -1;
}

/* Is this a sequence of integers, rather than one integer? */
static int
view_is_sequence(PyObject *value)
{
    return !PyIndex_Check(value) ||
           (PyArray_Check(value) && PyArray_NDIM((PyArrayObject *)value) > 0);
}

/* Lengths from a program; the one -1 becomes what is left. */
static int
view_read_shape(const pcu_gpuarray *self, PyObject *lengths, int *ndim, size_t *shape)
{
    Py_ssize_t n = PyTuple_GET_SIZE(lengths);
    Py_ssize_t unknown = -1;
    size_t count = 1;
    if (n > PCU_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "an array has at most %d axes", PCU_MAX_NDIM);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        unsigned long long bits = 0;
        if (pcu_as_integer(PyTuple_GET_ITEM(lengths, i), -1, PTRDIFF_MAX, &bits,
                           "shape") < 0) {
            return -1;
        }
        shape[i] = (size_t)bits;
        if (bits == UINT64_MAX) {
            if (unknown >= 0) {
                PyErr_SetString(PyExc_ValueError, "a shape can have one -1 only");
                return -1;
            }
            unknown = i;
            shape[i] = 1;
        }
        if (pcu_mul_size(count, shape[i], &count) < 0) {
            return view_shape_mismatch(self, lengths);
        }
    }
    if (unknown >= 0) {
        if (count == 0 || self->count % count != 0) {
            return view_shape_mismatch(self, lengths);
        }
        shape[unknown] = self->count / count;
        count = self->count;
    }
    *ndim = (int)n;
    return count == self->count ? 0 : view_shape_mismatch(self, lengths);
}

PyObject *
pcu_gpuarray_reshape_new(pcu_gpuarray *self, int ndim, const size_t *shape, int f_order,
                         CUstream stream)
{
    ptrdiff_t strides[PCU_MAX_NDIM];
    size_t itemsize = pcu_gpuarray_itemsize(self);
    int rc = f_order ? pcu_strides_f(ndim, shape, itemsize, strides)
                     : pcu_strides_c(ndim, shape, itemsize, strides);
    if (rc < 0) {
        PyErr_SetString(PyExc_ValueError, "an array of that shape is too big");
        return NULL;
    }
    if (!self->contiguous &&
        pcu_reshape_strides(self->ndim, self->shape, self->strides, itemsize, ndim,
                            shape, f_order, strides) < 0) {
        ptrdiff_t packed[PCU_MAX_NDIM];
        rc = f_order ? pcu_strides_f(self->ndim, self->shape, itemsize, packed)
                     : pcu_strides_c(self->ndim, self->shape, itemsize, packed);
        PyObject *copy = rc < 0
                             ? NULL
                             : pcu_gpuarray_new(self->st, NULL, self->ndim, self->shape,
                                                packed, self->dtype, self->allocator);
        PyObject *result = NULL;
        if (copy != NULL &&
            pcu_gpuarray_assign((pcu_gpuarray *)copy, (PyObject *)self, stream) == 0) {
            ((pcu_gpuarray *)copy)->counts_as = self->counts_as;
            result = pcu_gpuarray_reshape_new((pcu_gpuarray *)copy, ndim, shape,
                                              f_order, stream);
        }
        Py_XDECREF(copy);
        return result;
    }
    return (PyObject *)pcu_gpuarray_view_new(self, ndim, shape, strides, 0, NULL);
}

/* The same, with a copy made in the current stream. */
static PyObject *
view_reshape(pcu_gpuarray *self, int ndim, const size_t *shape, int f_order)
{
    return pcu_gpuarray_reshape_new(self, ndim, shape, f_order,
                                    pcu_gpuarray_stream(self->st));
}

/* Has the array this shape, and do its elements lie in this order already? One that is
 * not packed has no order of memory: its indices decide, and they stay the same. */
static int
view_is_reshaped(const pcu_gpuarray *self, int ndim, const size_t *shape, int f_order)
{
    int order = f_order ? PCU_ARRAY_F : PCU_ARRAY_C;
    return ndim == self->ndim && (!self->contiguous || self->contiguous & order) &&
           memcmp(shape, self->shape, (size_t)ndim * sizeof(*shape)) == 0;
}

/* order=, the one keyword that means anything: 1 for F. */
static int
view_order(const pcu_gpuarray *self, PyObject *const *values, PyObject *kwnames)
{
    Py_ssize_t n = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t i = 0; i < n; i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, i), "order") !=
            0) {
            PyErr_Format(PyExc_TypeError, "reshape() takes the keyword order, not '%U'",
                         PyTuple_GET_ITEM(kwnames, i));
            return -1;
        }
        NPY_ORDER order = NPY_CORDER;
        if (PyUnicode_Check(values[i]) &&
            PyUnicode_CompareWithASCIIString(values[i], "A") == 0) {
            return self->contiguous == PCU_ARRAY_F;
        }
        if (pcu_as_order(self->st, values[i], &order, "order") < 0) {
            return -1;
        }
        return order == NPY_FORTRANORDER;
    }
    return 0;
}

PyDoc_STRVAR(
    view_reshape_doc,
    "reshape($self, /, *shape, order='C')\n--\n\n"
    "The elements under another shape, one length of which may be -1.\n\n"
    "A packed array is read in the given order of memory, without a copy; one with\n"
    "gaps in that order of its indices. ValueError if the numbers of elements differ.");

static PyObject *
view_reshape_method(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    size_t shape[PCU_MAX_NDIM];
    int ndim = 0;
    PyObject *result = NULL;
    PyObject *lengths = NULL;
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    int f_order = view_order(self, args + nargs, kwnames);
    if (f_order < 0) {
        return NULL;
    }
    if (nargs == 1 && view_is_sequence(args[0])) {
        lengths = PySequence_Tuple(args[0]);
    }
    else {
        lengths = PyTuple_New(nargs);
        for (Py_ssize_t i = 0; lengths != NULL && i < nargs; i++) {
            PyTuple_SET_ITEM(lengths, i, Py_NewRef(args[i]));
        }
    }
    if (lengths != NULL && view_read_shape(self, lengths, &ndim, shape) == 0) {
        result = view_is_reshaped(self, ndim, shape, f_order)
                     ? Py_NewRef(op)
                     : view_reshape(self, ndim, shape, f_order);
    }
    Py_XDECREF(lengths);
    return result;
}

PyDoc_STRVAR(view_ravel_doc,
             "ravel($self, /)\n--\n\n"
             "The elements along one axis: in the order of memory if the array is "
             "packed,\nelse a copy in C order.");

static PyObject *
view_ravel(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    return pcu_gpuarray_ready(self) < 0 ? NULL : view_reshape(self, 1, &self->count, 0);
}

PyDoc_STRVAR(view_squeeze_doc,
             "squeeze($self, /)\n--\n\nThe array without its axes of length 1.");

static PyObject *
view_squeeze(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    int ndim = 0;
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    for (int i = 0; i < self->ndim; i++) {
        if (self->shape[i] != 1) {
            shape[ndim] = self->shape[i];
            strides[ndim++] = self->strides[i];
        }
    }
    return (PyObject *)pcu_gpuarray_view_new(self, ndim, shape, strides, 0, NULL);
}

/* -- transpose --------------------------------------------------------------------- */

/* A view whose parent is the parent's parent, if there is one: what transposing twice
 * gives is not a chain. */
static PyObject *
view_permute(pcu_gpuarray *self, const int *axes)
{
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    for (int i = 0; i < self->ndim; i++) {
        shape[i] = self->shape[axes[i]];
        strides[i] = self->strides[axes[i]];
    }
    pcu_gpuarray *view =
        pcu_gpuarray_view_new(self, self->ndim, shape, strides, 0, NULL);
    if (view != NULL && self->base != NULL) {
        Py_SETREF(view->base, Py_NewRef(self->base));
    }
    if (view != NULL && self->gpudata != NULL) {
        Py_XSETREF(view->gpudata, Py_NewRef(self->gpudata));
    }
    return (PyObject *)view;
}

PyObject *
pcu_gpuarray_get_T(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    int axes[PCU_MAX_NDIM];
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    for (int i = 0; i < self->ndim; i++) {
        axes[i] = self->ndim - 1 - i;
    }
    return view_permute(self, axes);
}

static int
view_read_axes(const pcu_gpuarray *self, PyObject *items, int *axes)
{
    unsigned char seen[PCU_MAX_NDIM] = {0};
    if (PyTuple_GET_SIZE(items) != self->ndim) {
        PyErr_Format(PyExc_ValueError, "%zd axes were given, the array has %d",
                     PyTuple_GET_SIZE(items), self->ndim);
        return -1;
    }
    for (int i = 0; i < self->ndim; i++) {
        unsigned long long bits = 0;
        if (pcu_as_integer(PyTuple_GET_ITEM(items, i), INT_MIN, INT_MAX, &bits,
                           "axes") < 0) {
            return -1;
        }
        int axis = (int)bits;
        axis += axis < 0 ? self->ndim : 0;
        if (axis < 0 || axis >= self->ndim || seen[axis]) {
            PyErr_Format(PyExc_ValueError, "axes %S is no order of the axes 0 to %d",
                         items, self->ndim - 1);
            return -1;
        }
        seen[axis] = 1;
        axes[i] = axis;
    }
    return 0;
}

PyDoc_STRVAR(
    view_transpose_doc,
    "transpose($self, /, axes=None, *more)\n--\n\n"
    "The array with its axes in another order, by default reversed; a view.\n\n"
    "axes: the old axes in their new order, as integers or as one sequence.");

static PyObject *
view_transpose(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    int axes[PCU_MAX_NDIM];
    PyObject *items = NULL;
    PyObject *result = NULL;
    Py_ssize_t nkw = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    if (nkw > 1 ||
        (nkw == 1 && (nargs > 0 || PyUnicode_CompareWithASCIIString(
                                       PyTuple_GET_ITEM(kwnames, 0), "axes") != 0))) {
        PyErr_SetString(PyExc_TypeError,
                        "transpose() takes the axes, or the keyword axes");
        return NULL;
    }
    if (nargs + nkw == 0 || (nargs + nkw == 1 && args[0] == Py_None)) {
        return pcu_gpuarray_get_T(op, NULL);
    }
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    if (nargs + nkw == 1 && view_is_sequence(args[0])) {
        items = PySequence_Tuple(args[0]);
    }
    else {
        items = PyTuple_New(nargs + nkw);
        for (Py_ssize_t i = 0; items != NULL && i < nargs + nkw; i++) {
            PyTuple_SET_ITEM(items, i, Py_NewRef(args[i]));
        }
    }
    if (items != NULL && view_read_axes(self, items, axes) == 0) {
        result = view_permute(self, axes);
    }
    Py_XDECREF(items);
    return result;
}

/* -- another dtype ----------------------------------------------------------------- */

/* The axis along which elements are joined or split: that of the shortest stride. */
static int
view_fastest_axis(const pcu_gpuarray *self)
{
    int best = -1;
    for (int i = self->ndim - 1; i >= 0; i--) {
        if (self->shape[i] == 1 && best >= 0) {
            continue;
        }
        if (best < 0 || self->shape[best] == 1 ||
            Py_ABS(self->strides[i]) < Py_ABS(self->strides[best])) {
            best = i;
        }
    }
    return best;
}

static PyObject *
view_as_dtype(pcu_gpuarray *self, PyArray_Descr *dtype)
{
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    size_t old = pcu_gpuarray_itemsize(self);
    size_t new = (size_t)PyDataType_ELSIZE(dtype);
    int axis = view_fastest_axis(self);
    memcpy(shape, self->shape, (size_t)self->ndim * sizeof(*shape));
    memcpy(strides, self->strides, (size_t)self->ndim * sizeof(*strides));
    if (PyDataType_REFCHK(dtype) || new == 0) {
        PyErr_Format(PyExc_TypeError, "elements cannot be seen as dtype %R",
                     (PyObject *)dtype);
        return NULL;
    }
    if (old != new) {
        int dense = axis >= 0 && (shape[axis] <= 1 || strides[axis] == (ptrdiff_t)old);
        if (!dense || shape[axis] * old % new != 0) {
            PyErr_Format(PyExc_ValueError,
                         "elements of %zu bytes cannot be seen as dtype %R of %zu: the "
                         "axis of the shortest stride must be packed and a multiple of "
                         "that",
                         old, (PyObject *)dtype, new);
            return NULL;
        }
        for (int i = 0; i < self->ndim; i++) {
            if (i != axis && shape[i] == 1 && strides[i] == (ptrdiff_t)old) {
                strides[i] = (ptrdiff_t) new;
            }
        }
        shape[axis] = shape[axis] * old / new;
        strides[axis] = (ptrdiff_t) new;
    }
    return (PyObject *)pcu_gpuarray_view_new(self, self->ndim, shape, strides, 0,
                                             dtype);
}

PyDoc_STRVAR(
    view_view_doc,
    "view($self, /, dtype=None)\n--\n\n"
    "The same memory, its bytes taken for elements of another dtype.\n\n"
    "Where the size of an element changes, the axis of the shortest stride gets\n"
    "another length; ValueError if that cannot be.");

static PyObject *
view_view(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {{"dtype", pcu_as_object, 0}};
    static const pcu_argtable table = {"view", specs, 1, 0, 0};
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    PyObject *dtype = Py_None;
    PyArray_Descr *descr = NULL;
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &dtype) < 0 ||
        pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    if (dtype == Py_None) {
        descr = (PyArray_Descr *)Py_NewRef((PyObject *)self->dtype);
    }
    else if (pcu_as_dtype(self->st, dtype, &descr, "dtype") < 0) {
        return NULL;
    }
    PyObject *view = view_as_dtype(self, descr);
    Py_DECREF(descr);
    return view;
}

PyMethodDef pcu_gpuarray_view_methods[] = {
    {"reshape", (PyCFunction)(void (*)(void))view_reshape_method,
     METH_FASTCALL | METH_KEYWORDS, view_reshape_doc},
    {"ravel", view_ravel, METH_NOARGS, view_ravel_doc},
    {"squeeze", view_squeeze, METH_NOARGS, view_squeeze_doc},
    {"transpose", (PyCFunction)(void (*)(void))view_transpose,
     METH_FASTCALL | METH_KEYWORDS, view_transpose_doc},
    {"view", (PyCFunction)(void (*)(void))view_view, METH_FASTCALL | METH_KEYWORDS,
     view_view_doc},
    {NULL, NULL, 0, NULL},
};
