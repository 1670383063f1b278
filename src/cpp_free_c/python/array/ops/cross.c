/* Cross products: see cross.h.
 *
 * A thread computes a vector. On an H200 that is as fast as whole words that pass
 * through shared memory; whole words without it are a fifth slower. */

#include "python/array/ops/cross.h"

#include "driver/shape.h"
#include "python/array/element_type.h"
#include "python/array/layout.h"
#include "python/array/memory.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/operations.h"

enum { CROSS_THREADS = 256, CROSS_LENGTH = 3 };

bool
pcu_cross_takes(const pcu_gpuarray *left, const pcu_gpuarray *right)
{
    return left->ndim > 0 && left->shape[left->ndim - 1] == CROSS_LENGTH &&
           left->type == right->type && pcu_type_is_number(left->type) &&
           left->type != PCU_T_BOOL &&
           pcu_gpuarray_has_shape(right, left->ndim, left->shape) &&
           (left->contiguous & right->contiguous & PCU_ARRAY_C);
}

static void
cross_fill_key(const pcu_gpuarray *left, pcu_kernel_key *key)
{
    memset(key, 0, sizeof(*key));
    key->family = PCU_FAMILY_CROSS;
    key->operation = PCU_OP_MULTIPLY;
    key->inputs = 1;
    key->types[0] = left->type;
    key->compute = left->type;
    key->wide = left->count > INT32_MAX;
}

/* The three addresses and the number of vectors. */
static int
cross_pack(const pcu_kernel_key *key, const pcu_gpuarray *target,
           const pcu_gpuarray *left, const pcu_gpuarray *right,
           pcu_argument_buffer *params)
{
    size_t vectors = target->count / CROSS_LENGTH;
    if (pcu_kernel_put_address(params, target->address) < 0 ||
        pcu_kernel_put_address(params, left->address) < 0 ||
        pcu_kernel_put_address(params, right->address) < 0) {
        return -1;
    }
    return pcu_kernel_put_index(params, key->wide, (ptrdiff_t)vectors);
}

/* Check the arrays and enqueue the kernel. PCU_KERNEL_MADE: nothing was enqueued. */
static int
cross_attempt(pcu_state *st, pcu_context *ctx, pcu_gpuarray *target, pcu_gpuarray *left,
              pcu_gpuarray *right, CUstream stream)
{
    pcu_kernel_key key;
    pcu_argument_buffer params;
    CUfunction kernel = NULL;
    if (pcu_gpuarray_check(target, ctx) < 0 || pcu_gpuarray_check(left, ctx) < 0 ||
        pcu_gpuarray_check(right, ctx) < 0) {
        return -1;
    }
    if (target->count == 0) {
        return 0;
    }
    cross_fill_key(left, &key);
    int rc = pcu_kernel_table_get(st, ctx, &key, &kernel);
    if (rc != 0) {
        return rc;
    }
    size_t each = (size_t)CROSS_THREADS * CROSS_LENGTH;
    pcu_argument_buffer_init(&params);
    rc = cross_pack(&key, target, left, right, &params);
    if (rc == 0) {
        rc = pcu_kernel_launch(st, kernel, (target->count + each - 1) / each,
                               CROSS_THREADS, stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

/* After a kernel was made, which runs other code: the arrays must still be alike. */
static int
cross_check(const pcu_gpuarray *target, const pcu_gpuarray *left,
            const pcu_gpuarray *right)
{
    if (pcu_cross_takes(left, right) && target->type == left->type &&
        pcu_gpuarray_has_shape(target, left->ndim, left->shape)) {
        return 0;
    }
    PyErr_SetString(PyExc_RuntimeError,
                    "cross: shape or dtype of an array changed during the call");
    return -1;
}

int
pcu_cross(pcu_state *st, pcu_gpuarray *target, pcu_gpuarray *left, pcu_gpuarray *right,
          CUstream stream)
{
    int rc;
    pcu_context *ctx = pcu_context_launch_borrow(st);
    if (ctx == NULL) {
        return -1;
    }
    Py_INCREF(ctx); /* its kernels stay loaded until the launch */
    do {
        rc = cross_attempt(st, ctx, target, left, right, stream);
    } while (rc == PCU_KERNEL_MADE && cross_check(target, left, right) == 0);
    Py_DECREF(ctx);
    if (rc != 0) {
        return -1;
    }
    return 0;
}
