/* New GPUArrays: see construction.h. */

#include "python/array/construction.h"

#include "python/array/element_type.h"
#include "python/array/layout.h"
#include "python/array/memory.h"
#include "python/array/recording.h"
#include "driver/shape.h"

pcu_gpuarray *
pcu_gpuarray_blank_new(pcu_state *st, PyTypeObject *type)
{
    if (type == st->GPUArray && pcu_is_recording(st)) {
        type = (PyTypeObject *)pcu_recorder_item(st, PCU_RECORDER_ARRAY);
    }
    /* The state's types are never NULL, which the analyser cannot know. */
    pcu_gpuarray *self =
        (pcu_gpuarray *)type->tp_alloc(type, 0); /* NOLINT(clang-analyzer-core*) */
    if (self != NULL) {
        self->st = st;
        self->shape = self->inline_shape;
        self->strides = self->inline_strides;
        self->type = PCU_T_NONE;
    }
    return self;
}

static PyObject *
construction_none_if_null(PyObject *object)
{
    if (object == NULL) {
        return Py_None;
    }
    return object;
}

/* Call a subclass as its __init__ expects. */
static PyObject *
construction_call_subclass(PyTypeObject *type, PyObject *shape, PyObject *strides,
                           PyArray_Descr *dtype, PyObject *allocator)
{
    PyObject *result = NULL;
    PyObject *args = PyTuple_Pack(2, shape, (PyObject *)dtype);
    PyObject *kwargs =
        Py_BuildValue("{sOsO}", "allocator", construction_none_if_null(allocator),
                      "strides", construction_none_if_null(strides));
    if (args != NULL && kwargs != NULL) {
        result = PyObject_Call((PyObject *)type, args, kwargs);
    }
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    return result;
}

static PyObject *
construction_subclass_new(pcu_state *st, PyTypeObject *type, int ndim,
                          const size_t *shape, const ptrdiff_t *strides,
                          PyArray_Descr *dtype, PyObject *allocator)
{
    PyObject *result = NULL;
    PyObject *steps = NULL;
    PyObject *lengths = pcu_shape_tuple_new(ndim, shape);
    if (lengths == NULL) {
        return NULL;
    }
    if (strides != NULL) {
        steps = pcu_numbers_tuple_new(ndim, strides);
        if (steps == NULL) {
            goto done;
        }
    }
    result = construction_call_subclass(type, lengths, steps, dtype, allocator);
    if (result == NULL) {
        goto done;
    }
    if (!pcu_is_array(st, result)) {
        PyErr_Format(PyExc_TypeError, "%s() returned a %s, not a GPUArray",
                     type->tp_name, Py_TYPE(result)->tp_name);
        Py_CLEAR(result);
    }
    else if (pcu_gpuarray_ready((pcu_gpuarray *)result) < 0) {
        Py_CLEAR(result);
    }
done:
    Py_DECREF(lengths);
    Py_XDECREF(steps);
    return result;
}

PyObject *
pcu_gpuarray_new(pcu_state *st, PyTypeObject *type, int ndim, const size_t *shape,
                 const ptrdiff_t *strides, PyArray_Descr *dtype, PyObject *allocator)
{
    if (type == NULL) {
        type = st->GPUArray;
    }
    if (type != st->GPUArray) {
        return construction_subclass_new(st, type, ndim, shape, strides, dtype,
                                         allocator);
    }
    pcu_gpuarray *self = pcu_gpuarray_blank_new(st, type);
    if (self == NULL) {
        return NULL;
    }
    self->allocator = Py_XNewRef(allocator);
    if (pcu_gpuarray_describe(self, dtype, ndim, shape, strides) < 0 ||
        pcu_gpuarray_allocate(self) < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

pcu_gpuarray *
pcu_gpuarray_view_new(pcu_gpuarray *self, int ndim, const size_t *shape,
                      const ptrdiff_t *strides, ptrdiff_t offset, PyArray_Descr *dtype)
{
    pcu_gpuarray *view = pcu_gpuarray_blank_new(self->st, self->st->GPUArray);
    if (view == NULL) {
        return NULL;
    }
    if (dtype == NULL) {
        view->dtype = (PyArray_Descr *)Py_NewRef((PyObject *)self->dtype);
        view->type = self->type;
    }
    else {
        view->dtype = (PyArray_Descr *)Py_NewRef((PyObject *)dtype);
        view->type = (unsigned char)pcu_type_of_dtype(dtype);
    }
    view->counts_as = self->counts_as;
    view->allocator = Py_XNewRef(self->allocator);
    view->base = Py_NewRef((PyObject *)self);
    if (pcu_gpuarray_set_layout(view, ndim, shape, strides) < 0) {
        Py_DECREF(view);
        return NULL;
    }
    if (self->gpudata == Py_None || view->count == 0) {
        view->gpudata = Py_NewRef(Py_None);
    }
    else {
        view->memory = Py_XNewRef(self->memory);
        view->address = self->address + (CUdeviceptr)offset;
        view->inside =
            self->inside; /* a view has no elements that self does not have */
    }
    return view;
}

/* -- like another array ------------------------------------------------------------ */

/* 1 if a subclass has a _new_like_me of its own. */
static int
construction_is_overridden(pcu_state *st, PyTypeObject *type)
{
    PyObject *own = PyObject_GetAttr((PyObject *)type, st->str__new_like_me);
    PyObject *ours = PyObject_GetAttr((PyObject *)st->GPUArray, st->str__new_like_me);
    int differs = -1;
    if (own != NULL && ours != NULL) {
        differs = own != ours;
    }
    Py_XDECREF(own);
    Py_XDECREF(ours);
    return differs;
}

static PyObject *
construction_call_override(pcu_gpuarray *self, PyArray_Descr *dtype)
{
    pcu_state *st = self->st;
    PyObject *result = PyObject_CallMethodOneArg((PyObject *)self, st->str__new_like_me,
                                                 (PyObject *)dtype);
    if (result != NULL && !pcu_is_array(st, result)) {
        PyErr_Format(PyExc_TypeError, "_new_like_me() returned a %s, not a GPUArray",
                     Py_TYPE(result)->tp_name);
        Py_CLEAR(result);
    }
    return result;
}

PyObject *
pcu_gpuarray_like_new(pcu_gpuarray *self, int ndim, const size_t *shape,
                      PyArray_Descr *dtype, PyObject *allocator)
{
    ptrdiff_t strides[PCU_MAX_NDIM];
    pcu_state *st = self->st;
    PyTypeObject *type = Py_TYPE(self);
    if (allocator == NULL) {
        allocator = self->allocator;
    }
    if (shape != NULL) {
        return pcu_gpuarray_new(st, type, ndim, shape, NULL, dtype, allocator);
    }
    if (type != st->GPUArray) {
        int overridden = construction_is_overridden(st, type);
        if (overridden < 0) {
            return NULL;
        }
        if (overridden) {
            return construction_call_override(self, dtype);
        }
    }
    if (self->contiguous & PCU_ARRAY_C) {
        return pcu_gpuarray_new(st, type, self->ndim, self->shape, NULL, dtype,
                                allocator);
    }
    if (pcu_gpuarray_packed_strides(self, (size_t)PyDataType_ELSIZE(dtype), strides) <
        0) {
        return NULL;
    }
    return pcu_gpuarray_new(st, type, self->ndim, self->shape, strides, dtype,
                            allocator);
}
