/* The operators of GPUArray: a + b, a += b, a < b, a @ b, and the names of Python 2 for
 * `/`.
 *
 * An operand of a foreign type makes an operator return NotImplemented. The slots go
 * into the type: see gpuarray_type.c. */

#include "python/array/type/members.h"

#include "python/array/element_type.h"
#include "python/array/ops/ufunc.h"
#include "python/array/product/matmul.h"
#include "python/array/scalar.h"
#include "python/driver/stream.h"

/* The state if op is a GPUArray, else NULL without an exception. */
static pcu_state *
operator_state_of(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) {
        return NULL;
    }
    PyObject *module = PyType_GetModuleByDef(type, &pcu_module_def);
    if (module == NULL) {
        PyErr_Clear(); /* not a type of this module */
        return NULL;
    }
    pcu_state *st = pcu_state_of_module(module);
    return pcu_is_array(st, op) ? st : NULL;
}

static PyObject *
operator_call(pcu_state *st, int op, PyObject *const *values, PyObject *out,
              bool keeps_type)
{
    pcu_ufunc_options options = {.outs = {out, NULL},
                                 .dtype = PCU_T_NONE,
                                 .stream = pcu_stream_current(),
                                 .keeps_type = keeps_type};
    PyObject *result = pcu_ufunc_call(st, op, values, &options);
    if (result == NULL && !PyErr_Occurred()) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    return result;
}

/* a op b: at least one of them is a GPUArray. */
static PyObject *
operator_binary(int op, PyObject *a, PyObject *b)
{
    PyObject *values[2] = {a, b};
    pcu_state *st = operator_state_of(a);
    if (st == NULL) {
        st = operator_state_of(b);
    }
    if (st == NULL) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    return operator_call(st, op, values, NULL, false);
}

static PyObject *
operator_inplace(int op, PyObject *self, PyObject *other)
{
    PyObject *values[2] = {self, other};
    bool keeps_type = op == PCU_OP_ADD || op == PCU_OP_SUBTRACT ||
                      op == PCU_OP_MULTIPLY || op == PCU_OP_DIVIDE ||
                      op == PCU_OP_POWER;
    return operator_call(((pcu_gpuarray *)self)->st, op, values, self, keeps_type);
}

static PyObject *
operator_unary(int op, PyObject *self)
{
    return operator_call(((pcu_gpuarray *)self)->st, op, &self, NULL, false);
}

#define OPERATOR_BINARY(name, OP)                              \
    static PyObject *operator_##name(PyObject *a, PyObject *b) \
    {                                                          \
        return operator_binary(PCU_OP_##OP, a, b);             \
    }
#define OPERATOR_INPLACE(name, OP)                                \
    static PyObject *operator_##name(PyObject *self, PyObject *b) \
    {                                                             \
        return operator_inplace(PCU_OP_##OP, self, b);            \
    }
#define OPERATOR_BOTH(name, OP) \
    OPERATOR_BINARY(name, OP)   \
    OPERATOR_INPLACE(inplace_##name, OP)
#define OPERATOR_UNARY(name, OP)                     \
    static PyObject *operator_##name(PyObject *self) \
    {                                                \
        return operator_unary(PCU_OP_##OP, self);    \
    }

OPERATOR_BOTH(add, ADD)
OPERATOR_BOTH(subtract, SUBTRACT)
OPERATOR_BOTH(multiply, MULTIPLY)
OPERATOR_BOTH(true_divide, DIVIDE)
OPERATOR_BOTH(floor_divide, FLOOR_DIVIDE)
OPERATOR_BOTH(remainder, REMAINDER)
OPERATOR_BINARY(divmod, DIVMOD)
OPERATOR_BOTH(and, BITWISE_AND)
OPERATOR_BOTH(or, BITWISE_OR)
OPERATOR_BOTH(xor, BITWISE_XOR)
OPERATOR_BOTH(lshift, LEFT_SHIFT)
OPERATOR_BOTH(rshift, RIGHT_SHIFT)
OPERATOR_UNARY(negative, NEGATIVE)
OPERATOR_UNARY(invert, INVERT)
OPERATOR_UNARY(absolute, ABSOLUTE)

static int
operator_refuse_modulus(PyObject *modulus)
{
    if (modulus == Py_None) {
        return 0;
    }
    PyErr_SetString(PyExc_TypeError, "pow() of arrays takes no modulus");
    return -1;
}

static PyObject *
operator_power(PyObject *a, PyObject *b, PyObject *modulus)
{
    if (operator_refuse_modulus(modulus) < 0) {
        return NULL;
    }
    return operator_binary(PCU_OP_POWER, a, b);
}

static PyObject *
operator_inplace_power(PyObject *self, PyObject *b, PyObject *modulus)
{
    if (operator_refuse_modulus(modulus) < 0) {
        return NULL;
    }
    return operator_inplace(PCU_OP_POWER, self, b);
}

/* -- a @ b ------------------------------------------------------------------------- */

static PyObject *
operator_multiply_matrices(PyObject *a, PyObject *b, PyObject *out)
{
    pcu_state *st = operator_state_of(a);
    if (st == NULL) {
        st = operator_state_of(b);
    }
    if (st == NULL) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    if (!pcu_is_array(st, a) || !pcu_is_array(st, b)) {
        if (!pcu_is_scalar(a) && !pcu_is_scalar(b)) {
            Py_RETURN_NOTIMPLEMENTED;
        }
        PyErr_SetString(PyExc_ValueError,
                        "@ takes arrays with one axis or more, not numbers: multiply "
                        "by them with *");
        return NULL;
    }
    pcu_matmul_options options = {.out = out,
                                  .dtype = PCU_T_NONE,
                                  .allocator = Py_None,
                                  .stream = pcu_stream_current()};
    return pcu_matmul(st, (pcu_gpuarray *)a, (pcu_gpuarray *)b, &options);
}

static PyObject *
operator_matrix_multiply(PyObject *a, PyObject *b)
{
    return operator_multiply_matrices(a, b, Py_None);
}

static PyObject *
operator_inplace_matrix_multiply(PyObject *self, PyObject *b)
{
    return operator_multiply_matrices(self, b, self);
}

static PyObject *
operator_positive(PyObject *self)
{
    return Py_NewRef(self);
}

static PyObject *
operator_richcompare(PyObject *a, PyObject *b, int op)
{
    static const int ops[] = {
        [Py_LT] = PCU_OP_LESS,    [Py_LE] = PCU_OP_LESS_EQUAL,
        [Py_EQ] = PCU_OP_EQUAL,   [Py_NE] = PCU_OP_NOT_EQUAL,
        [Py_GT] = PCU_OP_GREATER, [Py_GE] = PCU_OP_GREATER_EQUAL,
    };
    return operator_binary(ops[op], a, b);
}

/* -- the names of Python 2 --------------------------------------------------------- */

#define OPERATOR_OLD_DOC(name, like) \
    PyDoc_STRVAR(operator_##name##_doc, "__" #name "__($self, other, /)\n--\n\n" like)
OPERATOR_OLD_DOC(div, "self / other, under the name that Python 2 used.");
OPERATOR_OLD_DOC(rdiv, "other / self, under the name that Python 2 used.");
OPERATOR_OLD_DOC(idiv, "self /= other, under the name that Python 2 used.");

static PyObject *
operator_rdiv(PyObject *self, PyObject *other)
{
    return operator_binary(PCU_OP_DIVIDE, other, self);
}

PyMethodDef pcu_operator_methods[] = {
    {"__div__", operator_true_divide, METH_O, operator_div_doc},
    {"__rdiv__", operator_rdiv, METH_O, operator_rdiv_doc},
    {"__idiv__", operator_inplace_true_divide, METH_O, operator_idiv_doc},
    {NULL, NULL, 0, NULL},
};

const PyType_Slot pcu_operator_slots[] = {
    {Py_nb_add, operator_add},
    {Py_nb_subtract, operator_subtract},
    {Py_nb_multiply, operator_multiply},
    {Py_nb_true_divide, operator_true_divide},
    {Py_nb_floor_divide, operator_floor_divide},
    {Py_nb_remainder, operator_remainder},
    {Py_nb_divmod, operator_divmod},
    {Py_nb_power, operator_power},
    {Py_nb_and, operator_and},
    {Py_nb_or, operator_or},
    {Py_nb_xor, operator_xor},
    {Py_nb_lshift, operator_lshift},
    {Py_nb_rshift, operator_rshift},
    {Py_nb_inplace_add, operator_inplace_add},
    {Py_nb_inplace_subtract, operator_inplace_subtract},
    {Py_nb_inplace_multiply, operator_inplace_multiply},
    {Py_nb_inplace_true_divide, operator_inplace_true_divide},
    {Py_nb_inplace_floor_divide, operator_inplace_floor_divide},
    {Py_nb_inplace_remainder, operator_inplace_remainder},
    {Py_nb_inplace_power, operator_inplace_power},
    {Py_nb_inplace_and, operator_inplace_and},
    {Py_nb_inplace_or, operator_inplace_or},
    {Py_nb_inplace_xor, operator_inplace_xor},
    {Py_nb_inplace_lshift, operator_inplace_lshift},
    {Py_nb_inplace_rshift, operator_inplace_rshift},
    {Py_nb_negative, operator_negative},
    {Py_nb_positive, operator_positive},
    {Py_nb_invert, operator_invert},
    {Py_nb_absolute, operator_absolute},
    {Py_tp_richcompare, operator_richcompare},
    {Py_nb_matrix_multiply, operator_matrix_multiply},
    {Py_nb_inplace_matrix_multiply, operator_inplace_matrix_multiply},
    {0, NULL},
};
