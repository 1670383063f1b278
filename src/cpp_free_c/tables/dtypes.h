/* The element types that kernels compute with. NumPy has no bfloat16: the package
 * ml_dtypes registers it.
 *
 *   X(CODE, "name", bytes, alignment, KIND)
 *
 * NPY_<CODE> is NumPy's number of the dtype. The alignment is that of the element on
 * the device. KIND is BOOL, SIGNED, UNSIGNED, FLOAT or COMPLEX.
 *
 * The position of a row is the number of the type: kernel keys hold it in one byte.
 * Kernels only move the elements of all other dtypes (records, dates, text): see
 * PCU_T_RAW in python/array/element_type.h. */
#ifndef TABLES_DTYPES_H
#define TABLES_DTYPES_H

/* clang-format off */
#define PCU_DTYPES(X) \
    X(BOOL, "bool", 1, 1, BOOL)             \
    X(INT8, "int8", 1, 1, SIGNED)           \
    X(UINT8, "uint8", 1, 1, UNSIGNED)       \
    X(INT16, "int16", 2, 2, SIGNED)         \
    X(UINT16, "uint16", 2, 2, UNSIGNED)     \
    X(INT32, "int32", 4, 4, SIGNED)         \
    X(UINT32, "uint32", 4, 4, UNSIGNED)     \
    X(INT64, "int64", 8, 8, SIGNED)         \
    X(UINT64, "uint64", 8, 8, UNSIGNED)     \
    X(FLOAT16, "float16", 2, 2, FLOAT)      \
    X(FLOAT32, "float32", 4, 4, FLOAT)      \
    X(FLOAT64, "float64", 8, 8, FLOAT)      \
    X(COMPLEX64, "complex64", 8, 4, COMPLEX)    \
    X(COMPLEX128, "complex128", 16, 8, COMPLEX) \
    X(BFLOAT16, "bfloat16", 2, 2, FLOAT)
/* clang-format on */

#endif
