/* Elementwise operations on arrays.
 *
 *   X(NAME, "name", inputs, outputs, RULE)
 *
 * The name is that of NumPy's function where NumPy has one; in generated code it is
 * op_<name> of pycuda/cuda/pycuda-array.hpp. The rule gives, from the common dtype of
 * the inputs, the dtype that is computed in and that of the result:
 *
 *   SAME      as it is
 *   NUMBER    as it is; bool counts as a number
 *   FLOAT     NUMBER; integers become the float that holds them
 *   REAL      FLOAT; no complex
 *   DIVIDE    NUMBER; integers become float64
 *   FLOOR     NUMBER; no complex
 *   ROUND     as it is; no complex
 *   BITS      integers and bool only
 *   SHIFT     integers only; bool becomes int64
 *   COMPARE   as it is; the result is bool
 *   TEST      FLOAT; the result is bool
 *   PART      as it is; the result is the real dtype of a complex one
 *   LDEXP     REAL for the first input, int32 for the second
 *   FREXP     REAL; the second result is int32
 *   SELECT    of the inputs but the first, whose truth or sign is looked at
 *   COPY      none: inputs are converted to the dtype of the output
 *
 * "Counts as a number" means: a bool array takes part with the dtype that was compared
 * to make it (counts_as of pcu_gpuarray), and if only bool takes part and no dtype is
 * known, with int64. The other rules keep bool where all inputs are bool: the results
 * are 0 and 1 in any dtype. */
#ifndef TABLES_ARRAY_OPS_H
#define TABLES_ARRAY_OPS_H

/* clang-format off */
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
    X(LOGICAL_AND, "logical_and", 2, 1, COMPARE)     \
    X(LOGICAL_OR, "logical_or", 2, 1, COMPARE)       \
    X(LOGICAL_XOR, "logical_xor", 2, 1, COMPARE)     \
    X(LOGICAL_NOT, "logical_not", 1, 1, COMPARE)     \
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
    X(ANGLE, "angle", 1, 1, FLOAT)                   \
    X(CONJUGATE, "conjugate", 1, 1, NUMBER)          \
    X(SIGN, "sign", 1, 1, NUMBER)                    \
    X(SQUARE, "square", 1, 1, NUMBER)                \
    X(RECIPROCAL, "reciprocal", 1, 1, NUMBER)        \
    X(SQRT, "sqrt", 1, 1, FLOAT)                     \
    X(CBRT, "cbrt", 1, 1, REAL)                      \
    X(EXP, "exp", 1, 1, FLOAT)                       \
    X(EXP2, "exp2", 1, 1, FLOAT)                     \
    X(EXPM1, "expm1", 1, 1, REAL)                    \
    X(LOG, "log", 1, 1, FLOAT)                       \
    X(LOG2, "log2", 1, 1, FLOAT)                     \
    X(LOG10, "log10", 1, 1, FLOAT)                   \
    X(LOG1P, "log1p", 1, 1, REAL)                    \
    X(SIN, "sin", 1, 1, FLOAT)                       \
    X(COS, "cos", 1, 1, FLOAT)                       \
    X(TAN, "tan", 1, 1, FLOAT)                       \
    X(ARCSIN, "arcsin", 1, 1, REAL)                  \
    X(ARCCOS, "arccos", 1, 1, REAL)                  \
    X(ARCTAN, "arctan", 1, 1, REAL)                  \
    X(SINH, "sinh", 1, 1, FLOAT)                     \
    X(COSH, "cosh", 1, 1, FLOAT)                     \
    X(TANH, "tanh", 1, 1, FLOAT)                     \
    X(ARCSINH, "arcsinh", 1, 1, REAL)                \
    X(ARCCOSH, "arccosh", 1, 1, REAL)                \
    X(ARCTANH, "arctanh", 1, 1, REAL)                \
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
    X(RINT, "rint", 1, 1, REAL)                      \
    X(ISNAN, "isnan", 1, 1, TEST)                    \
    X(ISINF, "isinf", 1, 1, TEST)                    \
    X(ISFINITE, "isfinite", 1, 1, TEST)              \
    X(SIGNBIT, "signbit", 1, 1, TEST)                \
    X(LDEXP, "ldexp", 2, 1, LDEXP)                   \
    X(FREXP, "frexp", 1, 2, FREXP)                   \
    X(MODF, "modf", 1, 2, REAL)                      \
    X(WHERE, "where", 3, 1, SELECT)                  \
    X(IF_POSITIVE, "if_positive", 3, 1, SELECT)      \
    X(AXPBY, "axpby", 4, 1, NUMBER)                  \
    X(AXPB, "axpb", 3, 1, NUMBER)                    \
    X(COPY, "copy", 1, 1, COPY)                      \
    X(ARANGE, "arange", 2, 1, COPY)
/* clang-format on */

#endif
