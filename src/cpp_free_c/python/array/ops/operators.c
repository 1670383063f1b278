/* The operators of GPUArray, and the elementwise functions for pycuda's modules. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/driver/memory/pool.h"
#include "python/array/gpuarray.h"

/* -- finding the state ------------------------------------------------------------- */

/* The state if op is a GPUArray, else NULL without an exception. */
static pcu_state *
ops_state_of(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) {
        return NULL;
    }
    PyObject *module = PyType_GetModuleByDef(type, &pcu_module_def);
    if (module == NULL) {
        PyErr_Clear(); /* not one of our types: that is the answer */
        return NULL;
    }
    pcu_state *st = pcu_state_of_module(module);
    return pcu_is_array(st, op) ? st : NULL;
}

/* -- operators --------------------------------------------------------------------- */

static PyObject *
ops_apply(pcu_state *st, int op, PyObject *const *values, PyObject *out)
{
    pcu_apply_options options = {
        .outs = {out, NULL}, .dtype = PCU_T_NONE, .stream = pcu_gpuarray_stream(st)};
    PyObject *result = pcu_gpuarray_apply(st, op, values, &options);
    if (result == NULL && !PyErr_Occurred()) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    return result;
}

/* a op b where one of them at least is a GPUArray. */
static PyObject *
ops_binary(int op, PyObject *a, PyObject *b)
{
    PyObject *values[2] = {a, b};
    pcu_state *st = ops_state_of(a);
    if (st == NULL) {
        st = ops_state_of(b);
    }
    if (st == NULL) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    return ops_apply(st, op, values, NULL);
}

static PyObject *
ops_inplace(int op, PyObject *self, PyObject *other)
{
    PyObject *values[2] = {self, other};
    return ops_apply(((pcu_gpuarray *)self)->st, op, values, self);
}

static PyObject *
ops_unary(int op, PyObject *self)
{
    return ops_apply(((pcu_gpuarray *)self)->st, op, &self, NULL);
}

#define OPS_BINARY(name, OP)                              \
    static PyObject *ops_##name(PyObject *a, PyObject *b) \
    {                                                     \
        return ops_binary(PCU_OP_##OP, a, b);             \
    }
#define OPS_INPLACE(name, OP)                                \
    static PyObject *ops_##name(PyObject *self, PyObject *b) \
    {                                                        \
        return ops_inplace(PCU_OP_##OP, self, b);            \
    }
#define OPS_BOTH(name, OP) \
    OPS_BINARY(name, OP)   \
    OPS_INPLACE(inplace_##name, OP)
#define OPS_UNARY(name, OP)                     \
    static PyObject *ops_##name(PyObject *self) \
    {                                           \
        return ops_unary(PCU_OP_##OP, self);    \
    }

OPS_BOTH(add, ADD)
OPS_BOTH(subtract, SUBTRACT)
OPS_BOTH(multiply, MULTIPLY)
OPS_BOTH(true_divide, DIVIDE)
OPS_BOTH(floor_divide, FLOOR_DIVIDE)
OPS_BOTH(remainder, REMAINDER)
OPS_BINARY(divmod, DIVMOD)
OPS_BOTH(and, BITWISE_AND)
OPS_BOTH(or, BITWISE_OR)
OPS_BOTH(xor, BITWISE_XOR)
OPS_BOTH(lshift, LEFT_SHIFT)
OPS_BOTH(rshift, RIGHT_SHIFT)
OPS_UNARY(negative, NEGATIVE)
OPS_UNARY(invert, INVERT)
OPS_UNARY(absolute, ABSOLUTE)

static int
ops_no_modulus(PyObject *modulus)
{
    if (modulus != Py_None) {
        PyErr_SetString(PyExc_TypeError, "pow() of arrays takes no modulus");
    }
    return modulus == Py_None ? 0 : -1;
}

static PyObject *
ops_power(PyObject *a, PyObject *b, PyObject *modulus)
{
    return ops_no_modulus(modulus) < 0 ? NULL : ops_binary(PCU_OP_POWER, a, b);
}

static PyObject *
ops_inplace_power(PyObject *self, PyObject *b, PyObject *modulus)
{
    return ops_no_modulus(modulus) < 0 ? NULL : ops_inplace(PCU_OP_POWER, self, b);
}

static PyObject *
ops_positive(PyObject *self)
{
    return Py_NewRef(self);
}

PyObject *
pcu_gpuarray_richcompare(PyObject *a, PyObject *b, int op)
{
    static const int ops[] = {
        [Py_LT] = PCU_OP_LESS,    [Py_LE] = PCU_OP_LESS_EQUAL,
        [Py_EQ] = PCU_OP_EQUAL,   [Py_NE] = PCU_OP_NOT_EQUAL,
        [Py_GT] = PCU_OP_GREATER, [Py_GE] = PCU_OP_GREATER_EQUAL,
    };
    return ops_binary(ops[op], a, b);
}

/* -- one element as a number ------------------------------------------------------- */

/* The only element, as a NumPy scalar. */
static PyObject *
ops_only_item(PyObject *op, const char *what)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    if (self->count != 1) {
        PyObject *shape = pcu_shape_tuple_new(self->ndim, self->shape);
        if (shape != NULL) {
            PyErr_Format(strcmp(what, "bool") == 0 ? PyExc_ValueError : PyExc_TypeError,
                         "%s() of an array of shape %S: it takes one element, as any() "
                         "and all() give",
                         what, shape);
            Py_DECREF(shape);
        }
        return NULL;
    }
    PyObject *host = PyObject_CallMethodNoArgs(op, self->st->str_get);
    PyObject *item = host == NULL ? NULL : PyObject_CallMethod(host, "item", NULL);
    Py_XDECREF(host);
    return item;
}

static int
ops_bool(PyObject *op)
{
    PyObject *item = ops_only_item(op, "bool");
    int truth = item == NULL ? -1 : PyObject_IsTrue(item);
    Py_XDECREF(item);
    return truth;
}

static PyObject *
ops_number(PyObject *op, const char *what, PyObject *(*convert)(PyObject *))
{
    PyObject *item = ops_only_item(op, what);
    PyObject *number = item == NULL ? NULL : convert(item);
    Py_XDECREF(item);
    return number;
}

static PyObject *
ops_int(PyObject *op)
{
    return ops_number(op, "int", PyNumber_Long);
}

static PyObject *
ops_float(PyObject *op)
{
    return ops_number(op, "float", PyNumber_Float);
}

static PyObject *
ops_index(PyObject *op)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (self->dtype == NULL || self->ndim != 0 || self->type < PCU_T_INT8 ||
        self->type > PCU_T_UINT64) {
        PyErr_SetString(PyExc_TypeError,
                        "only integer arrays without axes can be an index");
        return NULL;
    }
    return ops_number(op, "index", PyNumber_Index);
}

static PyObject *
ops_complex_of(PyObject *item)
{
    Py_complex value = PyComplex_AsCComplex(item);
    return PyErr_Occurred() ? NULL : PyComplex_FromCComplex(value);
}

PyDoc_STRVAR(ops_complex_doc,
             "__complex__($self, /)\n--\n\nThe only element as a complex.");

static PyObject *
ops_complex(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return ops_number(op, "complex", ops_complex_of);
}

PyDoc_STRVAR(ops_format_doc,
             "__format__($self, format_spec, /)\n--\n\n"
             "The text of an array, or of the element of one without axes.");

static PyObject *
ops_format(PyObject *op, PyObject *spec)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (!PyUnicode_Check(spec)) {
        PyErr_Format(PyExc_TypeError, "format_spec must be a str, not %s",
                     Py_TYPE(spec)->tp_name);
        return NULL;
    }
    PyObject *what = pcu_gpuarray_ready(self) < 0 ? NULL
                     : self->ndim == 0            ? ops_only_item(op, "format")
                                                  : PyObject_Str(op);
    PyObject *text = what == NULL ? NULL : PyObject_Format(what, spec);
    Py_XDECREF(what);
    return text;
}

PyDoc_STRVAR(ops_array_doc,
             "__array__($self, /, dtype=None, copy=None)\n--\n\n"
             "Refuse to become a numpy array unasked: TypeError that names get().");

static PyObject *
ops_array(PyObject *Py_UNUSED(op), PyObject *const *Py_UNUSED(args),
          Py_ssize_t Py_UNUSED(nargs), PyObject *Py_UNUSED(kwnames))
{
    PyErr_SetString(PyExc_TypeError,
                    "a GPUArray does not become a numpy array unasked: call .get()");
    return NULL;
}

/* -- old names --------------------------------------------------------------------- */

#define OPS_OLD_DOC(name, like) \
    PyDoc_STRVAR(ops_##name##_doc, "__" #name "__($self, other, /)\n--\n\n" like)
OPS_OLD_DOC(div, "self / other; the name of Python 2.");
OPS_OLD_DOC(rdiv, "other / self; the name of Python 2.");
OPS_OLD_DOC(idiv, "self /= other; the name of Python 2.");

static PyObject *
ops_rdiv(PyObject *self, PyObject *other)
{
    return ops_binary(PCU_OP_DIVIDE, other, self);
}

/* -- parts of complex numbers ------------------------------------------------------ */

static int
ops_is_complex(const pcu_gpuarray *self)
{
    return self->type == PCU_T_COMPLEX64 || self->type == PCU_T_COMPLEX128;
}

PyDoc_STRVAR(ops_conj_doc,
             "conj($self, /, out=None)\n--\n\n"
             "The complex conjugate, put into out if that is given; self if real.");
PyDoc_STRVAR(ops_conjugate_doc,
             "conjugate($self, /, out=None)\n--\n\n"
             "The complex conjugate, put into out if that is given; self if real.");

static PyObject *
ops_conj(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {{"out", pcu_as_object, 0}};
    static const pcu_argtable table = {"conj", specs, 1, 0, 0};
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    PyObject *out = Py_None;
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &out) < 0 ||
        pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    if (!ops_is_complex(self)) {
        return Py_NewRef(op);
    }
    return ops_apply(self->st, PCU_OP_CONJUGATE, &op, out == Py_None ? NULL : out);
}

PyObject *
pcu_gpuarray_get_real(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    return ops_is_complex(self) ? ops_unary(PCU_OP_REAL, op) : Py_NewRef(op);
}

PyObject *
pcu_gpuarray_get_imag(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    return pcu_gpuarray_ready(self) < 0 ? NULL : ops_unary(PCU_OP_IMAG, op);
}

/* -- the helpers that other libraries call ----------------------------------------- */

typedef struct {
    PyObject *dtype;
    NPY_ORDER order;
} like_args;

PyDoc_STRVAR(ops_like_doc,
             "_new_like_me($self, /, dtype=None, order='C')\n--\n\n"
             "An uninitialised array of self's type, shape and allocator.\n\n"
             "The same dtype keeps the order of the axes, another one takes order.");

static PyObject *
ops_new_like_me(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"dtype", pcu_as_object, offsetof(like_args, dtype)},
        {"order", pcu_as_order, offsetof(like_args, order)},
    };
    static const pcu_argtable table = {"_new_like_me", specs, 2, 0, 0};
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    pcu_state *st = self->st;
    like_args a = {.dtype = Py_None, .order = NPY_CORDER};
    ptrdiff_t strides[PCU_MAX_NDIM];
    PyArray_Descr *dtype = NULL;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0 ||
        pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    if (a.dtype == Py_None) {
        dtype = (PyArray_Descr *)Py_NewRef((PyObject *)self->dtype);
    }
    else if (pcu_as_dtype(st, a.dtype, &dtype, "dtype") < 0) {
        return NULL;
    }
    size_t itemsize = (size_t)PyDataType_ELSIZE(dtype);
    int rc;
    if (PyArray_EquivTypes(dtype, self->dtype)) {
        rc = pcu_gpuarray_packed_strides(self, itemsize, strides);
    }
    else {
        rc = a.order == NPY_FORTRANORDER
                 ? pcu_strides_f(self->ndim, self->shape, itemsize, strides)
                 : pcu_strides_c(self->ndim, self->shape, itemsize, strides);
        if (rc < 0) {
            PyErr_SetString(PyExc_ValueError, "the array is too big");
        }
    }
    PyObject *result = rc < 0
                           ? NULL
                           : pcu_gpuarray_new(st, Py_TYPE(op), self->ndim, self->shape,
                                              strides, dtype, self->allocator);
    Py_DECREF(dtype);
    return result;
}

/* -- functions by number ----------------------------------------------------------- */

static int
ops_read_dtype(pcu_state *st, PyObject *value, int *type)
{
    PyArray_Descr *dtype = NULL;
    *type = PCU_T_NONE;
    if (value == Py_None) {
        return 0;
    }
    if (pcu_as_dtype(st, value, &dtype, "dtype") < 0) {
        return -1;
    }
    *type = pcu_type_of_dtype(dtype);
    if (*type >= PCU_T_RAW) {
        PyErr_Format(PyExc_TypeError, "nothing can be computed in dtype %S",
                     (PyObject *)dtype);
    }
    Py_DECREF(dtype);
    return *type >= PCU_T_RAW ? -1 : 0;
}

static int
ops_read_outs(PyObject *value, const char *name, PyObject **outs)
{
    if (value == Py_None) {
        return 0;
    }
    if (!PyTuple_Check(value)) {
        outs[0] = value;
        return 0;
    }
    if (PyTuple_GET_SIZE(value) > 2) {
        PyErr_Format(PyExc_ValueError, "%s: out has %zd arrays", name,
                     PyTuple_GET_SIZE(value));
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++) {
        PyObject *item = PyTuple_GET_ITEM(value, i);
        outs[i] = item == Py_None ? NULL : item;
    }
    return 0;
}

static unsigned char
ops_inputs_of(int op)
{
#define OPS_INPUTS(NAME, name, nin, nout, rule) nin,
    static const unsigned char inputs[] = {PCU_ARRAY_OPS(OPS_INPUTS)};
#undef OPS_INPUTS
    return inputs[op];
}

/* A refused operand by name, for functions: they have nobody to leave it to. */
static PyObject *
ops_refuse(pcu_state *st, int op, PyObject *const *values)
{
    for (int i = 0; i < ops_inputs_of(op); i++) {
        if (!pcu_is_array(st, values[i]) && !pcu_is_scalar(values[i])) {
            PyErr_Format(PyExc_TypeError, "%s takes GPUArrays and numbers, not %s%s",
                         pcu_op_name(op), Py_TYPE(values[i])->tp_name,
                         PyArray_Check(values[i]) ? "; copy it with to_gpu()" : "");
            return NULL;
        }
    }
    return NULL;
}

PyDoc_STRVAR(
    ops_apply_doc,
    "_apply($module, op, inputs, /, out=None, dtype=None, stream=None, "
    "allocator=None)\n--\n\n"
    "An elementwise operation, by its number in _array_ops, on a tuple of inputs.");

typedef struct {
    int op;
    PyObject *inputs;
    PyObject *out;
    PyObject *dtype;
    PyObject *stream;
    PyObject *allocator;
} apply_args;

static PyObject *
ops_apply_function(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"op", pcu_as_int, offsetof(apply_args, op)},
        {"inputs", pcu_as_object, offsetof(apply_args, inputs)},
        {"out", pcu_as_object, offsetof(apply_args, out)},
        {"dtype", pcu_as_object, offsetof(apply_args, dtype)},
        {"stream", pcu_as_object, offsetof(apply_args, stream)},
        {"allocator", pcu_as_allocator, offsetof(apply_args, allocator)},
    };
    static const pcu_argtable table = {"_apply", specs, 6, 2, 2};
    pcu_state *st = pcu_state_of_module(m);
    apply_args a = {
        .out = Py_None, .dtype = Py_None, .stream = Py_None, .allocator = Py_None};
    pcu_apply_options options = {.outs = {NULL, NULL}, .dtype = PCU_T_NONE};
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (a.op < 0 || a.op >= PCU_OP_COUNT || !PyTuple_Check(a.inputs) ||
        PyTuple_GET_SIZE(a.inputs) != ops_inputs_of(a.op)) {
        PyErr_SetString(PyExc_TypeError, "no operation has this number and inputs");
        return NULL;
    }
    const char *name = pcu_op_name(a.op);
    options.stream = pcu_gpuarray_stream(st);
    options.allocator = a.allocator == Py_None ? NULL : a.allocator;
    if (ops_read_outs(a.out, name, options.outs) < 0 ||
        ops_read_dtype(st, a.dtype, &options.dtype) < 0 ||
        (a.stream != Py_None &&
         pcu_as_stream(st, a.stream, &options.stream, "stream") < 0)) {
        return NULL;
    }
    PyObject *const *values = ((PyTupleObject *)a.inputs)->ob_item;
    PyObject *result = pcu_gpuarray_apply(st, a.op, values, &options);
    return result == NULL && !PyErr_Occurred() ? ops_refuse(st, a.op, values) : result;
}

/* -- NumPy's functions ------------------------------------------------------------- */

PyDoc_STRVAR(ops_array_ufunc_doc,
             "__array_ufunc__($self, ufunc, method, /, *inputs, **kwargs)\n--\n\n"
             "Run a function of NumPy on the device.");

/* One keyword of a ufunc call; 0, 1 if it is not known here, -1. */
static int
ops_ufunc_keyword(pcu_state *st, PyObject *name, PyObject *value,
                  pcu_apply_options *options)
{
    if (PyUnicode_CompareWithASCIIString(name, "out") == 0) {
        return ops_read_outs(value, "out", options->outs);
    }
    if (PyUnicode_CompareWithASCIIString(name, "dtype") == 0) {
        return ops_read_dtype(st, value, &options->dtype);
    }
    if (PyUnicode_CompareWithASCIIString(name, "where") == 0) {
        return value == Py_True ? 0 : 1;
    }
    return 1;
}

/* The number of the operation that a plain call of a ufunc is; -1 with an exception, -2
 * if it is not known here. */
static int
ops_ufunc_number(pcu_state *st, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *name = PyObject_GetAttrString(args[0], "__name__");
    PyObject *number =
        name == NULL ? NULL : PyDict_GetItemWithError(st->array_ops, name);
    Py_XDECREF(name);
    if (number == NULL) {
        return PyErr_Occurred() ? -1 : -2;
    }
    int op = (int)PyLong_AsLong(number);
    if (!PyUnicode_Check(args[1]) ||
        PyUnicode_CompareWithASCIIString(args[1], "__call__") != 0 ||
        nargs - 2 != ops_inputs_of(op)) {
        return -2;
    }
    return op;
}

/* The plain calls of what the device knows are done here, all else in Python. */
static PyObject *
ops_array_ufunc(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    pcu_state *st = ((pcu_gpuarray *)self)->st;
    pcu_apply_options options = {.outs = {NULL, NULL}, .dtype = PCU_T_NONE};
    if (nargs < 3) {
        PyErr_SetString(PyExc_TypeError,
                        "__array_ufunc__ takes a ufunc, a method and inputs");
        return NULL;
    }
    int op = ops_ufunc_number(st, args, nargs);
    if (op == -1) {
        return NULL;
    }
    Py_ssize_t nkw = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    options.stream = pcu_gpuarray_stream(st);
    for (Py_ssize_t i = 0; op >= 0 && i < nkw; i++) {
        int rc = ops_ufunc_keyword(st, PyTuple_GET_ITEM(kwnames, i), args[nargs + i],
                                   &options);
        if (rc < 0) {
            return NULL;
        }
        op = rc == 0 ? op : -2;
    }
    if (op >= 0) {
        PyObject *result = pcu_gpuarray_apply(st, op, args + 2, &options);
        if (result != NULL || PyErr_Occurred()) {
            return result;
        }
    }
    return pcu_gpuarray_forward(self, "pycuda._array.numpy_ufuncs", "array_ufunc", args,
                                nargs, kwnames);
}

/* -- tables ------------------------------------------------------------------------ */

PyMethodDef pcu_gpuarray_op_methods[] = {
    {"conj", (PyCFunction)(void (*)(void))ops_conj, METH_FASTCALL | METH_KEYWORDS,
     ops_conj_doc},
    {"conjugate", (PyCFunction)(void (*)(void))ops_conj, METH_FASTCALL | METH_KEYWORDS,
     ops_conjugate_doc},
    {"_new_like_me", (PyCFunction)(void (*)(void))ops_new_like_me,
     METH_FASTCALL | METH_KEYWORDS, ops_like_doc},
    {"__div__", ops_true_divide, METH_O, ops_div_doc},
    {"__rdiv__", ops_rdiv, METH_O, ops_rdiv_doc},
    {"__idiv__", ops_inplace_true_divide, METH_O, ops_idiv_doc},
    {"__complex__", ops_complex, METH_NOARGS, ops_complex_doc},
    {"__format__", ops_format, METH_O, ops_format_doc},
    {"__array__", (PyCFunction)(void (*)(void))ops_array, METH_FASTCALL | METH_KEYWORDS,
     ops_array_doc},
    {"__array_ufunc__", (PyCFunction)(void (*)(void))ops_array_ufunc,
     METH_FASTCALL | METH_KEYWORDS, ops_array_ufunc_doc},
    {NULL, NULL, 0, NULL},
};

PyMethodDef pcu_gpuarray_op_functions[] = {
    {"_apply", (PyCFunction)(void (*)(void))ops_apply_function,
     METH_FASTCALL | METH_KEYWORDS, ops_apply_doc},
    {NULL, NULL, 0, NULL},
};

const PyType_Slot pcu_gpuarray_number_slots[] = {
    {Py_nb_add, ops_add},
    {Py_nb_subtract, ops_subtract},
    {Py_nb_multiply, ops_multiply},
    {Py_nb_true_divide, ops_true_divide},
    {Py_nb_floor_divide, ops_floor_divide},
    {Py_nb_remainder, ops_remainder},
    {Py_nb_divmod, ops_divmod},
    {Py_nb_power, ops_power},
    {Py_nb_and, ops_and},
    {Py_nb_or, ops_or},
    {Py_nb_xor, ops_xor},
    {Py_nb_lshift, ops_lshift},
    {Py_nb_rshift, ops_rshift},
    {Py_nb_inplace_add, ops_inplace_add},
    {Py_nb_inplace_subtract, ops_inplace_subtract},
    {Py_nb_inplace_multiply, ops_inplace_multiply},
    {Py_nb_inplace_true_divide, ops_inplace_true_divide},
    {Py_nb_inplace_floor_divide, ops_inplace_floor_divide},
    {Py_nb_inplace_remainder, ops_inplace_remainder},
    {Py_nb_inplace_power, ops_inplace_power},
    {Py_nb_inplace_and, ops_inplace_and},
    {Py_nb_inplace_or, ops_inplace_or},
    {Py_nb_inplace_xor, ops_inplace_xor},
    {Py_nb_inplace_lshift, ops_inplace_lshift},
    {Py_nb_inplace_rshift, ops_inplace_rshift},
    {Py_nb_negative, ops_negative},
    {Py_nb_positive, ops_positive},
    {Py_nb_invert, ops_invert},
    {Py_nb_absolute, ops_absolute},
    {Py_nb_bool, ops_bool},
    {Py_nb_int, ops_int},
    {Py_nb_float, ops_float},
    {Py_nb_index, ops_index},
    {0, NULL},
};

/* {name: number} of the operations, and the names that NumPy uses too. */
PyObject *
pcu_gpuarray_ops_new(void)
{
    static const char *const aliases[][2] = {
        {"true_divide", "divide"}, {"mod", "remainder"}, {"degrees", "rad2deg"},
        {"radians", "deg2rad"},    {"abs", "absolute"},  {"bitwise_not", "invert"},
    };
    PyObject *ops = PyDict_New();
    for (int op = 0; ops != NULL && op < PCU_OP_COUNT; op++) {
        PyObject *number = PyLong_FromLong(op);
        if (number == NULL || PyDict_SetItemString(ops, pcu_op_name(op), number) < 0) {
            Py_CLEAR(ops);
        }
        Py_XDECREF(number);
    }
    for (size_t i = 0; ops != NULL && i < Py_ARRAY_LENGTH(aliases); i++) {
        PyObject *number = PyDict_GetItemString(ops, aliases[i][1]);
        if (PyDict_SetItemString(ops, aliases[i][0], number) < 0) {
            Py_CLEAR(ops);
        }
    }
    return ops;
}
