/* Sizes, strides and views of arrays in memory, as arithmetic on plain numbers.
 *
 * A shape is ndim lengths (size_t), strides are ndim byte distances (ptrdiff_t), ndim
 * is 0 .. PCU_MAX_NDIM; the arrays may be NULL where ndim is 0. Whatever can overflow
 * is checked: no function gives a size above PTRDIFF_MAX, so that every byte of an
 * array has a representable offset. Where NumPy has an answer, the answer here is
 * NumPy's.
 *
 * Invariant: a function that returns -1 has said so before anyone could use a wrapped
 * number; its out-parameters then hold nothing of use. Predicates return 1 or 0.
 *
 * Pure: no Python, no driver, no process-wide state; any thread, no lock. Called by
 * python/. */
#ifndef DRIVER_SHAPE_H
#define DRIVER_SHAPE_H

#include <stddef.h>
#include <stdint.h>

#define PCU_MAX_NDIM 64

/* -- checked arithmetic ------------------------------------------------------------ */

/* *out = a * b. 0, or -1 on overflow. */
static inline int
pcu_mul_size(size_t a, size_t b, size_t *out)
{
    return __builtin_mul_overflow(a, b, out) ? -1 : 0;
}

/* *out = a + b. 0, or -1 on overflow. */
static inline int
pcu_add_size(size_t a, size_t b, size_t *out)
{
    return __builtin_add_overflow(a, b, out) ? -1 : 0;
}

/* -- sizes ------------------------------------------------------------------------- */

/* How many items a shape has: 1 without axes, 0 where any length is 0. 0, or -1 on
 * overflow. */
int pcu_shape_count(int ndim, const size_t *shape, size_t *count);

/* How many bytes these items take when packed. 0, or -1 on overflow. */
int pcu_shape_nbytes(int ndim, const size_t *shape, size_t itemsize, size_t *nbytes);

/* -- strides ----------------------------------------------------------------------- */

/* Fills the strides of a packed array whose last (C) or first (F) axis is the fastest.
 * An axis of length 0 counts as 1, as in NumPy. 0, or -1 on overflow. */
int pcu_strides_c(int ndim, const size_t *shape, size_t itemsize, ptrdiff_t *strides);
int pcu_strides_f(int ndim, const size_t *shape, size_t itemsize, ptrdiff_t *strides);

/* Are these the strides of a packed array? Axes of length 1 are ignored; an array
 * without items is both. */
int pcu_is_c_contiguous(int ndim, const size_t *shape, const ptrdiff_t *strides,
                        size_t itemsize);
int pcu_is_f_contiguous(int ndim, const size_t *shape, const ptrdiff_t *strides,
                        size_t itemsize);

/* The bytes that an array touches, relative to its first item: [*low, *high). Both are
 * 0 for an array without items; *low is negative where a stride is. 0, or -1 on
 * overflow. */
int pcu_extent(int ndim, const size_t *shape, const ptrdiff_t *strides, size_t itemsize,
               ptrdiff_t *low, ptrdiff_t *high);

/* The strides under which the same items, in C order (or F order), have another shape:
 * without a copy. Both shapes hold the same number of items. 0, or -1 if there are no
 * such strides. */
int pcu_reshape_strides(int ndim, const size_t *shape, const ptrdiff_t *strides,
                        size_t itemsize, int ndim_out, const size_t *shape_out,
                        int f_order, ptrdiff_t *out);

/* -- loops over several arrays ----------------------------------------------------- */

/* Joins neighbouring axes along which all arrays go on evenly, drops axes of length 1,
 * and puts the axis of the first array's shortest step last. `strides` holds narrays
 * rows of ndim distances, row r at strides + r * PCU_MAX_NDIM. Works in place; returns
 * the new ndim. The set of items visited together is the same, their order may not be.
 */
int pcu_collapse(int ndim, size_t *shape, int narrays, ptrdiff_t *strides);

/* -- broadcasting ------------------------------------------------------------------ */

/* The shape to which both shapes broadcast: the longer ndim, written to out, which has
 * that many places and may be either input. 0, or -1 where the shapes do not fit. */
int pcu_broadcast_shapes(int ndim_a, const size_t *a, int ndim_b, const size_t *b,
                         int *ndim_out, size_t *out);

/* The strides with which an array is read as one of shape_out: 0 along every repeated
 * axis. `out` has ndim_out places. 0, or -1 where the array does not broadcast to that
 * shape. */
int pcu_broadcast_strides(int ndim, const size_t *shape, const ptrdiff_t *strides,
                          int ndim_out, const size_t *shape_out, ptrdiff_t *out);

/* -- views ------------------------------------------------------------------------- */

/* start:stop:step as the program wrote it. An end that was left out has its flag 0; a
 * step that was left out is 1. */
typedef struct {
    ptrdiff_t start;
    ptrdiff_t stop;
    ptrdiff_t step;
    int has_start;
    int has_stop;
} pcu_slice;

/* What a slice picks of one axis. */
typedef struct {
    size_t first;   /* index of the first item picked; 0 if none is */
    ptrdiff_t step; /* to the next one; 1 if none is picked */
    size_t count;   /* how many are picked */
} pcu_slice_range;

/* Resolves a slice against a length by Python's rules. 0, or -1 for a step of 0. */
int pcu_slice_resolve(const pcu_slice *slice, size_t length, pcu_slice_range *range);

/* Takes a slice of one axis: its new length and stride, and by how many bytes the first
 * item moves. 0, or -1 for a step of 0 and on overflow. */
int pcu_view_slice(const pcu_slice *slice, size_t length, ptrdiff_t stride,
                   size_t *length_out, ptrdiff_t *stride_out, ptrdiff_t *offset);

/* Picks one item of an axis, counted from the end if the index is negative: by how many
 * bytes the first item moves. 0, or -1 if the index is out of range. */
int pcu_view_index(ptrdiff_t index, size_t length, ptrdiff_t stride, ptrdiff_t *offset);

#endif
