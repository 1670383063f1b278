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
