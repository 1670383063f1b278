/* Reductions of GPUArrays: see reduction.h.
 *
 * The axes that the result keeps and the axes that are reduced are joined where
 * possible. One block computes a result, or one thread where neighbouring results lie
 * side by side in memory. If there are too few results to fill the device, the reduced
 * elements are cut into segments, whose accumulators a second kernel joins. The cut
 * depends on lengths and the device only. */

#include "python/array/ops/reduction.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/layout.h"
#include "python/array/memory.h"
#include "python/array/ops/assign.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/overlap.h"
#include "python/array/ops/reduction_axes.h"
#include "python/driver/context.h"

enum {
    REDUCE_THREADS = 256,
    REDUCE_FILL_THREADS = 2048,   /* threads that fill a multiprocessor */
    REDUCE_FILL_BLOCKS = 8,       /* blocks that fill a multiprocessor */
    REDUCE_JOIN_BY_THREAD = 1024, /* results from which a thread joins each */
    REDUCE_ACC_BYTES = 32         /* of the largest accumulator in pycuda-reduce.hpp */
};

/* One reduction in progress. */
typedef struct {
    pcu_state *st;
    const pcu_reduction_call *call;
    const pcu_reduction_row *row;
    int nin;
    pcu_gpuarray *const *inputs;
    int compute; /* pcu_type */
    int result;  /* pcu_type */
    double divisor;
    int ndim;                  /* of the inputs */
    const unsigned char *mask; /* of the axes that are reduced */
    unsigned char types[PCU_OPERANDS_MAX];
    pcu_reduction_axes kept;
    pcu_reduction_axes reduced;
    size_t segments;
    size_t segment; /* reduced elements in each segment but the last */
    int by_thread;
    int wide;
    size_t vector;
    int streamed; /* the inputs are larger than the cache, so loads bypass it */
} reduce_plan;

/* -- types ------------------------------------------------------------------------- */

static int
reduce_widened(int type)
{
    if (!pcu_type_is_exact(type)) {
        return type;
    }
    if (pcu_type_is_unsigned(type)) {
        return PCU_T_UINT64;
    }
    return PCU_T_INT64;
}

static int
reduce_mean_type(int type)
{
    if (pcu_type_is_exact(type)) {
        return PCU_T_FLOAT64;
    }
    return type;
}

static int
reduce_all_bool(const reduce_plan *plan)
{
    for (int i = 0; i < plan->nin; i++) {
        if (plan->inputs[i]->type != PCU_T_BOOL) {
            return 0;
        }
    }
    return 1;
}

/* The common type of the inputs. In sums of products bool arrays count as numbers. */
static int
reduce_common_type(const reduce_plan *plan, int *common)
{
    int numbers = plan->row->rule == PCU_REDUCE_TO_PRODUCTS;
    *common = PCU_T_NONE;
    for (int i = 0; i < plan->nin; i++) {
        const pcu_gpuarray *input = plan->inputs[i];
        int type = input->type;
        if (!pcu_type_is_number(type)) {
            PyErr_Format(PyExc_TypeError, "%s does not take arrays of dtype %S",
                         plan->row->name, (PyObject *)input->dtype);
            return -1;
        }
        if (numbers) {
            type = pcu_gpuarray_number_type(input);
        }
        if (*common == PCU_T_NONE) {
            *common = type;
        }
        else if (pcu_type_promote(*common, type, common) < 0) {
            return -1;
        }
    }
    if (numbers && pcu_type_is_exact(*common) && reduce_all_bool(plan)) {
        *common = PCU_T_INT64; /* a count, whatever integers were compared */
    }
    return 0;
}

/* Fill in compute and result; dtype is the type that a program asked for, or NONE. */
static int
reduce_types(reduce_plan *plan, int dtype)
{
    int common = PCU_T_NONE;
    if (reduce_common_type(plan, &common) < 0) {
        return -1;
    }
    int asked = dtype != PCU_T_NONE;
    plan->compute = common;
    switch ((pcu_reduction_rule)plan->row->rule) {
        case PCU_REDUCE_TO_WIDEN:
            plan->compute = asked ? dtype : reduce_widened(common);
            plan->result = plan->compute;
            break;
        case PCU_REDUCE_TO_PRODUCTS:
            plan->compute = asked ? dtype : common;
            plan->result = plan->compute;
            break;
        case PCU_REDUCE_TO_MEAN:
            plan->compute = asked ? dtype : reduce_mean_type(common);
            plan->result = plan->compute;
            break;
        case PCU_REDUCE_TO_SPREAD:
            plan->compute = reduce_mean_type(common);
            plan->result = pcu_type_real(plan->compute);
            break;
        case PCU_REDUCE_TO_EXTREME:
            plan->result = common;
            break;
        case PCU_REDUCE_TO_INDEX:
        case PCU_REDUCE_TO_COUNT:
            plan->result = PCU_T_INT64;
            break;
        case PCU_REDUCE_TO_BOOL:
            plan->result = PCU_T_BOOL;
            break;
    }
    return 0;
}

static int
reduce_fill_axes(reduce_plan *plan, const unsigned char *mask)
{
    int in_order = plan->row->rule == PCU_REDUCE_TO_INDEX;
    if (pcu_reduction_axes_split(plan->inputs, plan->nin, mask, in_order, &plan->kept,
                                 &plan->reduced) < 0) {
        const pcu_gpuarray *x = plan->inputs[0];
        return pcu_raise_shapes("%s: shapes %S and %S cannot be broadcast together",
                                plan->row->name, x->ndim, x->shape, plan->inputs[1]);
    }
    return 0;
}

/* -- the cut ----------------------------------------------------------------------- */

static size_t
reduce_step(ptrdiff_t stride)
{
    return (size_t)Py_ABS(stride);
}

/* 1 if an input's reduced elements are a packed run that begins at a multiple of 16
 * bytes for every result. */
static int
reduce_is_run(const reduce_plan *plan, int i)
{
    size_t size = pcu_gpuarray_itemsize(plan->inputs[i]);
    uint64_t bits = plan->inputs[i]->address;
    for (int k = 0; k < plan->kept.ndim; k++) {
        bits |= (uint64_t)plan->kept.strides[i][k];
    }
    return size == pcu_gpuarray_itemsize(plan->inputs[0]) &&
           plan->reduced.strides[i][0] == (ptrdiff_t)size && bits % 16 == 0;
}

/* How many elements a thread loads at once. */
static size_t
reduce_vector(const reduce_plan *plan)
{
    size_t itemsize = pcu_gpuarray_itemsize(plan->inputs[0]);
    if (plan->by_thread || plan->reduced.ndim != 1) {
        return 1;
    }
    for (int i = 0; i < plan->nin; i++) {
        if (!reduce_is_run(plan, i)) {
            return 1;
        }
    }
    if (itemsize >= 16) {
        return 1;
    }
    return 16 / itemsize;
}

static int
reduce_is_streamed(const reduce_plan *plan, const pcu_context *ctx)
{
    size_t bytes = pcu_gpuarray_itemsize(plan->inputs[0]);
    for (int i = 1; i < plan->nin; i++) {
        bytes += pcu_gpuarray_itemsize(plan->inputs[i]);
    }
    return plan->vector > 1 && plan->kept.count * plan->reduced.count >
                                   (size_t)ctx->rec.limits.cache / bytes;
}

/* 1 if a thread computes each result: there are many, and neighbouring results are
 * closer in memory than neighbouring reduced elements. */
static int
reduce_is_by_thread(const reduce_plan *plan)
{
    int last_kept = plan->kept.ndim - 1;
    int last_reduced = plan->reduced.ndim - 1;
    if (plan->kept.count < 32 || last_kept < 0) {
        return 0;
    }
    if (plan->reduced.count <= 16 || last_reduced < 0) {
        return 1;
    }
    return reduce_step(plan->kept.strides[0][last_kept]) <
           reduce_step(plan->reduced.strides[0][last_reduced]);
}

/* Cut the reduced elements into segments, as many as fill the device. */
static void
reduce_cut(reduce_plan *plan, const pcu_context *ctx)
{
    size_t sms = (size_t)ctx->rec.limits.multiprocessors;
    size_t results = plan->kept.count;
    size_t n = plan->reduced.count;
    size_t wanted; /* segments that fill the device */
    size_t least;  /* elements that make a segment worth its launch */
    size_t round;  /* elements that a block handles at once: segments are multiples */
    plan->by_thread = reduce_is_by_thread(plan);
    plan->vector = reduce_vector(plan);
    plan->streamed = reduce_is_streamed(plan, ctx);
    if (plan->by_thread) {
        wanted = sms * REDUCE_FILL_THREADS / results;
        round = 1;
        least = 64;
    }
    else {
        wanted = sms * REDUCE_FILL_BLOCKS / results;
        round = REDUCE_THREADS * plan->vector;
        least = 4 * round;
    }
    if (n == 0) {
        plan->segments = 1;
        plan->segment = 1;
        return;
    }
    size_t segments = Py_MAX(Py_MIN(wanted, n / least), 1);
    size_t each = (n + segments - 1) / segments;
    plan->segment = (each + round - 1) / round * round;
    plan->segments = (n + plan->segment - 1) / plan->segment;
}

/* 1 if a distance or a number of elements may not fit 32 bits. */
static int
reduce_is_wide(const reduce_plan *plan)
{
    size_t total = 0;
    const pcu_reduction_axes *both[2] = {&plan->kept, &plan->reduced};
    if (pcu_mul_size(plan->kept.count, plan->segments, &total) < 0 ||
        total > INT32_MAX - REDUCE_THREADS ||
        plan->reduced.count > INT32_MAX - REDUCE_THREADS * 16) {
        return 1;
    }
    for (int i = 0; i < plan->nin; i++) {
        size_t reach = 16;
        for (int k = 0; k < 2; k++) {
            for (int d = 0; d < both[k]->ndim; d++) {
                reach += both[k]->shape[d] * reduce_step(both[k]->strides[i][d]);
            }
        }
        if (reach > INT32_MAX) {
            return 1;
        }
    }
    return 0;
}

/* -- launches ---------------------------------------------------------------------- */

static int
reduce_put_lengths(const reduce_plan *plan, const pcu_reduction_axes *axes,
                   pcu_argument_buffer *params)
{
    for (int d = 0; d < axes->ndim; d++) {
        if (pcu_kernel_put_index(params, plan->wide, (ptrdiff_t)axes->shape[d]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
reduce_put_strides(const reduce_plan *plan, const pcu_reduction_axes *axes, int input,
                   pcu_argument_buffer *params)
{
    for (int d = 0; d < axes->ndim; d++) {
        if (pcu_kernel_put_index(params, plan->wide, axes->strides[input][d]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
reduce_put_axes(const reduce_plan *plan, pcu_argument_buffer *params)
{
    if (reduce_put_lengths(plan, &plan->kept, params) < 0 ||
        reduce_put_lengths(plan, &plan->reduced, params) < 0) {
        return -1;
    }
    for (int i = 0; i < plan->nin; i++) {
        if (reduce_put_strides(plan, &plan->kept, i, params) < 0 ||
            reduce_put_strides(plan, &plan->reduced, i, params) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
reduce_put_size(const reduce_plan *plan, size_t value, pcu_argument_buffer *params)
{
    return pcu_kernel_put_index(params, plan->wide, (ptrdiff_t)value);
}

static int
reduce_put_divisor(const reduce_plan *plan, pcu_argument_buffer *params)
{
    return pcu_kernel_put(params, &plan->divisor, sizeof(double), sizeof(double));
}

/* The inputs, the target, counts, the divisor, the axes. */
static int
reduce_pack(const reduce_plan *plan, CUdeviceptr target, pcu_argument_buffer *params)
{
    for (int i = 0; i < plan->nin; i++) {
        if (pcu_kernel_put_address(params, plan->inputs[i]->address) < 0) {
            return -1;
        }
    }
    if (pcu_kernel_put_address(params, target) < 0 ||
        reduce_put_size(plan, plan->kept.count, params) < 0 ||
        reduce_put_size(plan, plan->reduced.count, params) < 0 ||
        reduce_put_size(plan, plan->segments, params) < 0 ||
        reduce_put_size(plan, plan->segment, params) < 0 ||
        reduce_put_divisor(plan, params) < 0) {
        return -1;
    }
    return reduce_put_axes(plan, params);
}

/* The accumulators, the target, counts, the divisor. */
static int
reduce_pack_join(const reduce_plan *plan, CUdeviceptr partial, CUdeviceptr target,
                 pcu_argument_buffer *params)
{
    if (pcu_kernel_put_address(params, partial) < 0 ||
        pcu_kernel_put_address(params, target) < 0 ||
        reduce_put_size(plan, plan->kept.count, params) < 0 ||
        reduce_put_size(plan, plan->segments, params) < 0) {
        return -1;
    }
    return reduce_put_divisor(plan, params);
}

static void
reduce_key(const reduce_plan *plan, int variant, pcu_kernel_key *key)
{
    memset(key, 0, sizeof(*key));
    key->family = PCU_FAMILY_REDUCTION;
    key->operation = (uint16_t)plan->call->op;
    key->inputs = (uint8_t)plan->nin;
    key->outputs = 1;
    for (int i = 0; i < plan->nin; i++) {
        key->types[i] = plan->inputs[i]->type;
    }
    key->types[plan->nin] = (uint8_t)plan->result;
    key->compute = (uint8_t)plan->compute;
    key->wide = (uint8_t)plan->wide;
    key->variant = (uint8_t)variant;
}

/* Blocks for a number of jobs, each of a thread or of a block. */
static size_t
reduce_blocks(size_t jobs, int by_thread)
{
    if (by_thread) {
        return (jobs + REDUCE_THREADS - 1) / REDUCE_THREADS;
    }
    return jobs;
}

/* Get the first kernel. Returns what pcu_kernel_table_get returns. */
static int
reduce_get_kernel(const reduce_plan *plan, pcu_context *ctx, CUfunction *kernel)
{
    pcu_kernel_key key;
    int variant = PCU_VARIANT_BY_BLOCK;
    if (plan->by_thread) {
        variant = PCU_VARIANT_BY_THREAD;
    }
    reduce_key(plan, variant, &key);
    key.ndim = (uint8_t)plan->reduced.ndim;
    key.vector = (uint8_t)plan->vector;
    key.kept_ndim = (uint8_t)plan->kept.ndim;
    key.partial = plan->segments > 1;
    key.streamed = (uint8_t)plan->streamed;
    return pcu_kernel_table_get(plan->st, ctx, &key, kernel);
}

/* Launch the first kernel: results, or accumulators if there are several segments. */
static int
reduce_launch(const reduce_plan *plan, CUfunction kernel, CUdeviceptr target,
              CUstream stream)
{
    pcu_argument_buffer params;
    size_t blocks = reduce_blocks(plan->kept.count * plan->segments, plan->by_thread);
    pcu_argument_buffer_init(&params);
    int rc = reduce_pack(plan, target, &params);
    if (rc == 0) {
        rc = pcu_kernel_launch(plan->st, kernel, blocks, REDUCE_THREADS, stream,
                               &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

/* Get the second kernel. Returns what pcu_kernel_table_get returns. */
static int
reduce_get_join_kernel(const reduce_plan *plan, pcu_context *ctx, CUfunction *kernel)
{
    pcu_kernel_key key;
    int variant = PCU_VARIANT_JOIN_BY_BLOCK;
    if (plan->kept.count >= REDUCE_JOIN_BY_THREAD) {
        variant = PCU_VARIANT_JOIN_BY_THREAD;
    }
    reduce_key(plan, variant, &key);
    return pcu_kernel_table_get(plan->st, ctx, &key, kernel);
}

/* Launch the second kernel: accumulators to results. */
static int
reduce_join(const reduce_plan *plan, CUfunction kernel, CUdeviceptr partial,
            CUdeviceptr target, CUstream stream)
{
    pcu_argument_buffer params;
    int by_thread = plan->kept.count >= REDUCE_JOIN_BY_THREAD;
    pcu_argument_buffer_init(&params);
    int rc = reduce_pack_join(plan, partial, target, &params);
    if (rc == 0) {
        rc = pcu_kernel_launch(plan->st, kernel,
                               reduce_blocks(plan->kept.count, by_thread),
                               REDUCE_THREADS, stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

/* Check that work in ctx may use the arrays, and that there is a result. */
static int
reduce_check(const reduce_plan *plan, const pcu_context *ctx, pcu_gpuarray *target)
{
    int rule = plan->row->rule;
    for (int i = 0; i < plan->nin; i++) {
        if (pcu_gpuarray_check(plan->inputs[i], ctx) < 0) {
            return -1;
        }
    }
    if (plan->reduced.count == 0 &&
        (rule == PCU_REDUCE_TO_EXTREME || rule == PCU_REDUCE_TO_INDEX)) {
        PyErr_Format(PyExc_ValueError,
                     "%s of an array without elements along the axes: it has no result",
                     plan->row->name);
        return -1;
    }
    return pcu_gpuarray_check(target, ctx);
}

/* Both kernels, with room for the accumulators between them. PCU_KERNEL_MADE: nothing
 * was enqueued. */
static int
reduce_in_segments(const reduce_plan *plan, pcu_context *ctx, pcu_gpuarray *target,
                   PyObject *allocator, CUstream stream)
{
    CUfunction first = NULL;
    CUfunction second = NULL;
    size_t bytes = plan->kept.count * plan->segments * REDUCE_ACC_BYTES;
    int rc = reduce_get_kernel(plan, ctx, &first);
    if (rc == 0) {
        rc = reduce_get_join_kernel(plan, ctx, &second);
    }
    if (rc != 0) {
        return rc;
    }
    PyArray_Descr *dtype = pcu_dtype_of_type(PCU_T_UINT8);
    PyObject *partial =
        pcu_gpuarray_new(plan->st, NULL, 1, &bytes, NULL, dtype, allocator);
    Py_DECREF(dtype);
    if (partial == NULL) {
        return -1;
    }
    CUdeviceptr address = ((pcu_gpuarray *)partial)->address;
    rc = reduce_launch(plan, first, address, stream);
    if (rc == 0) {
        rc = reduce_join(plan, second, address, target->address, stream);
    }
    Py_DECREF(partial);
    return rc;
}

/* Check the arrays and enqueue the plan. PCU_KERNEL_MADE: nothing was enqueued. */
static int
reduce_attempt(reduce_plan *plan, pcu_context *ctx, pcu_gpuarray *target,
               PyObject *allocator, CUstream stream)
{
    CUfunction kernel = NULL;
    if (reduce_check(plan, ctx, target) < 0) {
        return -1;
    }
    if (plan->kept.count == 0) {
        return 0;
    }
    reduce_cut(plan, ctx);
    plan->wide = reduce_is_wide(plan);
    if (plan->segments > 1) {
        return reduce_in_segments(plan, ctx, target, allocator, stream);
    }
    int rc = reduce_get_kernel(plan, ctx, &kernel);
    if (rc != 0) {
        return rc;
    }
    return reduce_launch(plan, kernel, target->address, stream);
}

/* After a kernel was made: other code may have changed the arrays. Read the axes of the
 * inputs again, and refuse inputs and a target that do not fit the plan any more. */
static int
reduce_plan_again(reduce_plan *plan, const pcu_gpuarray *target)
{
    int same = target->type == plan->result && (target->contiguous & PCU_ARRAY_C) != 0;
    for (int i = 0; i < plan->nin; i++) {
        same = same && plan->inputs[i]->type == plan->types[i] &&
               plan->inputs[i]->ndim == plan->ndim;
    }
    if (same) {
        size_t reduced = plan->reduced.count;
        if (reduce_fill_axes(plan, plan->mask) < 0) {
            return -1;
        }
        same = plan->reduced.count == reduced && plan->kept.count == target->count;
    }
    if (!same) {
        PyErr_Format(PyExc_RuntimeError,
                     "%s: the shape or dtype of an array changed during the call",
                     plan->row->name);
        return -1;
    }
    return 0;
}

/* Run the plan into a packed array in C order. */
static int
reduce_run(reduce_plan *plan, pcu_gpuarray *target, PyObject *allocator,
           CUstream stream)
{
    int rc;
    pcu_context *ctx = pcu_context_launch_borrow(plan->st);
    if (ctx == NULL) {
        return -1;
    }
    Py_INCREF(ctx); /* its kernels stay loaded until the launch */
    do {
        rc = reduce_attempt(plan, ctx, target, allocator, stream);
    } while (rc == PCU_KERNEL_MADE && reduce_plan_again(plan, target) == 0);
    Py_DECREF(ctx);
    if (rc != 0) {
        return -1;
    }
    return 0;
}

/* -- the result -------------------------------------------------------------------- */

static int
reduce_check_out(const reduce_plan *plan, PyObject *out, int ndim, const size_t *shape)
{
    pcu_gpuarray *array = (pcu_gpuarray *)out;
    if (!pcu_is_array(plan->st, out)) {
        PyErr_Format(PyExc_TypeError, "out must be a GPUArray, not %s",
                     Py_TYPE(out)->tp_name);
        return -1;
    }
    if (pcu_gpuarray_ready(array) < 0) {
        return -1;
    }
    if (!pcu_gpuarray_has_shape(array, ndim, shape)) {
        return pcu_raise_shapes("%s: the result has shape %S, out has %S",
                                plan->row->name, ndim, shape, array);
    }
    return 0;
}

/* 1 if the kernel can write its results to `out`. */
static int
reduce_is_direct(const reduce_plan *plan, const pcu_gpuarray *out)
{
    if (!(out->contiguous & PCU_ARRAY_C) || out->type != plan->result) {
        return 0;
    }
    if (plan->kept.count <= 1) {
        return 1;
    }
    for (int i = 0; i < plan->nin; i++) {
        if (pcu_gpuarray_conflicts(plan->inputs[i], out)) {
            return 0;
        }
    }
    return 1;
}

static PyObject *
reduce_target_new(const reduce_plan *plan, int ndim, const size_t *shape,
                  PyObject *allocator)
{
    PyArray_Descr *dtype = pcu_dtype_of_type(plan->result);
    PyObject *target =
        pcu_gpuarray_new(plan->st, NULL, ndim, shape, NULL, dtype, allocator);
    Py_DECREF(dtype);
    return target;
}

/* The result in a new array. */
static PyObject *
reduce_result_new(reduce_plan *plan, int ndim, const size_t *shape, PyObject *allocator)
{
    PyObject *target = reduce_target_new(plan, ndim, shape, allocator);
    if (target == NULL) {
        return NULL;
    }
    if (reduce_run(plan, (pcu_gpuarray *)target, allocator, plan->call->stream) < 0) {
        Py_DECREF(target);
        return NULL;
    }
    return target;
}

/* The result in the array that the program gives. */
static PyObject *
reduce_result_in_out(reduce_plan *plan, int ndim, const size_t *shape,
                     PyObject *allocator)
{
    PyObject *out = plan->call->out;
    if (reduce_check_out(plan, out, ndim, shape) < 0) {
        return NULL;
    }
    if (reduce_is_direct(plan, (pcu_gpuarray *)out)) {
        if (reduce_run(plan, (pcu_gpuarray *)out, allocator, plan->call->stream) < 0) {
            return NULL;
        }
        return Py_NewRef(out);
    }
    PyObject *target = reduce_result_new(plan, ndim, shape, allocator);
    if (target == NULL) {
        return NULL;
    }
    int rc = pcu_gpuarray_assign((pcu_gpuarray *)out, target, plan->call->stream);
    Py_DECREF(target);
    if (rc < 0) {
        return NULL;
    }
    return Py_NewRef(out);
}

PyObject *
pcu_reduce(pcu_state *st, const pcu_reduction_call *call)
{
    unsigned char mask[PCU_MAX_NDIM + 1];
    size_t shape[PCU_MAX_NDIM];
    pcu_gpuarray *x = call->inputs[0];
    PyObject *allocator = call->allocator;
    reduce_plan plan;
    plan.st = st;
    plan.call = call;
    plan.row = &pcu_reductions[call->op];
    plan.nin = plan.row->inputs;
    plan.inputs = call->inputs;
    if (reduce_types(&plan, call->dtype) < 0 ||
        pcu_reduction_axes_read(call->axis, x->ndim, mask) < 0 ||
        reduce_fill_axes(&plan, mask) < 0) {
        return NULL;
    }
    plan.ndim = x->ndim;
    plan.mask = mask;
    for (int i = 0; i < plan.nin; i++) {
        plan.types[i] = plan.inputs[i]->type;
    }
    plan.divisor = (double)plan.reduced.count - call->ddof;
    if (plan.divisor < 0) {
        plan.divisor = 0;
    }
    if (allocator == Py_None) {
        allocator = x->allocator;
    }
    int ndim = pcu_reduction_axes_shape(x, mask, call->keepdims, shape);
    if (call->out != Py_None) {
        return reduce_result_in_out(&plan, ndim, shape, allocator);
    }
    PyObject *result = reduce_result_new(&plan, ndim, shape, allocator);
    if (result != NULL && plan.row->rule == PCU_REDUCE_TO_EXTREME) {
        ((pcu_gpuarray *)result)->counts_as = x->counts_as;
    }
    return result;
}
