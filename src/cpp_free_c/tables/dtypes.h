/* The element types that kernels know by name.
 *
 *   X(CODE, name, bytes)
 *
 * The order is the kernels' numbering: a key of the kernel table holds it in a byte.
 * All other dtypes (records, dates, text) are moved as bytes: see RAW in python/array/ops/kernel_table.h.
 */
#ifndef TABLES_DTYPES_H
#define TABLES_DTYPES_H

/* clang-format off */
#define PCU_DTYPES(X) \
    X(BOOL, "bool", 1)        \
    X(INT8, "int8", 1)        \
    X(UINT8, "uint8", 1)      \
    X(INT16, "int16", 2)      \
    X(UINT16, "uint16", 2)    \
    X(INT32, "int32", 4)      \
    X(UINT32, "uint32", 4)    \
    X(INT64, "int64", 8)      \
    X(UINT64, "uint64", 8)    \
    X(FLOAT16, "float16", 2)  \
    X(FLOAT32, "float32", 4)  \
    X(FLOAT64, "float64", 8)  \
    X(COMPLEX64, "complex64", 8)    \
    X(COMPLEX128, "complex128", 16)
/* clang-format on */

#endif
