/* The element types that kernels know, and NumPy's dtypes for them.
 *
 * tables/dtypes.h has one row for each type. Lowest header of the array rooms; every
 * function needs the interpreter lock. */
#ifndef PYTHON_ARRAY_ELEMENT_TYPE_H
#define PYTHON_ARRAY_ELEMENT_TYPE_H

#include "python/support/args.h"
#include "python/support/element_dtype.h"
#include "python/driver/memory/gpuarray.h"

/* Kinds of numbers, in the order in which NumPy promotes them: a kind holds the values
 * of the kinds before it. */
typedef enum {
    PCU_KIND_BOOL,
    PCU_KIND_INTEGER,
    PCU_KIND_FLOAT,
    PCU_KIND_COMPLEX
} pcu_kind;

typedef struct {
    const char *name; /* of NumPy's dtype */
    unsigned char size;
    unsigned char align;     /* of an element on the device */
    unsigned char kind;      /* pcu_kind */
    unsigned char is_signed; /* of integers */
    int numpy;               /* NumPy's number of the dtype, if it has one */
} pcu_type_row;

/* One row for each type, and the last for PCU_T_RAW. */
extern PCU_HIDDEN const pcu_type_row pcu_types[PCU_T_COUNT + 1];

/* Whether kernels compute with the type, false for RAW and NONE. */
static inline bool
pcu_type_is_number(int type)
{
    return type < PCU_T_COUNT;
}

static inline bool
pcu_type_is_integer(int type)
{
    return type < PCU_T_COUNT && pcu_types[type].kind == PCU_KIND_INTEGER;
}

static inline bool
pcu_type_is_unsigned(int type)
{
    return pcu_type_is_integer(type) && !pcu_types[type].is_signed;
}

static inline bool
pcu_type_is_complex(int type)
{
    return type < PCU_T_COUNT && pcu_types[type].kind == PCU_KIND_COMPLEX;
}

/* True for the floats of 16 bits, which kernels compute in float32. */
static inline bool
pcu_type_is_half(int type)
{
    return type == PCU_T_FLOAT16 || type == PCU_T_BFLOAT16;
}

/* True for integers and bool. */
static inline bool
pcu_type_is_exact(int type)
{
    return type < PCU_T_COUNT && pcu_types[type].kind <= PCU_KIND_INTEGER;
}

/* Whether NumPy's rule same_kind allows the conversion: to the same kind or a wider
 * one, but not from signed integers to unsigned ones. */
static inline bool
pcu_type_casts(int from, int to)
{
    int from_kind = pcu_types[from].kind;
    int to_kind = pcu_types[to].kind;
    if (from_kind == PCU_KIND_INTEGER && to_kind == PCU_KIND_INTEGER) {
        return pcu_types[to].is_signed || !pcu_types[from].is_signed;
    }
    return from_kind <= to_kind;
}

/* The type of the real part of a complex type; other types themselves. */
PCU_HIDDEN int pcu_type_real(int type);

/* The complex type whose parts have the type FLOAT32 or FLOAT64. */
static inline int
pcu_type_complex(int part)
{
    if (part == PCU_T_FLOAT32) {
        return PCU_T_COMPLEX64;
    }
    return PCU_T_COMPLEX128;
}

/* The dtype of a pcu_type. */
PCU_HIDDEN PCU_NEWREF PyArray_Descr *pcu_dtype_of_type(int type);

/* The type to which NumPy promotes two types. */
PCU_HIDDEN PCU_RAISES int pcu_type_promote(int a, int b, int *out);

/* The pcu_type of an argument `dtype`: NONE for None, TypeError if kernels do not
 * compute with it. */
PCU_CONVERTER(pcu_as_type, int);

/* The pcu_type that the array has in arithmetic. For a bool array that remembers no
 * dtype this is PCU_T_BOOL, and the rules choose. */
static inline int
pcu_gpuarray_number_type(const pcu_gpuarray *self)
{
    if (self->type == PCU_T_BOOL) {
        return self->counts_as;
    }
    return self->type;
}

#endif
