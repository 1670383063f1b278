/* Whether two arrays share memory: see overlap.h. */

#include "python/array/ops/overlap.h"

#include "driver/shape.h"
#include "python/array/memory.h"

/* The range of addresses that the elements touch. */
static void
overlap_extent(const pcu_gpuarray *array, uint64_t *low, uint64_t *high)
{
    ptrdiff_t before = 0;
    ptrdiff_t after = 0;
    (void)pcu_extent(array->ndim, array->shape, array->strides,
                     pcu_gpuarray_itemsize(array), &before, &after);
    *low = array->address + (uint64_t)before;
    *high = array->address + (uint64_t)after;
}

/* Whether the element of every index has the same place in both arrays. */
static bool
overlap_same_elements(const pcu_gpuarray *a, const pcu_gpuarray *b)
{
    if (a->address != b->address || a->ndim != b->ndim ||
        pcu_gpuarray_itemsize(a) != pcu_gpuarray_itemsize(b)) {
        return false;
    }
    for (int i = 0; i < a->ndim; i++) {
        if (a->shape[i] != b->shape[i] ||
            (a->shape[i] != 1 && a->strides[i] != b->strides[i])) {
            return false;
        }
    }
    return true;
}

bool
pcu_gpuarray_may_overlap(const pcu_gpuarray *a, const pcu_gpuarray *b)
{
    uint64_t a_low, a_high, b_low, b_high;
    if (a->memory != b->memory && pcu_gpuarray_allocation(a) != NULL &&
        pcu_gpuarray_allocation(b) != NULL) {
        return false; /* allocations of ours are disjoint; memory of others may be
                         shared */
    }
    overlap_extent(a, &a_low, &a_high);
    overlap_extent(b, &b_low, &b_high);
    return a_low < b_high && b_low < a_high;
}

bool
pcu_gpuarray_conflicts(const pcu_gpuarray *in, const pcu_gpuarray *out)
{
    return !overlap_same_elements(in, out) && pcu_gpuarray_may_overlap(in, out);
}

/* Whether i * a == j * b for an i in [1, n] and a j in [1, m], for sizes of steps. */
static bool
overlap_steps_meet(size_t a, size_t n, size_t b, size_t m)
{
    if (a > b * m || b > a * n) {
        return false;
    }
    size_t divisor = a;
    for (size_t rest = b; rest != 0;) {
        size_t next = divisor % rest;
        divisor = rest;
        rest = next;
    }
    return b / divisor <= n && a / divisor <= m;
}

/* The size of the step of an axis, and in *last how many steps it has. */
static size_t
overlap_step(const pcu_gpuarray *array, int axis, size_t *last)
{
    ptrdiff_t stride = array->strides[axis];
    *last = array->shape[axis] - 1;
    return stride < 0 ? 0 - (size_t)stride : (size_t)stride;
}

/* Whether elements share memory: an axis has the stride 0, or two axes come to the same
 * place by different steps. */
static bool
overlap_is_inside(const pcu_gpuarray *array)
{
    if (array->contiguous != 0 || array->count < 2) {
        return false;
    }
    for (int i = 0; i < array->ndim; i++) {
        size_t n, m;
        size_t step = overlap_step(array, i, &n);
        if (n != 0 && step == 0) {
            return true;
        }
        for (int j = 0; n != 0 && j < i; j++) {
            size_t other = overlap_step(array, j, &m);
            if (m != 0 && overlap_steps_meet(step, n, other, m)) {
                return true;
            }
        }
    }
    return false;
}

int
pcu_gpuarray_check_target(const pcu_gpuarray *target)
{
    if (overlap_is_inside(target)) {
        PyErr_SetString(PyExc_ValueError,
                        "elements of the output array share memory, as those of "
                        "broadcast_to() do: write to a copy of it");
        return -1;
    }
    return 0;
}
