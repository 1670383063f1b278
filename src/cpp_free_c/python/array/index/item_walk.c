/* The walk along the items of an index: see item_walk.h. */

#include "python/array/index/item_walk.h"

#include "python/array/index/host_indices.h"
#include "python/array/index/nonzero.h"
#include "python/array/layout.h"

/* -- places of the view ------------------------------------------------------------ */

void
pcu_item_walk_init(pcu_item_walk *walk, pcu_gpuarray *self, pcu_selection *selection,
                   CUstream stream)
{
    walk->self = self;
    walk->selection = selection;
    walk->stream = stream;
    walk->axis = walk->ndim = walk->common_ndim = walk->indexed = 0;
    walk->first = walk->last = -1;
    walk->is_separated = walk->was_ellipsis = false;
}

static int
walk_add_place(pcu_item_walk *walk, size_t length, ptrdiff_t stride, bool is_index)
{
    if (walk->ndim >= PCU_MAX_NDIM) {
        PyErr_Format(PyExc_IndexError, "the result would have more than %d axes",
                     PCU_MAX_NDIM);
        return -1;
    }
    walk->shape[walk->ndim] = length;
    walk->strides[walk->ndim] = stride;
    walk->is_index[walk->ndim] = (unsigned char)is_index;
    if (is_index) {
        if (walk->first < 0) {
            walk->first = walk->ndim;
        }
        else if (walk->was_ellipsis) {
            walk->is_separated = true;
        }
        walk->was_ellipsis = false;
        walk->last = walk->ndim;
        walk->indexed++;
    }
    walk->ndim++;
    return 0;
}

int
pcu_item_walk_take_axes(pcu_item_walk *walk, int count)
{
    for (int i = 0; i < count; i++) {
        int axis = walk->axis++;
        if (walk_add_place(walk, walk->self->shape[axis], walk->self->strides[axis],
                           false) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
walk_take_slice(pcu_item_walk *walk, PyObject *object)
{
    Py_ssize_t start = 0;
    Py_ssize_t stop = 0;
    Py_ssize_t step = 0;
    size_t length = 0;
    ptrdiff_t stride = 0;
    ptrdiff_t offset = 0;
    int axis = walk->axis++;
    if (PySlice_Unpack(object, &start, &stop, &step) < 0) {
        return -1;
    }
    pcu_slice slice = {start, stop, step, 1, 1};
    if (pcu_view_slice(&slice, walk->self->shape[axis], walk->self->strides[axis],
                       &length, &stride, &offset) < 0) {
        PyErr_Format(PyExc_IndexError, "the slice %R leaves the array", object);
        return -1;
    }
    walk->selection->offset += offset;
    return walk_add_place(walk, length, stride, false);
}

/* -- index arrays ------------------------------------------------------------------ */

/* Broadcast the shape of an index array with that of the ones before. */
static int
walk_broadcast(pcu_item_walk *walk, int ndim, const size_t *shape)
{
    return pcu_broadcast_shapes(walk->common_ndim, walk->common, ndim, shape,
                                &walk->common_ndim, walk->common);
}

/* Add an index array on the device for the next axis of the array. */
static int
walk_add_index(pcu_item_walk *walk, pcu_gpuarray *index, bool is_checked)
{
    int axis = walk->axis++;
    size_t length = walk->self->shape[axis];
    ptrdiff_t stride = walk->self->strides[axis];
    if (walk_add_place(walk, 1, 0, true) < 0 ||
        pcu_selection_add(walk->selection, index, axis, length, stride, is_checked) <
            0) {
        return -1;
    }
    if (walk_broadcast(walk, index->ndim, index->shape) < 0) {
        return 1;
    }
    return 0;
}

/* Add an index array of the host. */
static int
walk_add_host(pcu_item_walk *walk, PyObject *array)
{
    int axis = walk->axis;
    PyObject *index = pcu_host_indices_upload(
        walk->self->st, array, walk->self->shape[axis], axis, walk->stream);
    if (index == NULL) {
        return -1;
    }
    int rc = walk_add_index(walk, (pcu_gpuarray *)index, true);
    Py_DECREF(index);
    return rc;
}

int
pcu_item_walk_add_integer(pcu_item_walk *walk, PyObject *object)
{
    ptrdiff_t offset = 0;
    int axis = walk->axis++;
    size_t length = walk->self->shape[axis];
    Py_ssize_t index = PyNumber_AsSsize_t(object, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred()) {
        return -1;
    }
    if (pcu_view_index(index, length, walk->self->strides[axis], &offset) < 0) {
        PyErr_Format(PyExc_IndexError,
                     "index %zd is out of bounds for axis %d of length %zu", index,
                     axis, length);
        return -1;
    }
    walk->selection->offset += offset;
    return walk_add_place(walk, 1, 0, true);
}

/* -- masks ------------------------------------------------------------------------- */

int
pcu_item_walk_check_mask(const pcu_item_walk *walk, int ndim, const size_t *shape)
{
    const size_t *wanted = walk->self->shape + walk->axis;
    if (memcmp(shape, wanted, (size_t)ndim * sizeof(*shape)) == 0) {
        return 0;
    }
    PyObject *given = pcu_shape_tuple_new(ndim, shape);
    PyObject *axes = pcu_shape_tuple_new(ndim, wanted);
    if (given != NULL && axes != NULL) {
        PyErr_Format(PyExc_IndexError,
                     "a boolean index of shape %S does not fit axes of shape %S", given,
                     axes);
    }
    Py_XDECREF(given);
    Py_XDECREF(axes);
    return -1;
}

/* A truth without axes adds an axis of length 0 or 1. */
static int
walk_add_truth(pcu_item_walk *walk, PyObject *object)
{
    int truth = PyObject_IsTrue(object);
    if (truth < 0 || walk_add_place(walk, 1, 0, true) < 0) {
        return -1;
    }
    size_t shape[1] = {(size_t)truth};
    if (walk_broadcast(walk, 1, shape) < 0) {
        return 1;
    }
    return 0;
}

static int
walk_add_device_mask(pcu_item_walk *walk, PyObject *object)
{
    pcu_gpuarray *mask = (pcu_gpuarray *)object;
    int rc = 0;
    if (mask->ndim == 0) {
        return walk_add_truth(walk, object);
    }
    if (pcu_item_walk_check_mask(walk, mask->ndim, mask->shape) < 0) {
        return -1;
    }
    PyObject *places = pcu_nonzero_new(mask, walk->stream);
    if (places == NULL) {
        return -1;
    }
    for (Py_ssize_t i = 0; rc == 0 && i < PyTuple_GET_SIZE(places); i++) {
        rc = walk_add_index(walk, (pcu_gpuarray *)PyTuple_GET_ITEM(places, i), true);
    }
    Py_DECREF(places);
    return rc;
}

static int
walk_add_host_mask(pcu_item_walk *walk, PyObject *object)
{
    size_t shape[PCU_MAX_NDIM];
    PyArrayObject *mask = (PyArrayObject *)object;
    int ndim = PyArray_NDIM(mask);
    int rc = 0;
    if (ndim == 0) {
        return walk_add_truth(walk, object);
    }
    for (int i = 0; i < ndim; i++) {
        shape[i] = (size_t)PyArray_DIM(mask, i);
    }
    if (pcu_item_walk_check_mask(walk, ndim, shape) < 0) {
        return -1;
    }
    PyObject *places = PyArray_Nonzero(mask);
    if (places == NULL) {
        return -1;
    }
    for (Py_ssize_t i = 0; rc == 0 && i < PyTuple_GET_SIZE(places); i++) {
        rc = walk_add_host(walk, PyTuple_GET_ITEM(places, i));
    }
    Py_DECREF(places);
    return rc;
}

/* -- the walk ---------------------------------------------------------------------- */

int
pcu_item_walk_take_item(pcu_item_walk *walk, const pcu_index_item *place)
{
    switch (place->kind) {
        case PCU_ITEM_SLICE:
            return walk_take_slice(walk, place->object);
        case PCU_ITEM_NEW_AXIS:
            return walk_add_place(walk, 1, 0, false);
        case PCU_ITEM_ELLIPSIS:
            walk->was_ellipsis = walk->first >= 0;
            return pcu_item_walk_take_axes(walk, place->axes);
        case PCU_ITEM_PLACE:
            return pcu_item_walk_add_integer(walk, place->object);
        case PCU_ITEM_HOST:
            return walk_add_host(walk, place->object);
        case PCU_ITEM_DEVICE:
            return walk_add_index(walk, (pcu_gpuarray *)place->object, false);
        case PCU_ITEM_HOST_MASK:
            return walk_add_host_mask(walk, place->object);
        case PCU_ITEM_DEVICE_MASK:
            return walk_add_device_mask(walk, place->object);
    }
    return 0;
}

static int
walk_add_result(pcu_selection *selection, size_t length, ptrdiff_t stride)
{
    if (selection->ndim >= PCU_MAX_NDIM) {
        PyErr_Format(PyExc_IndexError, "the result would have more than %d axes",
                     PCU_MAX_NDIM);
        return -1;
    }
    selection->shape[selection->ndim] = length;
    selection->strides[selection->ndim++] = stride;
    return 0;
}

static int
walk_add_common(const pcu_item_walk *walk)
{
    pcu_selection *selection = walk->selection;
    selection->begin = selection->ndim;
    for (int i = 0; i < walk->common_ndim; i++) {
        if (walk_add_result(selection, walk->common[i], 0) < 0) {
            return -1;
        }
    }
    selection->end = selection->ndim;
    return 0;
}

/* Put the axes of the view and those of the index arrays together. */
static int
walk_finish(const pcu_item_walk *walk)
{
    bool in_front = walk->is_separated || walk->last - walk->first + 1 != walk->indexed;
    if (in_front && walk_add_common(walk) < 0) {
        return -1;
    }
    for (int i = 0; i < walk->ndim; i++) {
        if (!in_front && i == walk->first && walk_add_common(walk) < 0) {
            return -1;
        }
        if (!walk->is_index[i] &&
            walk_add_result(walk->selection, walk->shape[i], walk->strides[i]) < 0) {
            return -1;
        }
    }
    return pcu_selection_count(walk->selection);
}

int
pcu_item_walk_select(const pcu_item_list *list, pcu_gpuarray *self,
                     pcu_selection *selection, CUstream stream)
{
    pcu_item_walk walk;
    pcu_item_walk_init(&walk, self, selection, stream);
    for (int i = 0; i < list->count; i++) {
        int rc = pcu_item_walk_take_item(&walk, &list->items[i]);
        if (rc > 0) {
            return pcu_item_list_raise_shapes(list);
        }
        if (rc < 0) {
            return -1;
        }
    }
    return walk_finish(&walk);
}
