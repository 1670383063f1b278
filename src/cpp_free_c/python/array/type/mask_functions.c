/* The indices of elements that are not 0: a method of GPUArray, and functions of
 * pycuda.gpuarray. */

#include "python/array/type/members.h"

#include "python/array/index/nonzero.h"
#include "python/array/type/arguments.h"
#include "python/driver/stream.h"
#include "python/support/docs.h"

typedef PyObject *(*places_function)(pcu_gpuarray *x, CUstream stream);

/* Check the number of axes and call the function. */
static PyObject *
places_call(pcu_gpuarray *array, CUstream stream, places_function function)
{
    if (function == pcu_nonzero_new && array->ndim == 0) {
        PyErr_SetString(PyExc_ValueError,
                        "nonzero of an array without axes: use atleast_1d()");
        return NULL;
    }
    return function(array, stream);
}

static PyObject *
places_parse(PyObject *m, const pcu_signature *signature, PyObject *const *args,
             Py_ssize_t nargs, PyObject *kwnames, places_function function)
{
    pcu_array_args a = pcu_array_defaults();
    if (pcu_args_parse(pcu_state_of_module(m), signature, args, nargs, kwnames, &a) <
        0) {
        return NULL;
    }
    return places_call(a.a, a.stream, function);
}

PyDoc_STRVAR(
    mask_nonzero_method_doc,
    "nonzero($self, /)\n"
    "--\n\n"
    "Return the indices of the elements that are not 0, an array for each axis.\n"
    "\nReturns\n-------\n"
    "tuple of GPUArray\n"
    "    Arrays of int64, in the C order of the elements.\n"
    "\nRaises\n------\n"
    "ValueError\n"
    "    If the array has no axes.\n"
    "\nSee Also\n--------\n"
    "pycuda.gpuarray.nonzero : The function, which takes a stream.\n"
    "\nNotes\n-----\n"
    "The call waits for the number of indices.");

static PyObject *
mask_nonzero_method(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    return places_call(self, pcu_stream_current(), pcu_nonzero_new);
}

PyMethodDef pcu_mask_methods[] = {
    {"nonzero", mask_nonzero_method, METH_NOARGS, mask_nonzero_method_doc},
    {NULL, NULL, 0, NULL},
};

PCU_SIGNATURE(
    mask_nonzero, pcu_array_words,
    "nonzero($module, /, a, stream=None)\n"
    "--\n\n"
    "Return the indices of the elements that are not 0, an array for each axis.\n"
    "\nParameters\n----------\n"
    "a : GPUArray\n"
    "    Array of numbers with one axis or more.\n" PCU_DOC_STREAM
    "\nReturns\n-------\n"
    "tuple of GPUArray\n"
    "    Arrays of int64, in the C order of the elements.\n"
    "\nRaises\n------\n"
    "ValueError\n"
    "    If the array has no axes.\n"
    "\nSee Also\n--------\n"
    "flatnonzero : Flat indices.\n"
    "count_nonzero : Their number.\n"
    "\nNotes\n-----\n"
    "The call waits for the number of indices.\n"
    "\nExamples\n--------\n"
    ">>> gpuarray.nonzero(gpuarray.to_gpu(np.array([0, 5, 6])))\n"
    "(array([1, 2]),)")

static PyObject *
mask_nonzero(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return places_parse(m, &mask_nonzero_signature, args, nargs, kwnames,
                        pcu_nonzero_new);
}

PCU_SIGNATURE(mask_flatnonzero, pcu_array_words,
              "flatnonzero($module, /, a, stream=None)\n"
              "--\n\n"
              "Return the indices of the elements that are not 0, in the flat array.\n"
              "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_STREAM
              "\nReturns\n-------\n"
              "GPUArray\n"
              "    A new array of int64 with one axis.\n"
              "\nSee Also\n--------\n"
              "nonzero : An array for each axis.\n"
              "\nNotes\n-----\n"
              "The call waits for the number of indices.\n"
              "\nExamples\n--------\n"
              ">>> gpuarray.flatnonzero(gpuarray.to_gpu(np.array([0, 5, 6])))\n"
              "array([1, 2])")

static PyObject *
mask_flatnonzero(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    return places_parse(m, &mask_flatnonzero_signature, args, nargs, kwnames,
                        pcu_flatnonzero_new);
}

PCU_SIGNATURE(
    mask_argwhere, pcu_array_words,
    "argwhere($module, /, a, stream=None)\n"
    "--\n\n"
    "Return the indices of the elements that are not 0, a row for each element.\n"
    "\nParameters\n----------\n" PCU_DOC_NUMBERS PCU_DOC_STREAM
    "\nReturns\n-------\n"
    "GPUArray\n"
    "    A new array of int64 of shape (number, ``a.ndim``).\n"
    "\nSee Also\n--------\n"
    "nonzero : An array for each axis.\n"
    "\nNotes\n-----\n"
    "The call waits for the number of indices.\n"
    "\nExamples\n--------\n"
    ">>> gpuarray.argwhere(gpuarray.to_gpu(np.array([0, 5, 6])))\n"
    "array([[1],\n"
    "       [2]])")

static PyObject *
mask_argwhere(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return places_parse(m, &mask_argwhere_signature, args, nargs, kwnames,
                        pcu_argwhere_new);
}

#define MASK_ROW(name) PCU_METHOD(#name, mask_##name)

PyMethodDef pcu_public_mask_functions[] = {
    MASK_ROW(nonzero),
    MASK_ROW(flatnonzero),
    MASK_ROW(argwhere),
    {NULL, NULL, 0, NULL},
};
