/* GPUArray: what the files around it share.
 *
 * Invariant of an initialised array: dtype is set; shape and strides have ndim places;
 * count is the product of the lengths; `contiguous` says what strides say. `address` is
 * the first element; where the memory is an allocation of ours, `memory` holds it, and
 * pcu_gpuarray_check looks whether it is alive, of the current context and large enough
 * before anything is queued.
 *
 * The fields size, nbytes, mem_size and flags are labels: programs assign them, and
 * nothing may depend on them. The true numbers are count, pcu_gpuarray_nbytes and
 * contiguous. */
#ifndef PYTHON_ARRAY_GPUARRAY_H
#define PYTHON_ARRAY_GPUARRAY_H

#include "python/support/base.h"

#include "python/driver/stream.h"
#include "python/array/ops/kernel_table.h"

enum { PCU_ARRAY_INLINE = 4, PCU_ARRAY_C = 1, PCU_ARRAY_F = 2 };

typedef struct pcu_gpuarray {
    PyObject_HEAD
    pcu_state *st;
    PyObject *gpudata;    /* as given or allocated; NULL: the address as an int */
    PyObject *memory;     /* what keeps the bytes alive; NULL for a bare address */
    PyObject *base;       /* NULL: None */
    PyObject *allocator;  /* NULL: the default one */
    PyArray_Descr *dtype; /* NULL before __init__ */
    PyObject *flags;      /* as assigned; NULL: made on demand */
    PyObject *dict;
    PyObject *weakrefs;
    CUdeviceptr address;
    size_t *shape; /* the inline ones, or one owned block with the strides in it */
    ptrdiff_t *strides;
    size_t count;
    size_t size;
    size_t nbytes;
    size_t mem_size;
    int ndim;
    unsigned char type;       /* pcu_type of dtype */
    unsigned char contiguous; /* PCU_ARRAY_C | PCU_ARRAY_F */
    unsigned char inside; /* 1: the elements are known not to leave the memory; 0: the
                           * next pcu_gpuarray_check looks */
    unsigned char counts_as; /* pcu_type of a bool array in arithmetic: the dtype that
                                was compared. PCU_T_BOOL: not known. */
    size_t inline_shape[PCU_ARRAY_INLINE];
    ptrdiff_t inline_strides[PCU_ARRAY_INLINE];
} pcu_gpuarray;

static inline int
pcu_is_array(pcu_state *st, PyObject *op)
{
    return Py_IS_TYPE(op, st->GPUArray) || PyObject_TypeCheck(op, st->GPUArray);
}

/* The pcu_type that the array has in arithmetic. A bool array that remembers no dtype
 * has PCU_T_BOOL: then the rules choose. */
static inline int
pcu_gpuarray_number_type(const pcu_gpuarray *self)
{
    return self->type == PCU_T_BOOL ? self->counts_as : self->type;
}

static inline size_t
pcu_gpuarray_itemsize(const pcu_gpuarray *self)
{
    return (size_t)PyDataType_ELSIZE(self->dtype);
}

/* The bytes of the elements, whatever the attribute nbytes says. */
static inline size_t
pcu_gpuarray_nbytes(const pcu_gpuarray *self)
{
    return self->count * pcu_gpuarray_itemsize(self);
}

/* -- gpuarray_layout.c ------------------------------------------------------------- */

/* The pcu_type of a dtype: RAW or NONE if kernels do not compute with it. */
PCU_HIDDEN int pcu_type_of_dtype(const PyArray_Descr *dtype);

/* The dtype of a pcu_type. */
PCU_HIDDEN PCU_NEWREF PyArray_Descr *pcu_dtype_of_type(int type);

/* The type that NumPy promotes two types to. */
PCU_HIDDEN PCU_RAISES int pcu_type_promote(int a, int b, int *out);

/* Give the array another dtype, shape and strides (NULL: C order) and compute what
 * follows from them. The arguments may be the array's own. Nothing changes on failure.
 */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_describe(pcu_gpuarray *self,
                                                PyArray_Descr *dtype, int ndim,
                                                const size_t *shape,
                                                const ptrdiff_t *strides);

/* Strides that a program gives: one integer for each axis. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_read_strides(PyObject *value, int ndim,
                                                    ptrdiff_t *strides);

/* Tuples of ints. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_shape_tuple_new(int ndim, const size_t *shape);
PCU_HIDDEN PCU_NEWREF PyObject *pcu_strides_tuple_new(int ndim,
                                                      const ptrdiff_t *strides);

/* The same with the dtype that the array has. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_set_layout(pcu_gpuarray *self, int ndim,
                                                  const size_t *shape,
                                                  const ptrdiff_t *strides);

/* The strides of a packed array whose axes are ordered in memory like self's. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_packed_strides(const pcu_gpuarray *self,
                                                      size_t itemsize,
                                                      ptrdiff_t *strides);

/* 1 if every byte between the first and the last is an element's, in whatever order of
 * axes. */
PCU_HIDDEN int pcu_gpuarray_is_packed(const pcu_gpuarray *self);

/* -- gpuarray_attrs.c -------------------------------------------------------------- */

extern PCU_HIDDEN PyGetSetDef pcu_gpuarray_getset[];
extern PCU_HIDDEN PyType_Spec pcu_gpuarray_flags_spec;

/* 1 if the attribute flags, which programs assign, says how the elements lie. */
PCU_HIDDEN int pcu_gpuarray_flags_are_true(const pcu_gpuarray *self);

/* -- gpuarray.c: the object -------------------------------------------------------- */

/* Take up gpudata: the address, and what keeps the memory alive. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_adopt(pcu_gpuarray *self, PyObject *gpudata);

/* 0 if no element is outside the memory, as far as its size is known; else ValueError
 * with the sizes. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_check_inside(pcu_gpuarray *self);

/* 0 if __init__ has run, else TypeError. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_ready(const pcu_gpuarray *self);

/* 0 if the array may be used by work in ctx (NULL: any context): initialised, its
 * memory not released, of that context, and large enough. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_check(pcu_gpuarray *self,
                                             const pcu_context *ctx);

/* The allocation of ours that the array lies in; NULL: memory of others. */
PCU_HIDDEN PCU_BORROWED pcu_resource *pcu_gpuarray_allocation(const pcu_gpuarray *self);

/* Fresh memory from `allocator` (NULL: the default). strides NULL: C order. type NULL:
 * GPUArray; a subclass is called as subclass(shape, dtype, allocator=, strides=). */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_gpuarray_new(pcu_state *st, PyTypeObject *type,
                                                 int ndim, const size_t *shape,
                                                 const ptrdiff_t *strides,
                                                 PyArray_Descr *dtype,
                                                 PyObject *allocator);

/* The memory of self seen another way, `offset` bytes on. A plain GPUArray. */
PCU_HIDDEN PCU_NEWREF pcu_gpuarray *pcu_gpuarray_view_new(pcu_gpuarray *self, int ndim,
                                                          const size_t *shape,
                                                          const ptrdiff_t *strides,
                                                          ptrdiff_t offset,
                                                          PyArray_Descr *dtype);

/* The context whose work comes next: borrowed from the calling thread's stack. */
PCU_HIDDEN PCU_RAISES PCU_BORROWED pcu_context *pcu_gpuarray_context(pcu_state *st);

/* The stream that work goes to if none is named. */
static inline CUstream
pcu_gpuarray_stream(pcu_state *st)
{
    (void)st;
    return pcu_current_stream();
}

/* -- gpuarray_views.c -------------------------------------------------------------- */

extern PCU_HIDDEN PyMethodDef pcu_gpuarray_view_methods[];
PCU_HIDDEN PyObject *pcu_gpuarray_subscript(PyObject *op, PyObject *index);
PCU_HIDDEN int pcu_gpuarray_ass_subscript(PyObject *op, PyObject *index,
                                          PyObject *value);
PCU_HIDDEN PyObject *pcu_gpuarray_item(PyObject *op, Py_ssize_t index);
PCU_HIDDEN PyObject *pcu_gpuarray_get_T(PyObject *op, void *closure);

/* -- gpuarray_methods.c ------------------------------------------------------------ */

extern PCU_HIDDEN PyMethodDef pcu_gpuarray_methods[];
PCU_HIDDEN int pcu_gpuarray_contains(PyObject *op, PyObject *value);

/* Call function(op, *args, **kwargs) of the Python module `where`. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_gpuarray_forward(PyObject *op, const char *where,
                                                     const char *function,
                                                     PyObject *const *args,
                                                     Py_ssize_t nargs,
                                                     PyObject *kwnames);

/* -- gpuarray_dlpack.c ------------------------------------------------------------- */

extern PCU_HIDDEN PyMethodDef pcu_gpuarray_dlpack_methods[];

/* -- gpuarray_checks.c ------------------------------------------------------------- */

extern PCU_HIDDEN PyMethodDef pcu_gpuarray_check_functions[];

/* What pycuda's modules want done once get() has waited. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_after_get(pcu_state *st);

/* -- gpuarray_reduce.c ------------------------------------------------------------- */

extern PCU_HIDDEN PyMethodDef pcu_gpuarray_reduce_functions[];

/* {name: number} of the reductions. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_gpuarray_reductions_new(void);

/* -- gpuarray_copy.c --------------------------------------------------------------- */

extern PCU_HIDDEN PyMethodDef pcu_gpuarray_copy_methods[];
extern PCU_HIDDEN PyMethodDef pcu_gpuarray_copy_functions[];

/* A packed copy on the device, with the axes in the order of self's. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_gpuarray_copy_new(pcu_gpuarray *self,
                                                      CUstream stream);

/* The same elements under a shape of as many. What is packed is read in the order of
 * memory; otherwise in C (or F) order of the indices, with a copy, made in the stream,
 * where there is no other way. */
PCU_HIDDEN PCU_NEWREF PCU_RAISES PyObject *pcu_gpuarray_reshape_new(
    pcu_gpuarray *self, int ndim, const size_t *shape, int f_order, CUstream stream);

/* dest[...] = src, with broadcasting and conversion. */
PCU_HIDDEN PCU_RAISES int pcu_gpuarray_assign(pcu_gpuarray *dest, PyObject *src,
                                              CUstream stream);

/* -- gpuarray_host.c: numpy arrays for the elements of a GPUArray -------------------
 */

/* Do host array and (packed) device array have each element at the same distance? */
PCU_HIDDEN int pcu_host_is_alike(PyArrayObject *host, const pcu_gpuarray *device);

/* An uninitialised host array with the axes in the order of self's; the second one in
 * page-locked memory. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_host_new(pcu_gpuarray *self);
PCU_HIDDEN PCU_NEWREF PyObject *pcu_host_pagelocked_new(pcu_gpuarray *self);

/* Check a host array that a program gives: its kind, dtype (dtype_error) and size. One
 * of another shape is reshaped, with a warning of that class. */
PCU_HIDDEN PCU_NEWREF PyArrayObject *pcu_host_checked_new(pcu_gpuarray *self,
                                                          PyObject *host,
                                                          PyObject *dtype_error,
                                                          PyObject *warning);

/* The host array with each element where the packed `like` has it. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_host_arranged_new(PyArrayObject *host,
                                                      pcu_gpuarray *like);

/* The host array packed, the order of its axes kept. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_host_packed_new(PyObject *ary);

/* -- gpuarray_exchange.c: other libraries ------------------------------------------ */

extern PCU_HIDDEN PyMethodDef pcu_gpuarray_exchange_functions[];

/* -- elementwise.c: kernels over operands ------------------------------------------ */

typedef struct {
    pcu_gpuarray *array;     /* borrowed; NULL: a scalar */
    int type;                /* pcu_type of the elements or of the scalar */
    unsigned char value[16]; /* the scalar */
} pcu_operand;

/* Queue outputs = op(inputs): inputs broadcast against the outputs, which have one
 * shape. raw is the size of RAW elements. Inputs that overlap an output otherwise than
 * exactly are copied before. */
PCU_HIDDEN PCU_RAISES int pcu_elementwise(pcu_state *st, int op, int nin,
                                          const pcu_operand *inputs, int nout,
                                          pcu_gpuarray *const *outputs, int compute,
                                          CUstream stream);

/* Would writing `out` change elements of `in` that other threads still read? Not if the
 * arrays have the same elements, each of which its own thread reads and writes. */
PCU_HIDDEN int pcu_gpuarray_conflicts(const pcu_gpuarray *in, const pcu_gpuarray *out);

/* -- transpose.c ------------------------------------------------------------------- */

/* A copy between two arrays of one shape, element by element. */
typedef struct {
    CUdeviceptr source_address;
    CUdeviceptr target_address;
    size_t itemsize;
    int ndim;
    const size_t *shape;
    const ptrdiff_t *source; /* strides */
    const ptrdiff_t *target;
} pcu_strided;

/* Queue the copy if it is one that exchanges axes: 1, 0 if it is not, -1. */
PCU_HIDDEN PCU_RAISES int pcu_transpose(pcu_state *st, pcu_context *ctx,
                                        const pcu_strided *copy, CUstream stream);

/* -- scalars.c --------------------------------------------------------------------- */

/* Is this a number by itself: a Python number, a NumPy scalar, an array without axes?
 */
PCU_HIDDEN int pcu_is_scalar(PyObject *value);

/* Its pcu_type, and whether it yields to the dtype of arrays (*weak; Python's int,
 * float and complex). PCU_T_NONE if kernels do not know its dtype. */
PCU_HIDDEN PCU_RAISES int pcu_scalar_type(PyObject *value, int *type, int *weak);

/* Its bytes in a type. OverflowError for an integer that does not fit, TypeError for a
 * number of a wider kind; with `force` a float loses its fraction in an integer, and
 * one that is not finite is refused. */
PCU_HIDDEN PCU_RAISES int pcu_scalar_pack(PyObject *value, int type, int force,
                                          unsigned char *out);

/* -- gpuarray_ops.c: operators ----------------------------------------------------- */

extern PCU_HIDDEN const PyType_Slot pcu_gpuarray_number_slots[];
extern PCU_HIDDEN PyMethodDef pcu_gpuarray_op_methods[];
extern PCU_HIDDEN PyMethodDef pcu_gpuarray_op_functions[];
PCU_HIDDEN PyObject *pcu_gpuarray_richcompare(PyObject *a, PyObject *b, int op);

PCU_HIDDEN PyObject *pcu_gpuarray_get_real(PyObject *op, void *closure);
PCU_HIDDEN PyObject *pcu_gpuarray_get_imag(PyObject *op, void *closure);

/* {name: number} of the elementwise operations. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_gpuarray_ops_new(void);

/* -- gpuarray_apply.c: the rules of dtypes and shapes ------------------------------ */

/* What op(inputs) is asked for with. */
typedef struct {
    PyObject *outs[2]; /* borrowed: arrays to write to; NULL: new ones */
    int dtype;         /* pcu_type to compute in; PCU_T_NONE: by the rules */
    CUstream stream;
    PyObject *allocator; /* borrowed, of new arrays; NULL: the first input's */
} pcu_apply_options;

/* op(inputs), as NumPy's function of that name would: an array, or a tuple of two. NULL
 * and no exception where an input is nothing that arrays go with. */
PCU_HIDDEN PyObject *pcu_gpuarray_apply(pcu_state *st, int op, PyObject *const *inputs,
                                        const pcu_apply_options *options);

/* A new array for the result of an operation on self, of self's type: shape NULL is
 * self's, with the order of its axes. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_gpuarray_like_new(pcu_gpuarray *self, int ndim,
                                                      const size_t *shape,
                                                      PyArray_Descr *dtype,
                                                      PyObject *allocator);

#endif
