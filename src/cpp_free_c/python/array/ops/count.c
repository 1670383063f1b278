/* Counts of values in bins: see count.h.
 *
 * A block counts in shared memory if the bins fit, in several copies if there are few,
 * and adds its counts to the result, which is zeroed before. */

#include "python/array/ops/count.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/layout.h"
#include "python/array/memory.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"
#include "python/driver/context.h"
#include "python/driver/memory/copy.h"

enum {
    COUNT_THREADS = 512,
    COUNT_ROOM = 48 * 1024,  /* bytes of shared memory that every device has */
    COUNT_EDGES = 16 * 1024, /* bytes of edges that a block keeps there */
    COUNT_FILL_BLOCKS = 4,   /* blocks that fill a multiprocessor */
    COUNT_COPIES = COUNT_THREADS / 32,
    COUNT_BYTES = 64 /* bytes that a thread has under way */
};

/* One count in progress. */
typedef struct {
    const pcu_count_call *call;
    pcu_gpuarray *values;  /* packed */
    pcu_gpuarray *weights; /* packed, or NULL */
    pcu_gpuarray *target;
    int compute; /* pcu_type in which edges and values are compared */
    size_t vector;
    size_t rounds;
    bool keeps;  /* a block keeps the edges in shared memory */
    size_t room; /* bytes of shared memory for counts; 0: count in the result */
    size_t copies;
    size_t blocks;
} count_plan;

/* -- the arguments ----------------------------------------------------------------- */

static int
count_refuse(const pcu_gpuarray *array, const char *what)
{
    PyErr_Format(PyExc_TypeError, "%s of dtype %S cannot be counted in bins", what,
                 (PyObject *)array->dtype);
    return -1;
}

/* Whether a packed array has room for the edges. */
static bool
count_is_edges(const pcu_count_call *call, const pcu_gpuarray *array)
{
    return array->ndim == 1 && array->count == call->bins + 1 &&
           (array->contiguous & PCU_ARRAY_C) != 0 && pcu_type_is_number(array->type);
}

/* The type of the edges; the values' if there are none. */
static int
count_edge_type(const pcu_count_call *call)
{
    if (call->edge_values != NULL) {
        return call->edge_type;
    }
    if (call->edges != NULL) {
        return call->edges->type;
    }
    return call->values->type;
}

static int
count_check_edges(const pcu_count_call *call)
{
    bool good = (call->edges != NULL) + (call->edge_values != NULL) ==
                (call->variant != PCU_VARIANT_BIN_BY_VALUE);
    if (good && call->edges != NULL) {
        good = call->edges_out == NULL && count_is_edges(call, call->edges);
    }
    if (good && call->edge_values != NULL) {
        good = call->edges_out != NULL && count_is_edges(call, call->edges_out) &&
               call->edges_out->type == call->edge_type &&
               pcu_gpuarray_nbytes(call->edges_out) <= PCU_COUNT_EDGE_BYTES;
    }
    if (!good) {
        PyErr_SetString(PyExc_ValueError, "the edges do not belong to the bins");
        return -1;
    }
    return 0;
}

static int
count_check(const pcu_count_call *call)
{
    const pcu_gpuarray *x = call->values;
    const pcu_gpuarray *weights = call->weights;
    bool by_value = call->variant == PCU_VARIANT_BIN_BY_VALUE;
    if (!pcu_type_is_number(x->type) || pcu_type_is_complex(x->type) ||
        (by_value && !pcu_type_is_exact(x->type))) {
        return count_refuse(x, "values");
    }
    if (weights != NULL) {
        if (!pcu_type_is_number(weights->type) || pcu_type_is_complex(weights->type)) {
            return count_refuse(weights, "weights");
        }
        if (!pcu_gpuarray_has_shape(weights, x->ndim, x->shape)) {
            return pcu_raise_shapes("%s have shape %S, weights have %S", "the values",
                                    x->ndim, x->shape, weights);
        }
    }
    return count_check_edges(call);
}

/* -- the cut ----------------------------------------------------------------------- */

static void
count_cut(count_plan *plan, const pcu_context *ctx)
{
    const pcu_gpuarray *x = plan->values;
    size_t itemsize = pcu_gpuarray_itemsize(x);
    size_t sms = (size_t)ctx->rec.limits.multiprocessors;
    size_t bins = plan->call->bins;
    size_t counter = 4;
    plan->vector = 1;
    if (plan->weights != NULL) {
        counter = 8;
    }
    else if (x->address % 16 == 0 && itemsize < 16) {
        plan->vector = 16 / itemsize;
    }
    plan->rounds = COUNT_BYTES / (plan->vector * itemsize);
    if (plan->rounds > 4) {
        plan->rounds = 4;
    }
    plan->room = COUNT_ROOM;
    size_t edge_size = pcu_types[count_edge_type(plan->call)].size;
    plan->keeps = plan->call->edge_values != NULL ||
                  (plan->call->edges != NULL && (bins + 1) * edge_size <= COUNT_EDGES);
    if (plan->keeps) {
        plan->room -= COUNT_EDGES;
    }
    size_t counters = plan->room / counter;
    if (bins > counters || bins > x->count / 4 + 64) {
        plan->room = 0;
    }
    plan->copies = counters / bins;
    plan->copies = Py_MAX(Py_MIN(plan->copies, COUNT_COPIES), 1);
    size_t each = COUNT_THREADS * plan->vector;
    size_t most = sms * COUNT_FILL_BLOCKS;
    plan->blocks = Py_MIN((x->count + each - 1) / each, most);
    if (plan->call->edge_values != NULL) { /* there are edges to be copied */
        plan->blocks = Py_MAX(plan->blocks, 1);
    }
}

/* -- the launch -------------------------------------------------------------------- */

static int
count_get_kernel(const count_plan *plan, pcu_context *ctx, CUfunction *kernel)
{
    const pcu_count_call *call = plan->call;
    pcu_kernel_key key;
    memset(&key, 0, sizeof(key));
    key.family = PCU_FAMILY_HISTOGRAM;
    key.inputs = 2;
    key.types[0] = plan->values->type;
    key.types[1] = (uint8_t)count_edge_type(call);
    key.ndim = call->edge_values != NULL;
    if (plan->weights != NULL) {
        key.inputs = 3;
        key.types[2] = plan->weights->type;
    }
    key.outputs = 1;
    key.types[key.inputs] = plan->target->type;
    key.compute = (uint8_t)plan->compute;
    key.variant = (uint8_t)call->variant;
    key.raw_bytes = (uint32_t)plan->room;
    key.partial = (uint8_t)plan->keeps;
    key.vector = (uint8_t)plan->vector;
    key.rounds = (uint32_t)plan->rounds;
    key.threads = COUNT_THREADS;
    return pcu_kernel_table_get(plan->target->st, ctx, &key, kernel);
}

static int
count_put_double(pcu_argument_buffer *params, double value)
{
    return pcu_kernel_put(params, &value, sizeof(value), sizeof(value));
}

/* The edges: their address, or their values and the address that gets a copy. */
static int
count_pack_edges(const count_plan *plan, pcu_argument_buffer *params)
{
    const pcu_count_call *call = plan->call;
    CUdeviceptr edges = 0;
    if (call->edges != NULL) {
        edges = call->edges->address;
    }
    if (call->edge_values == NULL) {
        return pcu_kernel_put_address(params, edges);
    }
    size_t size = pcu_gpuarray_nbytes(call->edges_out);
    unsigned char *place =
        pcu_argument_buffer_reserve(params, PCU_COUNT_EDGE_BYTES, 16);
    if (place == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(place, call->edge_values, size);
    memset(place + size, 0, PCU_COUNT_EDGE_BYTES - size);
    return pcu_kernel_put_address(params, call->edges_out->address);
}

static int
count_pack(const count_plan *plan, pcu_argument_buffer *params)
{
    const pcu_count_call *call = plan->call;
    uint32_t copies = (uint32_t)plan->copies;
    double width = call->last - call->first;
    double scale = 0;
    if (width > 0) {
        scale = (double)call->bins / width;
    }
    if (pcu_kernel_put_address(params, plan->values->address) < 0 ||
        count_pack_edges(plan, params) < 0 ||
        pcu_kernel_put_address(params, plan->target->address) < 0 ||
        pcu_kernel_put_index(params, 1, (ptrdiff_t)plan->values->count) < 0 ||
        pcu_kernel_put_index(params, 1, (ptrdiff_t)call->bins) < 0 ||
        pcu_kernel_put(params, &copies, sizeof(copies), sizeof(copies)) < 0 ||
        count_put_double(params, call->first) < 0 ||
        count_put_double(params, call->last) < 0 ||
        count_put_double(params, scale) < 0) {
        return -1;
    }
    if (plan->weights == NULL) {
        return 0;
    }
    return pcu_kernel_put_address(params, plan->weights->address);
}

static int
count_zero(const count_plan *plan)
{
    int rc;
    CUdeviceptr address = plan->target->address;
    size_t nbytes = pcu_gpuarray_nbytes(plan->target);
    PCU_CALL_COPY(rc, plan->target->st, MemsetD8Async,
                  (address, 0, nbytes, plan->call->stream),
                  {"the counts", address, nbytes});
    return rc;
}

/* Zero the target and enqueue the kernel. */
static int
count_launch(const count_plan *plan, CUfunction kernel)
{
    pcu_argument_buffer params;
    pcu_argument_buffer_init(&params);
    int rc = count_pack(plan, &params);
    if (rc == 0) {
        rc = count_zero(plan);
    }
    if (rc == 0 && plan->blocks > 0) {
        rc = pcu_kernel_launch(plan->target->st, kernel, plan->blocks, COUNT_THREADS,
                               plan->call->stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

/* Whether the packed arrays are still those of the call. */
static bool
count_is_same(const count_plan *plan)
{
    const pcu_count_call *call = plan->call;
    const pcu_gpuarray *x = plan->values;
    return x->type == call->values->type && (x->contiguous & PCU_ARRAY_C) != 0 &&
           x->count == call->values->count && plan->target->count == call->bins &&
           (plan->weights == NULL || (plan->weights->count == x->count &&
                                      (plan->weights->contiguous & PCU_ARRAY_C) != 0));
}

/* Check the arrays and enqueue the count. PCU_KERNEL_MADE: nothing was enqueued. */
static int
count_attempt(count_plan *plan, pcu_context *ctx)
{
    CUfunction kernel = NULL;
    const pcu_count_call *call = plan->call;
    if (count_check(call) < 0 || pcu_gpuarray_check(plan->values, ctx) < 0 ||
        pcu_gpuarray_check(plan->target, ctx) < 0 ||
        (call->edges != NULL && pcu_gpuarray_check(call->edges, ctx) < 0) ||
        (call->edges_out != NULL && pcu_gpuarray_check(call->edges_out, ctx) < 0) ||
        (plan->weights != NULL && pcu_gpuarray_check(plan->weights, ctx) < 0)) {
        return -1;
    }
    if (!count_is_same(plan)) {
        PyErr_SetString(PyExc_RuntimeError,
                        "the shape or dtype of an array changed during the call");
        return -1;
    }
    if (call->bins == 0) {
        return 0;
    }
    if (pcu_type_promote(plan->values->type, count_edge_type(call), &plan->compute) <
        0) {
        return -1;
    }
    count_cut(plan, ctx);
    int rc = count_get_kernel(plan, ctx, &kernel);
    if (rc != 0) {
        return rc;
    }
    return count_launch(plan, kernel);
}

static int
count_run(pcu_state *st, count_plan *plan)
{
    int rc;
    pcu_context *ctx = pcu_context_launch_borrow(st);
    if (ctx == NULL) {
        return -1;
    }
    Py_INCREF(ctx); /* its kernels stay loaded until the launch */
    do {
        rc = count_attempt(plan, ctx);
    } while (rc == PCU_KERNEL_MADE);
    Py_DECREF(ctx);
    return rc;
}

PyObject *
pcu_count(pcu_state *st, const pcu_count_call *call)
{
    count_plan plan = {.call = call};
    PyObject *allocator = call->allocator;
    PyObject *weights = NULL;
    PyObject *target = NULL;
    int type = PCU_T_INT64;
    if (count_check(call) < 0) {
        return NULL;
    }
    if (allocator == Py_None) {
        allocator = call->values->allocator;
    }
    if (call->weights != NULL) {
        type = PCU_T_FLOAT64;
        weights = pcu_gpuarray_in_c_order_new(call->weights, allocator, call->stream);
        if (weights == NULL) {
            return NULL;
        }
    }
    PyArray_Descr *dtype = pcu_dtype_of_type(type);
    PyObject *values =
        pcu_gpuarray_in_c_order_new(call->values, allocator, call->stream);
    if (values != NULL) {
        target = pcu_gpuarray_new(st, NULL, 1, &call->bins, NULL, dtype, allocator);
    }
    Py_DECREF(dtype);
    if (target != NULL) {
        plan.values = (pcu_gpuarray *)values;
        plan.weights = (pcu_gpuarray *)weights;
        plan.target = (pcu_gpuarray *)target;
        if (count_run(st, &plan) < 0) {
            Py_CLEAR(target);
        }
    }
    Py_XDECREF(values);
    Py_XDECREF(weights);
    return target;
}
