/* The layout of a GPUArray: its dtype as kernels know it, lengths, strides, order. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/array/gpuarray.h"

/* -- dtypes ------------------------------------------------------------------------ */

static int
array_integer_type(int size, int is_signed)
{
    switch (size) {
        case 1:
            return is_signed ? PCU_T_INT8 : PCU_T_UINT8;
        case 2:
            return is_signed ? PCU_T_INT16 : PCU_T_UINT16;
        case 4:
            return is_signed ? PCU_T_INT32 : PCU_T_UINT32;
        default:
            return is_signed ? PCU_T_INT64 : PCU_T_UINT64;
    }
}

int
pcu_type_of_dtype(const PyArray_Descr *dtype)
{
    int num = dtype->type_num;
    if (PyDataType_REFCHK(dtype) || PyDataType_ELSIZE(dtype) == 0) {
        return PCU_T_NONE;
    }
    if (!PyArray_ISNBO(dtype->byteorder)) {
        return PCU_T_RAW;
    }
    if (PyTypeNum_ISINTEGER(num)) {
        return array_integer_type((int)PyDataType_ELSIZE(dtype),
                                  PyTypeNum_ISSIGNED(num));
    }
    switch (num) {
        case NPY_BOOL:
            return PCU_T_BOOL;
        case NPY_HALF:
            return PCU_T_FLOAT16;
        case NPY_FLOAT:
            return PCU_T_FLOAT32;
        case NPY_DOUBLE:
            return PCU_T_FLOAT64;
        case NPY_CFLOAT:
            return PCU_T_COMPLEX64;
        case NPY_CDOUBLE:
            return PCU_T_COMPLEX128;
        default:
            return PCU_T_RAW;
    }
}

PyArray_Descr *
pcu_dtype_of_type(int type)
{
    static const int numbers[] = {
        [PCU_T_BOOL] = NPY_BOOL,        [PCU_T_INT8] = NPY_INT8,
        [PCU_T_UINT8] = NPY_UINT8,      [PCU_T_INT16] = NPY_INT16,
        [PCU_T_UINT16] = NPY_UINT16,    [PCU_T_INT32] = NPY_INT32,
        [PCU_T_UINT32] = NPY_UINT32,    [PCU_T_INT64] = NPY_INT64,
        [PCU_T_UINT64] = NPY_UINT64,    [PCU_T_FLOAT16] = NPY_HALF,
        [PCU_T_FLOAT32] = NPY_FLOAT,    [PCU_T_FLOAT64] = NPY_DOUBLE,
        [PCU_T_COMPLEX64] = NPY_CFLOAT, [PCU_T_COMPLEX128] = NPY_CDOUBLE,
    };
    return PyArray_DescrFromType(numbers[type]);
}

int
pcu_type_promote(int a, int b, int *out)
{
    if (a == b) {
        *out = a;
        return 0;
    }
    PyArray_Descr *first = pcu_dtype_of_type(a);
    PyArray_Descr *second = pcu_dtype_of_type(b);
    PyArray_Descr *common = PyArray_PromoteTypes(first, second);
    Py_DECREF(first);
    Py_DECREF(second);
    if (common == NULL) {
        return -1;
    }
    *out = pcu_type_of_dtype(common);
    Py_DECREF(common);
    return 0;
}

/* -- layout ------------------------------------------------------------------------ */

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
pcu_strides_tuple_new(int ndim, const ptrdiff_t *strides)
{
    PyObject *tuple = PyTuple_New(ndim);
    for (int i = 0; tuple != NULL && i < ndim; i++) {
        PyObject *stride = PyLong_FromSsize_t(strides[i]);
        if (stride == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, i, stride);
    }
    return tuple;
}

static int
array_too_big(const PyArray_Descr *dtype, int ndim, const size_t *shape)
{
    PyObject *lengths = pcu_shape_tuple_new(ndim, shape);
    if (lengths != NULL) {
        PyErr_Format(PyExc_ValueError, "an array of shape %R and dtype %R is too big",
                     lengths, (PyObject *)dtype);
        Py_DECREF(lengths);
    }
    return -1;
}

/* Point shape and strides at room for ndim places; the old contents are not kept. A
 * block that was there is handed out, to be freed. */
static int
array_make_room(pcu_gpuarray *self, int ndim, void **old)
{
    *old = self->shape == self->inline_shape ? NULL : self->shape;
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
        return array_too_big(dtype, ndim, kept_shape);
    }
    if (pcu_shape_count(ndim, kept_shape, &count) < 0 ||
        pcu_mul_size(count, itemsize, &nbytes) < 0 || nbytes > PTRDIFF_MAX) {
        return array_too_big(dtype, ndim, kept_shape);
    }
    if (array_make_room(self, ndim, &old) < 0) {
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

/* Axes from the one with the longest stride to that with the shortest; equal ones as
 * they are. */
static void
array_axis_order(const pcu_gpuarray *self, int *order)
{
    for (int i = 0; i < self->ndim; i++) {
        ptrdiff_t stride = self->strides[i] < 0 ? -self->strides[i] : self->strides[i];
        int k = i;
        for (; k > 0; k--) {
            ptrdiff_t before = self->strides[order[k - 1]];
            before = before < 0 ? -before : before;
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
        return pcu_strides_c(self->ndim, self->shape, itemsize, strides);
    }
    array_axis_order(self, order);
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

int
pcu_gpuarray_is_packed(const pcu_gpuarray *self)
{
    ptrdiff_t packed[PCU_MAX_NDIM];
    if (self->contiguous) {
        return 1;
    }
    if (pcu_gpuarray_packed_strides(self, pcu_gpuarray_itemsize(self), packed) < 0) {
        PyErr_Clear(); /* too big to be packed: the answer is no */
        return 0;
    }
    for (int i = 0; i < self->ndim; i++) {
        if (self->shape[i] > 1 && packed[i] != self->strides[i]) {
            return 0;
        }
    }
    return 1;
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
