/* One triangle of each matrix: see triangle.h.
 *
 * The kernel knows elements as bits, so there is one for each size. A source packed in
 * C order is read 16 bytes at a time. One whose columns are runs is copied through
 * tiles (transpose.c), any other one by its strides. */

#include "python/array/ops/triangle.h"

#include "driver/shape.h"
#include "python/array/layout.h"
#include "python/array/memory.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/operations.h"
#include "python/array/ops/transpose.h"

enum { TRIANGLE_THREADS = 256, TRIANGLE_WORD = 16 };

/* Whether the kernel has to find elements of the source by strides. */
static bool
triangle_is_strided(const pcu_triangle_call *call)
{
    return call->source != NULL && !(call->source->contiguous & PCU_ARRAY_C);
}

/* The widest word, of up to 16 bytes, that divides addresses, strides and size. */
static size_t
triangle_word(const pcu_triangle_call *call)
{
    uint64_t bits = TRIANGLE_WORD | call->target->address;
    bits |= pcu_gpuarray_itemsize(call->target);
    if (call->source != NULL) {
        bits |= call->source->address;
        for (int k = 0; k < call->source->ndim; k++) {
            bits |= (uint64_t)call->source->strides[k];
        }
    }
    return (size_t)(bits & (~bits + 1));
}

/* How many elements of a flat kernel a thread handles: 16 bytes if addresses allow it.
 */
static size_t
triangle_vector(const pcu_triangle_call *call, size_t word)
{
    size_t size = pcu_gpuarray_itemsize(call->target);
    uint64_t bits = call->target->address;
    if (call->source != NULL) {
        bits |= call->source->address;
    }
    if (triangle_is_strided(call) || word != size || bits % TRIANGLE_WORD != 0) {
        return 1;
    }
    return TRIANGLE_WORD / size;
}

static void
triangle_fill_key(const pcu_triangle_call *call, pcu_kernel_key *key)
{
    size_t word = triangle_word(call);
    memset(key, 0, sizeof(*key));
    key->family = PCU_FAMILY_TRIANGLE;
    key->operation = PCU_OP_COPY;
    key->raw_bytes = (uint32_t)pcu_gpuarray_itemsize(call->target);
    key->tile = (uint16_t)word;
    key->vector = (uint8_t)triangle_vector(call, word);
    key->inputs = call->source != NULL;
    key->outputs = 1;
    key->wide = call->target->count > INT32_MAX;
    if (triangle_is_strided(call)) {
        key->ndim = (uint8_t)call->target->ndim;
    }
}

/* The target, the source or the value, the number of elements, rows and columns, k and
 * lower; then length and stride of each axis if the kernel is strided. */
static int
triangle_pack(const pcu_triangle_call *call, const pcu_kernel_key *key,
              pcu_argument_buffer *params)
{
    const pcu_gpuarray *target = call->target;
    size_t size = key->raw_bytes;
    size_t rows = target->shape[target->ndim - 2];
    size_t columns = target->shape[target->ndim - 1];
    int rc = pcu_kernel_put_address(params, target->address);
    if (rc == 0 && call->source != NULL) {
        rc = pcu_kernel_put_address(params, call->source->address);
    }
    else if (rc == 0) {
        rc = pcu_kernel_put(params, call->value, size, key->tile);
    }
    if (rc < 0 ||
        pcu_kernel_put_index(params, key->wide, (ptrdiff_t)target->count) < 0 ||
        pcu_kernel_put_index(params, key->wide, (ptrdiff_t)rows) < 0 ||
        pcu_kernel_put_index(params, key->wide, (ptrdiff_t)columns) < 0 ||
        pcu_kernel_put_index(params, 1, (ptrdiff_t)call->k) < 0 ||
        pcu_kernel_put_index(params, 0, call->lower) < 0) {
        return -1;
    }
    for (int k = 0; k < key->ndim; k++) {
        if (pcu_kernel_put_index(params, key->wide, (ptrdiff_t)target->shape[k]) < 0 ||
            pcu_kernel_put_index(params, 1, call->source->strides[k]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Enqueue the copy through tiles if the source's columns are runs. Returns what
 * pcu_transpose returns. */
static int
triangle_transpose(pcu_state *st, pcu_context *ctx, const pcu_triangle_call *call)
{
    if (!triangle_is_strided(call)) {
        return 0;
    }
    const pcu_triangle_part part = {.k = call->k, .lower = call->lower};
    const pcu_strided_copy copy = {.source_address = call->source->address,
                                   .target_address = call->target->address,
                                   .itemsize = pcu_gpuarray_itemsize(call->target),
                                   .ndim = call->target->ndim,
                                   .shape = call->target->shape,
                                   .source = call->source->strides,
                                   .target = call->target->strides,
                                   .part = &part};
    return pcu_transpose(st, ctx, &copy, call->stream);
}

/* Check the arrays and enqueue the kernel. PCU_KERNEL_MADE: nothing was enqueued. */
static int
triangle_attempt(pcu_state *st, pcu_context *ctx, const pcu_triangle_call *call)
{
    pcu_kernel_key key;
    pcu_argument_buffer params;
    CUfunction kernel = NULL;
    if (pcu_gpuarray_check(call->target, ctx) < 0 ||
        (call->source != NULL && pcu_gpuarray_check(call->source, ctx) < 0)) {
        return -1;
    }
    if (call->target->count == 0 || pcu_gpuarray_itemsize(call->target) == 0) {
        return 0;
    }
    int rc = triangle_transpose(st, ctx, call);
    if (rc == 1) {
        return 0;
    }
    if (rc == 0) {
        triangle_fill_key(call, &key);
        rc = pcu_kernel_table_get(st, ctx, &key, &kernel);
    }
    if (rc != 0) {
        return rc;
    }
    size_t each = (size_t)TRIANGLE_THREADS * key.vector;
    size_t blocks = (call->target->count + each - 1) / each;
    pcu_argument_buffer_init(&params);
    rc = triangle_pack(call, &key, &params);
    if (rc == 0) {
        rc = pcu_kernel_launch(st, kernel, blocks, TRIANGLE_THREADS, call->stream,
                               &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

/* After a kernel was made, which runs other code: the arrays must still be alike. */
static int
triangle_check(const pcu_triangle_call *call, size_t size)
{
    const pcu_gpuarray *target = call->target;
    const pcu_gpuarray *source = call->source;
    bool same = pcu_gpuarray_itemsize(target) == size && target->ndim >= 2;
    if (source != NULL) {
        same = same && pcu_gpuarray_itemsize(source) == size &&
               pcu_gpuarray_has_shape(source, target->ndim, target->shape);
    }
    if (same) {
        return 0;
    }
    PyErr_SetString(PyExc_RuntimeError,
                    "triangle: shape or dtype of an array changed during the call");
    return -1;
}

int
pcu_triangle(pcu_state *st, const pcu_triangle_call *call)
{
    int rc;
    size_t size = pcu_gpuarray_itemsize(call->target);
    pcu_context *ctx = pcu_context_launch_borrow(st);
    if (ctx == NULL) {
        return -1;
    }
    Py_INCREF(ctx); /* its kernels stay loaded until the launch */
    do {
        rc = triangle_attempt(st, ctx, call);
    } while (rc == PCU_KERNEL_MADE && triangle_check(call, size) == 0);
    Py_DECREF(ctx);
    if (rc != 0) {
        return -1;
    }
    return 0;
}
