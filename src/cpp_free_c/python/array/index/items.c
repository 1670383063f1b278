/* Indices with index arrays: see items.h.
 *
 * The items are read into a list first: what each is, and how many axes of the array it
 * takes. Then the list is walked along the axes. Slices and None make axes of a view;
 * an index array takes the place of an axis of its own. The axes of neighbouring index
 * arrays replace the axes that they index; those of others come first in the result. */

#include "python/array/index/items.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/index/host_indices.h"
#include "python/array/index/nonzero.h"
#include "python/array/index/selection.h"
#include "python/array/index/values.h"
#include "python/array/layout.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/host_transfer.h"
#include "python/array/ops/operations.h"
#include "python/array/scalar.h"

enum { ITEMS_MAX = 2 * PCU_MAX_NDIM + 1 };

typedef enum {
    ITEM_SLICE,
    ITEM_NEW_AXIS,
    ITEM_ELLIPSIS,
    ITEM_PLACE,  /* an integer among index arrays */
    ITEM_HOST,   /* an index array of the host */
    ITEM_DEVICE, /* an index array on the device */
    ITEM_HOST_MASK,
    ITEM_DEVICE_MASK
} item_kind;

typedef struct {
    item_kind kind;
    int axes;         /* of the array that the item takes; of an Ellipsis: set later */
    PyObject *object; /* owned */
} index_item;

typedef struct {
    int count;
    index_item items[ITEMS_MAX];
} item_list;

/* The selection that is being built. */
typedef struct {
    pcu_gpuarray *self;
    pcu_selection *selection;
    CUstream stream;
    int axis;  /* the next axis of the array */
    int ndim;  /* places: axes of the view, one for each index array among them */
    int first; /* the place of the first index array, and of the last; -1: none */
    int last;
    int indexed;      /* how many places are indexed */
    int is_separated; /* 1: an Ellipsis without axes stands between index arrays */
    int was_ellipsis;
    size_t shape[PCU_MAX_NDIM]; /* 0 axes for indexed places: see is_index */
    ptrdiff_t strides[PCU_MAX_NDIM];
    unsigned char is_index[PCU_MAX_NDIM];
    int common_ndim; /* to which the index arrays broadcast */
    size_t common[PCU_MAX_NDIM];
} item_walk;

/* -- reading ----------------------------------------------------------------------- */

int
pcu_index_is_integer(pcu_state *st, PyObject *item)
{
    if (PyLong_CheckExact(item)) {
        return 1;
    }
    if (pcu_is_array(st, item)) {
        const pcu_gpuarray *array = (pcu_gpuarray *)item;
        return array->ndim == 0 && pcu_type_is_integer(array->type);
    }
    if (PyBool_Check(item) || PyArray_IsScalar(item, Bool) || !PyIndex_Check(item)) {
        return 0;
    }
    return !PyArray_Check(item) || (PyArray_NDIM((PyArrayObject *)item) == 0 &&
                                    PyArray_ISINTEGER((PyArrayObject *)item));
}

static void
items_clear(item_list *list)
{
    while (list->count > 0) {
        Py_DECREF(list->items[--list->count].object);
    }
}

/* Read an array on the device. */
static int
item_read_device(index_item *place, pcu_gpuarray *array)
{
    if (pcu_gpuarray_ready(array) < 0) {
        return -1;
    }
    if (array->type == PCU_T_BOOL) {
        place->kind = ITEM_DEVICE_MASK;
        place->axes = array->ndim;
        return 0;
    }
    if (!pcu_type_is_integer(array->type)) {
        PyErr_Format(
            PyExc_IndexError,
            "arrays used as indices must be of integer or boolean type, not %S",
            (PyObject *)array->dtype);
        return -1;
    }
    place->kind = ITEM_DEVICE;
    return 0;
}

/* Read an array of the host; the item's object becomes a NumPy array. */
static int
item_read_host(index_item *place)
{
    PyObject *host = pcu_host_indices_new(place->object);
    if (host == NULL) {
        return -1;
    }
    Py_SETREF(place->object, host);
    place->kind = ITEM_HOST;
    if (PyArray_ISBOOL((PyArrayObject *)host)) {
        place->kind = ITEM_HOST_MASK;
        place->axes = PyArray_NDIM((PyArrayObject *)host);
    }
    return 0;
}

static int
item_read(pcu_state *st, index_item *place)
{
    PyObject *object = place->object;
    place->axes = 1;
    if (pcu_is_array(st, object)) {
        return item_read_device(place, (pcu_gpuarray *)object);
    }
    if (PySlice_Check(object)) {
        place->kind = ITEM_SLICE;
    }
    else if (object == Py_None) {
        place->kind = ITEM_NEW_AXIS;
        place->axes = 0;
    }
    else if (object == Py_Ellipsis) {
        place->kind = ITEM_ELLIPSIS;
        place->axes = 0;
    }
    else if (pcu_index_is_integer(st, object)) {
        place->kind = ITEM_PLACE;
    }
    else {
        return item_read_host(place);
    }
    return 0;
}

/* Give the Ellipsis the axes that no item takes; without one, append one. */
static int
items_expand(item_list *list, int ndim)
{
    int used = 0;
    int ellipsis = -1;
    for (int i = 0; i < list->count; i++) {
        used += list->items[i].axes;
        if (list->items[i].kind != ITEM_ELLIPSIS) {
            continue;
        }
        if (ellipsis >= 0) {
            PyErr_SetString(PyExc_IndexError, "an index can have one Ellipsis only");
            return -1;
        }
        ellipsis = i;
    }
    if (used > ndim) {
        PyErr_Format(PyExc_IndexError,
                     "too many indices: the array has %d axes, %d were indexed", ndim,
                     used);
        return -1;
    }
    if (ellipsis < 0) {
        ellipsis = list->count++;
        list->items[ellipsis].kind = ITEM_ELLIPSIS;
        list->items[ellipsis].object = Py_NewRef(Py_Ellipsis);
    }
    list->items[ellipsis].axes = ndim - used;
    return 0;
}

/* Read the items of an index. The list is to be cleared in any case. */
static int
items_read(item_list *list, const pcu_gpuarray *self, PyObject *const *objects,
           Py_ssize_t n)
{
    list->count = 0;
    if (n >= ITEMS_MAX) {
        PyErr_Format(PyExc_IndexError, "an index of %zd items is too long", n);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        index_item *place = &list->items[list->count++];
        place->object = Py_NewRef(objects[i]);
        if (item_read(self->st, place) < 0) {
            return -1;
        }
    }
    return items_expand(list, self->ndim);
}

/* -- places of the view ------------------------------------------------------------ */

static void
walk_init(item_walk *walk, pcu_gpuarray *self, pcu_selection *selection,
          CUstream stream)
{
    walk->self = self;
    walk->selection = selection;
    walk->stream = stream;
    walk->axis = walk->ndim = walk->common_ndim = walk->indexed = 0;
    walk->first = walk->last = -1;
    walk->is_separated = walk->was_ellipsis = 0;
}

static int
walk_add_place(item_walk *walk, size_t length, ptrdiff_t stride, int is_index)
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
            walk->is_separated = 1;
        }
        walk->was_ellipsis = 0;
        walk->last = walk->ndim;
        walk->indexed++;
    }
    walk->ndim++;
    return 0;
}

/* Take the next axes of the array whole. */
static int
walk_take_axes(item_walk *walk, int count)
{
    for (int i = 0; i < count; i++) {
        int axis = walk->axis++;
        if (walk_add_place(walk, walk->self->shape[axis], walk->self->strides[axis],
                           0) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
walk_take_slice(item_walk *walk, PyObject *object)
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
    return walk_add_place(walk, length, stride, 0);
}

/* -- index arrays ------------------------------------------------------------------ */

/* Broadcast the shape of an index array with that of the ones before. */
static int
walk_broadcast(item_walk *walk, int ndim, const size_t *shape)
{
    return pcu_broadcast_shapes(walk->common_ndim, walk->common, ndim, shape,
                                &walk->common_ndim, walk->common);
}

/* Add an index array on the device for the next axis of the array. */
static int
walk_add_index(item_walk *walk, pcu_gpuarray *index, int is_checked)
{
    int axis = walk->axis++;
    size_t length = walk->self->shape[axis];
    ptrdiff_t stride = walk->self->strides[axis];
    if (walk_add_place(walk, 1, 0, 1) < 0 ||
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
walk_add_host(item_walk *walk, PyObject *array)
{
    int axis = walk->axis;
    PyObject *index = pcu_host_indices_upload(
        walk->self->st, array, walk->self->shape[axis], axis, walk->stream);
    if (index == NULL) {
        return -1;
    }
    int rc = walk_add_index(walk, (pcu_gpuarray *)index, 1);
    Py_DECREF(index);
    return rc;
}

/* Add an integer: it has a place, and its element is where the others begin. */
static int
walk_add_integer(item_walk *walk, PyObject *object)
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
    return walk_add_place(walk, 1, 0, 1);
}

/* -- masks ------------------------------------------------------------------------- */

static int
walk_check_mask(const item_walk *walk, int ndim, const size_t *shape)
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
walk_add_truth(item_walk *walk, PyObject *object)
{
    int truth = PyObject_IsTrue(object);
    if (truth < 0 || walk_add_place(walk, 1, 0, 1) < 0) {
        return -1;
    }
    size_t shape[1] = {(size_t)truth};
    if (walk_broadcast(walk, 1, shape) < 0) {
        return 1;
    }
    return 0;
}

static int
walk_add_device_mask(item_walk *walk, PyObject *object)
{
    pcu_gpuarray *mask = (pcu_gpuarray *)object;
    int rc = 0;
    if (mask->ndim == 0) {
        return walk_add_truth(walk, object);
    }
    if (walk_check_mask(walk, mask->ndim, mask->shape) < 0) {
        return -1;
    }
    PyObject *places = pcu_nonzero_new(mask, walk->stream);
    if (places == NULL) {
        return -1;
    }
    for (Py_ssize_t i = 0; rc == 0 && i < PyTuple_GET_SIZE(places); i++) {
        rc = walk_add_index(walk, (pcu_gpuarray *)PyTuple_GET_ITEM(places, i), 1);
    }
    Py_DECREF(places);
    return rc;
}

static int
walk_add_host_mask(item_walk *walk, PyObject *object)
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
    if (walk_check_mask(walk, ndim, shape) < 0) {
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

/* Take one item. Returns 1 if its index array does not broadcast with the others. */
static int
walk_take_item(item_walk *walk, const index_item *place)
{
    switch (place->kind) {
        case ITEM_SLICE:
            return walk_take_slice(walk, place->object);
        case ITEM_NEW_AXIS:
            return walk_add_place(walk, 1, 0, 0);
        case ITEM_ELLIPSIS:
            walk->was_ellipsis = walk->first >= 0;
            return walk_take_axes(walk, place->axes);
        case ITEM_PLACE:
            return walk_add_integer(walk, place->object);
        case ITEM_HOST:
            return walk_add_host(walk, place->object);
        case ITEM_DEVICE:
            return walk_add_index(walk, (pcu_gpuarray *)place->object, 0);
        case ITEM_HOST_MASK:
            return walk_add_host_mask(walk, place->object);
        case ITEM_DEVICE_MASK:
            return walk_add_device_mask(walk, place->object);
    }
    return 0;
}

/* Raise IndexError with the shapes of the items' index arrays. */
static int
items_raise_shapes(const item_list *list)
{
    PyObject *shapes = PyList_New(0);
    PyObject *comma = PyUnicode_FromString(", ");
    PyObject *text = NULL;
    for (int i = 0; shapes != NULL && i < list->count; i++) {
        const index_item *place = &list->items[i];
        if (place->kind < ITEM_HOST) {
            continue;
        }
        PyObject *shape = PyObject_GetAttrString(place->object, "shape");
        PyObject *word = NULL;
        if (shape != NULL) {
            word = PyObject_Str(shape);
            Py_DECREF(shape);
        }
        if (word == NULL || PyList_Append(shapes, word) < 0) {
            Py_CLEAR(shapes);
        }
        Py_XDECREF(word);
    }
    if (shapes != NULL && comma != NULL) {
        text = PyUnicode_Join(comma, shapes);
    }
    if (text != NULL) {
        PyErr_Format(PyExc_IndexError,
                     "index arrays of shapes %U cannot be broadcast together", text);
    }
    Py_XDECREF(shapes);
    Py_XDECREF(comma);
    Py_XDECREF(text);
    return -1;
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
walk_add_common(const item_walk *walk)
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
walk_finish(const item_walk *walk)
{
    int in_front = walk->is_separated || walk->last - walk->first + 1 != walk->indexed;
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

/* Make the selection of a list of items. It is to be cleared in any case. */
static int
items_select(const item_list *list, pcu_gpuarray *self, pcu_selection *selection,
             CUstream stream)
{
    item_walk walk;
    walk_init(&walk, self, selection, stream);
    for (int i = 0; i < list->count; i++) {
        int rc = walk_take_item(&walk, &list->items[i]);
        if (rc > 0) {
            return items_raise_shapes(list);
        }
        if (rc < 0) {
            return -1;
        }
    }
    return walk_finish(&walk);
}

/* -- reading elements -------------------------------------------------------------- */

PyObject *
pcu_index_get(pcu_gpuarray *self, PyObject *const *items, Py_ssize_t n, CUstream stream)
{
    item_list list;
    pcu_selection selection;
    PyObject *result = NULL;
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    pcu_selection_init(&selection, self);
    if (items_read(&list, self, items, n) == 0 &&
        items_select(&list, self, &selection, stream) == 0) {
        result = pcu_selection_get(&selection, self->allocator, stream);
    }
    pcu_selection_clear(&selection);
    items_clear(&list);
    return result;
}

/* -- one number where a mask is true ----------------------------------------------- */

/* The only mask of an index without index arrays; -1 if the index is another one. */
static int
items_find_mask(const item_list *list)
{
    int found = -1;
    for (int i = 0; i < list->count; i++) {
        const index_item *place = &list->items[i];
        if (place->kind < ITEM_HOST) {
            continue;
        }
        if (place->kind < ITEM_HOST_MASK || place->axes == 0 || found >= 0) {
            return -1;
        }
        found = i;
    }
    return found;
}

/* The mask on the device, with an axis for each axis of the view. */
static PyObject *
items_mask_new(const item_walk *walk, const index_item *place, int before)
{
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    PyObject *mask;
    if (place->kind == ITEM_DEVICE_MASK) {
        mask = Py_NewRef(place->object);
    }
    else {
        mask =
            pcu_host_transfer_new(walk->self->st, place->object, NULL, walk->stream, 0);
    }
    if (mask == NULL) {
        return NULL;
    }
    pcu_gpuarray *array = (pcu_gpuarray *)mask;
    for (int i = 0; i < walk->ndim; i++) {
        int own = i >= before && i < before + array->ndim;
        shape[i] = own ? array->shape[i - before] : 1;
        strides[i] = own ? array->strides[i - before] : 0;
    }
    pcu_gpuarray *view =
        pcu_gpuarray_view_new(array, walk->ndim, shape, strides, 0, NULL);
    Py_DECREF(mask);
    return (PyObject *)view;
}

/* Walk along the items with the mask's axes taken whole. */
static int
items_walk_around_mask(const item_list *list, int found, item_walk *walk, int *before)
{
    for (int i = 0; i < list->count; i++) {
        const index_item *place = &list->items[i];
        int rc;
        if (i == found) {
            pcu_gpuarray *device = (pcu_gpuarray *)place->object;
            PyArrayObject *host = (PyArrayObject *)place->object;
            size_t shape[PCU_MAX_NDIM];
            for (int k = 0; k < place->axes; k++) {
                shape[k] = place->kind == ITEM_DEVICE_MASK
                               ? device->shape[k]
                               : (size_t)PyArray_DIM(host, k);
            }
            *before = walk->ndim;
            if (walk_check_mask(walk, place->axes, shape) < 0) {
                return -1;
            }
            rc = walk_take_axes(walk, place->axes);
        }
        else if (place->kind == ITEM_PLACE) {
            rc = walk_add_integer(walk, place->object);
            walk->ndim--; /* one number needs no place for an integer */
        }
        else {
            rc = walk_take_item(walk, place);
        }
        if (rc < 0) {
            return -1;
        }
    }
    return 0;
}

/* Enqueue view = where(mask, value, view). */
static int
items_set_where(pcu_gpuarray *view, PyObject *mask, PyObject *value, CUstream stream)
{
    PyObject *copies[3] = {NULL, NULL, NULL};
    pcu_operand inputs[3] = {
        {.array = (pcu_gpuarray *)mask, .type = PCU_T_BOOL},
        {.array = NULL, .type = view->type},
        {.array = view, .type = view->type},
    };
    int rc;
    if (pcu_is_array(view->st, value)) {
        inputs[1].array = (pcu_gpuarray *)value;
        inputs[1].type = inputs[1].array->type;
    }
    else if (pcu_scalar_pack(value, view->type, 1, inputs[1].value) < 0) {
        return -1;
    }
    rc = pcu_device_copy_conflicting(3, inputs, 1, &view, copies, stream);
    if (rc == 0) {
        rc = pcu_elementwise_enqueue(view->st, PCU_OP_WHERE, 3, inputs, 1, &view,
                                     PCU_T_RAW, stream);
    }
    for (int i = 0; i < 3; i++) {
        Py_XDECREF(copies[i]);
    }
    return rc;
}

/* 1 if the value is one number, on the host or the device. */
static int
items_is_number(pcu_state *st, PyObject *value)
{
    if (pcu_is_array(st, value)) {
        const pcu_gpuarray *array = (pcu_gpuarray *)value;
        return array->ndim == 0 && pcu_type_is_number(array->type);
    }
    return pcu_is_scalar(value);
}

/* Fast path for one number and one mask: the true elements are not counted. */
static int
items_assign_by_mask(const item_list *list, int found, pcu_gpuarray *self,
                     PyObject *value, CUstream stream)
{
    pcu_selection selection;
    item_walk walk;
    PyObject *mask = NULL;
    pcu_gpuarray *view = NULL;
    int before = 0;
    int rc = -1;
    pcu_selection_init(&selection, self);
    walk_init(&walk, self, &selection, stream);
    if (items_walk_around_mask(list, found, &walk, &before) < 0) {
        return -1;
    }
    mask = items_mask_new(&walk, &list->items[found], before);
    view = pcu_gpuarray_view_new(self, walk.ndim, walk.shape, walk.strides,
                                 selection.offset, NULL);
    if (mask != NULL && view != NULL) {
        rc = items_set_where(view, mask, value, stream);
    }
    Py_XDECREF(mask);
    Py_XDECREF(view);
    return rc;
}

/* -- assigning elements ------------------------------------------------------------ */

int
pcu_index_set(pcu_gpuarray *self, PyObject *const *items, Py_ssize_t n, PyObject *value,
              CUstream stream)
{
    item_list list;
    pcu_selection selection;
    int rc = -1;
    if (pcu_gpuarray_ready(self) < 0) {
        return -1;
    }
    pcu_selection_init(&selection, self);
    if (items_read(&list, self, items, n) < 0) {
        items_clear(&list);
        return -1;
    }
    int mask = items_find_mask(&list);
    if (mask >= 0 && pcu_type_is_number(self->type) &&
        items_is_number(self->st, value)) {
        rc = items_assign_by_mask(&list, mask, self, value, stream);
    }
    else if (items_select(&list, self, &selection, stream) == 0) {
        rc = pcu_selection_assign(&selection, value, stream);
    }
    pcu_selection_clear(&selection);
    items_clear(&list);
    return rc;
}
