/* Array sizes, strides, broadcasting and slices: see shape.h for the contracts.
 *
 * Invariant: no number leaves a function unless the arithmetic that made it was exact.
 */
#include "driver/shape.h"

/* *out = a * b for signed byte distances. 0, or -1 on overflow. */
static int
mul_distance(ptrdiff_t a, ptrdiff_t b, ptrdiff_t *out)
{
    return __builtin_mul_overflow(a, b, out) ? -1 : 0;
}

int
pcu_shape_count(int ndim, const size_t *shape, size_t *count)
{
    size_t product = 1;

    /* Looked for first: (0, huge, huge) has no items, whatever the rest multiplies to.
     */
    for (int i = 0; i < ndim; i++) {
        if (shape[i] == 0) {
            *count = 0;
            return 0;
        }
    }
    for (int i = 0; i < ndim; i++) {
        if (pcu_mul_size(product, shape[i], &product) < 0) {
            return -1;
        }
    }
    *count = product;
    return product > PTRDIFF_MAX ? -1 : 0;
}

int
pcu_shape_nbytes(int ndim, const size_t *shape, size_t itemsize, size_t *nbytes)
{
    size_t count;

    if (pcu_shape_count(ndim, shape, &count) < 0) {
        return -1;
    }
    if (pcu_mul_size(count, itemsize, nbytes) < 0) {
        return -1;
    }
    return *nbytes > PTRDIFF_MAX ? -1 : 0;
}

/* Fills the stride of one axis and makes *step that of the next slower one. */
static int
next_stride(size_t length, size_t *step, ptrdiff_t *stride)
{
    *stride = (ptrdiff_t)*step;
    if (length > 1 && pcu_mul_size(*step, length, step) < 0) {
        return -1;
    }
    return *step > PTRDIFF_MAX ? -1 : 0;
}

int
pcu_strides_c(int ndim, const size_t *shape, size_t itemsize, ptrdiff_t *strides)
{
    size_t step = itemsize;

    for (int i = ndim - 1; i >= 0; i--) {
        if (next_stride(shape[i], &step, &strides[i]) < 0) {
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
        if (next_stride(shape[i], &step, &strides[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Is the array packed, walking its axes from `axis` on, `direction` at a time? A length
 * that overflows the expected stride cannot belong to an array in memory: the answer is
 * then 0. */
static int
is_packed(int ndim, const size_t *shape, const ptrdiff_t *strides, size_t itemsize,
          int axis, int direction)
{
    size_t expected = itemsize;

    for (int i = 0; i < ndim; i++) {
        if (shape[i] == 0) {
            return 1;
        }
    }
    for (int i = 0; i < ndim; i++, axis += direction) {
        if (shape[axis] == 1) {
            continue;
        }
        if (strides[axis] < 0 || (size_t)strides[axis] != expected ||
            pcu_mul_size(expected, shape[axis], &expected) < 0) {
            return 0;
        }
    }
    return 1;
}

int
pcu_is_c_contiguous(int ndim, const size_t *shape, const ptrdiff_t *strides,
                    size_t itemsize)
{
    return is_packed(ndim, shape, strides, itemsize, ndim - 1, -1);
}

int
pcu_is_f_contiguous(int ndim, const size_t *shape, const ptrdiff_t *strides,
                    size_t itemsize)
{
    return is_packed(ndim, shape, strides, itemsize, 0, 1);
}

int
pcu_extent(int ndim, const size_t *shape, const ptrdiff_t *strides, size_t itemsize,
           ptrdiff_t *low, ptrdiff_t *high)
{
    ptrdiff_t reach;

    *low = 0;
    *high = 0;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] == 0) {
            return 0;
        }
    }
    if (itemsize > PTRDIFF_MAX) {
        return -1;
    }
    *high = (ptrdiff_t)itemsize;
    for (int i = 0; i < ndim; i++) {
        ptrdiff_t *end = strides[i] < 0 ? low : high;

        if (shape[i] - 1 > PTRDIFF_MAX ||
            mul_distance((ptrdiff_t)(shape[i] - 1), strides[i], &reach) < 0 ||
            __builtin_add_overflow(*end, reach, end)) {
            return -1;
        }
    }
    return 0;
}

int
pcu_broadcast_shapes(int ndim_a, const size_t *a, int ndim_b, const size_t *b,
                     int *ndim_out, size_t *out)
{
    int ndim = ndim_a > ndim_b ? ndim_a : ndim_b;

    /* From the last axis on: a place is written after the inputs' same place was read,
     * even where out is one of them. */
    for (int i = 1; i <= ndim; i++) {
        size_t length_a = i <= ndim_a ? a[ndim_a - i] : 1;
        size_t length_b = i <= ndim_b ? b[ndim_b - i] : 1;

        if (length_a != length_b && length_a != 1 && length_b != 1) {
            return -1;
        }
        out[ndim - i] = length_a == 1 ? length_b : length_a;
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

/* Brings one end of a slice into [lowest, highest], counting from the end if negative.
 */
static ptrdiff_t
clip_end(ptrdiff_t end, ptrdiff_t length, ptrdiff_t lowest, ptrdiff_t highest)
{
    if (end < 0) {
        end += length;
    }
    if (end < lowest) {
        return lowest;
    }
    return end > highest ? highest : end;
}

int
pcu_slice_resolve(const pcu_slice *slice, size_t length, pcu_slice_range *range)
{
    ptrdiff_t n = (ptrdiff_t)length;
    ptrdiff_t step = slice->step;
    ptrdiff_t lowest = step < 0 ? -1 : 0;
    ptrdiff_t highest = step < 0 ? n - 1 : n;
    ptrdiff_t start = step < 0 ? highest : lowest;
    ptrdiff_t stop = step < 0 ? lowest : highest;
    size_t distance;
    size_t stride;

    if (step == 0 || length > PTRDIFF_MAX) {
        return -1;
    }
    if (slice->has_start) {
        start = clip_end(slice->start, n, lowest, highest);
    }
    if (slice->has_stop) {
        stop = clip_end(slice->stop, n, lowest, highest);
    }
    if (step < 0 ? start <= stop : start >= stop) {
        *range = (pcu_slice_range){.first = 0, .step = 1, .count = 0};
        return 0;
    }
    distance = (size_t)(stop - start);
    stride = (size_t)step;
    if (step < 0) {
        /* Negated as unsigned: -PTRDIFF_MIN is no ptrdiff_t. */
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
        mul_distance((ptrdiff_t)range.first, stride, offset) < 0) {
        return -1;
    }
    *length_out = range.count;
    if (mul_distance(stride, range.step, stride_out) < 0) {
        /* x[::huge] picks one item: no step is ever taken, so any stride will do. */
        *stride_out = stride;
        return range.count > 1 ? -1 : 0;
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
    return mul_distance((ptrdiff_t)place, stride, offset);
}

/* The axis at a distance from the fastest one. */
static int
reshape_axis(int ndim, int f_order, int distance)
{
    return f_order ? distance : ndim - 1 - distance;
}

int
pcu_reshape_strides(int ndim, const size_t *shape, const ptrdiff_t *strides,
                    size_t itemsize, int ndim_out, const size_t *shape_out, int f_order,
                    ptrdiff_t *out)
{
    size_t length[PCU_MAX_NDIM];
    ptrdiff_t step[PCU_MAX_NDIM];
    int runs = 0;
    int run = 0;

    /* The evenly spaced runs of items, the fastest first. */
    for (int d = 0; d < ndim; d++) {
        int axis = reshape_axis(ndim, f_order, d);
        ptrdiff_t reach;

        if (shape[axis] == 1) {
            continue;
        }
        if (runs > 0 &&
            mul_distance(step[runs - 1], (ptrdiff_t)length[runs - 1], &reach) == 0 &&
            reach == strides[axis]) {
            length[runs - 1] *= shape[axis];
            continue;
        }
        length[runs] = shape[axis];
        step[runs++] = strides[axis];
    }
    /* Each run is cut into axes of the new shape; none may span two runs. */
    for (int d = 0; d < ndim_out; d++) {
        int axis = reshape_axis(ndim_out, f_order, d);

        if (shape_out[axis] == 1) {
            out[axis] = run < runs ? step[run] : (ptrdiff_t)itemsize;
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
        if (mul_distance(step[run], (ptrdiff_t)shape_out[axis], &step[run]) < 0) {
            return -1;
        }
    }
    return 0;
}

static size_t
magnitude(ptrdiff_t distance)
{
    return distance < 0 ? (size_t)0 - (size_t)distance : (size_t)distance;
}

/* Should axis a run slower than axis b? Looked for in the first array that moves along
 * both differently. */
static int
is_slower(int narrays, const ptrdiff_t *strides, int a, int b)
{
    for (int r = 0; r < narrays; r++) {
        size_t step_a = magnitude(strides[r * PCU_MAX_NDIM + a]);
        size_t step_b = magnitude(strides[r * PCU_MAX_NDIM + b]);

        if (step_a != step_b && step_a != 0 && step_b != 0) {
            return step_a > step_b;
        }
    }
    return a < b;
}

static void
swap_axes(size_t *shape, int narrays, ptrdiff_t *strides, int a, int b)
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

/* Does every array reach the next item of axis a by passing all of axis b? */
static int
is_joint(size_t length_b, int narrays, const ptrdiff_t *strides, int a, int b)
{
    for (int r = 0; r < narrays; r++) {
        const ptrdiff_t *row = strides + (size_t)r * PCU_MAX_NDIM;
        ptrdiff_t reach;

        if (mul_distance(row[b], (ptrdiff_t)length_b, &reach) < 0 || reach != row[a]) {
            return 0;
        }
    }
    return 1;
}

int
pcu_collapse(int ndim, size_t *shape, int narrays, ptrdiff_t *strides)
{
    int kept = 0;

    for (int i = 0; i < ndim; i++) {
        if (shape[i] == 1) {
            continue;
        }
        if (kept != i) {
            swap_axes(shape, narrays, strides, kept, i);
        }
        for (int k = kept; k > 0 && !is_slower(narrays, strides, k - 1, k); k--) {
            swap_axes(shape, narrays, strides, k - 1, k);
        }
        kept++;
    }
    ndim = kept;
    kept = 0;
    for (int i = 0; i < ndim; i++) {
        if (kept > 0 && is_joint(shape[i], narrays, strides, kept - 1, i)) {
            shape[kept - 1] *= shape[i];
            for (int r = 0; r < narrays; r++) {
                strides[r * PCU_MAX_NDIM + kept - 1] = strides[r * PCU_MAX_NDIM + i];
            }
            continue;
        }
        if (kept != i) {
            swap_axes(shape, narrays, strides, kept, i);
        }
        kept++;
    }
    return kept;
}
