/* The attributes of a GPUArray, which programs read and assign.
 *
 * Shape, strides and dtype change the layout; gpudata changes the memory. Programs may
 * assign size, nbytes, mem_size, flags, _grid and _block too, but no C code depends on
 * them. The table goes into the type: see gpuarray_type.c. */

#include "python/array/element_type.h"
#include "python/array/flags.h"
#include "python/array/layout.h"
#include "python/array/memory.h"
#include "python/array/type/complex_parts.h"
#include "python/array/type/device.h"
#include "python/array/type/launch_shape.h"
#include "python/array/type/members.h"
#include "python/array/type/views.h"
#include "python/driver/memory/pool.h"
#include "python/support/convert.h"
#include "python/driver/context.h"

/* True after __init__; before it AttributeError, which getattr(x, name, default)
 * expects. */
static bool
attribute_is_set(pcu_gpuarray *self, const char *name)
{
    if (self->dtype != NULL) {
        return true;
    }
    PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute '%s' yet",
                 Py_TYPE(self)->tp_name, name);
    return false;
}

/* 0 if an attribute is assigned, AttributeError if it is deleted. */
static int
attribute_check_set(PyObject *value, const char *name)
{
    if (value != NULL) {
        return 0;
    }
    PyErr_Format(PyExc_AttributeError, "%s cannot be deleted", name);
    return -1;
}

static PyObject *
attribute_get_shape(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (!attribute_is_set(self, "shape")) {
        return NULL;
    }
    return pcu_shape_tuple_new(self->ndim, self->shape);
}

/* A packed array stays packed, in its order. An array with gaps keeps its strides if
 * the number of axes stays the same. */
static int
attribute_set_shape(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    pcu_shape shape = {0};
    size_t lengths[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    if (attribute_check_set(value, "shape") < 0 || pcu_gpuarray_ready(self) < 0 ||
        pcu_as_shape(self->st, value, &shape, "shape") < 0) {
        return -1;
    }
    for (int i = 0; i < shape.ndim; i++) {
        lengths[i] = (size_t)shape.dims[i];
    }
    if (self->contiguous == PCU_ARRAY_F && shape.ndim > 1) {
        if (pcu_strides_in_order(true, shape.ndim, lengths, pcu_gpuarray_itemsize(self),
                                 strides) < 0) {
            return -1;
        }
        return pcu_gpuarray_set_layout(self, shape.ndim, lengths, strides);
    }
    ptrdiff_t *kept = NULL;
    if (!self->contiguous && shape.ndim == self->ndim) {
        kept = self->strides;
    }
    return pcu_gpuarray_set_layout(self, shape.ndim, lengths, kept);
}

static PyObject *
attribute_get_strides(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (!attribute_is_set(self, "strides")) {
        return NULL;
    }
    return pcu_numbers_tuple_new(self->ndim, self->strides);
}

static int
attribute_set_strides(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    ptrdiff_t strides[PCU_MAX_NDIM];
    if (attribute_check_set(value, "strides") < 0 || pcu_gpuarray_ready(self) < 0 ||
        pcu_gpuarray_read_strides(value, self->ndim, strides) < 0) {
        return -1;
    }
    return pcu_gpuarray_set_layout(self, self->ndim, self->shape, strides);
}

static PyObject *
attribute_get_dtype(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (!attribute_is_set(self, "dtype")) {
        return NULL;
    }
    return Py_NewRef((PyObject *)self->dtype);
}

static int
attribute_set_dtype(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    PyArray_Descr *dtype = NULL;
    if (attribute_check_set(value, "dtype") < 0 || pcu_gpuarray_ready(self) < 0 ||
        pcu_as_dtype(self->st, value, &dtype, "dtype") < 0) {
        return -1;
    }
    int rc = -1;
    if (PyDataType_REFCHK(dtype)) {
        pcu_refuse_objects(dtype, "dtype");
    }
    else {
        rc = pcu_gpuarray_describe(self, dtype, self->ndim, self->shape, self->strides);
    }
    Py_DECREF(dtype);
    return rc;
}

static PyObject *
attribute_get_gpudata(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (!attribute_is_set(self, "gpudata")) {
        return NULL;
    }
    if (self->gpudata == NULL) {
        self->gpudata = PyLong_FromUnsignedLongLong(self->address);
    }
    return Py_XNewRef(self->gpudata);
}

static int
attribute_set_gpudata(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    if (attribute_check_set(value, "gpudata") < 0) {
        return -1;
    }
    return pcu_gpuarray_adopt((pcu_gpuarray *)op, value, false);
}

static PyObject *
attribute_get_ptr(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (!attribute_is_set(self, "ptr")) {
        return NULL;
    }
    if (self->gpudata == Py_None) {
        PyErr_SetString(PyExc_AttributeError, "an array without elements has no ptr");
        return NULL;
    }
    return PyLong_FromUnsignedLongLong(self->address);
}

static PyObject *
attribute_get_base(PyObject *op, void *Py_UNUSED(closure))
{
    PyObject *base = ((pcu_gpuarray *)op)->base;
    if (base == NULL) {
        Py_RETURN_NONE;
    }
    return Py_NewRef(base);
}

static int
attribute_set_base(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    if (attribute_check_set(value, "base") < 0) {
        return -1;
    }
    pcu_gpuarray_set_optional(&((pcu_gpuarray *)op)->base, value);
    return 0;
}

static PyObject *
attribute_get_allocator(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (self->allocator != NULL) {
        return Py_NewRef(self->allocator);
    }
    if (self->st->default_allocator != NULL) {
        return Py_NewRef(self->st->default_allocator);
    }
    return Py_NewRef(self->st->mem_alloc);
}

static int
attribute_set_allocator(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    if (attribute_check_set(value, "allocator") < 0 ||
        pcu_as_allocator(((pcu_gpuarray *)op)->st, value, &value, "allocator") < 0) {
        return -1;
    }
    pcu_gpuarray_set_optional(&((pcu_gpuarray *)op)->allocator, value);
    return 0;
}

static PyObject *
attribute_get_flags(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (self->flags == NULL) {
        self->flags = pcu_array_flags_new(self->st, self->contiguous);
    }
    return Py_XNewRef(self->flags);
}

static int
attribute_set_flags(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    if (attribute_check_set(value, "flags") < 0) {
        return -1;
    }
    Py_XSETREF(((pcu_gpuarray *)op)->flags, Py_NewRef(value));
    return 0;
}

/* Attributes that are plain numbers: closure is the offset of a size_t. */
static PyObject *
attribute_get_number(PyObject *op, void *closure)
{
    return PyLong_FromSize_t(*(size_t *)((char *)op + (uintptr_t)closure));
}

static int
attribute_set_number(PyObject *op, PyObject *value, void *closure)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    size_t number = 0;
    if (attribute_check_set(value, "a size") < 0 ||
        pcu_as_size(self->st, value, &number, "a size") < 0) {
        return -1;
    }
    *(size_t *)((char *)op + (uintptr_t)closure) = number;
    return 0;
}

static PyObject *
attribute_get_itemsize(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (!attribute_is_set(self, "itemsize")) {
        return NULL;
    }
    return PyLong_FromSize_t(pcu_gpuarray_itemsize(self));
}

static PyObject *
attribute_get_ndim(PyObject *op, void *Py_UNUSED(closure))
{
    return PyLong_FromLong(((pcu_gpuarray *)op)->ndim);
}

/* The dtype that a bool array has in arithmetic. */
static PyObject *
attribute_get_counts_as(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (self->type != PCU_T_BOOL || self->counts_as == PCU_T_BOOL) {
        Py_RETURN_NONE;
    }
    return (PyObject *)pcu_dtype_of_type(self->counts_as);
}

static int
attribute_set_counts_as(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    PyArray_Descr *dtype = NULL;
    if (value == NULL || value == Py_None) {
        self->counts_as = PCU_T_BOOL;
        return 0;
    }
    if (pcu_as_dtype(self->st, value, &dtype, "_counts_as") < 0) {
        return -1;
    }
    int type = pcu_type_of_dtype(dtype);
    Py_DECREF(dtype);
    if (!pcu_type_is_number(type)) {
        type = PCU_T_BOOL;
    }
    self->counts_as = (unsigned char)type;
    return 0;
}

int
pcu_gpuarray_splay(const pcu_gpuarray *self, size_t count, unsigned int *blocks,
                   unsigned int *threads)
{
    pcu_context *ctx = pcu_context_launch_borrow(self->st);
    if (ctx == NULL) {
        return -1;
    }
    size_t most = 32 * (size_t)ctx->rec.limits.multiprocessors;
    size_t each = (count + most - 1) / most;
    size_t warps = Py_MAX((each + 31) / 32, 1);
    *threads = 32 * (unsigned int)Py_MIN(warps, 4);
    size_t needed = (count + *threads - 1) / *threads;
    *blocks = (unsigned int)Py_MAX(Py_MIN(needed, most), 1);
    return 0;
}

/* _grid and _block: the value that a program assigned, which is in __dict__, else the
 * computed one. The closure says which attribute. */
enum { ATTRIBUTE_GRID, ATTRIBUTE_BLOCK };

static const char *const attribute_launch_names[] = {
    [ATTRIBUTE_GRID] = "_grid", [ATTRIBUTE_BLOCK] = "_block"};

static PyObject *
attribute_get_launch_shape(PyObject *op, void *closure)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    int which = (int)(uintptr_t)closure;
    unsigned int blocks = 1;
    unsigned int threads = 1;
    if (self->dict != NULL) {
        PyObject *assigned =
            PyDict_GetItemString(self->dict, attribute_launch_names[which]);
        if (assigned != NULL) {
            return Py_NewRef(assigned);
        }
    }
    if (pcu_gpuarray_splay(self, self->count, &blocks, &threads) < 0) {
        return NULL;
    }
    if (which == ATTRIBUTE_GRID) {
        return Py_BuildValue("(Ii)", blocks, 1);
    }
    return Py_BuildValue("(Iii)", threads, 1, 1);
}

static int
attribute_set_launch_shape(PyObject *op, PyObject *value, void *closure)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    const char *name = attribute_launch_names[(uintptr_t)closure];
    if (self->dict == NULL) {
        self->dict = PyDict_New();
    }
    if (self->dict == NULL) {
        return -1;
    }
    if (value != NULL) {
        return PyDict_SetItemString(self->dict, name, value);
    }
    int rc = PyDict_DelItemString(self->dict, name);
    if (rc < 0 && PyErr_ExceptionMatches(PyExc_KeyError)) {
        PyErr_Clear(); /* KeyError becomes AttributeError */
        PyErr_Format(PyExc_AttributeError, "%s was not assigned", name);
    }
    return rc;
}

/* The attribute descr of a dtype. For a dtype without fields NumPy may set an exception
 * and return a value when memory is short, so the list is made here. */
static PyObject *
attribute_descr_new(PyArray_Descr *dtype, PyObject *typestr)
{
    if (PyDataType_HASFIELDS(dtype)) {
        return PyObject_GetAttrString((PyObject *)dtype, "descr");
    }
    return Py_BuildValue("[(sO)]", "", typestr);
}

static PyObject *
attribute_get_interface(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    PyObject *result = NULL;
    PyObject *descr = NULL;
    PyObject *shape = NULL;
    PyObject *strides = NULL;
    unsigned long long address = 0;
    if (!attribute_is_set(self, "__cuda_array_interface__") ||
        pcu_gpuarray_check_inside(self) < 0) {
        return NULL;
    }
    PyObject *typestr = PyObject_GetAttrString((PyObject *)self->dtype, "str");
    if (typestr == NULL) {
        goto done;
    }
    descr = attribute_descr_new(self->dtype, typestr);
    if (descr == NULL) {
        goto done;
    }
    shape = pcu_shape_tuple_new(self->ndim, self->shape);
    strides = pcu_numbers_tuple_new(self->ndim, self->strides);
    if (shape == NULL || strides == NULL) {
        goto done;
    }
    if (self->gpudata != Py_None) {
        address = self->address;
    }
    result = Py_BuildValue("{sOsOsOsOs(KO)sisO}", "shape", shape, "strides", strides,
                           "typestr", typestr, "descr", descr, "data", address,
                           Py_False, "version", 3, "stream", Py_None);
done:
    Py_XDECREF(typestr);
    Py_XDECREF(descr);
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return result;
}

#define ATTRIBUTE_NUMBER(name, doc)                             \
    {                                                           \
#        name, attribute_get_number, attribute_set_number, doc, \
            (void *)(uintptr_t)offsetof(pcu_gpuarray, name)     \
    }

PyGetSetDef pcu_gpuarray_getset[] = {
    {"shape", attribute_get_shape, attribute_set_shape, "The lengths of the axes.",
     NULL},
    {"strides", attribute_get_strides, attribute_set_strides,
     "The bytes from one element to the next, for each axis.", NULL},
    {"dtype", attribute_get_dtype, attribute_set_dtype,
     "The numpy.dtype of the elements.", NULL},
    {"gpudata", attribute_get_gpudata, attribute_set_gpudata,
     "The memory: an allocation, an int for a view, None for an array without "
     "elements.",
     NULL},
    {"ptr", attribute_get_ptr, NULL, "The address of the first element.", NULL},
    {"base", attribute_get_base, attribute_set_base,
     "The array of which this is a view, or None.", NULL},
    {"allocator", attribute_get_allocator, attribute_set_allocator,
     "The allocator of the results of operations.", NULL},
    {"flags", attribute_get_flags, attribute_set_flags,
     "How the elements lie in memory: an ArrayFlags.", NULL},
    {"itemsize", attribute_get_itemsize, NULL, "The bytes of an element.", NULL},
    {"ndim", attribute_get_ndim, NULL, "The number of axes.", NULL},
    ATTRIBUTE_NUMBER(size, "The number of elements."),
    ATTRIBUTE_NUMBER(mem_size, "The number of elements."),
    ATTRIBUTE_NUMBER(nbytes, "The bytes of the elements: size * itemsize."),
    {"_grid", attribute_get_launch_shape, attribute_set_launch_shape,
     "The grid of a kernel over the elements.", (void *)(uintptr_t)ATTRIBUTE_GRID},
    {"_block", attribute_get_launch_shape, attribute_set_launch_shape,
     "The block of a kernel over the elements.", (void *)(uintptr_t)ATTRIBUTE_BLOCK},
    {"_counts_as", attribute_get_counts_as, attribute_set_counts_as,
     "The dtype that arithmetic on a bool array has: the one that was compared; or "
     "None.",
     NULL},
    {"real", pcu_gpuarray_get_real, NULL,
     "The real parts; self if its elements are real.", NULL},
    {"imag", pcu_gpuarray_get_imag, NULL,
     "The imaginary parts; zeros if the elements are real.", NULL},
    {"T", pcu_gpuarray_get_T, NULL, "A view with the axes reversed.", NULL},
    {"mT", pcu_gpuarray_get_mT, NULL, "A view with the last two axes exchanged.", NULL},
    {"device", pcu_gpuarray_get_device, NULL,
     "The pycuda.driver.Device whose memory the array is in.", NULL},
    {"__cuda_array_interface__", attribute_get_interface, NULL,
     "The array as other libraries see it (version 3).", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
