/* Sizes, strides and views of arrays in memory, as arithmetic on plain numbers.
 *
 * A shape is ndim lengths (size_t), strides are ndim byte distances (ptrdiff_t), ndim
 * is 0 .. PCU_MAX_NDIM; the pointers may be NULL where ndim is 0. Every operation that
 * can overflow is checked: no function gives a size above PTRDIFF_MAX, so the offset of
 * every byte of an array fits a ptrdiff_t. The results are NumPy's where NumPy defines
 * them.
 *
 * Invariant: if a function returns -1, its out-parameters are undefined. No function
 * returns a number that overflowed.
 *
 * Pure: no Python, no driver, no process-wide state; any thread, no lock. Callers: code
 * in python/. */
#ifndef DRIVER_SHAPE_H
#define DRIVER_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCU_MAX_NDIM 64

/* -- checked arithmetic ------------------------------------------------------------ */

/* *out = a * b. Return 0, or -1 on overflow. */
static inline int
pcu_mul_size(size_t a, size_t b, size_t *out)
{
    if (__builtin_mul_overflow(a, b, out)) {
        return -1;
    }
    return 0;
}

/* *out = a + b. Return 0, or -1 on overflow. */
static inline int
pcu_add_size(size_t a, size_t b, size_t *out)
{
    if (__builtin_add_overflow(a, b, out)) {
        return -1;
    }
    return 0;
}

/* -- sizes ------------------------------------------------------------------------- */

/* *count = the number of items of a shape: 1 without axes, 0 if a length is 0. Return
 * 0, or -1 on overflow. */
int pcu_shape_count(int ndim, const size_t *shape, size_t *count);

/* -- strides ----------------------------------------------------------------------- */

/* Store the strides of a packed array whose last (C) or first (F) axis is the fastest.
 * An axis of length 0 counts as 1, as in NumPy. Return 0, or -1 on overflow. */
int pcu_strides_c(int ndim, const size_t *shape, size_t itemsize, ptrdiff_t *strides);
int pcu_strides_f(int ndim, const size_t *shape, size_t itemsize, ptrdiff_t *strides);

/* Whether these are the strides of a packed array. Axes of length 1 are ignored. An
 * array without items is packed in both orders. */
bool pcu_is_c_contiguous(int ndim, const size_t *shape, const ptrdiff_t *strides,
                         size_t itemsize);
bool pcu_is_f_contiguous(int ndim, const size_t *shape, const ptrdiff_t *strides,
                         size_t itemsize);

/* The bytes that an array covers, relative to its first item: [*low, *high). Both are 0
 * for an array without items; *low is negative if a stride is. Return 0, or -1 on
 * overflow. */
int pcu_extent(int ndim, const size_t *shape, const ptrdiff_t *strides, size_t itemsize,
               ptrdiff_t *low, ptrdiff_t *high);

/* The strides that give the same items, in C or F order, another shape without a copy.
 * Both shapes have the same number of items. Return 0, or -1 if no such strides exist.
 */
int pcu_reshape_strides(int ndim, const size_t *shape, const ptrdiff_t *strides,
                        size_t itemsize, int ndim_out, const size_t *shape_out,
                        bool f_order, ptrdiff_t *out);

/* -- loops over several arrays ----------------------------------------------------- */

/* Drop axes of length 1 and order the others by the strides of the first `narrays`
 * rows, the shortest last. All `rows` are moved. Returns the new ndim. */
int pcu_sort_axes(int ndim, size_t *shape, int narrays, int rows, ptrdiff_t *strides);

/* Join neighbouring axes that are one evenly spaced axis in all arrays, drop axes of
 * length 1, and order the axes by the strides of the arrays, the shortest last.
 * `strides` holds narrays rows of ndim distances, row r at strides + r * PCU_MAX_NDIM.
 * Works in place and returns the new ndim. The same items correspond to each other as
 * before, but they may be visited in another order. */
int pcu_collapse(int ndim, size_t *shape, int narrays, ptrdiff_t *strides);

/* -- broadcasting ------------------------------------------------------------------ */

/* Broadcast two shapes. `out` has room for the larger ndim and may be one of the
 * inputs. Return 0, or -1 if the shapes do not broadcast. */
int pcu_broadcast_shapes(int ndim_a, const size_t *a, int ndim_b, const size_t *b,
                         int *ndim_out, size_t *out);

/* The strides of an array broadcast to shape_out: 0 along every repeated axis. `out`
 * has room for ndim_out strides. Return 0, or -1 if the array does not broadcast to
 * that shape. */
int pcu_broadcast_strides(int ndim, const size_t *shape, const ptrdiff_t *strides,
                          int ndim_out, const size_t *shape_out, ptrdiff_t *out);

/* -- views ------------------------------------------------------------------------- */

/* start:stop:step as the program wrote it. has_start and has_stop are false for a
 * missing end; a missing step is 1. */
typedef struct {
    ptrdiff_t start;
    ptrdiff_t stop;
    ptrdiff_t step;
    bool has_start;
    bool has_stop;
} pcu_slice;

/* The items of one axis that a slice selects. */
typedef struct {
    size_t first;   /* index of the first selected item; 0 if there is none */
    ptrdiff_t step; /* to the next selected item; 1 if there is none */
    size_t count;   /* number of selected items */
} pcu_slice_range;

/* Resolve a slice against a length by Python's rules. Return 0, or -1 for a step of
 * 0. */
int pcu_slice_resolve(const pcu_slice *slice, size_t length, pcu_slice_range *range);

/* Slice one axis: store its new length and stride, and the offset of the new first item
 * in bytes. Return 0, or -1 for a step of 0 and on overflow. */
int pcu_view_slice(const pcu_slice *slice, size_t length, ptrdiff_t stride,
                   size_t *length_out, ptrdiff_t *stride_out, ptrdiff_t *offset);

/* Select one item of an axis; a negative index counts from the end. *offset is its
 * distance from the first item in bytes. Return 0, or -1 if the index is out of range.
 */
int pcu_view_index(ptrdiff_t index, size_t length, ptrdiff_t stride, ptrdiff_t *offset);

#endif
