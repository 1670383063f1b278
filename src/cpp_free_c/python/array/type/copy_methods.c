/* The methods that make an array from self on the device, or fill it: copy, astype,
 * reverse, fill, _new_like_me; and pickling. */

#include "python/array/type/members.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/layout.h"
#include "python/array/ops/assign.h"
#include "python/array/ops/device_copy.h"
#include "python/array/scalar.h"
#include "python/array/type/transfer_methods.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"
#include "python/support/docs.h"

/* -- copy -------------------------------------------------------------------------- */

PyDoc_STRVAR(copy_copy_doc,
             "copy($self, /)\n"
             "--\n\n"
             "Return a copy in new memory: it keeps the order of the axes, not gaps.\n"
             "\nReturns\n-------\n"
             "GPUArray\n"
             "    A new array.\n"
             "\nNotes\n-----\n" PCU_DOC_NO_WAIT
             "\nExamples\n--------\n"
             ">>> gpuarray.to_gpu(np.array([1, 2, 3]))[::2].copy()\n"
             "array([1, 3])");
PyDoc_STRVAR(copy_dunder_copy_doc,
             "__copy__($self, /)\n--\n\nReturn a copy in new memory, as copy() does.");
PyDoc_STRVAR(copy_deepcopy_doc,
             "__deepcopy__($self, memo, /)\n--\n\n"
             "Return a copy in new memory, as copy() does.");

static PyObject *
copy_copy(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    return pcu_gpuarray_copy_new(self, self->allocator, pcu_stream_current());
}

static PyObject *
copy_deepcopy(PyObject *op, PyObject *Py_UNUSED(memo))
{
    return copy_copy(op, NULL);
}

typedef struct {
    PyArray_Descr *dtype; /* new reference once parsed */
    CUstream stream;
    bool copy;
} astype_args;

static const pcu_word astype_words[] = {
    PCU_WORD("dtype", pcu_as_dtype, astype_args, dtype),
    PCU_WORD("stream", pcu_as_stream, astype_args, stream),
    PCU_WORD("copy", pcu_as_bool, astype_args, copy),
};

PCU_SIGNATURE(copy_astype, astype_words,
              "astype($self, /, dtype, stream=None, *, copy=True)\n"
              "--\n\n"
              "Return a copy with its elements converted to another dtype.\n"
              "\nParameters\n----------\n"
              "dtype : dtype_like\n"
              "    Dtype of the result.\n" PCU_DOC_STREAM
              "copy : bool, optional\n"
              "    If false, an array that has the dtype is returned itself.\n"
              "\nReturns\n-------\n"
              "GPUArray\n"
              "    A new array of the same shape, or the array.\n"
              "\nNotes\n-----\n"
              "The call does not wait. As in C, fractions are truncated.\n"
              "\nExamples\n--------\n"
              ">>> gpuarray.to_gpu(np.array([1.5, -2.5])).astype(np.int32)\n"
              "array([ 1, -2], dtype=int32)")

/* An array of self's type with self's elements, converted. */
static PyObject *
copy_converted_new(pcu_gpuarray *self, PyArray_Descr *dtype, CUstream stream)
{
    if (PyArray_EquivTypes(dtype, self->dtype)) {
        return pcu_gpuarray_copy_new(self, self->allocator, stream);
    }
    PyObject *result = pcu_gpuarray_like_new(self, 0, NULL, dtype, NULL);
    if (result != NULL &&
        pcu_gpuarray_assign((pcu_gpuarray *)result, (PyObject *)self, stream) < 0) {
        Py_CLEAR(result);
    }
    return result;
}

static PyObject *
copy_astype(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    astype_args a = {.stream = pcu_stream_current(), .copy = true};
    PyObject *result = NULL;
    if (pcu_args_parse(self->st, &copy_astype_signature, args, nargs, kwnames, &a) ==
            0 &&
        pcu_gpuarray_ready(self) == 0) {
        result = !a.copy && PyArray_EquivTypes(a.dtype, self->dtype)
                     ? Py_NewRef(op)
                     : copy_converted_new(self, a.dtype, a.stream);
    }
    Py_XDECREF(a.dtype);
    return result;
}

PCU_SIGNATURE_OF_ONE(
    copy_reverse, "stream", pcu_as_stream,
    "reverse($self, /, stream=None)\n"
    "--\n\n"
    "Return a copy with the elements in the opposite order of memory.\n"
    "\nParameters\n----------\n" PCU_DOC_STREAM
    "\nReturns\n-------\n"
    "GPUArray\n"
    "    A new array.\n"
    "\nSee Also\n--------\n"
    "pycuda.gpuarray.flip : A view.\n"
    "\nExamples\n--------\n"
    ">>> gpuarray.to_gpu(np.array([1, 2, 3])).reverse()\n"
    "array([3, 2, 1])")

/* A view with all axes in the opposite direction. */
static pcu_gpuarray *
copy_reversed_view_new(pcu_gpuarray *self)
{
    ptrdiff_t strides[PCU_MAX_NDIM];
    ptrdiff_t last = 0;
    for (int i = 0; i < self->ndim; i++) {
        strides[i] = -self->strides[i];
        if (self->shape[i] != 0) {
            last += self->strides[i] * (ptrdiff_t)(self->shape[i] - 1);
        }
    }
    return pcu_gpuarray_view_new(self, self->ndim, self->shape, strides, last, NULL);
}

static PyObject *
copy_reverse(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    CUstream stream = pcu_stream_current();
    if (pcu_args_parse(self->st, &copy_reverse_signature, args, nargs, kwnames,
                       PCU_ONLY(copy_reverse, &stream)) < 0 ||
        pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    PyObject *result = pcu_gpuarray_like_new(self, 0, NULL, self->dtype, NULL);
    if (result == NULL) {
        return NULL;
    }
    pcu_gpuarray *view = copy_reversed_view_new(self);
    if (view == NULL ||
        pcu_gpuarray_assign((pcu_gpuarray *)result, (PyObject *)view, stream) < 0) {
        Py_CLEAR(result);
    }
    Py_XDECREF(view);
    return result;
}

/* -- fill -------------------------------------------------------------------------- */

typedef struct {
    PyObject *value; /* borrowed */
    CUstream stream;
} fill_args;

static const pcu_word fill_words[] = {
    PCU_WORD("value", pcu_as_object, fill_args, value),
    PCU_WORD("stream", pcu_as_stream, fill_args, stream),
};

PCU_SIGNATURE(copy_fill, fill_words,
              "fill($self, /, value, stream=None)\n"
              "--\n\n"
              "Set every element to a value and return the array itself.\n"
              "\nParameters\n----------\n"
              "value : number\n"
              "    The value.\n" PCU_DOC_STREAM
              "\nReturns\n-------\n"
              "GPUArray\n"
              "    The array.\n"
              "\nRaises\n------\n"
              "OverflowError\n"
              "    If the dtype cannot hold an integer.\n"
              "\nNotes\n-----\n" PCU_DOC_NO_WAIT
              "\nExamples\n--------\n"
              ">>> gpuarray.empty(3, np.int32).fill(7)\n"
              "array([7, 7, 7], dtype=int32)")

static PyObject *
copy_fill(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    fill_args a = {.stream = pcu_stream_current()};
    if (pcu_args_parse(self->st, &copy_fill_signature, args, nargs, kwnames, &a) < 0 ||
        pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    if (!pcu_is_scalar(a.value) && pcu_type_is_number(self->type)) {
        PyErr_Format(PyExc_TypeError, "value must be a number, not %s",
                     Py_TYPE(a.value)->tp_name);
        return NULL;
    }
    if (pcu_gpuarray_fill(self, a.value, a.stream) < 0) {
        return NULL;
    }
    return Py_NewRef(op);
}

/* -- _new_like_me ------------------------------------------------------------------ */

typedef struct {
    PyObject *dtype; /* borrowed */
    NPY_ORDER order;
} like_args;

static const pcu_word like_words[] = {
    PCU_WORD("dtype", pcu_as_object, like_args, dtype),
    PCU_WORD("order", pcu_as_order, like_args, order),
};

PCU_SIGNATURE(copy_new_like_me, like_words,
              "_new_like_me($self, /, dtype=None, order='C')\n--\n\n"
              "Return an uninitialised array of self's type, shape and allocator.\n\n"
              "The same dtype keeps the order of the axes, another dtype takes order.")

static int
copy_like_strides(const pcu_gpuarray *self, PyArray_Descr *dtype, NPY_ORDER order,
                  ptrdiff_t *strides)
{
    size_t itemsize = (size_t)PyDataType_ELSIZE(dtype);
    if (PyArray_EquivTypes(dtype, self->dtype)) {
        return pcu_gpuarray_packed_strides(self, itemsize, strides);
    }
    return pcu_strides_in_order(order == NPY_FORTRANORDER, self->ndim, self->shape,
                                itemsize, strides);
}

static PyObject *
copy_new_like_me(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    pcu_state *st = self->st;
    like_args a = {.dtype = Py_None, .order = NPY_CORDER};
    ptrdiff_t strides[PCU_MAX_NDIM];
    PyArray_Descr *dtype = NULL;
    PyObject *result = NULL;
    if (pcu_args_parse(st, &copy_new_like_me_signature, args, nargs, kwnames, &a) < 0 ||
        pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    if (a.dtype == Py_None) {
        dtype = (PyArray_Descr *)Py_NewRef((PyObject *)self->dtype);
    }
    else if (pcu_as_dtype(st, a.dtype, &dtype, "dtype") < 0) {
        return NULL;
    }
    if (copy_like_strides(self, dtype, a.order, strides) == 0) {
        result = pcu_gpuarray_new(st, Py_TYPE(op), self->ndim, self->shape, strides,
                                  dtype, self->allocator);
    }
    Py_DECREF(dtype);
    return result;
}

/* -- pickling ---------------------------------------------------------------------- */

PyDoc_STRVAR(
    copy_reduce_doc,
    "__reduce__($self, /)\n--\n\n"
    "Return the pickled form: the elements, as a numpy array, and the dtype that a "
    "bool array has in arithmetic.");

static PyObject *
copy_reduce(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    PyObject *result = NULL;
    PyObject *counts_as = NULL;
    PyObject *state = Py_None;
    PyObject *module = PyImport_ImportModule("pycuda.gpuarray");
    if (module == NULL) {
        return NULL;
    }
    PyObject *rebuild = PyObject_GetAttrString(module, "_unpickle");
    Py_DECREF(module);
    if (rebuild == NULL) {
        return NULL;
    }
    PyObject *host = pcu_gpuarray_get(self);
    if (host == NULL) {
        goto done;
    }
    counts_as = PyObject_GetAttrString(op, "_counts_as");
    if (counts_as == NULL) {
        goto done;
    }
    if (self->dict != NULL) {
        state = self->dict;
    }
    result = Py_BuildValue("(O(OOO)O)", rebuild, (PyObject *)Py_TYPE(op), host,
                           counts_as, state);
done:
    Py_XDECREF(counts_as);
    Py_XDECREF(host);
    Py_DECREF(rebuild);
    return result;
}

#define COPY_METHOD(name) PCU_METHOD(#name, copy_##name)

PyMethodDef pcu_copy_methods[] = {
    COPY_METHOD(fill),
    COPY_METHOD(astype),
    COPY_METHOD(reverse),
    PCU_METHOD("_new_like_me", copy_new_like_me),
    {"copy", copy_copy, METH_NOARGS, copy_copy_doc},
    {"__copy__", copy_copy, METH_NOARGS, copy_dunder_copy_doc},
    {"__deepcopy__", copy_deepcopy, METH_O, copy_deepcopy_doc},
    {"__reduce__", copy_reduce, METH_NOARGS, copy_reduce_doc},
    {NULL, NULL, 0, NULL},
};
