/* The items of an index: see item_list.h. */

#include "python/array/index/item_list.h"

#include "python/array/element_type.h"
#include "python/array/index/host_indices.h"

/* -- reading ----------------------------------------------------------------------- */

bool
pcu_index_is_integer(pcu_state *st, PyObject *item)
{
    if (PyLong_CheckExact(item)) {
        return true;
    }
    if (pcu_is_array(st, item)) {
        const pcu_gpuarray *array = (pcu_gpuarray *)item;
        return array->ndim == 0 && pcu_type_is_integer(array->type);
    }
    if (PyBool_Check(item) || PyArray_IsScalar(item, Bool) || !PyIndex_Check(item)) {
        return false;
    }
    return !PyArray_Check(item) || (PyArray_NDIM((PyArrayObject *)item) == 0 &&
                                    PyArray_ISINTEGER((PyArrayObject *)item));
}

void
pcu_item_list_clear(pcu_item_list *list)
{
    while (list->count > 0) {
        Py_DECREF(list->items[--list->count].object);
    }
}

/* Read an array on the device. */
static int
item_read_device(pcu_index_item *place, pcu_gpuarray *array)
{
    if (pcu_gpuarray_ready(array) < 0) {
        return -1;
    }
    if (array->type == PCU_T_BOOL) {
        place->kind = PCU_ITEM_DEVICE_MASK;
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
    place->kind = PCU_ITEM_DEVICE;
    return 0;
}

/* Read an array of the host; the item's object becomes a NumPy array. */
static int
item_read_host(pcu_index_item *place)
{
    PyObject *host = pcu_host_indices_new(place->object);
    if (host == NULL) {
        return -1;
    }
    Py_SETREF(place->object, host);
    place->kind = PCU_ITEM_HOST;
    if (PyArray_ISBOOL((PyArrayObject *)host)) {
        place->kind = PCU_ITEM_HOST_MASK;
        place->axes = PyArray_NDIM((PyArrayObject *)host);
    }
    return 0;
}

static int
item_read(pcu_state *st, pcu_index_item *place)
{
    PyObject *object = place->object;
    place->axes = 1;
    if (pcu_is_array(st, object)) {
        return item_read_device(place, (pcu_gpuarray *)object);
    }
    if (PySlice_Check(object)) {
        place->kind = PCU_ITEM_SLICE;
    }
    else if (object == Py_None) {
        place->kind = PCU_ITEM_NEW_AXIS;
        place->axes = 0;
    }
    else if (object == Py_Ellipsis) {
        place->kind = PCU_ITEM_ELLIPSIS;
        place->axes = 0;
    }
    else if (pcu_index_is_integer(st, object)) {
        place->kind = PCU_ITEM_PLACE;
    }
    else {
        return item_read_host(place);
    }
    return 0;
}

/* Give the Ellipsis the axes that no item takes; without one, append one. */
static int
item_list_expand(pcu_item_list *list, int ndim)
{
    int used = 0;
    int ellipsis = -1;
    for (int i = 0; i < list->count; i++) {
        used += list->items[i].axes;
        if (list->items[i].kind != PCU_ITEM_ELLIPSIS) {
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
        list->items[ellipsis].kind = PCU_ITEM_ELLIPSIS;
        list->items[ellipsis].object = Py_NewRef(Py_Ellipsis);
    }
    list->items[ellipsis].axes = ndim - used;
    return 0;
}

int
pcu_item_list_read(pcu_item_list *list, const pcu_gpuarray *self,
                   PyObject *const *objects, Py_ssize_t n)
{
    list->count = 0;
    if (n >= PCU_ITEMS_MAX) {
        PyErr_Format(PyExc_IndexError, "an index of %zd items is too long", n);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        pcu_index_item *place = &list->items[list->count++];
        place->object = Py_NewRef(objects[i]);
        if (item_read(self->st, place) < 0) {
            return -1;
        }
    }
    return item_list_expand(list, self->ndim);
}

/* -- errors ------------------------------------------------------------------------ */

int
pcu_item_list_raise_shapes(const pcu_item_list *list)
{
    PyObject *shapes = PyList_New(0);
    PyObject *comma = PyUnicode_FromString(", ");
    PyObject *text = NULL;
    for (int i = 0; shapes != NULL && i < list->count; i++) {
        const pcu_index_item *place = &list->items[i];
        if (place->kind < PCU_ITEM_HOST) {
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
