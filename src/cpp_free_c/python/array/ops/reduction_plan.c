/* The axes of a reduction and the cut of its work: see reduction_plan.h.
 *
 * The axes that the result keeps and the axes that are reduced are joined where
 * possible. Four kinds of kernels follow the shape:
 *
 *   columns     neighbouring results are closer in memory than neighbouring reduced
 *               elements: a thread has some results, threads share the reduced elements
 *   short rows  some lanes of a warp load all elements of a result at once
 *   rows        a warp makes each result
 *   blocks      a block makes each result, or each segment of one
 *
 * If there are too few results to fill the device, the reduced elements are cut into
 * segments, whose accumulators a second kernel joins, unless a block finishes before a
 * second kernel could begin. The cut depends on lengths and the device only. */

#include "python/array/ops/reduction_plan.h"

#include "python/array/layout.h"

enum {
    CUT_THREADS = 256,
    CUT_ROOM = 1024,         /* accumulators of a block's warps in shared memory */
    CUT_FILL_BLOCKS = 4,     /* blocks that fill a multiprocessor */
    CUT_FILL_THREADS = 2048, /* threads that fill a multiprocessor */
    CUT_ROW = 4096,          /* elements of a row that a warp still reduces */
    CUT_ALONE = 1 << 18,     /* bytes that a block reads faster than a join starts */
    CUT_MARGIN = 1 << 18,    /* by which an index may exceed the last element */
    CUT_NARROW = 64,         /* bytes of a row that are worth a block of their own */
    CUT_BYTES = 64           /* bytes that a thread has under way */
};

int
pcu_reduction_plan_axes(pcu_reduction_plan *plan, const unsigned char *mask)
{
    bool in_order = plan->row->rule == PCU_REDUCE_TO_INDEX;
    if (pcu_reduction_axes_split(plan->inputs, plan->nin, mask, in_order, &plan->kept,
                                 &plan->reduced) < 0) {
        const pcu_gpuarray *x = plan->inputs[0];
        return pcu_raise_shapes("%s: shapes %S and %S cannot be broadcast together",
                                plan->row->name, x->ndim, x->shape, plan->inputs[1]);
    }
    return 0;
}

/* -- vectors ----------------------------------------------------------------------- */

static size_t
cut_distance(ptrdiff_t stride)
{
    return (size_t)Py_ABS(stride);
}

static uint64_t
cut_stride_bits(const pcu_reduction_axes *axes, int input, int skipped)
{
    uint64_t bits = 0;
    for (int d = 0; d < axes->ndim; d++) {
        if (d != skipped) {
            bits |= (uint64_t)axes->strides[input][d];
        }
    }
    return bits;
}

/* The most elements, a power of two, that one load may take along the last axis of
 * `along`: neighbours in all inputs, from an aligned address, whatever the other axes
 * and the axes of `other` are at. `length` elements are wanted. */
static size_t
cut_vector(const pcu_reduction_plan *plan, const pcu_reduction_axes *along,
           const pcu_reduction_axes *other, size_t length)
{
    size_t itemsize = pcu_gpuarray_itemsize(plan->inputs[0]);
    uint64_t bits = 16;
    int last = along->ndim - 1;
    if (last < 0) {
        return 1;
    }
    for (int i = 0; i < plan->nin; i++) {
        const pcu_gpuarray *input = plan->inputs[i];
        if (pcu_gpuarray_itemsize(input) != itemsize ||
            along->strides[i][last] != (ptrdiff_t)itemsize) {
            return 1;
        }
        bits |= input->address | cut_stride_bits(along, i, last) |
                cut_stride_bits(other, i, -1);
    }
    bits |= length * itemsize;
    size_t bytes = (size_t)(bits & (~bits + 1)); /* the lowest bit that is set */
    size_t vector = 1;
    while (2 * vector * itemsize <= bytes) {
        vector *= 2;
    }
    return vector;
}

/* -- the kinds of kernels ---------------------------------------------------------- */

static size_t
cut_ceil(size_t count, size_t by)
{
    return count / by + (count % by != 0);
}

/* The least power of two that is not below `count`, at most `most`. */
static size_t
cut_power(size_t count, size_t most)
{
    size_t power = 1;
    while (power < count && power < most) {
        power *= 2;
    }
    return power;
}

/* Vectors under way, so that a thread waits for `wanted` bytes. */
static size_t
cut_rounds(const pcu_reduction_plan *plan, size_t wanted)
{
    size_t bytes = plan->vector * pcu_gpuarray_itemsize(plan->inputs[0]);
    return cut_power(cut_ceil(wanted, bytes), 8);
}

/* Cut n reduced elements into about `wanted` segments of whole rounds. */
static void
cut_segments(pcu_reduction_plan *plan, size_t wanted, size_t round, size_t least)
{
    size_t n = plan->reduced.count;
    size_t segments = Py_MAX(Py_MIN(wanted, n / least), 1);
    size_t each = cut_ceil(Py_MAX(n, 1), segments);
    plan->segment = cut_ceil(each, round) * round;
    plan->segments = cut_ceil(Py_MAX(n, 1), plan->segment);
}

/* Whether neighbouring results are closer in memory than neighbouring reduced elements,
 * and there is more than one thread's work. */
static bool
cut_is_columns(const pcu_reduction_plan *plan)
{
    int last_kept = plan->kept.ndim - 1;
    int last_reduced = plan->reduced.ndim - 1;
    if (last_kept < 0 || (plan->kept.count < 32 && plan->reduced.count < 8)) {
        return false;
    }
    if (last_reduced < 0) {
        return true;
    }
    return cut_distance(plan->kept.strides[0][last_kept]) <
           cut_distance(plan->reduced.strides[0][last_reduced]);
}

/* How many elements a thread loads before it adds them: no more than there are. */
static size_t
cut_column_rounds(const pcu_reduction_plan *plan)
{
    size_t bytes = CUT_BYTES;
    if (plan->row->rule == PCU_REDUCE_TO_SPREAD) { /* a division for each round */
        bytes *= 2;
    }
    size_t rounds = cut_rounds(plan, bytes);
    while (rounds > 1 && rounds > plan->reduced.count) {
        rounds /= 2;
    }
    return rounds;
}

/* How many lanes a block has side by side: fewer if there are too few blocks and each
 * reads little. `across` is the number of vectors of results. */
static size_t
cut_column_lanes(const pcu_reduction_plan *plan, size_t across, size_t sms)
{
    size_t n = plan->reduced.count;
    size_t width = plan->vector * pcu_gpuarray_itemsize(plan->inputs[0]);
    size_t lanes = cut_power(across, 32);
    while (lanes * width > CUT_NARROW && n * lanes / 2 * width <= CUT_ALONE &&
           cut_ceil(across, lanes) < sms) {
        lanes /= 2;
    }
    return lanes;
}

/* One block reduces a column of lanes: give it more rows of threads if the device would
 * be idle otherwise. */
static void
cut_column_alone(pcu_reduction_plan *plan, size_t tiles, size_t sms)
{
    size_t columns = plan->lanes * plan->vector;
    while (plan->threads < 1024 && tiles <= sms &&
           2 * plan->threads / 32 * columns <= CUT_ROOM &&
           plan->threads / plan->lanes * plan->rounds < plan->reduced.count) {
        plan->threads *= 2;
    }
    cut_segments(plan, 1, 1, 1);
}

/* A thread has a vector of results; several rows of threads share the elements. */
static void
cut_columns(pcu_reduction_plan *plan, size_t sms)
{
    size_t itemsize = pcu_gpuarray_itemsize(plan->inputs[0]);
    size_t results = plan->kept.count;
    size_t n = plan->reduced.count;
    size_t last = plan->kept.shape[plan->kept.ndim - 1];
    plan->variant = PCU_VARIANT_BY_COLUMN;
    plan->vector =
        Py_MIN(cut_vector(plan, &plan->kept, &plan->reduced, last), (size_t)4);
    size_t across = results / plan->vector;
    plan->rounds = cut_column_rounds(plan);
    plan->threads = CUT_THREADS;
    if (across >= sms * CUT_FILL_THREADS / 2 || n < 8) { /* a thread for each vector */
        plan->lanes = CUT_THREADS;
        cut_segments(plan, 1, 1, 1);
        plan->blocks = cut_ceil(across, CUT_THREADS);
        return;
    }
    plan->lanes = cut_column_lanes(plan, across, sms);
    size_t columns = plan->lanes * plan->vector;
    size_t tiles = cut_ceil(results, columns);
    if (n * columns * itemsize <= CUT_ALONE || tiles >= sms * CUT_FILL_BLOCKS) {
        cut_column_alone(plan, tiles, sms);
    }
    else {
        plan->lanes = cut_power(across, 32);
        tiles = cut_ceil(results, plan->lanes * plan->vector);
        size_t rows = plan->threads / plan->lanes * plan->rounds;
        cut_segments(plan, sms * CUT_FILL_BLOCKS / tiles, rows, rows);
    }
    while (plan->threads > 32 && plan->threads / 2 / plan->lanes >= n) {
        plan->threads /= 2;
    }
    plan->blocks = tiles * plan->segments;
}

/* The number of which a vector's length must be a divisor: with several reduced axes a
 * vector may not go beyond the last. */
static size_t
cut_run(const pcu_reduction_plan *plan, size_t length)
{
    if (plan->reduced.ndim > 1) {
        return plan->reduced.shape[plan->reduced.ndim - 1];
    }
    return length;
}

/* Lanes of a warp load all elements of a result at once. False if they cannot. */
static bool
cut_short_rows(pcu_reduction_plan *plan, size_t sms)
{
    size_t n = plan->reduced.count;
    plan->vector = cut_vector(plan, &plan->reduced, &plan->kept, cut_run(plan, n));
    if (plan->kept.count < 32 || n > 32 * plan->vector || n == 0) {
        return false;
    }
    plan->variant = PCU_VARIANT_BY_SHORT_ROW;
    plan->threads = CUT_THREADS;
    plan->lanes = cut_power(n / plan->vector, 32);
    plan->rounds = 1;
    if (plan->kept.count * plan->lanes >= sms * CUT_FILL_THREADS * 4) {
        plan->rounds = cut_rounds(plan, CUT_BYTES / 2);
        if (plan->row->rule == PCU_REDUCE_TO_INDEX) { /* its lanes exchange more */
            plan->rounds = cut_rounds(plan, CUT_BYTES);
        }
    }
    size_t rows = plan->threads / plan->lanes * plan->rounds;
    plan->blocks = cut_ceil(plan->kept.count, rows);
    cut_segments(plan, 1, 1, 1);
    return true;
}

/* A warp or a block makes each result, or a block each segment of one. */
static void
cut_rows(pcu_reduction_plan *plan, size_t sms)
{
    size_t itemsize = pcu_gpuarray_itemsize(plan->inputs[0]);
    size_t results = plan->kept.count;
    size_t n = plan->reduced.count;
    plan->vector = cut_vector(plan, &plan->reduced, &plan->kept, cut_run(plan, 16));
    plan->rounds = cut_rounds(plan, CUT_BYTES);
    plan->threads = CUT_THREADS;
    if (results >= 8 * sms && n <= CUT_ROW) {
        plan->variant = PCU_VARIANT_BY_ROW;
        plan->lanes = 32;
        cut_segments(plan, 1, 1, 1);
        plan->blocks = cut_ceil(results, CUT_THREADS / 32);
        return;
    }
    plan->variant = PCU_VARIANT_BY_BLOCK;
    if (n * itemsize <= CUT_ALONE || results >= sms * CUT_FILL_BLOCKS) {
        while (plan->threads < 1024 && results <= sms &&
               plan->threads * plan->vector * plan->rounds < n) {
            plan->threads *= 2;
        }
        cut_segments(plan, 1, 1, 1);
    }
    else {
        size_t round = plan->threads * plan->vector;
        cut_segments(plan, sms * CUT_FILL_BLOCKS / results, round,
                     round * plan->rounds);
    }
    while (plan->threads > 32 && plan->threads / 2 * plan->vector >= n) {
        plan->threads /= 2;
    }
    plan->lanes = plan->threads;
    plan->blocks = results * plan->segments;
}

/* Whether a distance or a number of elements may not fit 32 bits. */
static bool
cut_is_wide(const pcu_reduction_plan *plan)
{
    size_t total = 0;
    const pcu_reduction_axes *both[2] = {&plan->kept, &plan->reduced};
    if (pcu_mul_size(plan->kept.count, plan->segments, &total) < 0 ||
        total > INT32_MAX - CUT_MARGIN ||
        plan->reduced.count > INT32_MAX - CUT_MARGIN) {
        return true;
    }
    for (int i = 0; i < plan->nin; i++) {
        size_t reach = 16;
        for (int k = 0; k < 2; k++) {
            for (int d = 0; d < both[k]->ndim; d++) {
                reach += both[k]->shape[d] * cut_distance(both[k]->strides[i][d]);
            }
        }
        if (reach > INT32_MAX) {
            return true;
        }
    }
    return false;
}

static bool
cut_is_streamed(const pcu_reduction_plan *plan, const pcu_context *ctx)
{
    size_t bytes = pcu_gpuarray_itemsize(plan->inputs[0]);
    for (int i = 1; i < plan->nin; i++) {
        bytes += pcu_gpuarray_itemsize(plan->inputs[i]);
    }
    return plan->vector > 1 && plan->kept.count * plan->reduced.count >
                                   (size_t)ctx->rec.limits.cache / bytes;
}

void
pcu_reduction_plan_cut(pcu_reduction_plan *plan, const pcu_context *ctx)
{
    size_t sms = (size_t)ctx->rec.limits.multiprocessors;
    if (cut_is_columns(plan)) {
        cut_columns(plan, sms);
    }
    else if (!cut_short_rows(plan, sms)) {
        cut_rows(plan, sms);
    }
    plan->streamed = cut_is_streamed(plan, ctx);
    plan->wide = cut_is_wide(plan);
}
