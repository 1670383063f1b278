/* The first few elements: see few_first.h, and cuda/pycuda-select.hpp for the kernels.
 *
 * Each block of one kernel stores the first elements of those that it reads, as entries
 * of key and index. The single block of a second kernel selects from the entries. A
 * short array needs the second kernel only. */

#include "python/array/sort/few_first.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/memory.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"

enum {
    FEW_THREADS = 256,
    FEW_EACH = 16,    /* elements that a thread reads at once */
    FEW_GROUPS = 4,   /* for which one block is enough */
    FEW_BLOCKS = 4,   /* on a multiprocessor */
    FEW_OF_MANY = 32, /* elements to select from which it is one */
    FEW_ENTRY = 16,   /* bytes of an entry */
    FEW_NARROW_ENTRY = 8
};

typedef struct {
    const pcu_few_call *call;
    pcu_state *st;
    PyObject *allocator;
    int type;
    size_t length;
    size_t blocks;  /* of the first kernel; 1: there is none */
    bool is_narrow; /* keys and indices have 32 bits */
    size_t entries; /* bytes */
} few_plan;

/* The arrays of a call. */
typedef struct {
    PyObject *elements;
    PyObject *indices;
    PyObject *entries; /* NULL without the first kernel */
} few_arrays;

static void
few_fill(few_plan *plan, pcu_state *st, const pcu_few_call *call,
         const pcu_context *ctx)
{
    const pcu_gpuarray *x = call->x;
    size_t group = (size_t)FEW_THREADS * FEW_EACH; /* elements that a block reads */
    size_t most = (size_t)ctx->rec.limits.multiprocessors;
    if (call->count <= FEW_OF_MANY) {
        most *= FEW_BLOCKS;
    }
    *plan = (few_plan){.call = call,
                       .st = st,
                       .allocator = call->allocator,
                       .type = x->type,
                       .length = x->count};
    if (plan->allocator == Py_None) {
        plan->allocator = x->allocator;
    }
    plan->blocks = Py_MIN(most, (x->count + group - 1) / group);
    if (plan->blocks <= FEW_GROUPS) {
        plan->blocks = 1;
    }
    plan->is_narrow =
        pcu_types[x->type].size <= sizeof(uint32_t) && x->count < UINT32_MAX;
    plan->entries = plan->blocks * call->count *
                    (size_t)(plan->is_narrow ? FEW_NARROW_ENTRY : FEW_ENTRY);
}

static PyObject *
few_array_new(const few_plan *plan, int type, size_t count)
{
    PyArray_Descr *dtype = pcu_dtype_of_type(type);
    PyObject *array =
        pcu_gpuarray_new(plan->st, NULL, 1, &count, NULL, dtype, plan->allocator);
    Py_DECREF(dtype);
    return array;
}

static int
few_make_arrays(const few_plan *plan, few_arrays *arrays)
{
    arrays->elements = few_array_new(plan, plan->type, plan->call->count);
    if (arrays->elements == NULL) {
        return -1;
    }
    arrays->indices = few_array_new(plan, PCU_T_INT64, plan->call->count);
    if (arrays->indices == NULL) {
        return -1;
    }
    if (plan->blocks > 1) {
        arrays->entries = few_array_new(plan, PCU_T_UINT8, plan->entries);
        return arrays->entries == NULL ? -1 : 0;
    }
    return 0;
}

static void
few_fill_key(const few_plan *plan, int variant, pcu_kernel_key *key)
{
    memset(key, 0, sizeof(*key));
    key->family = PCU_FAMILY_SELECTION;
    key->inputs = 1;
    key->types[0] = (uint8_t)plan->type;
    key->wide = (uint8_t)!plan->is_narrow;
    key->variant = (uint8_t)variant;
    key->threads = FEW_THREADS;
    key->vector = FEW_EACH;
}

/* Get the kernel of all, and that of blocks if it is needed. */
static int
few_get_kernels(const few_plan *plan, pcu_context *ctx, CUfunction *kernels)
{
    pcu_kernel_key keys[2];
    few_fill_key(plan, PCU_VARIANT_FEW_OF_ALL, &keys[0]);
    few_fill_key(plan, PCU_VARIANT_FEW_OF_BLOCKS, &keys[1]);
    return pcu_kernel_table_get_all(plan->st, ctx, 1 + (plan->blocks > 1), keys,
                                    kernels);
}

/* The parameters that both kernels have. */
static int
few_pack(const few_plan *plan, pcu_argument_buffer *params)
{
    uint64_t flip = plan->call->descending ? UINT64_MAX : 0;
    if (pcu_kernel_put_address(params, plan->call->x->address) < 0 ||
        pcu_kernel_put_index(params, 1, (ptrdiff_t)plan->length) < 0 ||
        pcu_kernel_put(params, &flip, sizeof(flip), sizeof(flip)) < 0) {
        return -1;
    }
    return pcu_kernel_put_index(params, 0, (ptrdiff_t)plan->call->count);
}

static int
few_launch_blocks(const few_plan *plan, CUfunction kernel, const few_arrays *arrays)
{
    pcu_argument_buffer params;
    pcu_argument_buffer_init(&params);
    int rc = -1;
    if (few_pack(plan, &params) == 0 &&
        pcu_kernel_put_address(&params, pcu_gpuarray_address_of(arrays->entries)) ==
            0) {
        rc = pcu_kernel_launch(plan->st, kernel, plan->blocks, FEW_THREADS,
                               plan->call->stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

static int
few_launch_all(const few_plan *plan, CUfunction kernel, const few_arrays *arrays)
{
    size_t entries = plan->blocks * plan->call->count;
    pcu_argument_buffer params;
    pcu_argument_buffer_init(&params);
    int rc = -1;
    if (few_pack(plan, &params) == 0 &&
        pcu_kernel_put_address(&params, pcu_gpuarray_address_of(arrays->entries)) ==
            0 &&
        pcu_kernel_put_index(&params, 1, (ptrdiff_t)entries) == 0 &&
        pcu_kernel_put_address(&params, pcu_gpuarray_address_of(arrays->elements)) ==
            0 &&
        pcu_kernel_put_address(&params, pcu_gpuarray_address_of(arrays->indices)) ==
            0) {
        rc = pcu_kernel_launch(plan->st, kernel, 1, FEW_THREADS, plan->call->stream,
                               &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

/* Making a kernel or allocating memory may run code that changes the arrays. */
static int
few_check(const few_plan *plan, const pcu_context *ctx, const few_arrays *arrays)
{
    pcu_gpuarray *x = plan->call->x;
    if (x->type != plan->type || x->contiguous == 0 || x->count != plan->length) {
        PyErr_SetString(PyExc_RuntimeError,
                        "top_k: the shape or dtype of the array changed during the "
                        "call");
        return -1;
    }
    if (pcu_gpuarray_check(x, ctx) < 0 ||
        pcu_gpuarray_check((pcu_gpuarray *)arrays->elements, ctx) < 0 ||
        pcu_gpuarray_check((pcu_gpuarray *)arrays->indices, ctx) < 0) {
        return -1;
    }
    if (arrays->entries != NULL) {
        return pcu_gpuarray_check((pcu_gpuarray *)arrays->entries, ctx);
    }
    return 0;
}

static int
few_enqueue(const few_plan *plan, pcu_context *ctx, few_arrays *arrays)
{
    CUfunction kernels[2] = {NULL, NULL};
    int rc = few_make_arrays(plan, arrays);
    if (rc < 0) {
        return -1;
    }
    do {
        rc = few_get_kernels(plan, ctx, kernels);
    } while (rc == PCU_KERNEL_MADE);
    if (rc == 0) {
        rc = few_check(plan, ctx, arrays);
    }
    if (rc == 0 && plan->blocks > 1) {
        rc = few_launch_blocks(plan, kernels[1], arrays);
    }
    if (rc == 0) {
        rc = few_launch_all(plan, kernels[0], arrays);
    }
    return rc;
}

PyObject *
pcu_few_first(pcu_state *st, const pcu_few_call *call)
{
    few_plan plan;
    few_arrays arrays = {NULL, NULL, NULL};
    pcu_gpuarray *x = call->x;
    PyObject *result = NULL;
    if (x->ndim != 1 || x->contiguous == 0 || !pcu_type_is_number(x->type) ||
        pcu_type_is_complex(x->type) || call->count == 0 ||
        call->count > PCU_FEW_MOST) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    pcu_context *ctx = pcu_context_launch_borrow(st);
    if (ctx == NULL) {
        return NULL;
    }
    Py_INCREF(ctx); /* its kernels stay loaded until the launch */
    few_fill(&plan, st, call, ctx);
    if (few_enqueue(&plan, ctx, &arrays) == 0) {
        result = PyTuple_Pack(2, arrays.elements, arrays.indices);
    }
    Py_XDECREF(arrays.elements);
    Py_XDECREF(arrays.indices);
    Py_XDECREF(arrays.entries);
    Py_DECREF(ctx);
    return result;
}
