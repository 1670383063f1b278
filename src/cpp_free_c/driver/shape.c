/* Sizes, strides, broadcasting and slices of arrays. Contracts and callers: see
 * shape.h.
 *
 * Invariant: no function returns a number that overflowed. */
#include "driver/shape.h"

/* *out = a * b for signed byte distances. Return 0, or -1 on overflow. */
static int
shape_mul_distance(ptrdiff_t a, ptrdiff_t b, ptrdiff_t *out)
{
    if (__builtin_mul_overflow(a, b, out)) {
        return -1;
    }
    return 0;
}

/* Whether an axis has no items. */
static bool
shape_is_empty(int ndim, const size_t *shape)
{
    for (int i = 0; i < ndim; i++) {
        if (shape[i] == 0) {
            return true;
        }
    }
    return false;
}

int
pcu_shape_count(int ndim, const size_t *shape, size_t *count)
{
    size_t product = 1;

    /* Look for zeros first: (0, huge, huge) has no items and must not overflow. */
    if (shape_is_empty(ndim, shape)) {
        *count = 0;
        return 0;
    }
    for (int i = 0; i < ndim; i++) {
        if (pcu_mul_size(product, shape[i], &product) < 0) {
            return -1;
        }
    }
    *count = product;
    if (product > PTRDIFF_MAX) {
        return -1;
    }
    return 0;
}

/* Store the stride of one axis and advance *step to the next slower axis. */
static int
shape_next_stride(size_t length, size_t *step, ptrdiff_t *stride)
{
    *stride = (ptrdiff_t)*step;
    if (length > 1 && pcu_mul_size(*step, length, step) < 0) {
        return -1;
    }
    if (*step > PTRDIFF_MAX) {
        return -1;
    }
    return 0;
}

int
pcu_strides_c(int ndim, const size_t *shape, size_t itemsize, ptrdiff_t *strides)
{
    size_t step = itemsize;

    for (int i = ndim - 1; i >= 0; i--) {
        if (shape_next_stride(shape[i], &step, &strides[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

int
pcu_strides_f(int ndim, const size_t *shape, size_t itemsize, ptrdiff_t *strides)
{
    size_t step = itemsize;

    for (int i = 0; i < ndim; i++) {
        if (shape_next_stride(shape[i], &step, &strides[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Whether the array is packed if its axes are visited from `axis` on in steps of
 * `direction`. The answer is false where the expected stride overflows: no array in
 * memory has that shape. */
static bool
shape_is_packed(int ndim, const size_t *shape, const ptrdiff_t *strides,
                size_t itemsize, int axis, int direction)
{
    size_t expected = itemsize;

    if (shape_is_empty(ndim, shape)) {
        return true;
    }
    for (int i = 0; i < ndim; i++, axis += direction) {
        if (shape[axis] == 1) {
            continue;
        }
        if (strides[axis] < 0 || (size_t)strides[axis] != expected ||
            pcu_mul_size(expected, shape[axis], &expected) < 0) {
            return false;
        }
    }
    return true;
}

bool
pcu_is_c_contiguous(int ndim, const size_t *shape, const ptrdiff_t *strides,
                    size_t itemsize)
{
    return shape_is_packed(ndim, shape, strides, itemsize, ndim - 1, -1);
}

bool
pcu_is_f_contiguous(int ndim, const size_t *shape, const ptrdiff_t *strides,
                    size_t itemsize)
{
    return shape_is_packed(ndim, shape, strides, itemsize, 0, 1);
}

int
pcu_extent(int ndim, const size_t *shape, const ptrdiff_t *strides, size_t itemsize,
           ptrdiff_t *low, ptrdiff_t *high)
{
    ptrdiff_t reach;

    *low = 0;
    *high = 0;
    if (shape_is_empty(ndim, shape)) {
        return 0;
    }
    if (itemsize > PTRDIFF_MAX) {
        return -1;
    }
    *high = (ptrdiff_t)itemsize;
    for (int i = 0; i < ndim; i++) {
        ptrdiff_t *end = high;

        if (strides[i] < 0) {
            end = low;
        }
        if (shape[i] - 1 > PTRDIFF_MAX ||
            shape_mul_distance((ptrdiff_t)(shape[i] - 1), strides[i], &reach) < 0 ||
            __builtin_add_overflow(*end, reach, end)) {
            return -1;
        }
    }
    return 0;
}

/* The length of the i-th axis from the end; 1 for an axis that the shape lacks. */
static size_t
shape_length_from_end(int ndim, const size_t *shape, int i)
{
    if (i > ndim) {
        return 1;
    }
    return shape[ndim - i];
}

int
pcu_broadcast_shapes(int ndim_a, const size_t *a, int ndim_b, const size_t *b,
                     int *ndim_out, size_t *out)
{
    int ndim = ndim_a;
    if (ndim_b > ndim) {
        ndim = ndim_b;
    }
    /* Begin with the last axis. If `out` is one of the inputs, an element is then read
     * before it is overwritten. */
    for (int i = 1; i <= ndim; i++) {
        size_t length_a = shape_length_from_end(ndim_a, a, i);
        size_t length_b = shape_length_from_end(ndim_b, b, i);

        if (length_a != length_b && length_a != 1 && length_b != 1) {
            return -1;
        }
        if (length_a == 1) {
            length_a = length_b;
        }
        out[ndim - i] = length_a;
    }
    *ndim_out = ndim;
    return 0;
}

int
pcu_broadcast_strides(int ndim, const size_t *shape, const ptrdiff_t *strides,
                      int ndim_out, const size_t *shape_out, ptrdiff_t *out)
{
    if (ndim > ndim_out) {
        return -1;
    }
    for (int i = 1; i <= ndim_out; i++) {
        size_t wanted = shape_out[ndim_out - i];

        if (i <= ndim && shape[ndim - i] == wanted) {
            out[ndim_out - i] = strides[ndim - i];
        }
        else if (i > ndim || shape[ndim - i] == 1) {
            out[ndim_out - i] = 0;
        }
        else {
            return -1;
        }
    }
    return 0;
}

/* Clip one end of a slice to [lowest, highest]. A negative end counts from the end of
 * the axis. */
static ptrdiff_t
shape_clip_end(ptrdiff_t end, ptrdiff_t length, ptrdiff_t lowest, ptrdiff_t highest)
{
    if (end < 0) {
        end += length;
    }
    if (end < lowest) {
        return lowest;
    }
    if (end > highest) {
        return highest;
    }
    return end;
}

int
pcu_slice_resolve(const pcu_slice *slice, size_t length, pcu_slice_range *range)
{
    ptrdiff_t n = (ptrdiff_t)length;
    ptrdiff_t step = slice->step;
    int backwards = step < 0;
    ptrdiff_t lowest = 0; /* the ends are clipped to lowest .. highest */
    ptrdiff_t highest = n;
    ptrdiff_t start = 0; /* where the end is missing */
    ptrdiff_t stop = n;

    if (step == 0 || length > PTRDIFF_MAX) {
        return -1;
    }
    if (backwards) {
        lowest = -1;
        highest = n - 1;
        start = highest;
        stop = lowest;
    }
    if (slice->has_start) {
        start = shape_clip_end(slice->start, n, lowest, highest);
    }
    if (slice->has_stop) {
        stop = shape_clip_end(slice->stop, n, lowest, highest);
    }
    if ((backwards && start <= stop) || (!backwards && start >= stop)) {
        *range = (pcu_slice_range){.first = 0, .step = 1, .count = 0};
        return 0;
    }
    size_t distance = (size_t)(stop - start);
    size_t stride = (size_t)step;
    if (backwards) {
        /* Negate as unsigned: -PTRDIFF_MIN does not fit a ptrdiff_t. */
        distance = (size_t)0 - distance;
        stride = (size_t)0 - stride;
    }
    range->first = (size_t)start;
    range->step = step;
    range->count = (distance - 1) / stride + 1;
    return 0;
}

int
pcu_view_slice(const pcu_slice *slice, size_t length, ptrdiff_t stride,
               size_t *length_out, ptrdiff_t *stride_out, ptrdiff_t *offset)
{
    pcu_slice_range range;

    if (pcu_slice_resolve(slice, length, &range) < 0 ||
        shape_mul_distance((ptrdiff_t)range.first, stride, offset) < 0) {
        return -1;
    }
    *length_out = range.count;
    if (shape_mul_distance(stride, range.step, stride_out) < 0) {
        /* x[::huge] selects one item, so the stride is never used. */
        *stride_out = stride;
        if (range.count > 1) {
            return -1;
        }
    }
    return 0;
}

int
pcu_view_index(ptrdiff_t index, size_t length, ptrdiff_t stride, ptrdiff_t *offset)
{
    size_t place = (size_t)index;

    if (index < 0) {
        place += length;
        if ((size_t)0 - (size_t)index > length) {
            return -1;
        }
    }
    if (place >= length || place > PTRDIFF_MAX) {
        return -1;
    }
    return shape_mul_distance((ptrdiff_t)place, stride, offset);
}

/* The axis at a distance from the fastest one. */
static int
shape_axis_at(int ndim, bool f_order, int distance)
{
    if (f_order) {
        return distance;
    }
    return ndim - 1 - distance;
}

/* The stride of a new axis of length 1: that of the run it is in, or the item size. */
static ptrdiff_t
shape_unit_stride(const ptrdiff_t *step, int run, int runs, size_t itemsize)
{
    if (run < runs) {
        return step[run];
    }
    return (ptrdiff_t)itemsize;
}

int
pcu_reshape_strides(int ndim, const size_t *shape, const ptrdiff_t *strides,
                    size_t itemsize, int ndim_out, const size_t *shape_out,
                    bool f_order, ptrdiff_t *out)
{
    size_t length[PCU_MAX_NDIM];
    ptrdiff_t step[PCU_MAX_NDIM];
    int runs = 0;
    int run = 0;

    if (shape_is_empty(ndim, shape)) { /* no item has a place: any strides do */
        return f_order ? pcu_strides_f(ndim_out, shape_out, itemsize, out)
                       : pcu_strides_c(ndim_out, shape_out, itemsize, out);
    }
    /* Collect the evenly spaced runs of items, the fastest first. */
    for (int d = 0; d < ndim; d++) {
        int axis = shape_axis_at(ndim, f_order, d);
        ptrdiff_t reach;

        if (shape[axis] == 1) {
            continue;
        }
        if (runs > 0 &&
            shape_mul_distance(step[runs - 1], (ptrdiff_t)length[runs - 1], &reach) ==
                0 &&
            reach == strides[axis]) {
            length[runs - 1] *= shape[axis];
            continue;
        }
        length[runs] = shape[axis];
        step[runs++] = strides[axis];
    }
    /* Cut each run into axes of the new shape. No axis may span two runs. */
    for (int d = 0; d < ndim_out; d++) {
        int axis = shape_axis_at(ndim_out, f_order, d);

        if (shape_out[axis] == 1) {
            out[axis] = shape_unit_stride(step, run, runs, itemsize);
            continue;
        }
        while (run < runs && length[run] == 1) {
            run++;
        }
        if (run == runs || shape_out[axis] == 0 || length[run] % shape_out[axis] != 0) {
            return -1;
        }
        out[axis] = step[run];
        length[run] /= shape_out[axis];
        if (shape_mul_distance(step[run], (ptrdiff_t)shape_out[axis], &step[run]) < 0) {
            return -1;
        }
    }
    return 0;
}

static size_t
shape_magnitude(ptrdiff_t distance)
{
    if (distance < 0) {
        return (size_t)0 - (size_t)distance;
    }
    return (size_t)distance;
}

/* Whether axis a should be slower than axis b. The first array with different non-zero
 * strides decides. */
static bool
shape_is_slower(int narrays, const ptrdiff_t *strides, int a, int b)
{
    for (int r = 0; r < narrays; r++) {
        size_t step_a = shape_magnitude(strides[r * PCU_MAX_NDIM + a]);
        size_t step_b = shape_magnitude(strides[r * PCU_MAX_NDIM + b]);

        if (step_a != step_b && step_a != 0 && step_b != 0) {
            return step_a > step_b;
        }
    }
    return a < b;
}

static void
shape_swap_axes(size_t *shape, int narrays, ptrdiff_t *strides, int a, int b)
{
    size_t length = shape[a];

    shape[a] = shape[b];
    shape[b] = length;
    for (int r = 0; r < narrays; r++) {
        ptrdiff_t *row = strides + (size_t)r * PCU_MAX_NDIM;
        ptrdiff_t step = row[a];

        row[a] = row[b];
        row[b] = step;
    }
}

/* Whether axis b, repeated along axis a, is one evenly spaced axis in every array. */
static bool
shape_is_joint(size_t length_b, int narrays, const ptrdiff_t *strides, int a, int b)
{
    for (int r = 0; r < narrays; r++) {
        const ptrdiff_t *row = strides + (size_t)r * PCU_MAX_NDIM;
        ptrdiff_t reach;

        if (shape_mul_distance(row[b], (ptrdiff_t)length_b, &reach) < 0 ||
            reach != row[a]) {
            return false;
        }
    }
    return true;
}

int
pcu_sort_axes(int ndim, size_t *shape, int narrays, int rows, ptrdiff_t *strides)
{
    int kept = 0;

    for (int i = 0; i < ndim; i++) {
        if (shape[i] == 1) {
            continue;
        }
        if (kept != i) {
            shape_swap_axes(shape, rows, strides, kept, i);
        }
        for (int k = kept; k > 0 && !shape_is_slower(narrays, strides, k - 1, k); k--) {
            shape_swap_axes(shape, rows, strides, k - 1, k);
        }
        kept++;
    }
    return kept;
}

int
pcu_collapse(int ndim, size_t *shape, int narrays, ptrdiff_t *strides)
{
    int kept = 0;

    ndim = pcu_sort_axes(ndim, shape, narrays, narrays, strides);
    for (int i = 0; i < ndim; i++) {
        if (kept > 0 && shape_is_joint(shape[i], narrays, strides, kept - 1, i)) {
            shape[kept - 1] *= shape[i];
            for (int r = 0; r < narrays; r++) {
                strides[r * PCU_MAX_NDIM + kept - 1] = strides[r * PCU_MAX_NDIM + i];
            }
            continue;
        }
        if (kept != i) {
            shape_swap_axes(shape, narrays, strides, kept, i);
        }
        kept++;
    }
    return kept;
}
