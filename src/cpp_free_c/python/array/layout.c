/* The layout of a GPUArray: see layout.h. */

#include "python/array/layout.h"

#include "python/array/element_type.h"
#include "driver/shape.h"
#include "python/support/convert.h"

PyObject *
pcu_shape_tuple_new(int ndim, const size_t *shape)
{
    PyObject *tuple = PyTuple_New(ndim);
    for (int i = 0; tuple != NULL && i < ndim; i++) {
        PyObject *length = PyLong_FromSize_t(shape[i]);
        if (length == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, i, length);
    }
    return tuple;
}

PyObject *
pcu_numbers_tuple_new(int count, const ptrdiff_t *numbers)
{
    PyObject *tuple = PyTuple_New(count);
    for (int i = 0; tuple != NULL && i < count; i++) {
        PyObject *number = PyLong_FromSsize_t(numbers[i]);
        if (number == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, i, number);
    }
    return tuple;
}

int
pcu_raise_shapes(const char *format, const char *name, int ndim, const size_t *shape,
                 const pcu_gpuarray *array)
{
    PyObject *first = pcu_shape_tuple_new(ndim, shape);
    PyObject *second = pcu_shape_tuple_new(array->ndim, array->shape);
    if (first != NULL && second != NULL) {
        PyErr_Format(PyExc_ValueError, format, name, first, second);
    }
    Py_XDECREF(first);
    Py_XDECREF(second);
    return -1;
}

/* -- the arguments axis and out ---------------------------------------------------- */

int
pcu_axis_place(const char *function, int *axis, int ndim)
{
    if (*axis >= -ndim && *axis < ndim) {
        if (*axis < 0) {
            *axis += ndim;
        }
        return 0;
    }
    PyObject *module = PyImport_ImportModule("pycuda._array.layout");
    PyObject *kind = NULL;
    if (module != NULL) {
        kind = PyObject_GetAttrString(module, "AxisError");
        Py_DECREF(module);
    }
    if (kind != NULL) {
        PyErr_Format(kind, "%s: axis %d is not one of the %d axes", function, *axis,
                     ndim);
        Py_DECREF(kind);
    }
    return -1;
}

int
pcu_check_out(pcu_state *st, const char *name, PyObject *out, int ndim,
              const size_t *shape)
{
    pcu_gpuarray *array = (pcu_gpuarray *)out;
    if (!pcu_is_array(st, out)) {
        PyErr_Format(PyExc_TypeError, "%s: out must be a GPUArray, not %s", name,
                     Py_TYPE(out)->tp_name);
        return -1;
    }
    if (pcu_gpuarray_ready(array) < 0) {
        return -1;
    }
    if (!pcu_gpuarray_has_shape(array, ndim, shape)) {
        return pcu_raise_shapes("%s: the result has shape %S, out has %S", name, ndim,
                                shape, array);
    }
    return 0;
}

int
pcu_check_out_type(const char *name, const pcu_gpuarray *out, int type)
{
    if (pcu_type_is_number(out->type) && pcu_type_casts(type, out->type)) {
        return 0;
    }
    PyArray_Descr *dtype = pcu_dtype_of_type(type);
    PyErr_Format(PyExc_TypeError,
                 "%s: the result of dtype %S cannot be put into an array of dtype %S; "
                 "convert with astype()",
                 name, (PyObject *)dtype, (PyObject *)out->dtype);
    Py_XDECREF(dtype);
    return -1;
}

/* -- shape and strides ------------------------------------------------------------- */

static int
layout_too_big(const PyArray_Descr *dtype, int ndim, const size_t *shape)
{
    PyObject *lengths = pcu_shape_tuple_new(ndim, shape);
    if (lengths != NULL) {
        PyErr_Format(PyExc_ValueError, "an array of shape %R and dtype %R is too big",
                     lengths, (PyObject *)dtype);
        Py_DECREF(lengths);
    }
    return -1;
}

/* Point shape and strides at room for ndim places, whose contents are undefined. *old
 * becomes the block that the caller has to free, or NULL. */
static int
layout_make_room(pcu_gpuarray *self, int ndim, void **old)
{
    *old = NULL;
    if (self->shape != self->inline_shape) {
        *old = self->shape;
    }
    if (ndim <= PCU_ARRAY_INLINE) {
        self->shape = self->inline_shape;
        self->strides = self->inline_strides;
        return 0;
    }
    size_t *block = PyMem_Malloc((size_t)ndim * (sizeof(size_t) + sizeof(ptrdiff_t)));
    if (block == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->shape = block;
    self->strides = (ptrdiff_t *)(block + ndim);
    return 0;
}

int
pcu_gpuarray_describe(pcu_gpuarray *self, PyArray_Descr *dtype, int ndim,
                      const size_t *shape, const ptrdiff_t *strides)
{
    size_t kept_shape[PCU_MAX_NDIM];
    ptrdiff_t kept_strides[PCU_MAX_NDIM];
    void *old = NULL;
    size_t itemsize = (size_t)PyDataType_ELSIZE(dtype);
    size_t count = 0;
    size_t nbytes = 0;
    for (int i = 0; i < ndim; i++) {
        kept_shape[i] = shape[i];
    }
    if (strides != NULL) {
        memcpy(kept_strides, strides, (size_t)ndim * sizeof(*strides));
    }
    else if (pcu_strides_c(ndim, kept_shape, itemsize, kept_strides) < 0) {
        return layout_too_big(dtype, ndim, kept_shape);
    }
    if (pcu_shape_count(ndim, kept_shape, &count) < 0 ||
        pcu_mul_size(count, itemsize, &nbytes) < 0 || nbytes > PTRDIFF_MAX) {
        return layout_too_big(dtype, ndim, kept_shape);
    }
    if (layout_make_room(self, ndim, &old) < 0) {
        return -1;
    }
    self->ndim = ndim;
    for (int i = 0; i < ndim; i++) {
        self->shape[i] = kept_shape[i];
        self->strides[i] = kept_strides[i];
    }
    self->count = self->size = self->mem_size = count;
    self->nbytes = nbytes;
    self->inside = 0;
    self->contiguous = 0;
    if (pcu_is_c_contiguous(ndim, kept_shape, kept_strides, itemsize)) {
        self->contiguous |= PCU_ARRAY_C;
    }
    if (pcu_is_f_contiguous(ndim, kept_shape, kept_strides, itemsize)) {
        self->contiguous |= PCU_ARRAY_F;
    }
    PyMem_Free(old);
    if (dtype != self->dtype) {
        self->type = (unsigned char)pcu_type_of_dtype(dtype);
        Py_XSETREF(self->dtype, (PyArray_Descr *)Py_NewRef((PyObject *)dtype));
    }
    Py_CLEAR(self->flags);
    return 0;
}

int
pcu_gpuarray_set_layout(pcu_gpuarray *self, int ndim, const size_t *shape,
                        const ptrdiff_t *strides)
{
    return pcu_gpuarray_describe(self, self->dtype, ndim, shape, strides);
}

/* Sort the axes from the longest stride to the shortest. Axes of equal strides keep
 * their order. */
static void
layout_axis_order(const pcu_gpuarray *self, int *order)
{
    for (int i = 0; i < self->ndim; i++) {
        ptrdiff_t stride = Py_ABS(self->strides[i]);
        int k = i;
        for (; k > 0; k--) {
            ptrdiff_t before = Py_ABS(self->strides[order[k - 1]]);
            if (before >= stride || before == 0 || stride == 0) {
                break;
            }
            order[k] = order[k - 1];
        }
        order[k] = i;
    }
}

int
pcu_gpuarray_packed_strides(const pcu_gpuarray *self, size_t itemsize,
                            ptrdiff_t *strides)
{
    int order[PCU_MAX_NDIM];
    size_t step = itemsize;
    if (self->contiguous & PCU_ARRAY_C) {
        return pcu_strides_in_order(false, self->ndim, self->shape, itemsize, strides);
    }
    layout_axis_order(self, order);
    for (int i = self->ndim - 1; i >= 0; i--) {
        strides[order[i]] = (ptrdiff_t)step;
        if (self->shape[order[i]] > 1 &&
            pcu_mul_size(step, self->shape[order[i]], &step) < 0) {
            PyErr_SetString(PyExc_ValueError, "the array is too big");
            return -1;
        }
    }
    return 0;
}

bool
pcu_gpuarray_is_packed(const pcu_gpuarray *self)
{
    ptrdiff_t packed[PCU_MAX_NDIM];
    if (self->contiguous) {
        return true;
    }
    if (pcu_gpuarray_packed_strides(self, pcu_gpuarray_itemsize(self), packed) < 0) {
        PyErr_Clear(); /* an array that is too big to be packed is not packed */
        return false;
    }
    for (int i = 0; i < self->ndim; i++) {
        if (self->shape[i] > 1 && packed[i] != self->strides[i]) {
            return false;
        }
    }
    return true;
}

int
pcu_gpuarray_read_strides(PyObject *value, int ndim, ptrdiff_t *strides)
{
    PyObject *items = PySequence_Tuple(value);
    if (items == NULL) {
        return -1;
    }
    int rc = 0;
    if (PyTuple_GET_SIZE(items) != ndim) {
        PyErr_Format(PyExc_ValueError, "strides has %zd entries, shape has %d",
                     PyTuple_GET_SIZE(items), ndim);
        rc = -1;
    }
    for (int i = 0; rc == 0 && i < ndim; i++) {
        unsigned long long bits = 0;
        rc = pcu_as_integer(PyTuple_GET_ITEM(items, i), PTRDIFF_MIN, PTRDIFF_MAX, &bits,
                            "strides");
        strides[i] = (ptrdiff_t)bits;
    }
    Py_DECREF(items);
    return rc;
}
