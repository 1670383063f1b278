/* Indices with index arrays: see items.h. */

#include "python/array/index/items.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/index/item_walk.h"
#include "python/array/index/values.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/host_transfer.h"
#include "python/array/ops/operations.h"
#include "python/array/scalar.h"

/* -- reading elements -------------------------------------------------------------- */

PyObject *
pcu_index_get(pcu_gpuarray *self, PyObject *const *items, Py_ssize_t n, CUstream stream)
{
    pcu_item_list list;
    pcu_selection selection;
    PyObject *result = NULL;
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    pcu_selection_init(&selection, self);
    if (pcu_item_list_read(&list, self, items, n) == 0 &&
        pcu_item_walk_select(&list, self, &selection, stream) == 0) {
        result = pcu_selection_get(&selection, self->allocator, stream);
    }
    pcu_selection_clear(&selection);
    pcu_item_list_clear(&list);
    return result;
}

/* -- one number where a mask is true ----------------------------------------------- */

/* The only mask of an index without index arrays; -1 if the index is another one. */
static int
items_find_mask(const pcu_item_list *list)
{
    int found = -1;
    for (int i = 0; i < list->count; i++) {
        const pcu_index_item *place = &list->items[i];
        if (place->kind < PCU_ITEM_HOST) {
            continue;
        }
        if (place->kind < PCU_ITEM_HOST_MASK || place->axes == 0 || found >= 0) {
            return -1;
        }
        found = i;
    }
    return found;
}

/* The mask on the device, with an axis for each axis of the view. */
static PyObject *
items_mask_new(const pcu_item_walk *walk, const pcu_index_item *place, int before)
{
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    PyObject *mask;
    if (place->kind == PCU_ITEM_DEVICE_MASK) {
        mask = Py_NewRef(place->object);
    }
    else {
        mask = pcu_host_transfer_new(walk->self->st, place->object, NULL, walk->stream,
                                     false);
    }
    if (mask == NULL) {
        return NULL;
    }
    pcu_gpuarray *array = (pcu_gpuarray *)mask;
    for (int i = 0; i < walk->ndim; i++) {
        bool own = i >= before && i < before + array->ndim;
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
items_walk_around_mask(const pcu_item_list *list, int found, pcu_item_walk *walk,
                       int *before)
{
    for (int i = 0; i < list->count; i++) {
        const pcu_index_item *place = &list->items[i];
        int rc;
        if (i == found) {
            pcu_gpuarray *device = (pcu_gpuarray *)place->object;
            PyArrayObject *host = (PyArrayObject *)place->object;
            size_t shape[PCU_MAX_NDIM];
            for (int k = 0; k < place->axes; k++) {
                shape[k] = place->kind == PCU_ITEM_DEVICE_MASK
                               ? device->shape[k]
                               : (size_t)PyArray_DIM(host, k);
            }
            *before = walk->ndim;
            if (pcu_item_walk_check_mask(walk, place->axes, shape) < 0) {
                return -1;
            }
            rc = pcu_item_walk_take_axes(walk, place->axes);
        }
        else if (place->kind == PCU_ITEM_PLACE) {
            rc = pcu_item_walk_add_integer(walk, place->object);
            walk->ndim--; /* one number needs no place for an integer */
        }
        else {
            rc = pcu_item_walk_take_item(walk, place);
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
    if (pcu_is_array(view->st, value)) {
        inputs[1].array = (pcu_gpuarray *)value;
        inputs[1].type = inputs[1].array->type;
    }
    else if (pcu_scalar_pack(value, view->type, PCU_SCALAR_ASSIGNED, inputs[1].value) <
             0) {
        return -1;
    }
    int rc = pcu_device_copy_conflicting(3, inputs, 1, &view, copies, stream);
    if (rc == 0) {
        rc = pcu_elementwise_enqueue(view->st, PCU_OP_WHERE, 3, inputs, 1, &view,
                                     PCU_T_RAW, stream);
    }
    for (int i = 0; i < 3; i++) {
        Py_XDECREF(copies[i]);
    }
    return rc;
}

/* Whether the value is one number, on the host or the device. */
static bool
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
items_assign_by_mask(const pcu_item_list *list, int found, pcu_gpuarray *self,
                     PyObject *value, CUstream stream)
{
    pcu_selection selection;
    pcu_item_walk walk;
    int before = 0;
    int rc = -1;
    pcu_selection_init(&selection, self);
    pcu_item_walk_init(&walk, self, &selection, stream);
    if (items_walk_around_mask(list, found, &walk, &before) < 0) {
        return -1;
    }
    PyObject *mask = items_mask_new(&walk, &list->items[found], before);
    pcu_gpuarray *view = pcu_gpuarray_view_new(self, walk.ndim, walk.shape,
                                               walk.strides, selection.offset, NULL);
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
    pcu_item_list list;
    pcu_selection selection;
    int rc = -1;
    if (pcu_gpuarray_ready(self) < 0) {
        return -1;
    }
    pcu_selection_init(&selection, self);
    if (pcu_item_list_read(&list, self, items, n) < 0) {
        pcu_item_list_clear(&list);
        return -1;
    }
    int mask = items_find_mask(&list);
    if (mask >= 0 && pcu_type_is_number(self->type) &&
        items_is_number(self->st, value)) {
        rc = items_assign_by_mask(&list, mask, self, value, stream);
    }
    else if (pcu_item_walk_select(&list, self, &selection, stream) == 0) {
        rc = pcu_selection_assign(&selection, value, stream);
    }
    pcu_selection_clear(&selection);
    pcu_item_list_clear(&list);
    return rc;
}

int
pcu_index_apply(pcu_gpuarray *self, int op, PyObject *const *items, Py_ssize_t n,
                PyObject *value, CUstream stream)
{
    pcu_item_list list;
    pcu_selection selection;
    int rc = -1;
    pcu_selection_init(&selection, self);
    if (pcu_item_list_read(&list, self, items, n) == 0 &&
        pcu_item_walk_select(&list, self, &selection, stream) == 0) {
        rc = pcu_selection_apply_value(&selection, op, value, stream);
    }
    pcu_selection_clear(&selection);
    pcu_item_list_clear(&list);
    return rc;
}
