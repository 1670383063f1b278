/* Methods of GPUArray whose work Python functions in pycuda/_array do. */

#include "python/array/type/members.h"

#include "python/array/type/forwarding.h"
#include "python/support/docs.h"

/* -- sentences of docstrings ------------------------------------------------------- */

#define DOC_ORDER_NOT_USED     \
    "order : None, optional\n" \
    "    Not supported; NumPy has this parameter.\n"

/* The method `name`, which calls the function of that name in the module `where`. */
#define FORWARD(name, where, signature, text)                                \
    PyDoc_STRVAR(forwarded_##name##_doc, #name signature "\n--\n\n" text);   \
    static PyObject *forwarded_##name(PyObject *op, PyObject *const *args,   \
                                      Py_ssize_t nargs, PyObject *kwnames)   \
    {                                                                        \
        return pcu_gpuarray_forward(op, where, #name, args, nargs, kwnames); \
    }

#define DOC_TEXREF_OFFSET                                            \
    "allow_offset : bool, optional\n"                                \
    "    If true, the array may begin at an address that textures\n" \
    "    cannot read.\n"                                             \
    "\nReturns\n-------\n"                                           \
    "float\n"                                                        \
    "    The offset, in elements.\n"                                 \
    "\nRaises\n------\n"                                             \
    "RuntimeError\n"                                                 \
    "    If the array has gaps.\n"

#define METHODS "pycuda._array.numpy_protocol.methods"

FORWARD(bind_to_texref, "pycuda._array.kernels.c_types",
        "($self, /, texref, allow_offset=False)",
        "Bind the array to a texture reference and return the offset in elements.\n"
        "\nParameters\n----------\n"
        "texref : TextureReference\n"
        "    The texture reference.\n" DOC_TEXREF_OFFSET
        "\nSee Also\n--------\n"
        "bind_to_texref_ext : Several channels, doubles and complex numbers.")
FORWARD(bind_to_texref_ext, "pycuda._array.kernels.c_types",
        "($self, /, texref, channels=1, allow_double_hack=False, "
        "allow_complex_hack=False, allow_offset=False)",
        "Bind the array with several channels, and doubles as pairs of integers.\n"
        "\nParameters\n----------\n"
        "texref : TextureReference\n"
        "    The texture reference.\n"
        "channels : int, optional\n"
        "    Elements of the array that are one element of the texture.\n"
        "allow_double_hack : bool, optional\n"
        "    If true, bind doubles as two channels of 32 bits.\n"
        "allow_complex_hack : bool, optional\n"
        "    If true, bind complex numbers as two or four channels of 32\n"
        "    bits.\n" DOC_TEXREF_OFFSET
        "ValueError\n"
        "    If doubles or complex numbers have more than one channel.\n"
        "\nSee Also\n--------\n"
        "bind_to_texref : One channel.")
FORWARD(dot, METHODS, "($self, /, b, out=None)",
        "Return NumPy's dot: the product of vectors or matrices.\n"
        "\nParameters\n----------\n"
        "b : GPUArray or number\n"
        "    Second operand. A number scales.\n" PCU_DOC_OUT
        "\nReturns\n-------\n" PCU_DOC_RESULT
        "\nRaises\n------\n"
        "ValueError\n"
        "    If the shapes do not fit.\n"
        "\nSee Also\n--------\n"
        "pycuda.gpuarray.matmul : The product of stacks of matrices.\n"
        "\nExamples\n--------\n"
        ">>> x = gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))\n"
        ">>> x.dot(x)\n"
        "array([[ 7, 10],\n"
        "       [15, 22]])")
FORWARD(diagonal, METHODS, "($self, /, offset=0, axis1=0, axis2=1)",
        "Return a view of the diagonals of two axes.\n"
        "\nParameters\n----------\n"
        "offset : int, optional\n"
        "    Number of the diagonal: above 0 it begins in a later column,\n"
        "    below 0 in a later row.\n"
        "axis1 : int, optional\n"
        "    Axis of the rows.\n"
        "axis2 : int, optional\n"
        "    Axis of the columns.\n"
        "\nReturns\n-------\n"
        "GPUArray\n"
        "    A view, whose last axis is the diagonal.\n"
        "\nRaises\n------\n"
        "ValueError\n"
        "    If there are fewer than two axes. If ``axis1`` is ``axis2``.\n"
        "\nSee Also\n--------\n"
        "pycuda.gpuarray.diagonal : The function.\n"
        "\nExamples\n--------\n"
        ">>> gpuarray.to_gpu(np.array([[1, 2], [3, 4]])).diagonal()\n"
        "array([1, 4])")
FORWARD(trace, METHODS, "($self, /, offset=0, axis1=0, axis2=1, dtype=None, out=None)",
        "Return the sums of the diagonals of two axes.\n"
        "\nParameters\n----------\n"
        "offset : int, optional\n"
        "    Number of the diagonal: above 0 it begins in a later column,\n"
        "    below 0 in a later row.\n"
        "axis1 : int, optional\n"
        "    Axis of the rows.\n"
        "axis2 : int, optional\n"
        "    Axis of the columns.\n"
        "dtype : dtype_like, optional\n"
        "    Dtype of the result. Small integers add in 64 bits.\n" PCU_DOC_OUT
        "\nReturns\n-------\n" PCU_DOC_RESULT
        "\nRaises\n------\n"
        "ValueError\n"
        "    If there are fewer than two axes. If ``axis1`` is ``axis2``.\n"
        "\nSee Also\n--------\n"
        "pycuda.gpuarray.trace : The function.\n"
        "\nExamples\n--------\n"
        ">>> print(gpuarray.to_gpu(np.array([[1, 2], [3, 4]])).trace())\n"
        "5")
FORWARD(clip, METHODS, "($self, /, min=None, max=None, out=None)",
        "Return the elements, with those outside the bounds replaced by the bounds.\n"
        "\nParameters\n----------\n"
        "min : GPUArray or number, optional\n"
        "    Lower bound, which broadcasts. The default is no bound.\n"
        "max : GPUArray or number, optional\n"
        "    Upper bound, which broadcasts. The default is no bound.\n" PCU_DOC_OUT
        "\nReturns\n-------\n"
        "GPUArray\n"
        "    The result: ``out``, or a new array of the common dtype.\n"
        "\nSee Also\n--------\n"
        "pycuda.gpuarray.clip : The function.\n"
        "\nExamples\n--------\n"
        ">>> gpuarray.to_gpu(np.array([1.0, 5, 9])).clip(2, 6)\n"
        "array([2., 5., 6.])")
FORWARD(round, METHODS, "($self, /, decimals=0, out=None)",
        "Return the elements rounded, halves to even.\n"
        "\nParameters\n----------\n"
        "decimals : int, optional\n"
        "    Number of digits behind the point.\n" PCU_DOC_OUT
        "\nReturns\n-------\n" PCU_DOC_RESULT
        "\nExamples\n--------\n"
        ">>> gpuarray.to_gpu(np.array([1.25, 2.5])).round()\n"
        "array([1., 2.])")
FORWARD(flatten, METHODS, "($self, /, order='C')",
        "Return a copy with one axis, in the order of the indices.\n"
        "\nParameters\n----------\n"
        "order : {\"C\", \"F\"}, default \"C\"\n"
        "    Order of the indices.\n"
        "\nReturns\n-------\n"
        "GPUArray\n"
        "    A new array.\n"
        "\nSee Also\n--------\n"
        "ravel : A view if possible.\n"
        "\nExamples\n--------\n"
        ">>> gpuarray.to_gpu(np.array([[1, 2], [3, 4]])).flatten(\"F\")\n"
        "array([1, 3, 2, 4])")
FORWARD(swapaxes, METHODS, "($self, /, axis1, axis2)",
        "Return a view with two axes exchanged.\n"
        "\nParameters\n----------\n"
        "axis1 : int\n"
        "    First axis.\n"
        "axis2 : int\n"
        "    Second axis.\n"
        "\nReturns\n-------\n"
        "GPUArray\n"
        "    A view.\n"
        "\nRaises\n------\n" PCU_DOC_NO_SUCH_AXIS
        "\nExamples\n--------\n"
        ">>> gpuarray.zeros((2, 3)).swapaxes(0, 1).shape\n"
        "(3, 2)")
FORWARD(take, METHODS, "($self, /, indices, axis=None, out=None)",
        "Return the elements at indices, of the flat array or along an axis.\n"
        "\nParameters\n----------\n"
        "indices : GPUArray or array_like\n"
        "    Integers.\n" PCU_DOC_AXIS_OR_FLAT PCU_DOC_OUT
        "\nReturns\n-------\n" PCU_DOC_RESULT
        "\nRaises\n------\n"
        "IndexError\n"
        "    If an index of the host is out of bounds. For one on the\n"
        "    device, the next call that waits raises it.\n"
        "\nSee Also\n--------\n"
        "pycuda.gpuarray.take : The function, which takes a stream.\n"
        "\nExamples\n--------\n"
        ">>> gpuarray.to_gpu(np.array([1.5, 2.5, 3.5])).take([2, 0])\n"
        "array([3.5, 1.5])")
FORWARD(item, METHODS, "($self, /, *args)",
        "Return an element as a Python number.\n"
        "\nParameters\n----------\n"
        "*args : int or tuple of int\n"
        "    Flat index, or indices. Without them the array has one\n"
        "    element.\n"
        "\nReturns\n-------\n"
        "int, float, complex or bool\n"
        "    The number.\n"
        "\nRaises\n------\n"
        "IndexError\n"
        "    If an index is out of bounds.\n"
        "ValueError\n"
        "    If the array does not have one element, or if the number of\n"
        "    indices is not that of the axes.\n"
        "\nNotes\n-----\n"
        "The call waits for the copy.\n"
        "\nExamples\n--------\n"
        ">>> gpuarray.to_gpu(np.array([1.5, 2.5])).item(1)\n"
        "2.5")
FORWARD(tolist, METHODS, "($self, /)",
        "Return the elements as Python numbers, in nested lists.\n"
        "\nReturns\n-------\n"
        "list or number\n"
        "    The lists; a number for an array without axes.\n"
        "\nNotes\n-----\n"
        "The call waits for the copy.\n"
        "\nExamples\n--------\n"
        ">>> gpuarray.to_gpu(np.array([[1, 2], [3, 4]])).tolist()\n"
        "[[1, 2], [3, 4]]")
FORWARD(to_numpy, METHODS, "($self, /)",
        "Return a copy in host memory, as get() does.\n"
        "\nReturns\n-------\n"
        "numpy.ndarray\n"
        "    The array.\n"
        "\nSee Also\n--------\n"
        "GPUArray.get : Into a given array, or without a wait.\n"
        "\nNotes\n-----\n"
        "xarray, Matplotlib and others call it where they need the elements in\n"
        "host memory. The call waits for the copy.\n"
        "\nExamples\n--------\n"
        ">>> type(gpuarray.zeros(2, np.float32).to_numpy()).__name__\n"
        "'ndarray'")
FORWARD(sort, METHODS, "($self, /, axis=-1, kind=None, order=None, *, stable=None)",
        "Sort the array in place along an axis.\n"
        "\nParameters\n----------\n" PCU_DOC_AXIS
        "kind : {\"quicksort\", \"mergesort\", \"heapsort\", \"stable\"}, optional\n"
        "    Not used: the sort is always stable.\n" DOC_ORDER_NOT_USED
        "stable : bool, optional\n"
        "    Not used: the sort is always stable.\n"
        "\nRaises\n------\n"
        "ValueError\n"
        "    If there is no such axis. If ``kind`` is something else.\n"
        "\nSee Also\n--------\n"
        "pycuda.gpuarray.sort : A copy.\n"
        "\nNotes\n-----\n" PCU_DOC_NO_WAIT
        "\nExamples\n--------\n"
        ">>> x = gpuarray.to_gpu(np.array([3, 1, 2]))\n"
        ">>> x.sort()\n"
        ">>> x\n"
        "array([1, 2, 3])")
FORWARD(argsort, METHODS, "($self, /, axis=-1, kind=None, order=None, *, stable=None)",
        "Return the indices that sort the array along an axis.\n"
        "\nParameters\n----------\n"
        "axis : int or None, default -1\n"
        "    Axis along which to sort. None sorts the flat array.\n"
        "kind : {\"quicksort\", \"mergesort\", \"heapsort\", \"stable\"}, optional\n"
        "    Not used: the sort is always stable.\n" DOC_ORDER_NOT_USED
        "stable : bool, optional\n"
        "    Not used: the sort is always stable.\n"
        "\nReturns\n-------\n"
        "GPUArray\n"
        "    The indices, int64.\n"
        "\nRaises\n------\n"
        "ValueError\n"
        "    If there is no such axis. If ``kind`` is something else.\n"
        "\nSee Also\n--------\n"
        "pycuda.gpuarray.argsort : The function, which takes a stream.\n"
        "\nExamples\n--------\n"
        ">>> gpuarray.to_gpu(np.array([3, 1, 2])).argsort()\n"
        "array([1, 2, 0])")
FORWARD(partition, METHODS, "($self, /, kth, axis=-1, kind='introselect', order=None)",
        "Put the elements at the places ``kth`` of the sorted order there, in place.\n"
        "\nParameters\n----------\n"
        "kth : int or sequence of int\n"
        "    The places.\n" PCU_DOC_AXIS
        "kind : {\"introselect\"}, optional\n"
        "    Not used; NumPy has this parameter.\n" DOC_ORDER_NOT_USED
        "\nRaises\n------\n"
        "ValueError\n"
        "    If there is no such place or axis.\n"
        "\nSee Also\n--------\n"
        "pycuda.gpuarray.partition : A copy.")
FORWARD(argpartition, METHODS,
        "($self, /, kth, axis=-1, kind='introselect', order=None)",
        "Return the indices that partition the array along an axis.\n"
        "\nParameters\n----------\n"
        "kth : int or sequence of int\n"
        "    The places.\n"
        "axis : int or None, default -1\n"
        "    Axis along which to sort. None sorts the flat array.\n"
        "kind : {\"introselect\"}, optional\n"
        "    Not used; NumPy has this parameter.\n" DOC_ORDER_NOT_USED
        "\nReturns\n-------\n"
        "GPUArray\n"
        "    The indices, int64.\n"
        "\nRaises\n------\n"
        "ValueError\n"
        "    If there is no such place or axis.\n"
        "\nSee Also\n--------\n"
        "pycuda.gpuarray.argpartition : The function, which takes a stream.")

FORWARD(tofile, "pycuda._array.files", "($self, /, file, sep='', format='%s')",
        "Write the elements to a file in C order, without a header.\n"
        "\nParameters\n----------\n"
        "file : path or file object\n"
        "    The file.\n"
        "sep : str, optional\n"
        "    Text between the elements of a text file, which NumPy writes.\n"
        "    The default is a binary file.\n"
        "format : str, optional\n"
        "    Format of an element in a text file.\n"
        "\nSee Also\n--------\n"
        "pycuda.gpuarray.fromfile : The way back.\n"
        "pycuda.gpuarray.save : With shape and dtype.\n"
        "\nExamples\n--------\n"
        ">>> import io\n"
        ">>> file = io.BytesIO()\n"
        ">>> gpuarray.to_gpu(np.array([1, 2], np.uint16)).tofile(file)\n"
        ">>> file.getvalue()\n"
        "b'\\x01\\x00\\x02\\x00'")

FORWARD(_repr_html_, "pycuda._array.html", "($self, /)",
        "Return HTML for notebooks: shape, dtype, device, memory and elements.")

#define FORWARDED_ROW(name) PCU_METHOD(#name, forwarded_##name)

PyMethodDef pcu_forwarded_methods[] = {
    FORWARDED_ROW(bind_to_texref),
    FORWARDED_ROW(bind_to_texref_ext),
    FORWARDED_ROW(dot),
    FORWARDED_ROW(clip),
    FORWARDED_ROW(round),
    FORWARDED_ROW(flatten),
    FORWARDED_ROW(swapaxes),
    FORWARDED_ROW(take),
    FORWARDED_ROW(item),
    FORWARDED_ROW(tolist),
    FORWARDED_ROW(to_numpy),
    FORWARDED_ROW(tofile),
    FORWARDED_ROW(sort),
    FORWARDED_ROW(argsort),
    FORWARDED_ROW(partition),
    FORWARDED_ROW(argpartition),
    FORWARDED_ROW(diagonal),
    FORWARDED_ROW(trace),
    FORWARDED_ROW(_repr_html_),
    {NULL, NULL, 0, NULL},
};
