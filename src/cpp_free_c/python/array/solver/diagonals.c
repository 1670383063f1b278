/* Bisection for the values of tridiagonal and bidiagonal matrices: see diagonals.h. */

#include "python/array/solver/diagonals.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/memory.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/operations.h"
#include "python/array/solver/solver_params.h"
#include "python/support/driver_call.h"

enum {
    DIAGONALS_THREADS = 256,
    DIAGONALS_CHUNK = 8 /* values for each block: a warp for each of them */
};

/* Refuse arrays of other types or layouts. */
static int
diagonals_check_layout(const pcu_diagonals_call *call)
{
    const pcu_gpuarray *d = call->diagonal;
    const pcu_gpuarray *e = call->beside;
    int type = d->type;
    if ((type == PCU_T_FLOAT32 || type == PCU_T_FLOAT64) && e->type == type &&
        d->ndim > 0 && pcu_gpuarray_has_shape(e, d->ndim, d->shape) &&
        (d->contiguous & e->contiguous & PCU_ARRAY_C) && d->count != 0) {
        return 0;
    }
    PyErr_SetString(PyExc_ValueError,
                    "the diagonals must be two packed arrays of one shape, float32 or "
                    "float64, with elements");
    return -1;
}

static size_t
diagonals_shared(const pcu_diagonals_call *call)
{
    const pcu_gpuarray *d = call->diagonal;
    return 2 * d->shape[d->ndim - 1] * pcu_gpuarray_itemsize(d);
}

/* 1 if a block can have the shared memory, 0 if not, or -1. */
static int
diagonals_have_room(pcu_state *st, const pcu_diagonals_call *call,
                    const pcu_context *ctx)
{
    int most = 0;
    int rc;
    PCU_CALL(rc, st, DeviceGetAttribute,
             (&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
              ctx->rec.device));
    if (rc < 0) {
        return -1;
    }
    return diagonals_shared(call) <= (size_t)most;
}

static int
diagonals_get_kernel(pcu_state *st, const pcu_diagonals_call *call, pcu_context *ctx,
                     CUfunction *kernel)
{
    pcu_kernel_key key;
    size_t shared = diagonals_shared(call);
    memset(&key, 0, sizeof(key));
    key.family = PCU_FAMILY_SOLVER;
    key.operation = PCU_OP_COPY;
    key.variant = PCU_VARIANT_VALUES_OF_DIAGONALS;
    key.compute = call->diagonal->type;
    key.threads = DIAGONALS_THREADS;
    int rc = pcu_kernel_table_get(st, ctx, &key, kernel);
    if (rc == 0 && shared > PCU_SOLVER_SHARED) {
        PCU_CALL(
            rc, st, FuncSetAttribute,
            (*kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared));
    }
    return rc;
}

/* Check the arrays and enqueue the kernel. PCU_KERNEL_MADE: nothing was enqueued. */
static int
diagonals_attempt(pcu_state *st, const pcu_diagonals_call *call, pcu_context *ctx,
                  pcu_gpuarray *result)
{
    CUfunction kernel = NULL;
    pcu_solver_params p;
    pcu_argument_buffer params;
    const pcu_gpuarray *d = call->diagonal;
    if (diagonals_check_layout(call) < 0) {
        return -1;
    }
    if (!pcu_gpuarray_has_shape(result, d->ndim, d->shape)) {
        PyErr_SetString(PyExc_RuntimeError,
                        "linalg: the shape of an array changed during the call");
        return -1;
    }
    if (pcu_gpuarray_check(call->diagonal, ctx) < 0 ||
        pcu_gpuarray_check(call->beside, ctx) < 0 ||
        pcu_gpuarray_check(result, ctx) < 0) {
        return -1;
    }
    int rc = diagonals_get_kernel(st, call, ctx, &kernel);
    if (rc != 0) {
        return rc;
    }
    size_t n = d->shape[d->ndim - 1];
    size_t chunks = (n + DIAGONALS_CHUNK - 1) / DIAGONALS_CHUNK;
    memset(&p, 0, sizeof(p));
    p.stacks[0].first = d->address;
    p.stacks[0].batch = (int64_t)(n * pcu_gpuarray_itemsize(d));
    p.stacks[1].first = call->beside->address;
    p.stacks[1].batch = p.stacks[0].batch;
    p.results[0] = result->address;
    p.rows = (int32_t)n;
    p.chunk = DIAGONALS_CHUNK;
    p.chunks = (int32_t)chunks;
    p.option = call->is_bidiagonal;
    pcu_argument_buffer_init(&params);
    rc = pcu_kernel_put(&params, &p, sizeof(p), 8);
    if (rc == 0) {
        rc = pcu_kernel_launch_shared(
            st, kernel, d->count / n * chunks, DIAGONALS_THREADS,
            (unsigned int)diagonals_shared(call), call->stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

/* Make the result and enqueue the kernel. */
static PyObject *
diagonals_run(pcu_state *st, const pcu_diagonals_call *call, pcu_context *ctx)
{
    int rc;
    const pcu_gpuarray *d = call->diagonal;
    PyObject *result =
        pcu_gpuarray_new(st, NULL, d->ndim, d->shape, NULL, d->dtype, d->allocator);
    if (result == NULL) {
        return NULL;
    }
    do {
        rc = diagonals_attempt(st, call, ctx, (pcu_gpuarray *)result);
    } while (rc == PCU_KERNEL_MADE);
    if (rc < 0) {
        Py_DECREF(result);
        return NULL;
    }
    return result;
}

PyObject *
pcu_diagonals_values(pcu_state *st, const pcu_diagonals_call *call)
{
    PyObject *result = NULL;
    if (diagonals_check_layout(call) < 0) {
        return NULL;
    }
    pcu_context *ctx = pcu_context_launch_borrow(st);
    if (ctx == NULL) {
        return NULL;
    }
    Py_INCREF(ctx);
    int room = diagonals_have_room(st, call, ctx);
    if (room == 0) {
        result = Py_NewRef(Py_None);
    }
    else if (room > 0) {
        result = diagonals_run(st, call, ctx);
    }
    Py_DECREF(ctx);
    return result;
}
