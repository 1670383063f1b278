/* Reductions of arrays.
 *
 *   X(NAME, "name", inputs, RULE)
 *
 * In generated code it is the struct reduce_<name> of pycuda/cuda/pycuda-reduce.hpp.
 * The rule gives, from the common dtype of the inputs, that of the result:
 *
 *   WIDEN    integers and bool become the integer of 64 bits
 *   SAME     as it is; bool counts as a number, as in array_ops.h
 *   INDEX    int64; there must be an element
 *   EXTREME  as it is; there must be an element
 *   BOOL     bool
 *   MEAN     integers and bool become float64
 *   SPREAD   the same, of the real part's type */
#ifndef TABLES_ARRAY_REDUCTIONS_H
#define TABLES_ARRAY_REDUCTIONS_H

/* clang-format off */
#define PCU_ARRAY_REDUCTIONS(X) \
    X(SUM, "sum", 1, WIDEN)        \
    X(PROD, "prod", 1, WIDEN)      \
    X(MIN, "min", 1, EXTREME)      \
    X(MAX, "max", 1, EXTREME)      \
    X(ARGMIN, "argmin", 1, INDEX)  \
    X(ARGMAX, "argmax", 1, INDEX)  \
    X(ANY, "any", 1, BOOL)         \
    X(ALL, "all", 1, BOOL)         \
    X(COUNT_NONZERO, "count_nonzero", 1, INDEX) \
    X(MEAN, "mean", 1, MEAN)       \
    X(VAR, "var", 2, SPREAD)       \
    X(STD, "std", 2, SPREAD)       \
    X(DOT, "dot", 2, SAME)
/* clang-format on */

#endif
