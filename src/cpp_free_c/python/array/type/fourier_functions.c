/* The functions by which pycuda.fft calls Fourier transforms: by their numbers in
 * _fourier_functions. */

#include "python/array/type/members.h"

#include "python/array/fourier/cufft.h"
#include "python/array/fourier/fourier.h"
#include "python/array/type/arguments.h"
#include "python/driver/context.h"

typedef struct {
    pcu_array_args shared; /* with the words axis and axes */
    int function;
    PyObject *lengths; /* borrowed, as is the other */
    PyObject *norm;
} fourier_args;

/* The call itself, with the arguments of either function. */
static PyObject *
fourier_call(PyObject *m, const pcu_signature *signature, bool is_nd,
             PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    fourier_args a = {.shared = pcu_array_defaults()};
    if (pcu_args_parse(st, signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (a.function < 0 || a.function >= PCU_FOURIER_FUNCTION_COUNT) {
        PyErr_SetString(PyExc_TypeError, "no Fourier transform has this number");
        return NULL;
    }
    pcu_fourier_call call = {.function = a.function,
                             .is_nd = is_nd,
                             .a = a.shared.a,
                             .lengths = a.lengths,
                             .axes = a.shared.axis,
                             .norm = a.norm,
                             .out = a.shared.out,
                             .stream = a.shared.stream};
    return pcu_fourier(st, &call);
}

static const pcu_word fourier_words[] = {
    PCU_WORD("function", pcu_as_int, fourier_args, function),
    PCU_WORD("n", pcu_as_object, fourier_args, lengths),
    PCU_WORD("norm", pcu_as_object, fourier_args, norm),
    PCU_WORD("s", pcu_as_object, fourier_args, lengths),
    PCU_WORD("axes", pcu_as_object, fourier_args, shared.axis),
    PCU_ARRAY_WORDS(fourier_args),
};

PCU_SIGNATURE(fourier_along, fourier_words,
              "_fourier($module, function, a, n, axis, norm, out, stream, /)\n--\n\n"
              "Enqueue the Fourier transform of that number along an axis.")

static PyObject *
fourier_along(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return fourier_call(m, &fourier_along_signature, false, args, nargs, kwnames);
}

PCU_SIGNATURE(
    fourier_along_axes, fourier_words,
    "_fourier_axes($module, function, a, s, axes, norm, out, stream, /)\n--\n\n"
    "Enqueue the Fourier transform of that number along several axes.")

static PyObject *
fourier_along_axes(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    return fourier_call(m, &fourier_along_axes_signature, true, args, nargs, kwnames);
}

PyDoc_STRVAR(fourier_library_doc,
             "_fourier_library($module, /)\n--\n\n"
             "Return a sentence: what transforms in the current context, and why.");

static PyObject *
fourier_library(PyObject *m, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = pcu_state_of_module(m);
    PyObject *ctx = pcu_context_require(st, "cuCtxGetCurrent");
    if (ctx == NULL) {
        return NULL;
    }
    PyObject *sentence = pcu_cufft_describe_new(st, (pcu_context *)ctx);
    Py_DECREF(ctx);
    return sentence;
}

PyMethodDef pcu_fourier_functions[] = {
    PCU_METHOD("_fourier", fourier_along),
    PCU_METHOD("_fourier_axes", fourier_along_axes),
    {"_fourier_library", fourier_library, METH_NOARGS, fourier_library_doc},
    {NULL, NULL, 0, NULL},
};
