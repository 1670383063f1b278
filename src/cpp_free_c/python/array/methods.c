/* Methods of GPUArray beside the operators: linear combinations, the helpers that other
 * libraries call, and those whose work pycuda.gpuarray does. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/array/gpuarray.h"

/* -- into a given array ------------------------------------------------------------ */

typedef struct {
    PyObject *a; /* borrowed, as are all */
    PyObject *other;
    PyObject *b;
    PyObject *out;
    PyObject *add_timer;
    CUstream stream;
} combine_args;

/* op(inputs) into out, on a stream; what is no operand is a TypeError. */
static PyObject *
methods_apply(pcu_gpuarray *self, int op, PyObject *const *inputs, int n, PyObject *out,
              CUstream stream)
{
    pcu_apply_options options = {.outs = {out == Py_None ? NULL : out, NULL},
                                 .dtype = PCU_T_NONE,
                                 .stream = stream};
    PyObject *result = pcu_gpuarray_apply(self->st, op, inputs, &options);
    for (int i = 0; result == NULL && !PyErr_Occurred() && i < n; i++) {
        if (!pcu_is_array(self->st, inputs[i]) && !pcu_is_scalar(inputs[i])) {
            PyErr_Format(PyExc_TypeError, "%s takes GPUArrays and numbers, not %s",
                         pcu_op_name(op), Py_TYPE(inputs[i])->tp_name);
        }
    }
    return result;
}

static int
methods_no_timer(PyObject *add_timer)
{
    if (add_timer != Py_None) {
        PyErr_SetString(PyExc_NotImplementedError,
                        "add_timer is not supported; use events around the call");
        return -1;
    }
    return 0;
}

#define COMBINE_OBJECT(name, member)                        \
    {                                                       \
        name, pcu_as_object, offsetof(combine_args, member) \
    }
#define COMBINE_STREAM                                          \
    {                                                           \
        "stream", pcu_as_stream, offsetof(combine_args, stream) \
    }

PyDoc_STRVAR(methods_mul_add_doc,
             "mul_add($self, /, selffac, other, otherfac, add_timer=None, stream=None, "
             "out=None)\n--\n\n"
             "selffac * self + otherfac * other, in one kernel.");

static PyObject *
methods_mul_add(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    static const pcu_argspec specs[] = {COMBINE_OBJECT("selffac", a),
                                        COMBINE_OBJECT("other", other),
                                        COMBINE_OBJECT("otherfac", b),
                                        COMBINE_OBJECT("add_timer", add_timer),
                                        COMBINE_STREAM,
                                        COMBINE_OBJECT("out", out)};
    static const pcu_argtable table = {"mul_add", specs, 6, 3, 0};
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    combine_args a = {
        .add_timer = Py_None, .out = Py_None, .stream = pcu_gpuarray_stream(self->st)};
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0 ||
        methods_no_timer(a.add_timer) < 0) {
        return NULL;
    }
    PyObject *inputs[4] = {a.a, op, a.b, a.other};
    return methods_apply(self, PCU_OP_AXPBY, inputs, 4, a.out, a.stream);
}

PyDoc_STRVAR(methods_axpbyz_doc,
             "_axpbyz($self, /, selffac, other, otherfac, out, add_timer=None, "
             "stream=None)\n--\n\n"
             "out = selffac * self + otherfac * other.");

static PyObject *
methods_axpbyz(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        COMBINE_OBJECT("selffac", a),           COMBINE_OBJECT("other", other),
        COMBINE_OBJECT("otherfac", b),          COMBINE_OBJECT("out", out),
        COMBINE_OBJECT("add_timer", add_timer), COMBINE_STREAM};
    static const pcu_argtable table = {"_axpbyz", specs, 6, 4, 0};
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    combine_args a = {.add_timer = Py_None, .stream = pcu_gpuarray_stream(self->st)};
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0 ||
        methods_no_timer(a.add_timer) < 0) {
        return NULL;
    }
    PyObject *inputs[4] = {a.a, op, a.b, a.other};
    return methods_apply(self, PCU_OP_AXPBY, inputs, 4, a.out, a.stream);
}

PyDoc_STRVAR(methods_axpbz_doc,
             "_axpbz($self, /, selffac, other, out, stream=None)\n--\n\n"
             "out = selffac * self + other.");

static PyObject *
methods_axpbz(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {COMBINE_OBJECT("selffac", a),
                                        COMBINE_OBJECT("other", other),
                                        COMBINE_OBJECT("out", out), COMBINE_STREAM};
    static const pcu_argtable table = {"_axpbz", specs, 4, 3, 0};
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    combine_args a = {.stream = pcu_gpuarray_stream(self->st)};
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    PyObject *inputs[3] = {a.a, op, a.other};
    return methods_apply(self, PCU_OP_AXPB, inputs, 3, a.out, a.stream);
}

/* The helpers of the shape (other, out, stream=None). */
static PyObject *
methods_pair(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
             const char *name, int operation, int reversed)
{
    static const pcu_argspec specs[] = {COMBINE_OBJECT("other", other),
                                        COMBINE_OBJECT("out", out), COMBINE_STREAM};
    const pcu_argtable table = {name, specs, 3, 2, 0};
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    combine_args a = {.stream = pcu_gpuarray_stream(self->st)};
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    PyObject *inputs[2] = {reversed ? a.other : op, reversed ? op : a.other};
    return methods_apply(self, operation, inputs, 2, a.out, a.stream);
}

PyDoc_STRVAR(methods_multiply_doc,
             "_elwise_multiply($self, /, other, out, stream=None)\n--\n\n"
             "out = self * other.");
PyDoc_STRVAR(methods_div_doc,
             "_div($self, /, other, out, stream=None)\n--\n\nout = self / other.");
PyDoc_STRVAR(methods_rdiv_doc,
             "_rdiv_scalar($self, /, other, out, stream=None)\n--\n\n"
             "out = other / self.");

static PyObject *
methods_multiply(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    return methods_pair(op, args, nargs, kwnames, "_elwise_multiply", PCU_OP_MULTIPLY,
                        0);
}

static PyObject *
methods_div(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return methods_pair(op, args, nargs, kwnames, "_div", PCU_OP_DIVIDE, 0);
}

static PyObject *
methods_rdiv(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return methods_pair(op, args, nargs, kwnames, "_rdiv_scalar", PCU_OP_DIVIDE, 1);
}

PyDoc_STRVAR(methods_pow_doc,
             "_pow($self, /, other, new)\n--\n\n"
             "self ** other: in a new array if new is true, else in self.");

static PyObject *
methods_pow(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {COMBINE_OBJECT("other", other),
                                        COMBINE_OBJECT("new", a)};
    static const pcu_argtable table = {"_pow", specs, 2, 2, 0};
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    combine_args a = {.stream = pcu_gpuarray_stream(self->st)};
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    int new = PyObject_IsTrue(a.a);
    PyObject *inputs[2] = {op, a.other};
    return new < 0 ? NULL
                   : methods_apply(self, PCU_OP_POWER, inputs, 2, new ? Py_None : op,
                                   a.stream);
}

PyDoc_STRVAR(methods_reverse_doc,
             "reverse($self, /, stream=None)\n--\n\n"
             "A copy with the elements in the opposite order of memory.");

static PyObject *
methods_reverse(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    static const pcu_argspec specs[] = {COMBINE_STREAM};
    static const pcu_argtable table = {"reverse", specs, 1, 0, 0};
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    combine_args a = {.stream = pcu_gpuarray_stream(self->st)};
    ptrdiff_t strides[PCU_MAX_NDIM];
    ptrdiff_t last = 0;
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0 ||
        pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    PyObject *result = pcu_gpuarray_like_new(self, 0, NULL, self->dtype, NULL);
    for (int i = 0; i < self->ndim; i++) {
        strides[i] = -self->strides[i];
        last += self->shape[i] == 0
                    ? 0
                    : self->strides[i] * (ptrdiff_t)(self->shape[i] - 1);
    }
    pcu_gpuarray *view =
        result == NULL
            ? NULL
            : pcu_gpuarray_view_new(self, self->ndim, self->shape, strides, last, NULL);
    if (view == NULL ||
        pcu_gpuarray_assign((pcu_gpuarray *)result, (PyObject *)view, a.stream) < 0) {
        Py_CLEAR(result);
    }
    Py_XDECREF(view);
    return result;
}

/* -- done by pycuda/_array --------------------------------------------------------- */

PyObject *
pcu_gpuarray_forward(PyObject *op, const char *where, const char *function,
                     PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *stack[16];
    Py_ssize_t n = nargs + (kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames));
    PyObject *result = NULL;
    if (n > (Py_ssize_t)Py_ARRAY_LENGTH(stack) - 1) {
        PyErr_Format(PyExc_TypeError, "%s() was given %zd arguments", function, n);
        return NULL;
    }
    PyObject *module = PyImport_ImportModule(where);
    PyObject *callable =
        module == NULL ? NULL : PyObject_GetAttrString(module, function);
    if (callable != NULL) {
        stack[0] = op;
        for (Py_ssize_t i = 0; i < n; i++) {
            stack[1 + i] = args[i];
        }
        result = PyObject_Vectorcall(callable, stack, (size_t)nargs + 1, kwnames);
    }
    Py_XDECREF(callable);
    Py_XDECREF(module);
    return result;
}

#define FORWARD(name, where, signature, text)                                       \
    PyDoc_STRVAR(methods_##name##_doc, #name signature "\n--\n\n" text);            \
    static PyObject *methods_##name(PyObject *op, PyObject *const *args,            \
                                    Py_ssize_t nargs, PyObject *kwnames)            \
    {                                                                               \
        return pcu_gpuarray_forward(op, "pycuda._array." where, #name, args, nargs, \
                                    kwnames);                                       \
    }

FORWARD(any, "reductions",
        "($self, /, stream=None, allocator=None, axis=None, keepdims=False)",
        "Is any element true? An array of bool, without axes unless axis is given.")
FORWARD(all, "reductions",
        "($self, /, stream=None, allocator=None, axis=None, keepdims=False)",
        "Are all elements true? An array of bool, without axes unless axis is given.")
FORWARD(bind_to_texref, "texture_binding", "($self, /, texref, allow_offset=False)",
        "Let a texture reference read the array; returns the offset in elements.")
FORWARD(bind_to_texref_ext, "texture_binding",
        "($self, /, texref, channels=1, allow_double_hack=False, "
        "allow_complex_hack=False, allow_offset=False)",
        "The same with several channels, and with doubles as pairs of integers.")

/* Those of NumPy's names: what pycuda._array.numpy_methods has under the name. */
#define OF_NUMPY(name, signature, text)                                             \
    PyDoc_STRVAR(methods_##name##_doc, #name signature "\n--\n\n" text);            \
    static PyObject *methods_##name(PyObject *op, PyObject *const *args,            \
                                    Py_ssize_t nargs, PyObject *kwnames)            \
    {                                                                               \
        return pcu_gpuarray_forward(op, "pycuda._array.numpy_methods", #name, args, \
                                    nargs, kwnames);                                \
    }

OF_NUMPY(sum,
         "($self, /, axis=None, dtype=None, "
         "out=None, keepdims=False, initial=None, where=True)",
         "The sum along all axes or some; integers are summed as 64 bits.")
OF_NUMPY(prod,
         "($self, /, axis=None, dtype=None, "
         "out=None, keepdims=False, initial=None, where=True)",
         "The product along all axes or some.")
OF_NUMPY(min,
         "($self, /, axis=None, out=None, keepdims=False, initial=None, where=True)",
         "The least element along all axes or some.")
OF_NUMPY(max,
         "($self, /, axis=None, out=None, keepdims=False, initial=None, where=True)",
         "The greatest element along all axes or some.")
OF_NUMPY(argmin, "($self, /, axis=None, out=None, *, keepdims=False)",
         "Where the least element is, first.")
OF_NUMPY(argmax, "($self, /, axis=None, out=None, *, keepdims=False)",
         "Where the greatest element is, first.")
OF_NUMPY(mean,
         "($self, /, axis=None, dtype=None, out=None, keepdims=False, *, where=True)",
         "The mean along all axes or some.")
OF_NUMPY(var,
         "($self, /, axis=None, dtype=None, "
         "out=None, ddof=0, keepdims=False, *, where=True)",
         "The variance along all axes or some.")
OF_NUMPY(std,
         "($self, /, axis=None, dtype=None, "
         "out=None, ddof=0, keepdims=False, *, where=True)",
         "The standard deviation along all axes or some.")
OF_NUMPY(cumsum, "($self, /, axis=None, dtype=None, out=None)",
         "The sums up to each element, flat or along an axis.")
OF_NUMPY(cumprod, "($self, /, axis=None, dtype=None, out=None)",
         "The products up to each element, flat or along an axis.")
OF_NUMPY(ptp, "($self, /, axis=None, out=None, keepdims=False)",
         "The distance from the least to the greatest element.")
OF_NUMPY(dot, "($self, /, b, out=None)",
         "The sum of products of two arrays with one axis.")
OF_NUMPY(clip, "($self, /, min=None, max=None, out=None)",
         "The elements, those outside of the bounds set to the bounds.")
OF_NUMPY(round, "($self, /, decimals=0, out=None)",
         "The elements rounded, halves to even.")
OF_NUMPY(flatten, "($self, /, order='C')",
         "A copy with one axis, in the order of the indices.")
OF_NUMPY(swapaxes, "($self, /, axis1, axis2)",
         "The array with two axes exchanged; a view.")
OF_NUMPY(take, "($self, /, indices, axis=None, out=None)",
         "The elements at indices, of the array taken flat or along an axis.")
OF_NUMPY(nonzero, "($self, /)", "The indices of the elements that are not 0.")
OF_NUMPY(item, "($self, /, *args)",
         "The only element, or the one at indices, as Python's number.")
OF_NUMPY(tolist, "($self, /)", "The elements as Python's numbers, in lists of lists.")

/* `value in array`: is any element equal? */
int
pcu_gpuarray_contains(PyObject *op, PyObject *value)
{
    PyObject *equal = PyObject_RichCompare(op, value, Py_EQ);
    PyObject *any = NULL;
    if (equal != NULL && !pcu_is_array(((pcu_gpuarray *)op)->st, equal)) {
        any = Py_NewRef(equal); /* nothing that arrays are compared with */
    }
    else if (equal != NULL) {
        any = pcu_gpuarray_forward(equal, "pycuda._array.reductions", "any", NULL, 0,
                                   NULL);
    }
    int found = any == NULL ? -1 : PyObject_IsTrue(any);
    Py_XDECREF(equal);
    Py_XDECREF(any);
    return found;
}

PyDoc_STRVAR(methods_array_function_doc,
             "__array_function__($self, func, types, args, kwargs, /)\n--\n\n"
             "Run a function of NumPy that is no ufunc on the device.");

static PyObject *
methods_array_function(PyObject *op, PyObject *const *args, Py_ssize_t nargs)
{
    return pcu_gpuarray_forward(op, "pycuda._array.numpy_functions", "array_function",
                                args, nargs, NULL);
}

#define METHODS_ROW(name)                                       \
    {                                                           \
#        name, (PyCFunction)(void (*)(void))methods_##name,     \
            METH_FASTCALL | METH_KEYWORDS, methods_##name##_doc \
    }

PyMethodDef pcu_gpuarray_methods[] = {
    METHODS_ROW(mul_add),
    METHODS_ROW(reverse),
    METHODS_ROW(any),
    METHODS_ROW(all),
    METHODS_ROW(bind_to_texref),
    METHODS_ROW(sum),
    METHODS_ROW(prod),
    METHODS_ROW(min),
    METHODS_ROW(max),
    METHODS_ROW(argmin),
    METHODS_ROW(argmax),
    METHODS_ROW(mean),
    METHODS_ROW(var),
    METHODS_ROW(std),
    METHODS_ROW(cumsum),
    METHODS_ROW(cumprod),
    METHODS_ROW(ptp),
    METHODS_ROW(dot),
    METHODS_ROW(clip),
    METHODS_ROW(round),
    METHODS_ROW(flatten),
    METHODS_ROW(swapaxes),
    METHODS_ROW(take),
    METHODS_ROW(nonzero),
    METHODS_ROW(item),
    METHODS_ROW(tolist),
    METHODS_ROW(bind_to_texref_ext),
    {"_axpbyz", (PyCFunction)(void (*)(void))methods_axpbyz,
     METH_FASTCALL | METH_KEYWORDS, methods_axpbyz_doc},
    {"_axpbz", (PyCFunction)(void (*)(void))methods_axpbz,
     METH_FASTCALL | METH_KEYWORDS, methods_axpbz_doc},
    {"_elwise_multiply", (PyCFunction)(void (*)(void))methods_multiply,
     METH_FASTCALL | METH_KEYWORDS, methods_multiply_doc},
    {"_div", (PyCFunction)(void (*)(void))methods_div, METH_FASTCALL | METH_KEYWORDS,
     methods_div_doc},
    {"_rdiv_scalar", (PyCFunction)(void (*)(void))methods_rdiv,
     METH_FASTCALL | METH_KEYWORDS, methods_rdiv_doc},
    {"_pow", (PyCFunction)(void (*)(void))methods_pow, METH_FASTCALL | METH_KEYWORDS,
     methods_pow_doc},
    {"__array_function__", (PyCFunction)(void (*)(void))methods_array_function,
     METH_FASTCALL, methods_array_function_doc},
    {NULL, NULL, 0, NULL},
};
