/* GPUArrays as sequences: x[index], x[index] = value, len(x), value in x.
 *
 * Indices of integers, slices, None and Ellipsis give views, computed here without a
 * kernel and without Python objects for shape and strides. Indices that are arrays or
 * lists go to index/items.c. */

#include "python/array/type/members.h"

#include "driver/shape.h"
#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/index/item_list.h"
#include "python/array/index/items.h"
#include "python/array/index/mask.h"
#include "python/array/ops/assign.h"
#include "python/driver/stream.h"

/* The view that is being built. */
typedef struct {
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    ptrdiff_t offset;
    int ndim;
    int axis; /* the next axis of the array to be indexed */
} index_plan;

/* Give the view one more axis. */
static int
index_add_axis(index_plan *plan, size_t length, ptrdiff_t stride)
{
    if (plan->ndim >= PCU_MAX_NDIM) {
        PyErr_Format(PyExc_IndexError, "the result would have more than %d axes",
                     PCU_MAX_NDIM);
        return -1;
    }
    plan->shape[plan->ndim] = length;
    plan->strides[plan->ndim] = stride;
    plan->ndim++;
    return 0;
}

/* Take the next axis of the array whole. */
static int
index_take_axis(index_plan *plan, const pcu_gpuarray *self)
{
    int axis = plan->axis++;
    return index_add_axis(plan, self->shape[axis], self->strides[axis]);
}

static int
index_take_integer(index_plan *plan, const pcu_gpuarray *self, Py_ssize_t index)
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
index_take_slice(index_plan *plan, const pcu_gpuarray *self, PyObject *item)
{
    Py_ssize_t start = 0;
    Py_ssize_t stop = 0;
    Py_ssize_t step = 0;
    ptrdiff_t offset = 0;
    int axis = plan->axis;
    if (PySlice_Unpack(item, &start, &stop, &step) < 0) {
        return -1;
    }
    /* PySlice_Unpack replaces an end that was left out by the farthest number */
    pcu_slice slice = {start, stop, step, 1, 1};
    if (index_take_axis(plan, self) < 0) {
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

static bool
index_is_basic(pcu_state *st, PyObject *item)
{
    return item == Py_None || item == Py_Ellipsis || PySlice_Check(item) ||
           pcu_index_is_integer(st, item);
}

/* Take one item of an index; an Ellipsis takes `skip` axes. */
static int
index_take_item(index_plan *plan, const pcu_gpuarray *self, PyObject *item, int skip)
{
    if (item == Py_None) {
        return index_add_axis(plan, 1, 0);
    }
    if (item == Py_Ellipsis) {
        for (int i = 0; i < skip; i++) {
            if (index_take_axis(plan, self) < 0) {
                return -1;
            }
        }
        return 0;
    }
    if (PySlice_Check(item)) {
        return index_take_slice(plan, self, item);
    }
    Py_ssize_t index = PyNumber_AsSsize_t(item, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred()) {
        return -1;
    }
    return index_take_integer(plan, self, index);
}

/* Count the axes that the items take; *skip becomes the number of the others. */
static int
index_count_items(const pcu_gpuarray *self, PyObject *const *items, Py_ssize_t n,
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

/* The view of a basic index. */
static pcu_gpuarray *
index_view_new(pcu_gpuarray *self, PyObject *const *items, Py_ssize_t n)
{
    index_plan plan;
    int skip = 0;
    plan.ndim = plan.axis = 0;
    plan.offset = 0;
    if (pcu_gpuarray_ready(self) < 0 || index_count_items(self, items, n, &skip) < 0) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        if (index_take_item(&plan, self, items[i], skip) < 0) {
            return NULL;
        }
    }
    while (plan.axis < self->ndim) {
        if (index_take_axis(&plan, self) < 0) {
            return NULL;
        }
    }
    return pcu_gpuarray_view_new(self, plan.ndim, plan.shape, plan.strides, plan.offset,
                                 NULL);
}

/* The items of an index: whether all of them are basic. */
static bool
index_items(pcu_state *st, PyObject **index, PyObject *const **items, Py_ssize_t *n)
{
    *items = index;
    *n = 1;
    if (PyTuple_Check(*index)) {
        *items = ((PyTupleObject *)*index)->ob_item;
        *n = PyTuple_GET_SIZE(*index);
    }
    for (Py_ssize_t i = 0; i < *n; i++) {
        if (!index_is_basic(st, (*items)[i])) {
            return false;
        }
    }
    return true;
}

/* The first name of a field in an item of an index, borrowed; NULL if there is none. */
static PyObject *
index_field_name(PyObject *item)
{
    if (PyList_Check(item) && PyList_GET_SIZE(item) != 0) {
        item = PyList_GET_ITEM(item, 0);
    }
    if (!PyUnicode_Check(item)) {
        return NULL;
    }
    return item;
}

/* The entry of a field in the dtype, if the index is its name: borrowed, NULL for other
 * indices and on errors. */
static PyObject *
index_field(const pcu_gpuarray *self, PyObject *index)
{
    if (!PyUnicode_Check(index) || self->dtype == NULL) {
        return NULL;
    }
    PyObject *fields = PyDataType_FIELDS(self->dtype);
    if (fields == NULL || fields == Py_None) {
        return NULL;
    }
    return PyDict_GetItemWithError(fields, index);
}

/* A view of one field of each record. The axes of a field that is itself an array come
 * last. */
static pcu_gpuarray *
index_field_view_new(pcu_gpuarray *self, PyObject *field)
{
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    PyArray_Descr *dtype = (PyArray_Descr *)PyTuple_GET_ITEM(field, 0);
    Py_ssize_t offset = PyLong_AsSsize_t(PyTuple_GET_ITEM(field, 1));
    PyObject *inner = NULL; /* the shape of the field, a tuple */
    int ndim = self->ndim;
    int more = 0;
    if (pcu_gpuarray_ready(self) < 0 || (offset == -1 && PyErr_Occurred())) {
        return NULL;
    }
    if (PyDataType_HASSUBARRAY(dtype)) {
        inner = PyDataType_SUBARRAY(dtype)->shape;
        dtype = PyDataType_SUBARRAY(dtype)->base;
        more = (int)PyTuple_GET_SIZE(inner);
    }
    if (ndim + more > PCU_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "the field has %d axes; an array has at most %d",
                     ndim + more, PCU_MAX_NDIM);
        return NULL;
    }
    memcpy(shape, self->shape, (size_t)ndim * sizeof(shape[0]));
    memcpy(strides, self->strides, (size_t)ndim * sizeof(strides[0]));
    ptrdiff_t stride = (ptrdiff_t)PyDataType_ELSIZE(dtype);
    for (int i = more - 1; i >= 0; i--) {
        size_t length = PyLong_AsSize_t(PyTuple_GET_ITEM(inner, i));
        if (length == (size_t)-1 && PyErr_Occurred()) {
            return NULL;
        }
        shape[ndim + i] = length;
        strides[ndim + i] = stride;
        stride *= (ptrdiff_t)length;
    }
    return pcu_gpuarray_view_new(self, ndim + more, shape, strides, offset, dtype);
}

/* Raise IndexError for an index by the names of fields that is not the name of one. */
static int
index_refuse_fields(const pcu_gpuarray *self, PyObject *const *items, Py_ssize_t n)
{
    PyObject *name = NULL;
    for (Py_ssize_t i = 0; name == NULL && i < n; i++) {
        name = index_field_name(items[i]);
    }
    if (name == NULL || self->dtype == NULL) {
        return 0;
    }
    PyObject *fields = PyDataType_FIELDS(self->dtype);
    if (fields == NULL || fields == Py_None) {
        PyErr_Format(PyExc_IndexError,
                     "the index %R is the name of a field, but an array of %S has no "
                     "fields",
                     name, (PyObject *)self->dtype);
    }
    else if (PyDict_Contains(fields, name) == 1) {
        PyErr_Format(PyExc_IndexError,
                     "the name of a field is the whole index: x[%R], and then an index "
                     "of that view; an array on the device has no views of several "
                     "fields",
                     name);
    }
    else if (!PyErr_Occurred()) {
        PyErr_Format(PyExc_IndexError, "the array has no field %R; its fields are %R",
                     name, PyDataType_NAMES(self->dtype));
    }
    return -1;
}

/* Whether the index is one mask on the device. */
static bool
index_is_mask(pcu_gpuarray *self, PyObject *index)
{
    return !PyTuple_Check(index) && !PyLong_Check(index) && !PySlice_Check(index) &&
           pcu_mask_fits(self, index);
}

static PyObject *
index_subscript(PyObject *op, PyObject *index)
{
    PyObject *const *items;
    Py_ssize_t n;
    if (index_is_mask((pcu_gpuarray *)op, index) &&
        ((pcu_gpuarray *)index)->ndim == ((pcu_gpuarray *)op)->ndim) {
        return pcu_mask_get((pcu_gpuarray *)op, (pcu_gpuarray *)index,
                            pcu_stream_current());
    }
    if (!index_items(((pcu_gpuarray *)op)->st, &index, &items, &n)) {
        PyObject *field = index_field((pcu_gpuarray *)op, index);
        if (field != NULL) {
            return (PyObject *)index_field_view_new((pcu_gpuarray *)op, field);
        }
        if (PyErr_Occurred() || index_refuse_fields((pcu_gpuarray *)op, items, n) < 0) {
            return NULL;
        }
        return pcu_index_get((pcu_gpuarray *)op, items, n, pcu_stream_current());
    }
    return (PyObject *)index_view_new((pcu_gpuarray *)op, items, n);
}

static int
index_ass_subscript(PyObject *op, PyObject *index, PyObject *value)
{
    PyObject *const *items;
    Py_ssize_t n;
    if (value == NULL) {
        PyErr_SetString(PyExc_TypeError, "elements of an array cannot be deleted");
        return -1;
    }
    if (index_is_mask((pcu_gpuarray *)op, index)) {
        int done = pcu_mask_set((pcu_gpuarray *)op, (pcu_gpuarray *)index, value,
                                pcu_stream_current());
        if (done != 0) {
            return done < 0 ? -1 : 0;
        }
    }
    pcu_gpuarray *view = NULL;
    if (!index_items(((pcu_gpuarray *)op)->st, &index, &items, &n)) {
        PyObject *field = index_field((pcu_gpuarray *)op, index);
        if (field == NULL) {
            if (PyErr_Occurred() ||
                index_refuse_fields((pcu_gpuarray *)op, items, n) < 0) {
                return -1;
            }
            return pcu_index_set((pcu_gpuarray *)op, items, n, value,
                                 pcu_stream_current());
        }
        view = index_field_view_new((pcu_gpuarray *)op, field);
    }
    else {
        view = index_view_new((pcu_gpuarray *)op, items, n);
    }
    if (view == NULL) {
        return -1;
    }
    int rc = pcu_gpuarray_assign(view, value, pcu_stream_current());
    Py_DECREF(view);
    return rc;
}

static int
index_check_iterable(pcu_gpuarray *self)
{
    if (pcu_gpuarray_ready(self) < 0) {
        return -1;
    }
    if (self->ndim == 0) {
        PyErr_SetString(PyExc_TypeError, "iteration over an array without axes");
        return -1;
    }
    return 0;
}

static PyObject *
index_item(PyObject *op, Py_ssize_t index)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (index_check_iterable(self) < 0) {
        return NULL;
    }
    if (index < 0 || (size_t)index >= self->shape[0]) {
        PyErr_Format(PyExc_IndexError, "index %zd is out of bounds for axis 0", index);
        return NULL;
    }
    return (PyObject *)pcu_gpuarray_view_new(self, self->ndim - 1, self->shape + 1,
                                             self->strides + 1,
                                             (ptrdiff_t)index * self->strides[0], NULL);
}

/* Refuse arrays without axes at once: numpy.iterable() asks whether iter() works. */
static PyObject *
index_iter(PyObject *op)
{
    if (index_check_iterable((pcu_gpuarray *)op) < 0) {
        return NULL;
    }
    return PySeqIter_New(op);
}

static Py_ssize_t
index_length(PyObject *op)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (pcu_gpuarray_ready(self) < 0) {
        return -1;
    }
    if (self->ndim == 0) {
        PyErr_SetString(PyExc_TypeError, "len() of an array without axes");
        return -1;
    }
    return (Py_ssize_t)self->shape[0];
}

/* 1 if any element is equal to the value. */
static int
index_contains(PyObject *op, PyObject *value)
{
    PyObject *equal = PyObject_RichCompare(op, value, Py_EQ);
    if (equal == NULL) {
        return -1;
    }
    if (pcu_is_array(((pcu_gpuarray *)op)->st, equal)) {
        Py_SETREF(equal, PyObject_CallMethod(equal, "any", NULL));
        if (equal == NULL) {
            return -1;
        }
    }
    int found = PyObject_IsTrue(equal);
    Py_DECREF(equal);
    return found;
}

const PyType_Slot pcu_indexing_slots[] = {
    {Py_tp_iter, index_iter},
    {Py_sq_length, index_length},
    {Py_mp_length, index_length},
    {Py_sq_item, index_item},
    {Py_sq_contains, index_contains},
    {Py_mp_subscript, index_subscript},
    {Py_mp_ass_subscript, index_ass_subscript},
    {0, NULL},
};
