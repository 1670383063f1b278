/* Elementwise operations on arrays, and the rules that give their dtypes.
 *
 *   PCU_ARRAY_OPS: X(NAME, "name", inputs, outputs, RULE)
 *
 * The name is the name of NumPy's function, where NumPy has one. Generated code calls
 * op_<name> of pycuda/cuda/pycuda-array.hpp. GENERAL_POWER replaces POWER if the
 * exponent is a float for which POWER has no exact case. ROUND_AT takes 10**decimals as
 * its second input, or -10**-decimals if decimals are negative. FLOAT_POWER is POWER in
 * the dtypes of its rule; no kernel has its name.
 *
 *   PCU_DTYPE_RULES: X(RULE, WIDEST, COMPUTED, RESULT, counts, remembers)
 *
 * A rule takes the common dtype of the inputs and gives the dtype in which the kernel
 * computes and the dtype of the result.
 *
 *   WIDEST     the widest kind of input: INTEGER, FLOAT or COMPLEX; wider ones are a
 *              TypeError
 *   COMPUTED   COMMON    the common dtype
 *              FLOAT     integers become the float that holds their values
 *              QUOTIENT  integers become float64
 *              DOUBLE    float64, or complex128 for complex numbers
 *   RESULT     COMPUTED  the dtype in which the kernel computes
 *              REAL      the dtype of its real part
 *              BOOL      bool
 *              BYTE      uint8
 *   counts     1: bool arrays count as numbers, also if all inputs are bool
 *   remembers  1: the dtype that a bool array remembers takes part in the common dtype
 *
 * A bool array that a comparison made remembers the dtype of the arrays compared
 * in the member counts_as of pcu_gpuarray; `remembers` decides whether a rule reads it.
 * `counts` decides what happens if all inputs are bool. With 1 the common dtype is the
 * remembered one, or int64 if none is known. With 0 it is bool: the results are 0 and 1
 * in any dtype.
 *
 * Some rules say more than their columns: COMPARE and LOGICAL take a number that the
 * dtype cannot hold as an infinity; results of COMPARE and CLOSE remember the dtype
 * that was compared. The exponents of LDEXP and the second result of FREXP are int32.
 * The common dtype of SELECT leaves out the first input. COPY converts to the dtype of
 * its output.
 */
#ifndef TABLES_ARRAY_OPS_H
#define TABLES_ARRAY_OPS_H

/* clang-format off */
#define PCU_DTYPE_RULES(X) \
    X(SAME, COMPLEX, COMMON, COMPUTED, 0, 1)     \
    X(NUMBER, COMPLEX, COMMON, COMPUTED, 1, 1)   \
    X(FLOAT, COMPLEX, FLOAT, COMPUTED, 1, 1)     \
    X(REAL, FLOAT, FLOAT, COMPUTED, 1, 1)        \
    X(ANGLE, COMPLEX, FLOAT, REAL, 1, 1)         \
    X(DIVIDE, COMPLEX, QUOTIENT, COMPUTED, 1, 1) \
    X(FLOOR, FLOAT, COMMON, COMPUTED, 1, 1)      \
    X(ROUND, FLOAT, COMMON, COMPUTED, 0, 1)      \
    X(BITS, INTEGER, COMMON, COMPUTED, 0, 0)     \
    X(SHIFT, INTEGER, COMMON, COMPUTED, 1, 0)    \
    X(COMPARE, COMPLEX, COMMON, BOOL, 0, 0)      \
    X(LOGICAL, COMPLEX, COMMON, BOOL, 0, 0)      \
    X(TEST, COMPLEX, FLOAT, BOOL, 0, 0)          \
    X(SIGN_TEST, FLOAT, FLOAT, BOOL, 0, 0)       \
    X(PART, COMPLEX, COMMON, REAL, 0, 1)         \
    X(LDEXP, FLOAT, FLOAT, COMPUTED, 1, 1)       \
    X(FREXP, FLOAT, FLOAT, COMPUTED, 1, 1)       \
    X(SELECT, COMPLEX, COMMON, COMPUTED, 0, 1)   \
    X(COPY, COMPLEX, COMMON, COMPUTED, 0, 1)     \
    X(CLOSE, COMPLEX, QUOTIENT, BOOL, 1, 1)      \
    X(BIT_COUNT, INTEGER, COMMON, BYTE, 0, 0)    \
    X(DOUBLE, COMPLEX, DOUBLE, COMPUTED, 1, 1)

#define PCU_ARRAY_OPS(X) \
    X(ADD, "add", 2, 1, NUMBER)                      \
    X(SUBTRACT, "subtract", 2, 1, NUMBER)            \
    X(MULTIPLY, "multiply", 2, 1, SAME)              \
    X(DIVIDE, "divide", 2, 1, DIVIDE)                \
    X(FLOOR_DIVIDE, "floor_divide", 2, 1, FLOOR)     \
    X(REMAINDER, "remainder", 2, 1, FLOOR)           \
    X(DIVMOD, "divmod", 2, 2, FLOOR)                 \
    X(FMOD, "fmod", 2, 1, FLOOR)                     \
    X(POWER, "power", 2, 1, NUMBER)                  \
    X(BITWISE_AND, "bitwise_and", 2, 1, BITS)        \
    X(BITWISE_OR, "bitwise_or", 2, 1, BITS)          \
    X(BITWISE_XOR, "bitwise_xor", 2, 1, BITS)        \
    X(LEFT_SHIFT, "left_shift", 2, 1, SHIFT)         \
    X(RIGHT_SHIFT, "right_shift", 2, 1, SHIFT)       \
    X(EQUAL, "equal", 2, 1, COMPARE)                 \
    X(NOT_EQUAL, "not_equal", 2, 1, COMPARE)         \
    X(LESS, "less", 2, 1, COMPARE)                   \
    X(LESS_EQUAL, "less_equal", 2, 1, COMPARE)       \
    X(GREATER, "greater", 2, 1, COMPARE)             \
    X(GREATER_EQUAL, "greater_equal", 2, 1, COMPARE) \
    X(LOGICAL_AND, "logical_and", 2, 1, LOGICAL)     \
    X(LOGICAL_OR, "logical_or", 2, 1, LOGICAL)       \
    X(LOGICAL_XOR, "logical_xor", 2, 1, LOGICAL)     \
    X(LOGICAL_NOT, "logical_not", 1, 1, LOGICAL)     \
    X(MAXIMUM, "maximum", 2, 1, SAME)                \
    X(MINIMUM, "minimum", 2, 1, SAME)                \
    X(FMAX, "fmax", 2, 1, SAME)                      \
    X(FMIN, "fmin", 2, 1, SAME)                      \
    X(NEGATIVE, "negative", 1, 1, NUMBER)            \
    X(POSITIVE, "positive", 1, 1, NUMBER)            \
    X(INVERT, "invert", 1, 1, BITS)                  \
    X(ABSOLUTE, "absolute", 1, 1, PART)              \
    X(REAL, "real", 1, 1, PART)                      \
    X(IMAG, "imag", 1, 1, PART)                      \
    X(ANGLE, "angle", 1, 1, ANGLE)                   \
    X(CONJUGATE, "conjugate", 1, 1, NUMBER)          \
    X(SIGN, "sign", 1, 1, NUMBER)                    \
    X(SQUARE, "square", 1, 1, NUMBER)                \
    X(RECIPROCAL, "reciprocal", 1, 1, NUMBER)        \
    X(SQRT, "sqrt", 1, 1, FLOAT)                     \
    X(CBRT, "cbrt", 1, 1, REAL)                      \
    X(EXP, "exp", 1, 1, FLOAT)                       \
    X(EXP2, "exp2", 1, 1, FLOAT)                     \
    X(EXPM1, "expm1", 1, 1, FLOAT)                    \
    X(LOG, "log", 1, 1, FLOAT)                       \
    X(LOG2, "log2", 1, 1, FLOAT)                     \
    X(LOG10, "log10", 1, 1, FLOAT)                   \
    X(LOG1P, "log1p", 1, 1, FLOAT)                    \
    X(SIN, "sin", 1, 1, FLOAT)                       \
    X(COS, "cos", 1, 1, FLOAT)                       \
    X(TAN, "tan", 1, 1, FLOAT)                       \
    X(ARCSIN, "arcsin", 1, 1, FLOAT)                  \
    X(ARCCOS, "arccos", 1, 1, FLOAT)                  \
    X(ARCTAN, "arctan", 1, 1, FLOAT)                  \
    X(SINH, "sinh", 1, 1, FLOAT)                     \
    X(COSH, "cosh", 1, 1, FLOAT)                     \
    X(TANH, "tanh", 1, 1, FLOAT)                     \
    X(ARCSINH, "arcsinh", 1, 1, FLOAT)                \
    X(ARCCOSH, "arccosh", 1, 1, FLOAT)                \
    X(ARCTANH, "arctanh", 1, 1, FLOAT)                \
    X(ARCTAN2, "arctan2", 2, 1, REAL)                \
    X(HYPOT, "hypot", 2, 1, REAL)                    \
    X(COPYSIGN, "copysign", 2, 1, REAL)              \
    X(NEXTAFTER, "nextafter", 2, 1, REAL)            \
    X(LOGADDEXP, "logaddexp", 2, 1, REAL)            \
    X(DEG2RAD, "deg2rad", 1, 1, REAL)                \
    X(RAD2DEG, "rad2deg", 1, 1, REAL)                \
    X(FABS, "fabs", 1, 1, REAL)                      \
    X(FLOOR, "floor", 1, 1, ROUND)                   \
    X(CEIL, "ceil", 1, 1, ROUND)                     \
    X(TRUNC, "trunc", 1, 1, ROUND)                   \
    X(RINT, "rint", 1, 1, FLOAT)                      \
    X(ISNAN, "isnan", 1, 1, TEST)                    \
    X(ISINF, "isinf", 1, 1, TEST)                    \
    X(ISFINITE, "isfinite", 1, 1, TEST)              \
    X(SIGNBIT, "signbit", 1, 1, SIGN_TEST)           \
    X(LDEXP, "ldexp", 2, 1, LDEXP)                   \
    X(FREXP, "frexp", 1, 2, FREXP)                   \
    X(MODF, "modf", 1, 2, REAL)                      \
    X(WHERE, "where", 3, 1, SELECT)                  \
    X(IF_POSITIVE, "if_positive", 3, 1, SELECT)      \
    X(AXPBY, "axpby", 4, 1, NUMBER)                  \
    X(AXPB, "axpb", 3, 1, NUMBER)                    \
    X(COPY, "copy", 1, 1, COPY)                      \
    X(ARANGE, "arange", 2, 1, COPY)                  \
    X(CLIP, "clip", 3, 1, SAME)                      \
    X(GENERAL_POWER, "general_power", 2, 1, REAL)    \
    X(LINSPACE, "linspace", 4, 1, COPY)              \
    X(SPACING, "spacing", 1, 1, REAL)                \
    X(HEAVISIDE, "heaviside", 2, 1, REAL)            \
    X(LOGADDEXP2, "logaddexp2", 2, 1, REAL)          \
    X(GCD, "gcd", 2, 1, BITS)                        \
    X(LCM, "lcm", 2, 1, BITS)                        \
    X(ROUND_AT, "round_at", 2, 1, FLOAT)             \
    X(ISCLOSE, "isclose", 4, 1, CLOSE)               \
    X(ISCLOSE_OR_NAN, "isclose_or_nan", 4, 1, CLOSE) \
    X(NAN_TO_NUM, "nan_to_num", 4, 1, SAME)          \
    X(SINC, "sinc", 1, 1, DIVIDE)                    \
    X(ISPOSINF, "isposinf", 1, 1, SIGN_TEST)         \
    X(ISNEGINF, "isneginf", 1, 1, SIGN_TEST)         \
    X(BITWISE_COUNT, "bitwise_count", 1, 1, BIT_COUNT) \
    X(FLOAT_POWER, "float_power", 2, 1, DOUBLE)
/* clang-format on */

#endif
