/* Arrays joined along an axis: see join.h.
 *
 * Target and arrays are rows of words: the axes before the joined one count rows, the
 * joined axis and those after it are one run of words in each row. */

#include "python/array/ops/join.h"

#include "driver/shape.h"
#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/memory.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/operations.h"
#include "python/array/recording.h"
#include "python/driver/context.h"

enum {
    JOIN_THREADS = 256,
    JOIN_WORD = 16,
    JOIN_MOST = 8,         /* the most words of a thread */
    JOIN_FILL_BLOCKS = 16, /* blocks on a multiprocessor that fill the device */
    JOIN_SOURCES = 8,      /* arrays that one kernel takes */
    JOIN_SHORT = 128,      /* bytes of a row below which each thread finds its array */
    JOIN_NARROW = INT32_MAX / 2
};

typedef struct {
    pcu_gpuarray *target;
    pcu_gpuarray *const *arrays;
    int count;
    int axis;
    size_t first; /* place of the first array along the axis */
    size_t rows;
    size_t inner; /* bytes of one place along the axis */
    size_t word;
    size_t each;
    bool by_place;
    bool wide;
    size_t words; /* of all arrays */
    size_t blocks;
} join_plan;

/* -- the plan ---------------------------------------------------------------------- */

/* The bytes of a row of an array. */
static size_t
join_run(const join_plan *plan, int i)
{
    return plan->arrays[i]->shape[plan->axis] * plan->inner;
}

/* The bytes of a row of the target. */
static size_t
join_row(const join_plan *plan)
{
    return plan->target->shape[plan->axis] * plan->inner;
}

/* Choose the word: it divides all addresses and rows. */
static void
join_choose_word(join_plan *plan)
{
    uint64_t bits = JOIN_WORD | plan->target->address | plan->first * plan->inner;
    if (plan->rows > 1) {
        bits |= join_row(plan);
    }
    plan->by_place = false;
    for (int i = 0; i < plan->count; i++) {
        size_t run = join_run(plan, i);
        bits |= plan->arrays[i]->address | run;
        if (plan->rows > 1 && run < JOIN_SHORT) {
            plan->by_place = true;
        }
    }
    plan->word = (size_t)(bits & (~bits + 1));
}

static size_t
join_blocks(const join_plan *plan, size_t words)
{
    size_t each = JOIN_THREADS * plan->each;
    return (words + each - 1) / each;
}

static void
join_fill_plan(join_plan *plan, const pcu_context *ctx)
{
    const pcu_gpuarray *target = plan->target;
    plan->rows = 1;
    plan->inner = pcu_gpuarray_itemsize(target);
    for (int i = 0; i < target->ndim; i++) {
        if (i < plan->axis) {
            plan->rows *= target->shape[i];
        }
        if (i > plan->axis) {
            plan->inner *= target->shape[i];
        }
    }
    join_choose_word(plan);
    plan->words = 0;
    for (int i = 0; i < plan->count; i++) {
        plan->words += plan->rows * join_run(plan, i) / plan->word;
    }
    plan->wide = plan->rows * join_row(plan) / plan->word > JOIN_NARROW;
    size_t fill = (size_t)ctx->rec.limits.multiprocessors * JOIN_FILL_BLOCKS;
    plan->each = 1;
    while (plan->each * plan->word < JOIN_WORD && plan->each < JOIN_MOST &&
           plan->words / (JOIN_THREADS * plan->each) > fill) {
        plan->each *= 2;
    }
}

/* -- the launch -------------------------------------------------------------------- */

static void
join_fill_key(const join_plan *plan, pcu_kernel_key *key)
{
    memset(key, 0, sizeof(*key));
    key->family = PCU_FAMILY_JOIN;
    key->operation = PCU_OP_COPY;
    key->raw_bytes = (uint32_t)plan->word;
    key->vector = (uint8_t)plan->word;
    key->ndim = plan->rows > 1 ? 2 : 1;
    key->wide = (uint8_t)plan->wide;
    key->tile = (uint16_t)plan->each;
    key->kept_ndim = (uint8_t)plan->count;
    key->variant = PCU_VARIANT_JOIN_SOURCES;
    if (plan->by_place) {
        key->variant = PCU_VARIANT_JOIN_PLACES;
    }
}

/* The target; the words of its row, of all arrays, and of the part of a row that they
 * fill; then for each array its address, its words, those of a row, its place in the
 * target's row, the block after its last. */
static int
join_pack(join_plan *plan, pcu_argument_buffer *params)
{
    bool wide = plan->wide;
    size_t place = plan->first * plan->inner / plan->word;
    size_t width = plan->words / plan->rows;
    if (pcu_kernel_put_address(params, plan->target->address) < 0 ||
        pcu_kernel_put_index(params, wide, (ptrdiff_t)(join_row(plan) / plan->word)) <
            0 ||
        pcu_kernel_put_index(params, wide, (ptrdiff_t)plan->words) < 0 ||
        pcu_kernel_put_divisor(params, wide, width) < 0) {
        return -1;
    }
    plan->blocks = 0;
    for (int i = 0; i < plan->count; i++) {
        size_t run = join_run(plan, i) / plan->word;
        size_t words = plan->rows * run;
        plan->blocks += join_blocks(plan, words);
        if (pcu_kernel_put_address(params, plan->arrays[i]->address) < 0 ||
            pcu_kernel_put_index(params, wide, (ptrdiff_t)words) < 0 ||
            pcu_kernel_put_divisor(params, wide, Py_MAX(run, 1)) < 0 ||
            pcu_kernel_put_index(params, wide, (ptrdiff_t)place) < 0 ||
            pcu_kernel_put_index(params, wide, (ptrdiff_t)plan->blocks) < 0) {
            return -1;
        }
        place += run;
    }
    if (plan->by_place) {
        plan->blocks = join_blocks(plan, plan->words);
    }
    return 0;
}

static int
join_launch(join_plan *plan, CUfunction kernel, CUstream stream)
{
    pcu_argument_buffer params;
    pcu_argument_buffer_init(&params);
    int rc = join_pack(plan, &params);
    if (rc == 0) {
        rc = pcu_kernel_launch(plan->target->st, kernel, plan->blocks, JOIN_THREADS,
                               stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

/* Whether an array can be copied as rows of words. */
static bool
join_is_packed(const join_plan *plan, const pcu_gpuarray *array)
{
    return (array->contiguous & PCU_ARRAY_C) &&
           PyArray_EquivTypes(array->dtype, plan->target->dtype);
}

/* Whether the arrays fit the target, and its rows are packed. */
static bool
join_fits(const join_plan *plan)
{
    const pcu_gpuarray *target = plan->target;
    size_t length = plan->first;
    if (!(target->contiguous & PCU_ARRAY_C) || target->ndim <= plan->axis) {
        return false;
    }
    for (int i = 0; i < plan->count; i++) {
        const pcu_gpuarray *array = plan->arrays[i];
        if (array->ndim != target->ndim || !join_is_packed(plan, array)) {
            return false;
        }
        for (int k = 0; k < target->ndim; k++) {
            if (k != plan->axis && array->shape[k] != target->shape[k]) {
                return false;
            }
        }
        length += array->shape[plan->axis];
    }
    return length <= target->shape[plan->axis];
}

/* Copy packed arrays by one kernel. */
static int
join_packed(join_plan *plan, pcu_context *ctx, CUstream stream)
{
    pcu_kernel_key key;
    CUfunction kernel = NULL;
    int rc;
    do {
        if (!join_fits(plan)) {
            PyErr_SetString(PyExc_RuntimeError,
                            "the shape or dtype of an array changed during the call");
            return -1;
        }
        rc = pcu_gpuarray_check(plan->target, ctx);
        for (int i = 0; rc == 0 && i < plan->count; i++) {
            rc = pcu_gpuarray_check(plan->arrays[i], ctx);
        }
        if (rc < 0) {
            return -1;
        }
        join_fill_plan(plan, ctx);
        if (plan->words == 0) {
            return 0;
        }
        join_fill_key(plan, &key);
        rc = pcu_kernel_table_get(plan->target->st, ctx, &key, &kernel);
    } while (rc == PCU_KERNEL_MADE);
    if (rc < 0) {
        return -1;
    }
    return join_launch(plan, kernel, stream);
}

/* Copy one array of any strides and dtype. */
static int
join_one(const join_plan *plan, CUstream stream)
{
    size_t shape[PCU_MAX_NDIM];
    pcu_gpuarray *target = plan->target;
    memcpy(shape, target->shape, (size_t)target->ndim * sizeof(*shape));
    shape[plan->axis] = plan->arrays[0]->shape[plan->axis];
    ptrdiff_t offset = (ptrdiff_t)plan->first * target->strides[plan->axis];
    pcu_gpuarray *part = pcu_gpuarray_view_new(target, target->ndim, shape,
                                               target->strides, offset, NULL);
    if (part == NULL) {
        return -1;
    }
    int rc = pcu_device_copy(part, plan->arrays[0], stream);
    Py_DECREF(part);
    return rc;
}

int
pcu_join(pcu_gpuarray *target, pcu_gpuarray *const *arrays, Py_ssize_t count, int axis,
         CUstream stream)
{
    int rc = 0;
    join_plan plan = {.target = target, .arrays = arrays, .axis = axis};
    if (pcu_is_recording(target->st)) {
        return pcu_record(
            target->st, "join", "raw", pcu_record_arrays_new(arrays, count),
            pcu_record_arrays_new(&target, 1), Py_BuildValue("(i)", axis));
    }
    pcu_context *ctx = pcu_context_launch_borrow(target->st);
    if (ctx == NULL) {
        return -1;
    }
    Py_INCREF(ctx); /* its kernels stay loaded until the launch */
    for (Py_ssize_t done = 0; rc == 0 && done < count; done += plan.count) {
        plan.arrays = arrays + done;
        plan.count = 0;
        while (done + plan.count < count && plan.count < JOIN_SOURCES &&
               join_is_packed(&plan, plan.arrays[plan.count])) {
            plan.count++;
        }
        if (plan.count > 0 && join_fits(&plan)) {
            rc = join_packed(&plan, ctx, stream);
        }
        else {
            plan.count = 1;
            rc = join_one(&plan, stream);
        }
        for (int i = 0; i < plan.count; i++) {
            plan.first += plan.arrays[i]->shape[axis];
        }
    }
    Py_DECREF(ctx);
    return rc;
}
