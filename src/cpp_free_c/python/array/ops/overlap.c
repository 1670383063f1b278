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

/* 1 if the element of every index has the same place in both arrays. */
static int
overlap_same_elements(const pcu_gpuarray *a, const pcu_gpuarray *b)
{
    if (a->address != b->address || a->ndim != b->ndim ||
        pcu_gpuarray_itemsize(a) != pcu_gpuarray_itemsize(b)) {
        return 0;
    }
    for (int i = 0; i < a->ndim; i++) {
        if (a->shape[i] != b->shape[i] ||
            (a->shape[i] != 1 && a->strides[i] != b->strides[i])) {
            return 0;
        }
    }
    return 1;
}

int
pcu_gpuarray_conflicts(const pcu_gpuarray *in, const pcu_gpuarray *out)
{
    uint64_t in_low, in_high, out_low, out_high;
    if (in->memory != out->memory && pcu_gpuarray_allocation(in) != NULL &&
        pcu_gpuarray_allocation(out) != NULL) {
        return 0; /* allocations of ours are disjoint; memory of others may be shared */
    }
    if (overlap_same_elements(in, out)) {
        return 0;
    }
    overlap_extent(in, &in_low, &in_high);
    overlap_extent(out, &out_low, &out_high);
    return in_low < out_high && out_low < in_high;
}
