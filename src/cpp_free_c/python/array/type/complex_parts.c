/* The parts of complex arrays: conj, conjugate, real, imag. */

#include "python/array/type/complex_parts.h"

#include "python/array/element_type.h"
#include "python/array/ops/ufunc.h"
#include "python/array/type/members.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"
#include "python/support/docs.h"

static PyObject *
complex_call(PyObject *op, int operation, PyObject *out)
{
    pcu_ufunc_options options = {
        .outs = {NULL, NULL}, .dtype = PCU_T_NONE, .stream = pcu_stream_current()};
    if (out != Py_None) {
        options.outs[0] = out;
    }
    return pcu_ufunc_require(((pcu_gpuarray *)op)->st, operation, &op, &options);
}

PCU_SIGNATURE_OF_ONE(
    complex_conj, "out", pcu_as_object,
    "conj($self, /, out=None)\n"
    "--\n\n"
    "Return the complex conjugate.\n"
    "\nParameters\n----------\n" PCU_DOC_OUT
    "\nReturns\n-------\n"
    "GPUArray\n"
    "    The result: ``out``, or a new array; the array itself if it is\n"
    "    real.\n"
    "\nNotes\n-----\n" PCU_DOC_NO_WAIT
    "\nExamples\n--------\n"
    ">>> gpuarray.to_gpu(np.array([1 + 2j])).conj()\n"
    "array([1.-2.j])")
PyDoc_STRVAR(complex_conjugate_doc,
             "conjugate($self, /, out=None)\n"
             "--\n\n"
             "Return the complex conjugate.\n"
             "\nParameters\n----------\n" PCU_DOC_OUT
             "\nReturns\n-------\n"
             "GPUArray\n"
             "    The result: ``out``, or a new array; the array itself if it is\n"
             "    real.\n"
             "\nSee Also\n--------\n"
             "conj : The same.");

static PyObject *
complex_conj(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    PyObject *out = Py_None;
    if (pcu_args_parse(self->st, &complex_conj_signature, args, nargs, kwnames,
                       PCU_ONLY(complex_conj, &out)) < 0 ||
        pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    if (!pcu_type_is_complex(self->type)) {
        return Py_NewRef(op);
    }
    return complex_call(op, PCU_OP_CONJUGATE, out);
}

PyObject *
pcu_gpuarray_get_real(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    if (!pcu_type_is_complex(self->type)) {
        return Py_NewRef(op);
    }
    return complex_call(op, PCU_OP_REAL, Py_None);
}

PyObject *
pcu_gpuarray_get_imag(PyObject *op, void *Py_UNUSED(closure))
{
    if (pcu_gpuarray_ready((pcu_gpuarray *)op) < 0) {
        return NULL;
    }
    return complex_call(op, PCU_OP_IMAG, Py_None);
}

PyMethodDef pcu_complex_parts_methods[] = {
    PCU_METHOD("conj", complex_conj),
    {"conjugate", (PyCFunction)(void (*)(void))complex_conj,
     METH_FASTCALL | METH_KEYWORDS, complex_conjugate_doc},
    {NULL, NULL, 0, NULL},
};
