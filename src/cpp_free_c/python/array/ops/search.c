/* Searches in sorted arrays: see search.h. One kernel, a binary search for each value.
 */

#include "python/array/ops/search.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/layout.h"
#include "python/array/memory.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"
#include "python/driver/context.h"

enum {
    SEARCH_THREADS = 256,
    SEARCH_ROUNDS = 4,
    SEARCH_ROOM = 16 * 1024, /* bytes of sorted elements that a block keeps */
    SEARCH_FEW = 1024,       /* sorted elements that every block can load */
    SEARCH_FILL_BLOCKS = 8,  /* blocks that fill a multiprocessor */
    /* The same for many values among many elements. On an H200 the time is that of the
     * random reads: 225 us for 2^22 values among 2^20, and 275 with small blocks. */
    SEARCH_MANY_THREADS = 1024,
    SEARCH_MANY_ROOM = 32 * 1024,
    SEARCH_MANY_BLOCKS = 2,
    SEARCH_MANY_VALUES = 4 /* of a thread, at least */
};

/* How one search is launched. */
typedef struct {
    int compute; /* pcu_type */
    bool wide;   /* indices have 64 bits */
    unsigned int threads;
    unsigned int rounds; /* values of a thread under way */
    size_t room;         /* bytes of sorted elements in shared memory, or 0 */
    size_t width;        /* the distance between these */
    size_t blocks;
} search_plan;

/* -- the arguments ----------------------------------------------------------------- */

static int
search_check_numbers(const pcu_search_call *call, const pcu_gpuarray *array)
{
    if (pcu_type_is_number(array->type)) {
        return 0;
    }
    PyErr_Format(PyExc_TypeError, "%s does not take arrays of dtype %S", call->name,
                 (PyObject *)array->dtype);
    return -1;
}

static int
search_check_axes(const pcu_search_call *call, const pcu_gpuarray *array,
                  const char *what)
{
    if (array->ndim == 1) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "%s: %s must have one axis, not %d", call->name,
                 what, array->ndim);
    return -1;
}

/* The common type of elements and values; an order has to be one of all elements. */
static int
search_check(const pcu_search_call *call, int *compute)
{
    const pcu_gpuarray *sorter = call->sorter;
    if (search_check_numbers(call, call->sorted) < 0 ||
        search_check_numbers(call, call->values) < 0 ||
        search_check_axes(call, call->sorted, "the sorted array") < 0) {
        return -1;
    }
    if (call->digitize && (pcu_type_is_complex(call->sorted->type) ||
                           pcu_type_is_complex(call->values->type))) {
        PyErr_Format(PyExc_TypeError, "%s does not take complex numbers", call->name);
        return -1;
    }
    if (sorter != NULL) {
        if (search_check_axes(call, sorter, "sorter") < 0) {
            return -1;
        }
        if (!pcu_type_is_exact(sorter->type) || sorter->type == PCU_T_BOOL) {
            PyErr_Format(PyExc_TypeError, "%s: sorter must hold integers, not %S",
                         call->name, (PyObject *)sorter->dtype);
            return -1;
        }
        if (sorter->count != call->sorted->count) {
            PyErr_Format(PyExc_ValueError,
                         "%s: sorter has %zu elements, the sorted array has %zu",
                         call->name, sorter->count, call->sorted->count);
            return -1;
        }
    }
    return pcu_type_promote(call->sorted->type, call->values->type, compute);
}

/* -- the launch -------------------------------------------------------------------- */

/* Blocks that stay and keep sorted elements in shared memory. */
static void
search_keep(search_plan *plan, size_t length, size_t room, size_t blocks)
{
    size_t size = pcu_types[plan->compute].size;
    if (plan->compute == PCU_T_FLOAT16) { /* computed in float */
        size = pcu_types[PCU_T_FLOAT32].size;
    }
    size_t most = room / size;
    plan->room = room;
    plan->width = (length + most - 1) / most;
    plan->blocks = Py_MIN(plan->blocks, blocks);
}

static void
search_cut(const pcu_search_call *call, size_t count, const pcu_context *ctx,
           search_plan *plan)
{
    size_t sms = (size_t)ctx->rec.limits.multiprocessors;
    size_t length = call->sorted->count;
    size_t many = sms * SEARCH_MANY_BLOCKS * SEARCH_MANY_THREADS * SEARCH_MANY_VALUES;
    bool is_many = length > SEARCH_FEW && count >= many;
    plan->wide = Py_MAX(count, length) > INT32_MAX / 2;
    plan->threads = SEARCH_THREADS;
    plan->rounds = 1;
    if (is_many) {
        plan->threads = SEARCH_MANY_THREADS;
    }
    else if (count >= sms * SEARCH_THREADS * SEARCH_ROUNDS * 2) {
        plan->rounds = SEARCH_ROUNDS;
    }
    size_t each = (size_t)plan->threads * plan->rounds;
    plan->blocks = Py_MIN((count + each - 1) / each, (size_t)INT32_MAX);
    plan->room = 0;
    plan->width = 1;
    if (is_many) {
        search_keep(plan, length, SEARCH_MANY_ROOM, sms * SEARCH_MANY_BLOCKS);
    }
    else if (length > 0 && length <= SEARCH_FEW) {
        search_keep(plan, length, SEARCH_ROOM, sms * SEARCH_FILL_BLOCKS);
    }
}

static int
search_get_kernel(const pcu_search_call *call, pcu_context *ctx,
                  const search_plan *plan, CUfunction *kernel)
{
    const pcu_gpuarray *sorted = call->sorted;
    pcu_kernel_key key;
    memset(&key, 0, sizeof(key));
    key.family = PCU_FAMILY_SEARCH;
    key.inputs = 2;
    key.outputs = 1;
    key.types[0] = sorted->type;
    key.types[1] = call->values->type;
    key.streamed = sorted->strides[0] == (ptrdiff_t)pcu_gpuarray_itemsize(sorted);
    if (call->sorter != NULL) {
        key.inputs = 3;
        key.types[2] = call->sorter->type;
        key.streamed = 0;
    }
    key.types[key.inputs] = PCU_T_INT64;
    key.compute = (uint8_t)plan->compute;
    key.wide = (uint8_t)plan->wide;
    key.threads = (uint16_t)plan->threads;
    key.rounds = plan->rounds;
    key.raw_bytes = (uint32_t)plan->room;
    key.variant = PCU_VARIANT_SEARCH_LEFT;
    if (call->digitize) {
        key.variant = PCU_VARIANT_DIGITIZE_LEFT;
    }
    if (call->right) {
        key.variant++; /* the row that follows */
    }
    return pcu_kernel_table_get(sorted->st, ctx, &key, kernel);
}

static int
search_pack(const pcu_search_call *call, const pcu_gpuarray *values,
            const pcu_gpuarray *target, const search_plan *plan,
            pcu_argument_buffer *params)
{
    const pcu_gpuarray *sorter = call->sorter;
    bool wide = plan->wide;
    if (pcu_kernel_put_address(params, call->sorted->address) < 0 ||
        pcu_kernel_put_index(params, 1, call->sorted->strides[0]) < 0 ||
        pcu_kernel_put_index(params, wide, (ptrdiff_t)call->sorted->count) < 0 ||
        pcu_kernel_put_index(params, wide, (ptrdiff_t)plan->width) < 0 ||
        pcu_kernel_put_address(params, values->address) < 0 ||
        pcu_kernel_put_index(params, wide, (ptrdiff_t)values->count) < 0 ||
        pcu_kernel_put_address(params, target->address) < 0) {
        return -1;
    }
    if (sorter == NULL) {
        return 0;
    }
    if (pcu_kernel_put_address(params, sorter->address) < 0) {
        return -1;
    }
    return pcu_kernel_put_index(params, 1, sorter->strides[0]);
}

/* Check that work in ctx may use the arrays, and that they are still those of the call.
 */
static int
search_check_arrays(const pcu_search_call *call, const pcu_context *ctx,
                    pcu_gpuarray *values, pcu_gpuarray *target)
{
    if (pcu_gpuarray_check(call->sorted, ctx) < 0 ||
        pcu_gpuarray_check(values, ctx) < 0 || pcu_gpuarray_check(target, ctx) < 0 ||
        (call->sorter != NULL && pcu_gpuarray_check(call->sorter, ctx) < 0)) {
        return -1;
    }
    if (values->count != target->count || values->type != call->values->type ||
        !(values->contiguous & PCU_ARRAY_C)) {
        PyErr_Format(PyExc_RuntimeError,
                     "%s: the shape or dtype of an array changed during the call",
                     call->name);
        return -1;
    }
    return 0;
}

/* Check the arrays and enqueue the kernel. PCU_KERNEL_MADE: nothing was enqueued. */
static int
search_attempt(const pcu_search_call *call, pcu_context *ctx, pcu_gpuarray *values,
               pcu_gpuarray *target)
{
    pcu_argument_buffer params;
    CUfunction kernel = NULL;
    search_plan plan;
    if (search_check(call, &plan.compute) < 0 ||
        search_check_arrays(call, ctx, values, target) < 0) {
        return -1;
    }
    if (values->count == 0) {
        return 0;
    }
    search_cut(call, values->count, ctx, &plan);
    int rc = search_get_kernel(call, ctx, &plan, &kernel);
    if (rc != 0) {
        return rc;
    }
    pcu_argument_buffer_init(&params);
    rc = search_pack(call, values, target, &plan, &params);
    if (rc == 0) {
        rc = pcu_kernel_launch(target->st, kernel, plan.blocks, plan.threads,
                               call->stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

static int
search_run(pcu_state *st, const pcu_search_call *call, pcu_gpuarray *values,
           pcu_gpuarray *target)
{
    int rc;
    pcu_context *ctx = pcu_context_launch_borrow(st);
    if (ctx == NULL) {
        return -1;
    }
    Py_INCREF(ctx); /* its kernels stay loaded until the launch */
    do {
        rc = search_attempt(call, ctx, values, target);
    } while (rc == PCU_KERNEL_MADE);
    Py_DECREF(ctx);
    return rc;
}

PyObject *
pcu_search(pcu_state *st, const pcu_search_call *call)
{
    pcu_gpuarray *x = call->values;
    PyObject *allocator = call->allocator;
    int compute = PCU_T_NONE;
    if (search_check(call, &compute) < 0) {
        return NULL;
    }
    if (allocator == Py_None) {
        allocator = x->allocator;
    }
    PyArray_Descr *dtype = pcu_dtype_of_type(PCU_T_INT64);
    PyObject *target =
        pcu_gpuarray_new(st, NULL, x->ndim, x->shape, NULL, dtype, allocator);
    Py_DECREF(dtype);
    if (target == NULL) {
        return NULL;
    }
    PyObject *values = pcu_gpuarray_in_c_order_new(x, allocator, call->stream);
    if (values == NULL ||
        search_run(st, call, (pcu_gpuarray *)values, (pcu_gpuarray *)target) < 0) {
        Py_CLEAR(target);
    }
    Py_XDECREF(values);
    return target;
}
