/* Module functions that multiply matrices: matmul, which programs call, and a
 * description of what multiplies. */

#include "python/array/type/members.h"

#include "python/array/element_type.h"
#include "python/array/product/blas.h"
#include "python/array/product/matmul.h"
#include "python/array/type/arguments.h"

PCU_SIGNATURE(
    product_matmul, pcu_array_words,
    "matmul($module, a, b, /, out=None, dtype=None, stream=None, allocator=None)\n"
    "--\n\n"
    "Return the matrix product a @ b of two GPUArrays, by NumPy's rules.\n\n"
    "The shapes are (..., m, k) and (..., k, n); the axes before the last two\n"
    "broadcast. An array with one axis is a vector. All number types are computed in\n"
    "the common dtype, or in dtype: float16 is summed in float32, integers wrap "
    "around\n"
    "and bool gives whether any product is true.\n\n"
    "cuBLAS computes floating-point and complex products where it is found, in the "
    "full\n"
    "precision of the dtype (no TF32); generated kernels compute all others. Strided\n"
    "and transposed operands are not copied where BLAS can take them. ValueError if\n"
    "the shapes do not fit or an operand has no axes, TypeError for other types.")

static PyObject *
product_matmul(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    pcu_array_args a = pcu_array_defaults();
    pcu_matmul_options options;
    if (pcu_args_parse(st, &product_matmul_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    options.dtype = a.dtype;
    options.out = a.out;
    options.stream = a.stream;
    options.allocator = a.allocator;
    return pcu_matmul(st, a.a, a.b, &options);
}

PyDoc_STRVAR(product_library_doc,
             "_product_library($module, /)\n--\n\n"
             "Return a sentence that says what multiplies matrices in this context.");

static PyObject *
product_library(PyObject *m, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = pcu_state_of_module(m);
    pcu_context *ctx = pcu_context_launch_borrow(st);
    if (ctx == NULL) {
        return NULL;
    }
    Py_INCREF(ctx);
    PyObject *text = pcu_blas_describe_new(st, ctx);
    Py_DECREF(ctx);
    return text;
}

PyMethodDef pcu_product_functions[] = {
    PCU_METHOD("matmul", product_matmul),
    {"_product_library", product_library, METH_NOARGS, product_library_doc},
    {NULL, NULL, 0, NULL},
};
