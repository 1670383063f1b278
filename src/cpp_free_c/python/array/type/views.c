/* Views of a GPUArray under another shape, order of axes or dtype.
 *
 * A view shares the memory and holds its parent. No kernel runs here, except where a
 * reshape has to copy; shape and strides are computed without Python objects. */

#include "python/array/type/views.h"

#include "driver/shape.h"
#include "python/array/construction.h"
#include "python/array/layout.h"
#include "python/array/ops/device_copy.h"
#include "python/array/type/forwarding.h"
#include "python/array/type/members.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"

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

/* True for a sequence of integers, false for one integer. */
static bool
view_is_sequence(PyObject *value)
{
    return !PyIndex_Check(value) ||
           (PyArray_Check(value) && PyArray_NDIM((PyArrayObject *)value) > 0);
}

/* The arguments of a method that takes integers, or one sequence of them, as a tuple.
 * Inline: every reshape calls it. */
static inline PyObject *
view_integers_new(PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs == 1 && view_is_sequence(args[0])) {
        return PySequence_Tuple(args[0]);
    }
    PyObject *items = PyTuple_New(nargs);
    if (items == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < nargs; i++) {
        PyTuple_SET_ITEM(items, i, Py_NewRef(args[i]));
    }
    return items;
}

/* Read the lengths that a program gives. One of them may be -1: it is computed. */
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
    if (count != self->count) {
        return view_shape_mismatch(self, lengths);
    }
    return 0;
}

PyObject *
pcu_gpuarray_reshape_new(pcu_gpuarray *self, int ndim, const size_t *shape,
                         bool f_order, CUstream stream)
{
    ptrdiff_t strides[PCU_MAX_NDIM];
    size_t itemsize = pcu_gpuarray_itemsize(self);
    if (pcu_strides_in_order(f_order, ndim, shape, itemsize, strides) < 0) {
        return NULL;
    }
    if (self->contiguous ||
        pcu_reshape_strides(self->ndim, self->shape, self->strides, itemsize, ndim,
                            shape, f_order, strides) == 0) {
        return (PyObject *)pcu_gpuarray_view_new(self, ndim, shape, strides, 0, NULL);
    }
    PyObject *copy = pcu_gpuarray_ordered_copy_new(self, f_order, stream);
    if (copy == NULL) {
        return NULL;
    }
    if (pcu_strides_in_order(f_order, ndim, shape, itemsize, strides) < 0) {
        Py_DECREF(copy);
        return NULL;
    }
    pcu_gpuarray *view =
        pcu_gpuarray_view_new((pcu_gpuarray *)copy, ndim, shape, strides, 0, NULL);
    Py_DECREF(copy);
    return (PyObject *)view;
}

/* The same, with a copy in the current stream if one is needed. */
static PyObject *
view_reshape(pcu_gpuarray *self, int ndim, const size_t *shape, bool f_order)
{
    return pcu_gpuarray_reshape_new(self, ndim, shape, f_order, pcu_stream_current());
}

/* Whether the array has this shape and order already. The elements of an array with
 * gaps have the order of their indices, so only the shape counts. */
static bool
view_is_reshaped(const pcu_gpuarray *self, int ndim, const size_t *shape, bool f_order)
{
    int order = PCU_ARRAY_C;
    if (f_order) {
        order = PCU_ARRAY_F;
    }
    if (!pcu_gpuarray_has_shape(self, ndim, shape)) {
        return false;
    }
    return !self->contiguous || (self->contiguous & order) != 0;
}

/* Read the keyword order: 1 for Fortran order, 0 for C order, or -1. */
static int
view_read_order(const pcu_gpuarray *self, PyObject *value)
{
    NPY_ORDER order = NPY_CORDER;
    if (PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, "A") == 0) {
        return self->contiguous == PCU_ARRAY_F;
    }
    if (pcu_as_order(self->st, value, &order, "order") < 0) {
        return -1;
    }
    return order == NPY_FORTRANORDER;
}

/* The same for the keywords of a call, of which only order is known. */
static int
view_read_keywords(const pcu_gpuarray *self, PyObject *const *values, PyObject *kwnames)
{
    if (kwnames == NULL || PyTuple_GET_SIZE(kwnames) == 0) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kwnames); i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        if (PyUnicode_CompareWithASCIIString(name, "order") != 0) {
            PyErr_Format(PyExc_TypeError, "reshape() takes the keyword order, not '%U'",
                         name);
            return -1;
        }
    }
    return view_read_order(self, values[0]);
}

PyDoc_STRVAR(view_reshape_doc,
             "reshape($self, /, *shape, order='C')\n"
             "--\n\n"
             "Return the elements under another shape.\n"
             "\nParameters\n----------\n"
             "*shape : int or tuple of int\n"
             "    The shape. One length may be -1.\n"
             "order : {\"C\", \"F\"}, default \"C\"\n"
             "    Order of the result in memory.\n"
             "\nReturns\n-------\n"
             "GPUArray\n"
             "    A view of an array in C or Fortran order. The view keeps the\n"
             "    memory as it is. All other arrays are read by index, and copied\n"
             "    if no strides fit.\n"
             "\nRaises\n------\n"
             "ValueError\n"
             "    If the numbers of elements differ.\n"
             "\nSee Also\n--------\n"
             "ascontiguousarray : An array in C order.\n"
             "\nNotes\n-----\n"
             "``x.T.reshape(-1)`` has the order of ``x``. ``np.reshape(x.T, -1)``\n"
             "reads by index.\n"
             "\nExamples\n--------\n"
             ">>> x = gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))\n"
             ">>> x.reshape(4), x.T.reshape(4), np.reshape(x.T, 4)\n"
             "(array([1, 2, 3, 4]), array([1, 2, 3, 4]), array([1, 3, 2, 4]))");

static PyObject *
view_reshape_method(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    size_t shape[PCU_MAX_NDIM];
    int ndim = 0;
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    int f_order = view_read_keywords(self, args + nargs, kwnames);
    if (f_order < 0) {
        return NULL;
    }
    PyObject *lengths = view_integers_new(args, nargs);
    if (lengths == NULL) {
        return NULL;
    }
    int rc = view_read_shape(self, lengths, &ndim, shape);
    Py_DECREF(lengths);
    if (rc < 0) {
        return NULL;
    }
    if (view_is_reshaped(self, ndim, shape, f_order)) {
        return Py_NewRef(op);
    }
    return view_reshape(self, ndim, shape, f_order);
}

PyDoc_STRVAR(view_ravel_doc,
             "ravel($self, /)\n"
             "--\n\n"
             "Return the elements along one axis.\n"
             "\nReturns\n-------\n"
             "GPUArray\n"
             "    A view of an array in C or Fortran order, in the order of memory.\n"
             "    All other arrays are read by index, and copied if no stride fits.\n"
             "\nSee Also\n--------\n"
             "flatten : A copy in a given order.\n"
             "\nExamples\n--------\n"
             ">>> gpuarray.to_gpu(np.array([[1, 2], [3, 4]])).ravel()\n"
             "array([1, 2, 3, 4])");

static PyObject *
view_ravel(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    return view_reshape(self, 1, &self->count, false);
}

PyDoc_STRVAR(view_squeeze_doc,
             "squeeze($self, /, axis=None)\n"
             "--\n\n"
             "Return a view without axes of length 1.\n"
             "\nParameters\n----------\n"
             "axis : int or tuple of int, optional\n"
             "    The axes. The default is all of length 1.\n"
             "\nReturns\n-------\n"
             "GPUArray\n"
             "    A view.\n"
             "\nRaises\n------\n"
             "ValueError\n"
             "    If an axis has another length or does not exist.\n"
             "\nSee Also\n--------\n"
             "pycuda.gpuarray.squeeze : The function.\n"
             "\nExamples\n--------\n"
             ">>> gpuarray.zeros((1, 3, 1)).squeeze().shape\n"
             "(3,)");

static PyObject *
view_squeeze(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    int ndim = 0;
    if (nargs > 0 || kwnames != NULL) {
        return pcu_gpuarray_forward(op, "pycuda._array.functions.shapes", "squeeze",
                                    args, nargs, kwnames);
    }
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

/* A view with the axes in another order. Its base is self's base, if there is one, so
 * that repeated transposing makes no chain. */
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

PyObject *
pcu_gpuarray_get_mT(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    int axes[PCU_MAX_NDIM];
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    if (self->ndim < 2) {
        PyErr_Format(PyExc_ValueError,
                     "mT exchanges the last two axes: the array has %d", self->ndim);
        return NULL;
    }
    for (int i = 0; i < self->ndim; i++) {
        axes[i] = i;
    }
    axes[self->ndim - 1] = self->ndim - 2;
    axes[self->ndim - 2] = self->ndim - 1;
    return view_permute(self, axes);
}

static int
view_read_axes(const pcu_gpuarray *self, PyObject *items, int *axes)
{
    unsigned char seen[PCU_MAX_NDIM] = {0};
    if (PyTuple_GET_SIZE(items) != self->ndim) {
        PyErr_Format(PyExc_ValueError,
                     "axes must name all %d axes of the array, not %zd", self->ndim,
                     PyTuple_GET_SIZE(items));
        return -1;
    }
    for (int i = 0; i < self->ndim; i++) {
        unsigned long long bits = 0;
        if (pcu_as_integer(PyTuple_GET_ITEM(items, i), INT_MIN, INT_MAX, &bits,
                           "axes") < 0) {
            return -1;
        }
        int axis = (int)bits;
        if (axis < 0) {
            axis += self->ndim;
        }
        if (axis < 0 || axis >= self->ndim || seen[axis]) {
            PyErr_Format(PyExc_ValueError,
                         "axes %S is not a permutation of the axes 0 to %d", items,
                         self->ndim - 1);
            return -1;
        }
        seen[axis] = 1;
        axes[i] = axis;
    }
    return 0;
}

/* Whether the only keyword of a call without positional arguments is axes. */
static bool
view_is_axes_keyword(Py_ssize_t nargs, PyObject *kwnames)
{
    return nargs == 0 && PyTuple_GET_SIZE(kwnames) == 1 &&
           PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, 0), "axes") == 0;
}

PyDoc_STRVAR(view_transpose_doc,
             "transpose($self, /, axes=None, *more)\n"
             "--\n\n"
             "Return a view with the axes in another order.\n"
             "\nParameters\n----------\n"
             "axes : int or sequence of int, optional\n"
             "    The old axes in their new order. The default is to reverse\n"
             "    them.\n"
             "*more : int\n"
             "    The other axes, if ``axes`` is the first one.\n"
             "\nReturns\n-------\n"
             "GPUArray\n"
             "    A view.\n"
             "\nRaises\n------\n"
             "ValueError\n"
             "    If this is no order of the axes.\n"
             "\nExamples\n--------\n"
             ">>> gpuarray.zeros((2, 3, 4)).transpose(1, 2, 0).shape\n"
             "(3, 4, 2)");

static PyObject *
view_transpose(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    int axes[PCU_MAX_NDIM];
    if (kwnames != NULL && PyTuple_GET_SIZE(kwnames) != 0) {
        if (!view_is_axes_keyword(nargs, kwnames)) {
            PyErr_SetString(PyExc_TypeError,
                            "transpose() takes the axes, or the keyword axes");
            return NULL;
        }
        nargs = 1; /* the keyword's value is args[0] */
    }
    if (nargs == 0 || (nargs == 1 && args[0] == Py_None)) {
        return pcu_gpuarray_get_T(op, NULL);
    }
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    PyObject *items = view_integers_new(args, nargs);
    if (items == NULL) {
        return NULL;
    }
    int rc = view_read_axes(self, items, axes);
    Py_DECREF(items);
    if (rc < 0) {
        return NULL;
    }
    return view_permute(self, axes);
}

/* -- another dtype ----------------------------------------------------------------- */

/* The axis along which elements are joined or split: the one of the shortest stride. */
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
        PyErr_Format(PyExc_TypeError, "elements cannot be viewed as dtype %S",
                     (PyObject *)dtype);
        return NULL;
    }
    if (old != new) {
        bool dense = axis >= 0 && (self->count == 0 || shape[axis] <= 1 ||
                                   strides[axis] == (ptrdiff_t)old);
        if (!dense || shape[axis] * old % new != 0) {
            PyErr_Format(
                PyExc_ValueError,
                "elements of %zu bytes cannot be viewed as dtype %R of %zu: "
                "the axis of the shortest stride must be packed, and its bytes "
                "must be a multiple of the new size",
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

PCU_SIGNATURE_OF_ONE(
    view_view, "dtype", pcu_as_object,
    "view($self, /, dtype=None)\n"
    "--\n\n"
    "Return the same memory, viewed as elements of another dtype.\n"
    "\nParameters\n----------\n"
    "dtype : dtype_like, optional\n"
    "    Dtype of the view. The default is that of the array.\n"
    "\nReturns\n-------\n"
    "GPUArray\n"
    "    A view. If the size of an element changes, the length of the\n"
    "    axis of the shortest stride changes, too.\n"
    "\nRaises\n------\n"
    "ValueError\n"
    "    If the sizes do not permit it.\n"
    "\nExamples\n--------\n"
    ">>> gpuarray.to_gpu(np.array([1.0], np.float32)).view(np.uint32)\n"
    "array([1065353216], dtype=uint32)")

static PyObject *
view_view(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    PyObject *dtype = Py_None;
    PyArray_Descr *descr = NULL;
    if (pcu_args_parse(self->st, &view_view_signature, args, nargs, kwnames,
                       PCU_ONLY(view_view, &dtype)) < 0 ||
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
    if (view == NULL && PyType_Check(dtype) &&
        PyType_IsSubtype((PyTypeObject *)dtype, &PyArray_Type)) {
        PyErr_Format(PyExc_TypeError,
                     "view takes a dtype, and %s is a class of NumPy: fetch with get() "
                     "before. A field is x['name']",
                     ((PyTypeObject *)dtype)->tp_name);
    }
    return view;
}

PyMethodDef pcu_view_methods[] = {
    {"reshape", (PyCFunction)(void (*)(void))view_reshape_method,
     METH_FASTCALL | METH_KEYWORDS, view_reshape_doc},
    {"ravel", view_ravel, METH_NOARGS, view_ravel_doc},
    PCU_METHOD("squeeze", view_squeeze),
    PCU_METHOD("transpose", view_transpose),
    PCU_METHOD("view", view_view),
    {NULL, NULL, 0, NULL},
};
