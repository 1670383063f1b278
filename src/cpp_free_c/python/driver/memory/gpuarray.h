/* The struct behind a GPUArray.
 *
 * The header is in this room because launches and mem_alloc_like read arrays.
 * Everything that makes or changes an array is in python/array.
 *
 * Invariant of an initialised array: dtype is set; shape and strides have ndim places;
 * count is the product of the lengths; `contiguous` describes the strides. `address` is
 * the address of the first element. `memory` holds the allocation of ours that the
 * address lies in, or the object that keeps other memory alive. pcu_gpuarray_check
 * tests before any work is enqueued whether the memory is alive, large enough and of
 * the current context.
 *
 * Programs may assign the attributes size, nbytes, mem_size and flags, so no code here
 * depends on these fields. The true numbers are count, pcu_gpuarray_nbytes and
 * contiguous. */
#ifndef PYTHON_DRIVER_MEMORY_GPUARRAY_H
#define PYTHON_DRIVER_MEMORY_GPUARRAY_H

#include "python/support/base.h"

enum { PCU_ARRAY_INLINE = 4, PCU_ARRAY_C = 1, PCU_ARRAY_F = 2 };

typedef struct pcu_gpuarray {
    PyObject_HEAD
    pcu_state *st;
    PyObject *gpudata;    /* as given or allocated; NULL: the address as an int */
    PyObject *memory;     /* keeps the bytes alive; NULL for a bare address */
    PyObject *base;       /* NULL: None */
    PyObject *allocator;  /* NULL: the default one */
    PyArray_Descr *dtype; /* NULL before __init__ */
    PyObject *flags;      /* as assigned; NULL: made on demand */
    PyObject *dict;
    PyObject *weakrefs;
    CUdeviceptr address;
    size_t *shape; /* inline_shape, or one owned block that holds the strides too */
    ptrdiff_t *strides;
    size_t count;
    size_t size;
    size_t nbytes;
    size_t mem_size;
    int ndim;
    unsigned char type;       /* pcu_type of dtype */
    unsigned char contiguous; /* PCU_ARRAY_C | PCU_ARRAY_F */
    bool inside;              /* all elements are known to lie in the memory; else the
                                 next pcu_gpuarray_check tests it */
    unsigned char counts_as;  /* pcu_type that a bool array has in arithmetic: the dtype
                                 that was compared. PCU_T_BOOL: not known */
    size_t inline_shape[PCU_ARRAY_INLINE];
    ptrdiff_t inline_strides[PCU_ARRAY_INLINE];
} pcu_gpuarray;

static inline bool
pcu_is_array(pcu_state *st, PyObject *op)
{
    return Py_IS_TYPE(op, st->GPUArray) || PyObject_TypeCheck(op, st->GPUArray);
}

/* The address of an array; NULL: 0. */
static inline CUdeviceptr
pcu_gpuarray_address_of(PyObject *array)
{
    if (array == NULL) {
        return 0;
    }
    return ((pcu_gpuarray *)array)->address;
}

/* Store a reference in a member; None is stored as NULL. */
static inline void
pcu_gpuarray_set_optional(PyObject **place, PyObject *value)
{
    if (value == Py_None) {
        Py_CLEAR(*place);
    }
    else {
        Py_XSETREF(*place, Py_NewRef(value));
    }
}

/* 0 if __init__ has run, else TypeError. */
PCU_RAISES static inline int
pcu_gpuarray_ready(const pcu_gpuarray *self)
{
    if (self->dtype != NULL) {
        return 0;
    }
    PyErr_Format(PyExc_TypeError, "the __init__ of this %s was not called",
                 Py_TYPE(self)->tp_name);
    return -1;
}

static inline size_t
pcu_gpuarray_itemsize(const pcu_gpuarray *self)
{
    return (size_t)PyDataType_ELSIZE(self->dtype);
}

/* The bytes of the elements, whatever a program assigned to nbytes. */
static inline size_t
pcu_gpuarray_nbytes(const pcu_gpuarray *self)
{
    return self->count * pcu_gpuarray_itemsize(self);
}

/* Whether the lengths of the array are `shape`. */
static inline bool
pcu_gpuarray_has_shape(const pcu_gpuarray *self, int ndim, const size_t *shape)
{
    return self->ndim == ndim &&
           memcmp(self->shape, shape, (size_t)ndim * sizeof(*shape)) == 0;
}

#endif
