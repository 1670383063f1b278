/* Reductions of arrays.
 *
 *   X(NAME, "name", inputs, RULE)
 *
 * Generated code uses the struct reduce_<name> of pycuda/cuda/pycuda-reduce.hpp. The
 * rule takes the common dtype of the inputs and gives the dtype of the result:
 *
 *   WIDEN    integers and bool become the 64-bit integer of their sign
 *   PRODUCTS the common dtype; bool counts as a number, as in array_ops.h
 *   INDEX    int64; an array without elements is an error
 *   COUNT    int64
 *   EXTREME  the common dtype; an array without elements is an error
 *   BOOL     bool
 *   ENDS     complex128: two numbers; an array without elements is an error
 *   MEAN     integers and bool become float64
 *   SPREAD   the same, then the dtype of the real part
 *
 * A reduction that ends in another operation (STD, PTP) is also named in
 * reduce_result_in_out (python/array/ops/reduction.c) and in _STORED
 * (pycuda/_array/functions/reductions.py). */
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
    X(COUNT_NONZERO, "count_nonzero", 1, COUNT) \
    X(MEAN, "mean", 1, MEAN)       \
    X(VAR, "var", 1, SPREAD)       \
    X(STD, "std", 1, SPREAD)       \
    X(DOT, "dot", 2, PRODUCTS)     \
    X(VDOT, "vdot", 2, PRODUCTS) \
    X(PTP, "ptp", 1, EXTREME)      \
    X(NANSUM, "nansum", 1, WIDEN)  \
    X(NANPROD, "nanprod", 1, WIDEN) \
    X(NANMIN, "nanmin", 1, EXTREME) \
    X(NANMAX, "nanmax", 1, EXTREME) \
    X(NANARGMIN, "nanargmin", 1, INDEX) \
    X(NANARGMAX, "nanargmax", 1, INDEX) \
    X(NANMEAN, "nanmean", 1, MEAN) \
    X(NANVAR, "nanvar", 1, SPREAD) \
    X(NANSTD, "nanstd", 1, SPREAD) \
    X(NORM, "norm", 1, SPREAD)   \
    X(ENDS, "ends", 1, ENDS)     \
    X(ABSOLUTE_SUM, "absolute_sum", 1, SPREAD)
/* clang-format on */

#endif
