/* Module functions that multiply matrices: matmul, which programs call, and a
 * description of what multiplies. */

#include "python/array/type/members.h"

#include "python/array/element_type.h"
#include "python/array/product/blas.h"
#include "python/array/product/matmul.h"
#include "python/array/type/arguments.h"
#include "python/support/docs.h"

PCU_SIGNATURE(
    product_matmul, pcu_array_words,
    "matmul($module, a, b, /, out=None, dtype=None, stream=None, allocator=None)\n"
    "--\n\n"
    "Return the matrix product ``a @ b``, by NumPy's rules.\n"
    "\nParameters\n----------\n"
    "a : GPUArray\n"
    "    Matrices, shape (..., m, k). One axis is a vector.\n"
    "b : GPUArray\n"
    "    Matrices, shape (..., k, n). One axis is a vector.\n" PCU_DOC_OUT
    "dtype : dtype_like, optional\n"
    "    Dtype in which to compute. The default is the common dtype.\n" PCU_DOC_STREAM
        PCU_DOC_ALLOCATOR_OF_ARRAY
    "\nReturns\n-------\n"
    "GPUArray\n"
    "    The result of shape (..., m, n): ``out``, or a new array.\n"
    "\nRaises\n------\n"
    "TypeError\n"
    "    If an operand is not an array on the device.\n"
    "ValueError\n"
    "    If the shapes do not fit, or if an operand has no axes.\n"
    "\nSee Also\n--------\n"
    "pycuda.linalg.product_library : What multiplies matrices.\n"
    "\nNotes\n-----\n"
    "The call does not wait. cuBLAS computes floating-point and complex\n"
    "products where it is found, in the full precision of the dtype (no\n"
    "TF32); generated kernels compute all others. float16 is summed in\n"
    "float32, integers wrap around and bool gives whether any product\n"
    "is true. Strided and transposed operands are not copied where BLAS\n"
    "can take them.\n"
    "\nExamples\n--------\n"
    ">>> a = gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))\n"
    ">>> gpuarray.matmul(a, a)\n"
    "array([[ 7, 10],\n"
    "       [15, 22]])")

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
