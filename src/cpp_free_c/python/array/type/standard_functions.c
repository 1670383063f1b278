/* The elementwise functions of the array API standard: the same calls as those of the
 * operators, under the standard's names and signatures.
 *
 * pycuda.array_api gives them to programs; they are _name in this module. */

#include "python/array/type/members.h"

#include "python/array/element_type.h"
#include "python/array/ops/ufunc.h"
#include "python/array/scalar.h"
#include "python/array/type/forwarding.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"

static PyObject *
standard_call(PyObject *m, int op, PyObject *const *values)
{
    pcu_ufunc_options options = {
        .outs = {NULL, NULL}, .dtype = PCU_T_NONE, .stream = pcu_stream_current()};
    return pcu_ufunc_require(pcu_state_of_module(m), op, values, &options);
}

static int
standard_check_count(const char *name, Py_ssize_t wanted, Py_ssize_t given)
{
    if (given == wanted) {
        return 0;
    }
    PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments (%zd given)", name, wanted,
                 given);
    return -1;
}

/* -- the functions of the tables --------------------------------------------------- */

/* The sections of a docstring, with the values of an example. */
#define STANDARD_RETURNS                                            \
    "Returns\n-------\nGPUArray\n"                                  \
    "    A new array of the dtype that NumPy's function gives.\n\n" \
    "Raises\n------\n"                                              \
    "TypeError\n"                                                   \
    "    If no operand is a GPUArray, or if a dtype is not taken.\n"
#define STANDARD_SHAPES "ValueError\n    If the shapes do not broadcast.\n"
#define STANDARD_NOTES                                                            \
    "\nNotes\n-----\n"                                                            \
    "The work is enqueued in the current stream, and the call does not wait.\n\n" \
    "Examples\n--------\n"                                                        \
    ">>> import pycuda.array_api as xp\n"
#define STANDARD_ONE               \
    "\n\nParameters\n----------\n" \
    "x : GPUArray\n    Array of numbers.\n\n" STANDARD_RETURNS
#define STANDARD_TWO                                                                   \
    "\n\nParameters\n----------\n"                                                     \
    "x1 : GPUArray or number\n    Array of numbers. The operands broadcast.\n"         \
    "x2 : GPUArray or number\n    The other operand. One of both is an array, and a\n" \
    "    number adapts to its dtype.\n\n" STANDARD_RETURNS STANDARD_SHAPES

#define STANDARD_UNARY(name, OP, doc, values, result)                                 \
    PyDoc_STRVAR(standard_##name##_doc, #name                                         \
                 "($module, x, /)\n--\n\n" doc STANDARD_ONE STANDARD_NOTES            \
                 ">>> xp." #name "(gpuarray.to_gpu(np.array(" values ")))\n" result); \
    static PyObject *standard_##name(PyObject *m, PyObject *x)                        \
    {                                                                                 \
        return standard_call(m, PCU_OP_##OP, &x);                                     \
    }
#define STANDARD_BINARY(name, OP, doc, values, other, result)                         \
    PyDoc_STRVAR(standard_##name##_doc,                                               \
                 #name "($module, x1, x2, /)\n--\n\n" doc STANDARD_TWO STANDARD_NOTES \
                       ">>> xp." #name "(gpuarray.to_gpu(np.array(" values            \
                       ")), " other ")\n" result);                                    \
    static PyObject *standard_##name(PyObject *m, PyObject *const *args,              \
                                     Py_ssize_t nargs)                                \
    {                                                                                 \
        if (standard_check_count(#name, 2, nargs) < 0) {                              \
            return NULL;                                                              \
        }                                                                             \
        return standard_call(m, PCU_OP_##OP, args);                                   \
    }
/* clang-format off */
STANDARD_UNARY(abs, ABSOLUTE, "Return the absolute values.", "[-1, 2]",
               "array([1, 2])")
STANDARD_UNARY(acos, ARCCOS, "Return the inverse cosines.", "[0.0, 0.5]",
               "array([1.57079633, 1.04719755])")
STANDARD_UNARY(acosh, ARCCOSH, "Return the inverse hyperbolic cosines.", "[1.0, 2]",
               "array([0.       , 1.3169579])")
STANDARD_UNARY(asin, ARCSIN, "Return the inverse sines.", "[0.0, 0.5]",
               "array([0.        , 0.52359878])")
STANDARD_UNARY(asinh, ARCSINH, "Return the inverse hyperbolic sines.", "[0.0, 0.5]",
               "array([0.        , 0.48121183])")
STANDARD_UNARY(atan, ARCTAN, "Return the inverse tangents.", "[0.0, 0.5]",
               "array([0.        , 0.46364761])")
STANDARD_UNARY(atanh, ARCTANH, "Return the inverse hyperbolic tangents.", "[0.0, 0.5]",
               "array([0.        , 0.54930614])")
STANDARD_UNARY(bitwise_invert, INVERT, "Return the elements with all bits inverted.",
               "[0, 5]", "array([-1, -6])")
STANDARD_UNARY(ceil, CEIL, "Return the next whole numbers, rounded up.", "[-1.5, 1.5]",
               "array([-1.,  2.])")
STANDARD_UNARY(conj, CONJUGATE, "Return the complex conjugates.", "[1 + 2j]",
               "array([1.-2.j])")
STANDARD_UNARY(cos, COS, "Return the cosines.", "[0.0, 0.5]",
               "array([1.        , 0.87758256])")
STANDARD_UNARY(cosh, COSH, "Return the hyperbolic cosines.", "[0.0, 0.5]",
               "array([1.        , 1.12762597])")
STANDARD_UNARY(exp, EXP, "Return e to the power of the elements.", "[0.0, 1]",
               "array([1.        , 2.71828183])")
STANDARD_UNARY(expm1, EXPM1, "Return e to the power of the elements, less 1.",
               "[0.0, 1]", "array([0.        , 1.71828183])")
STANDARD_UNARY(floor, FLOOR, "Return the next whole numbers, rounded down.",
               "[-1.5, 1.5]", "array([-2.,  1.])")
STANDARD_UNARY(imag, IMAG, "Return the imaginary parts.", "[1 + 2j]",
               "array([2.])")
STANDARD_UNARY(isfinite, ISFINITE, "Return whether elements are finite.", "[1, np.inf]",
               "array([ True, False])")
STANDARD_UNARY(isinf, ISINF, "Return whether elements are infinite.", "[1, np.inf]",
               "array([False,  True])")
STANDARD_UNARY(isnan, ISNAN, "Return whether elements are NaN.", "[1, np.nan]",
               "array([False,  True])")
STANDARD_UNARY(log, LOG, "Return the natural logarithms.", "[1.0, 2]",
               "array([0.        , 0.69314718])")
STANDARD_UNARY(log10, LOG10, "Return the logarithms to base 10.", "[1.0, 100]",
               "array([0., 2.])")
STANDARD_UNARY(log1p, LOG1P, "Return the natural logarithms of ``1 + x``.", "[0.0, 1]",
               "array([0.        , 0.69314718])")
STANDARD_UNARY(log2, LOG2, "Return the logarithms to base 2.", "[1.0, 8]",
               "array([0., 3.])")
STANDARD_UNARY(logical_not, LOGICAL_NOT, "Return whether elements are false.", "[0, 5]",
               "array([ True, False])")
STANDARD_UNARY(negative, NEGATIVE, "Return the elements with opposite sign.", "[1, -2]",
               "array([-1,  2])")
STANDARD_UNARY(positive, POSITIVE, "Return a copy of the elements.", "[1, -2]",
               "array([ 1, -2])")
STANDARD_UNARY(real, REAL, "Return the real parts.", "[1 + 2j]",
               "array([1.])")
STANDARD_UNARY(reciprocal, RECIPROCAL, "Return 1 divided by the elements.", "[1.0, 4]",
               "array([1.  , 0.25])")
STANDARD_UNARY(sign, SIGN, "Return the signs: -1, 0, 1, or ``z / abs(z)``.",
               "[-1.5, 0, 2]", "array([-1.,  0.,  1.])")
STANDARD_UNARY(signbit, SIGNBIT, "Return whether the sign bit is set.", "[-0.0, 2]",
               "array([ True, False])")
STANDARD_UNARY(sin, SIN, "Return the sines.", "[0.0, 0.5]",
               "array([0.        , 0.47942554])")
STANDARD_UNARY(sinh, SINH, "Return the hyperbolic sines.", "[0.0, 0.5]",
               "array([0.        , 0.52109531])")
STANDARD_UNARY(sqrt, SQRT, "Return the square roots.", "[1.0, 4]",
               "array([1., 2.])")
STANDARD_UNARY(square, SQUARE, "Return the squares.", "[1, -3]",
               "array([1, 9])")
STANDARD_UNARY(tan, TAN, "Return the tangents.", "[0.0, 0.5]",
               "array([0.        , 0.54630249])")
STANDARD_UNARY(tanh, TANH, "Return the hyperbolic tangents.", "[0.0, 0.5]",
               "array([0.        , 0.46211716])")
STANDARD_UNARY(trunc, TRUNC, "Return the whole numbers, rounded towards 0.",
               "[-1.5, 1.5]", "array([-1.,  1.])")
STANDARD_BINARY(add, ADD, "Return the sums.",
                "[1, 2]", "3", "array([4, 5])")
STANDARD_BINARY(atan2, ARCTAN2, "Return the angles of the points ``(x2, x1)``.",
                "[0.0, 1]", "1", "array([0.        , 0.78539816])")
STANDARD_BINARY(bitwise_and, BITWISE_AND, "Return the bits set in both.",
                "[5, 6]", "4", "array([4, 4])")
STANDARD_BINARY(bitwise_left_shift, LEFT_SHIFT,
                "Return the bits of ``x1`` moved left by ``x2``.",
                "[1, 3]", "2", "array([ 4, 12])")
STANDARD_BINARY(bitwise_or, BITWISE_OR, "Return the bits set in either.",
                "[5, 2]", "1", "array([5, 3])")
STANDARD_BINARY(bitwise_right_shift, RIGHT_SHIFT,
                "Return the bits of ``x1`` moved right by ``x2``.",
                "[8, 13]", "2", "array([2, 3])")
STANDARD_BINARY(bitwise_xor, BITWISE_XOR, "Return the bits set in one only.",
                "[5, 6]", "4", "array([1, 2])")
STANDARD_BINARY(copysign, COPYSIGN, "Return ``x1`` with the signs of ``x2``.",
                "[1.0, 2]", "-1.0", "array([-1., -2.])")
STANDARD_BINARY(divide, DIVIDE, "Return the quotients; of integers in float64.",
                "[1, 2]", "4", "array([0.25, 0.5 ])")
STANDARD_BINARY(equal, EQUAL, "Return whether elements are equal.",
                "[1, 2]", "2", "array([False,  True])")
STANDARD_BINARY(floor_divide, FLOOR_DIVIDE, "Return the quotients, rounded down.",
                "[7, -7]", "2", "array([ 3, -4])")
STANDARD_BINARY(greater, GREATER, "Return whether ``x1 > x2``.",
                "[1, 3]", "2", "array([False,  True])")
STANDARD_BINARY(greater_equal, GREATER_EQUAL, "Return whether ``x1 >= x2``.",
                "[1, 2]", "2", "array([False,  True])")
STANDARD_BINARY(hypot, HYPOT, "Return the root of ``x1**2 + x2**2``.",
                "[3.0, 5]", "4.0", "array([5.        , 6.40312424])")
STANDARD_BINARY(less, LESS, "Return whether ``x1 < x2``.",
                "[1, 3]", "2", "array([ True, False])")
STANDARD_BINARY(less_equal, LESS_EQUAL, "Return whether ``x1 <= x2``.",
                "[1, 2]", "1", "array([ True, False])")
STANDARD_BINARY(logaddexp, LOGADDEXP, "Return ``log(exp(x1) + exp(x2))``.",
                "[0.0, 1]", "0.0", "array([0.69314718, 1.31326169])")
STANDARD_BINARY(logical_and, LOGICAL_AND, "Return whether both are true.",
                "[True, False]", "True", "array([ True, False])")
STANDARD_BINARY(logical_or, LOGICAL_OR, "Return whether either is true.",
                "[True, False]", "False", "array([ True, False])")
STANDARD_BINARY(logical_xor, LOGICAL_XOR, "Return whether just one is true.",
                "[True, False]", "True", "array([False,  True])")
STANDARD_BINARY(maximum, MAXIMUM, "Return the greater elements; NaN if any is.",
                "[1, 3]", "2", "array([2, 3])")
STANDARD_BINARY(minimum, MINIMUM, "Return the smaller elements; NaN if any is.",
                "[1, 3]", "2", "array([1, 2])")
STANDARD_BINARY(multiply, MULTIPLY, "Return the products.",
                "[1, 2]", "3", "array([3, 6])")
STANDARD_BINARY(nextafter, NEXTAFTER, "Return the next numbers towards ``x2``.",
                "[1.0, 2]", "0.0", "array([1., 2.])")
STANDARD_BINARY(not_equal, NOT_EQUAL, "Return whether elements differ.",
                "[1, 2]", "2", "array([ True, False])")
STANDARD_BINARY(pow, POWER, "Return ``x1`` to the powers ``x2``.",
                "[2, 3]", "2", "array([4, 9])")
STANDARD_BINARY(remainder, REMAINDER, "Return the remainders, signed as ``x2``.",
                "[7, -7]", "3", "array([1, 2])")
STANDARD_BINARY(subtract, SUBTRACT, "Return the differences.",
                "[1, 2]", "3", "array([-2, -1])")
/* clang-format on */

/* -- round, where, clip ------------------------------------------------------------ */

PyDoc_STRVAR(
    standard_round_doc,
    "round($module, x, /)\n--\n\n"
    "Return the nearest whole numbers; halves become even." STANDARD_ONE STANDARD_NOTES
    ">>> xp.round(gpuarray.to_gpu(np.array([0.5, 1.5])))\n"
    "array([0., 2.])");

static PyObject *
standard_round(PyObject *m, PyObject *x)
{
    pcu_state *st = pcu_state_of_module(m);
    int op = PCU_OP_RINT;
    if (pcu_is_array(st, x) && pcu_type_is_exact(((pcu_gpuarray *)x)->type)) {
        op = PCU_OP_FLOOR; /* which keeps the dtype of integers */
    }
    return standard_call(m, op, &x);
}

PyDoc_STRVAR(
    standard_where_doc,
    "where($module, condition, x1, x2, /)\n--\n\n"
    "Return ``x1`` where a condition is true, and ``x2`` elsewhere.\n\n"
    "Parameters\n----------\n"
    "condition : GPUArray\n    Array of bool. The operands broadcast.\n"
    "x1 : GPUArray or number\n    Elements where it is true.\n"
    "x2 : GPUArray or number\n    Elements where it is false.\n\n" STANDARD_RETURNS
        STANDARD_SHAPES STANDARD_NOTES
    ">>> x = gpuarray.to_gpu(np.array([-1, 2]))\n"
    ">>> xp.where(x < 0, 0, x)\n"
    "array([0, 2])");

static PyObject *
standard_where(PyObject *m, PyObject *const *args, Py_ssize_t nargs)
{
    if (standard_check_count("where", 3, nargs) < 0) {
        return NULL;
    }
    return standard_call(m, PCU_OP_WHERE, args);
}

typedef struct {
    PyObject *x; /* borrowed, as are all objects */
    PyObject *min;
    PyObject *max;
} clip_args;

/* 1 if a bound leaves the dtype of the result the array's: an array of the same dtype,
 * or a number of Python that the dtype holds. -1 on error. */
static int
clip_keeps_type(pcu_state *st, int type, PyObject *bound)
{
    unsigned char value[PCU_SCALAR_BYTES];
    if (bound == Py_None) {
        return 1;
    }
    if (pcu_is_array(st, bound)) {
        return ((pcu_gpuarray *)bound)->type == type;
    }
    if (!PyLong_CheckExact(bound) &&
        !(PyFloat_CheckExact(bound) && pcu_types[type].kind >= PCU_KIND_FLOAT)) {
        return 0;
    }
    if (pcu_scalar_pack(bound, type, PCU_SCALAR_OPERAND, value) == 0) {
        return 1;
    }
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) {
        return -1;
    }
    PyErr_Clear(); /* no element is beyond the bound: Python does it */
    return 0;
}

/* 1 if one operation gives the result. -1 on error. */
static int
clip_is_plain(pcu_state *st, const clip_args *a)
{
    if (!pcu_is_array(st, a->x)) {
        return 0;
    }
    int type = ((pcu_gpuarray *)a->x)->type;
    if (!pcu_type_is_number(type) || type == PCU_T_BOOL) {
        return 0;
    }
    int plain = clip_keeps_type(st, type, a->min);
    if (plain > 0) {
        plain = clip_keeps_type(st, type, a->max);
    }
    return plain;
}

static const pcu_word clip_words[] = {
    PCU_WORD("x", pcu_as_object, clip_args, x),
    PCU_WORD("min", pcu_as_object, clip_args, min),
    PCU_WORD("max", pcu_as_object, clip_args, max),
};

PCU_SIGNATURE(
    standard_clip, clip_words,
    "clip($module, x, /, min=None, max=None)\n--\n\n"
    "Return the elements, limited to a range.\n\n"
    "Parameters\n----------\n"
    "x : GPUArray\n    Array of numbers. The operands broadcast.\n"
    "min : GPUArray, number or None, optional\n    Lower bound. The default is "
    "none.\n"
    "max : GPUArray, number or None, optional\n    Upper bound. The default is "
    "none.\n\n"
    "Returns\n-------\nGPUArray\n"
    "    A new array of the dtype of ``x``, NaN where an operand is NaN.\n\n"
    "Raises\n------\n"
    "TypeError\n    If the dtype is not taken.\n" STANDARD_SHAPES STANDARD_NOTES
    ">>> xp.clip(gpuarray.to_gpu(np.array([1, 5, 9])), 2, 8)\n"
    "array([2, 5, 8])")

static PyObject *
standard_clip(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    clip_args a = {.min = Py_None, .max = Py_None};
    if (pcu_args_parse(st, &standard_clip_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    int plain = clip_is_plain(st, &a);
    if (plain < 0) {
        return NULL;
    }
    PyObject *values[3] = {a.x, a.min, a.max};
    if (!plain) {
        return pcu_forward("pycuda.array_api._elementwise", "_clip_by_others", values,
                           3, NULL);
    }
    if (a.min == Py_None && a.max == Py_None) {
        return standard_call(m, PCU_OP_POSITIVE, values);
    }
    if (a.max == Py_None) {
        return standard_call(m, PCU_OP_MAXIMUM, values);
    }
    if (a.min == Py_None) {
        values[1] = a.max;
        return standard_call(m, PCU_OP_MINIMUM, values);
    }
    return standard_call(m, PCU_OP_CLIP, values);
}

/* -- the table --------------------------------------------------------------------- */

#define STANDARD_UNARY_ROW(name)                              \
    {                                                         \
#        name, standard_##name, METH_O, standard_##name##_doc \
    }
#define STANDARD_BINARY_ROW(name)                                           \
    {                                                                       \
#        name, (PyCFunction)(void (*)(void))standard_##name, METH_FASTCALL, \
            standard_##name##_doc                                           \
    }

PyMethodDef pcu_public_standard_functions[] = {
    STANDARD_UNARY_ROW(abs),
    STANDARD_UNARY_ROW(acos),
    STANDARD_UNARY_ROW(acosh),
    STANDARD_UNARY_ROW(asin),
    STANDARD_UNARY_ROW(asinh),
    STANDARD_UNARY_ROW(atan),
    STANDARD_UNARY_ROW(atanh),
    STANDARD_UNARY_ROW(bitwise_invert),
    STANDARD_UNARY_ROW(ceil),
    STANDARD_UNARY_ROW(conj),
    STANDARD_UNARY_ROW(cos),
    STANDARD_UNARY_ROW(cosh),
    STANDARD_UNARY_ROW(exp),
    STANDARD_UNARY_ROW(expm1),
    STANDARD_UNARY_ROW(floor),
    STANDARD_UNARY_ROW(imag),
    STANDARD_UNARY_ROW(isfinite),
    STANDARD_UNARY_ROW(isinf),
    STANDARD_UNARY_ROW(isnan),
    STANDARD_UNARY_ROW(log),
    STANDARD_UNARY_ROW(log10),
    STANDARD_UNARY_ROW(log1p),
    STANDARD_UNARY_ROW(log2),
    STANDARD_UNARY_ROW(logical_not),
    STANDARD_UNARY_ROW(negative),
    STANDARD_UNARY_ROW(positive),
    STANDARD_UNARY_ROW(real),
    STANDARD_UNARY_ROW(reciprocal),
    STANDARD_UNARY_ROW(sign),
    STANDARD_UNARY_ROW(signbit),
    STANDARD_UNARY_ROW(sin),
    STANDARD_UNARY_ROW(sinh),
    STANDARD_UNARY_ROW(sqrt),
    STANDARD_UNARY_ROW(square),
    STANDARD_UNARY_ROW(tan),
    STANDARD_UNARY_ROW(tanh),
    STANDARD_UNARY_ROW(trunc),
    STANDARD_BINARY_ROW(add),
    STANDARD_BINARY_ROW(atan2),
    STANDARD_BINARY_ROW(bitwise_and),
    STANDARD_BINARY_ROW(bitwise_left_shift),
    STANDARD_BINARY_ROW(bitwise_or),
    STANDARD_BINARY_ROW(bitwise_right_shift),
    STANDARD_BINARY_ROW(bitwise_xor),
    STANDARD_BINARY_ROW(copysign),
    STANDARD_BINARY_ROW(divide),
    STANDARD_BINARY_ROW(equal),
    STANDARD_BINARY_ROW(floor_divide),
    STANDARD_BINARY_ROW(greater),
    STANDARD_BINARY_ROW(greater_equal),
    STANDARD_BINARY_ROW(hypot),
    STANDARD_BINARY_ROW(less),
    STANDARD_BINARY_ROW(less_equal),
    STANDARD_BINARY_ROW(logaddexp),
    STANDARD_BINARY_ROW(logical_and),
    STANDARD_BINARY_ROW(logical_or),
    STANDARD_BINARY_ROW(logical_xor),
    STANDARD_BINARY_ROW(maximum),
    STANDARD_BINARY_ROW(minimum),
    STANDARD_BINARY_ROW(multiply),
    STANDARD_BINARY_ROW(nextafter),
    STANDARD_BINARY_ROW(not_equal),
    STANDARD_BINARY_ROW(pow),
    STANDARD_BINARY_ROW(remainder),
    STANDARD_BINARY_ROW(subtract),
    {"round", standard_round, METH_O, standard_round_doc},
    {"where", (PyCFunction)(void (*)(void))standard_where, METH_FASTCALL,
     standard_where_doc},
    PCU_METHOD("clip", standard_clip),
    {NULL, NULL, 0, NULL},
};
