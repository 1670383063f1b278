/* Methods of GPUArray whose work Python functions in pycuda/_array do. */

#include "python/array/type/members.h"

#include "python/array/type/forwarding.h"

/* The method `name`, which calls the function of that name in the module `where`. */
#define FORWARD(name, where, signature, text)                                \
    PyDoc_STRVAR(forwarded_##name##_doc, #name signature "\n--\n\n" text);   \
    static PyObject *forwarded_##name(PyObject *op, PyObject *const *args,   \
                                      Py_ssize_t nargs, PyObject *kwnames)   \
    {                                                                        \
        return pcu_gpuarray_forward(op, where, #name, args, nargs, kwnames); \
    }

#define METHODS "pycuda._array.numpy_protocol.methods"

FORWARD(bind_to_texref, "pycuda._array.kernels.c_types",
        "($self, /, texref, allow_offset=False)",
        "Bind the array to a texture reference and return the offset in elements.")
FORWARD(bind_to_texref_ext, "pycuda._array.kernels.c_types",
        "($self, /, texref, channels=1, allow_double_hack=False, "
        "allow_complex_hack=False, allow_offset=False)",
        "Bind the array with several channels, and doubles as pairs of integers.")
FORWARD(dot, METHODS, "($self, /, b, out=None)",
        "Return NumPy's dot: the product of vectors or matrices.")
FORWARD(diagonal, METHODS, "($self, /, offset=0, axis1=0, axis2=1)",
        "Return a view of the diagonals of two axes.")
FORWARD(trace, METHODS, "($self, /, offset=0, axis1=0, axis2=1, dtype=None, out=None)",
        "Return the sums of the diagonals of two axes.")
FORWARD(clip, METHODS, "($self, /, min=None, max=None, out=None)",
        "Return the elements, limited to the bounds.")
FORWARD(round, METHODS, "($self, /, decimals=0, out=None)",
        "Return the elements rounded, halves to even.")
FORWARD(flatten, METHODS, "($self, /, order='C')",
        "Return a copy with one axis, in the order of the indices.")
FORWARD(swapaxes, METHODS, "($self, /, axis1, axis2)",
        "Return a view with two axes exchanged.")
FORWARD(take, METHODS, "($self, /, indices, axis=None, out=None)",
        "Return the elements at indices, of the flat array or along an axis.")
FORWARD(item, METHODS, "($self, /, *args)",
        "Return the only element, or the one at indices, as a Python number.")
FORWARD(tolist, METHODS, "($self, /)",
        "Return the elements as Python numbers, in nested lists.")
FORWARD(sort, METHODS, "($self, /, axis=-1, kind=None, order=None, *, stable=None)",
        "Sort the array in place along an axis; the sort is stable.")
FORWARD(argsort, METHODS, "($self, /, axis=-1, kind=None, order=None, *, stable=None)",
        "Return the indices that sort the array along an axis.")
FORWARD(partition, METHODS, "($self, /, kth, axis=-1, kind='introselect', order=None)",
        "Put the elements at the places kth of the sorted order there, in place.")
FORWARD(argpartition, METHODS,
        "($self, /, kth, axis=-1, kind='introselect', order=None)",
        "Return the indices that partition the array along an axis.")

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
    FORWARDED_ROW(sort),
    FORWARDED_ROW(argsort),
    FORWARDED_ROW(partition),
    FORWARDED_ROW(argpartition),
    FORWARDED_ROW(diagonal),
    FORWARDED_ROW(trace),
    FORWARDED_ROW(_repr_html_),
    {NULL, NULL, 0, NULL},
};
