/* Solvers of small matrices: see small_matrices.h. */

#include "python/array/solver/small_matrices.h"

#include <stdlib.h>

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/index/true_count.h"
#include "python/array/layout.h"
#include "python/array/memory.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/operations.h"
#include "python/array/solver/solver_params.h"
#include "python/support/driver_call.h"
#include "python/support/settings.h"

enum {
    SMALL_SPARE = 64,   /* elements of working memory, besides those of vectors */
    SMALL_COLUMNS = 32, /* of the right side, for each block */
    SMALL_MANY = 512    /* blocks that fill a device */
};

/* A kernel: its variant, and the largest matrix that it takes sooner than cuSOLVER. */
typedef struct {
    int variant;
    size_t most;          /* rows and columns */
    unsigned int threads; /* of a block for matrices of more than 64 rows */
    bool may_fail;        /* it reports singular matrices, and the caller waits */
    bool is_square;       /* it takes square matrices only */
} small_kernel;

static const small_kernel small_kernels[PCU_SMALL_KINDS] = {
    [PCU_SMALL_SOLVE] = {PCU_VARIANT_SMALL_SOLVE, 160, 512, true, true},
    [PCU_SMALL_INVERSE] = {PCU_VARIANT_SMALL_SOLVE, 160, 512, true, true},
    [PCU_SMALL_DET] = {PCU_VARIANT_SMALL_DETERMINANT, 192, 512, false, true},
    [PCU_SMALL_SLOGDET] = {PCU_VARIANT_SMALL_DETERMINANT, 192, 512, false, true},
    [PCU_SMALL_FACTORS_DET] = {PCU_VARIANT_DETERMINANT_OF_FACTORS, INT32_MAX, 32, false,
                               true},
    [PCU_SMALL_FACTORS_SLOGDET] = {PCU_VARIANT_DETERMINANT_OF_FACTORS, INT32_MAX, 32,
                                   false, true},
    [PCU_SMALL_CHOLESKY] = {PCU_VARIANT_SMALL_CHOLESKY, 96, 1024, true, true},
    [PCU_SMALL_QR] = {PCU_VARIANT_SMALL_TRIANGULAR, 144, 1024, false, false},
    [PCU_SMALL_EIGENVALUES] = {PCU_VARIANT_SMALL_EIGENVALUES, 192, 512, false, true},
    [PCU_SMALL_SINGULAR] = {PCU_VARIANT_SMALL_SINGULAR_VALUES, 236, 1024, false, false},
};

/* A call in progress. */
typedef struct {
    pcu_state *st;
    const pcu_small_call *call;
    const small_kernel *kernel;
    pcu_gpuarray *operands[PCU_SOLVER_OPERANDS]; /* borrowed; the second may be NULL */
    PyObject *copies[PCU_SOLVER_OPERANDS]; /* packed copies in their place, or NULL */
    size_t count;                          /* matrices */
    size_t rows, columns;                  /* of each */
    size_t width;                          /* columns of b, or of Q */
    size_t chunk;  /* columns of b for each block, or rows of R */
    size_t chunks; /* blocks for each matrix */
    size_t shared; /* bytes of shared memory */
} small_plan;

/* -- the plan ---------------------------------------------------------------------- */

/* 0 if PYCUDA_SOLVER refuses generated kernels, 1 if it allows them, else -1. */
static int
small_read_wish(void)
{
    int found = pcu_setting_read(PCU_SETTING_SOLVER); /* auto cusolver generated */
    if (found < 0) {
        return -1;
    }
    return found != 1;
}

static bool
small_has_type(int type)
{
    return type == PCU_T_FLOAT32 || type == PCU_T_FLOAT64 || type == PCU_T_COMPLEX64 ||
           type == PCU_T_COMPLEX128;
}

/* Whether the matrices have been factored: they stay in memory. */
static bool
small_has_factors(const pcu_small_call *call)
{
    return call->kind == PCU_SMALL_FACTORS_DET ||
           call->kind == PCU_SMALL_FACTORS_SLOGDET;
}

/* Whether the second operand, the right side or the pivots, has a row for each row of
 * the matrix, and the same batch. */
static bool
small_fits(const small_plan *plan, const pcu_gpuarray *a, const pcu_gpuarray *b)
{
    int type = a->type;
    if (small_has_factors(plan->call)) {
        type = PCU_T_INT32;
    }
    return b->type == type && b->ndim == a->ndim &&
           memcmp(b->shape, a->shape, (size_t)(a->ndim - 1) * sizeof(*a->shape)) == 0;
}

/* The columns of Q, or of the right side; the chunk of it that a block computes. */
static void
small_plan_width(small_plan *plan)
{
    const pcu_small_call *call = plan->call;
    const pcu_gpuarray *right = plan->operands[1];
    plan->width = 0;
    plan->chunk = 0;
    plan->chunks = 1;
    if (call->kind == PCU_SMALL_SOLVE && right != NULL) {
        plan->width = right->shape[right->ndim - 1];
    }
    else if (call->kind == PCU_SMALL_INVERSE) {
        plan->width = plan->rows;
    }
    else if (call->kind == PCU_SMALL_QR) {
        plan->chunk = Py_MIN(plan->rows, plan->columns);
        if (call->option == PCU_SMALL_QR_COMPLETE) {
            plan->chunk = plan->rows;
        }
        if (call->option != PCU_SMALL_QR_UPPER) {
            plan->width = plan->chunk;
        }
        return;
    }
    else {
        return;
    }
    plan->chunk = Py_MIN(plan->width, SMALL_COLUMNS);
    plan->chunks = (plan->width + SMALL_COLUMNS - 1) / SMALL_COLUMNS;
}

/* The shared memory of a block: the matrix and vectors, as in pycuda-solver.hpp. */
static void
small_plan_shared(small_plan *plan)
{
    size_t across = plan->columns;
    if (small_has_factors(plan->call)) {
        plan->shared = 0;
        return;
    }
    if (plan->call->kind == PCU_SMALL_QR) {
        across = Py_MAX(plan->columns, plan->width);
    }
    else {
        across += plan->chunk;
    }
    size_t elements = plan->rows * (across | 1);
    elements += 2 * (plan->rows + plan->columns) + SMALL_SPARE;
    plan->shared = elements * pcu_types[plan->operands[0]->type].size;
}

/* Read the operands. Return true, or false if the kernels do not take them. */
static bool
small_plan_fill(small_plan *plan)
{
    const pcu_gpuarray *a = plan->operands[0];
    size_t most = plan->kernel->most;
    if (!small_has_type(a->type) || a->ndim < 2 || a->count == 0) {
        return false;
    }
    plan->rows = a->shape[a->ndim - 2];
    plan->columns = a->shape[a->ndim - 1];
    if (plan->rows > most || plan->columns > most ||
        (plan->kernel->is_square && plan->rows != plan->columns)) {
        return false;
    }
    if (plan->operands[1] != NULL &&
        (!small_fits(plan, a, plan->operands[1]) || plan->operands[1]->count == 0)) {
        return false;
    }
    plan->count = a->count / (plan->rows * plan->columns);
    if (plan->call->kind == PCU_SMALL_SINGULAR && plan->rows < plan->columns) {
        plan->rows = plan->columns; /* the transposed matrix has the same values */
        plan->columns = a->shape[a->ndim - 2];
    }
    small_plan_width(plan);
    small_plan_shared(plan);
    return plan->width <= INT32_MAX && plan->count <= INT32_MAX / plan->chunks;
}

/* 1 if a block can have the shared memory, 0 if not, or -1. */
static int
small_has_room(const small_plan *plan, const pcu_context *ctx)
{
    int most = PCU_SOLVER_SHARED;
    int rc = 0;
    if (plan->shared > PCU_SOLVER_SHARED) {
        PCU_CALL(rc, plan->st, DeviceGetAttribute,
                 (&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                  ctx->rec.device));
    }
    if (rc < 0) {
        return -1;
    }
    return plan->shared <= (size_t)most;
}

/* -- operands ---------------------------------------------------------------------- */

/* Find the distance between matrices, if it is the same for all of a stack. */
static bool
small_find_step(const pcu_gpuarray *array, ptrdiff_t *step)
{
    ptrdiff_t next = 0; /* the distance that the next axis must have */
    bool found = false;
    *step = 0;
    for (int axis = array->ndim - 3; axis >= 0; axis--) {
        if (array->shape[axis] == 1) {
            continue;
        }
        if (!found) {
            *step = array->strides[axis];
            found = true;
        }
        else if (array->strides[axis] != next) {
            return false;
        }
        next = array->strides[axis] * (ptrdiff_t)array->shape[axis];
    }
    return true;
}

/* Put a packed copy in the place of an operand whose matrices do not follow each other
 * at equal distances. The copy runs on the call's stream. */
static int
small_pack_operand(small_plan *plan, int i)
{
    ptrdiff_t step;
    pcu_gpuarray *operand = plan->operands[i];
    if (operand == NULL || small_find_step(operand, &step)) {
        return 0;
    }
    PyObject *copy = pcu_gpuarray_new(plan->st, NULL, operand->ndim, operand->shape,
                                      NULL, operand->dtype, operand->allocator);
    if (copy == NULL) {
        return -1;
    }
    plan->copies[i] = copy;
    if (pcu_device_copy((pcu_gpuarray *)copy, operand, plan->call->stream) < 0) {
        return -1;
    }
    plan->operands[i] = (pcu_gpuarray *)copy;
    return 0;
}

static void
small_put_stack(const small_plan *plan, int i, pcu_solver_stack *stack)
{
    const pcu_gpuarray *operand = plan->operands[i];
    ptrdiff_t step = 0;
    memset(stack, 0, sizeof(*stack));
    if (operand == NULL) {
        return;
    }
    (void)small_find_step(operand, &step);
    stack->first = operand->address;
    stack->batch = step;
    stack->row = operand->strides[operand->ndim - 2];
    stack->column = operand->strides[operand->ndim - 1];
    if (i == 0 && plan->rows != operand->shape[operand->ndim - 2]) {
        stack->row = operand->strides[operand->ndim - 1];
        stack->column = operand->strides[operand->ndim - 2];
    }
}

/* -- results ----------------------------------------------------------------------- */

/* The type of a real part. */
static int
small_real_type(int type)
{
    if (type == PCU_T_COMPLEX64) {
        return PCU_T_FLOAT32;
    }
    if (type == PCU_T_COMPLEX128) {
        return PCU_T_FLOAT64;
    }
    return type;
}

/* A new array with the batch of the operand and `ndim` axes of its own behind it. */
static PyObject *
small_array_new(const small_plan *plan, int ndim, size_t rows, size_t columns, int type)
{
    size_t shape[PCU_MAX_NDIM];
    const pcu_gpuarray *a = plan->call->a;
    int batch = a->ndim - 2;
    memcpy(shape, a->shape, (size_t)batch * sizeof(*shape));
    shape[batch] = rows;
    if (ndim == 2) {
        shape[batch + 1] = columns;
    }
    PyArray_Descr *dtype = pcu_dtype_of_type(type);
    PyObject *array = pcu_gpuarray_new(plan->st, NULL, batch + ndim, shape, NULL, dtype,
                                       a->allocator);
    Py_DECREF(dtype);
    return array;
}

/* Make the arrays of the results. */
static int
small_results_new(const small_plan *plan, pcu_small_results *results)
{
    int type = plan->call->a->type;
    int real = small_real_type(type);
    PyObject **arrays = results->arrays;
    switch (plan->call->kind) {
        case PCU_SMALL_SOLVE:
        case PCU_SMALL_INVERSE:
            arrays[0] = small_array_new(plan, 2, plan->rows, plan->width, type);
            return arrays[0] == NULL ? -1 : 0;
        case PCU_SMALL_CHOLESKY:
            arrays[0] = small_array_new(plan, 2, plan->rows, plan->columns, type);
            return arrays[0] == NULL ? -1 : 0;
        case PCU_SMALL_EIGENVALUES:
        case PCU_SMALL_SINGULAR:
            arrays[0] = small_array_new(plan, 1, plan->columns, 0, real);
            return arrays[0] == NULL ? -1 : 0;
        case PCU_SMALL_QR:
            arrays[1] = small_array_new(plan, 2, plan->chunk, plan->columns, type);
            if (arrays[1] == NULL || plan->width == 0) {
                return arrays[1] == NULL ? -1 : 0;
            }
            arrays[0] = small_array_new(plan, 2, plan->rows, plan->width, type);
            return arrays[0] == NULL ? -1 : 0;
        default:
            arrays[0] = small_array_new(plan, 0, 0, 0, type);
            if (arrays[0] == NULL || plan->call->kind == PCU_SMALL_DET ||
                plan->call->kind == PCU_SMALL_FACTORS_DET) {
                return arrays[0] == NULL ? -1 : 0;
            }
            arrays[1] = small_array_new(plan, 0, 0, 0, real);
            return arrays[1] == NULL ? -1 : 0;
    }
}

/* -- the launch -------------------------------------------------------------------- */

/* The threads of a block: measured on an H200. Fewer of them share a matrix if there
 * are many matrices. */
static unsigned int
small_threads(const small_plan *plan)
{
    size_t longest = Py_MAX(plan->rows, plan->columns);
    bool many = plan->count * plan->chunks > SMALL_MANY;
    if (longest <= 16) {
        return many ? 32 : 64;
    }
    if (longest <= 32) {
        return many ? 128 : 256;
    }
    if (longest <= 64) {
        return many ? 256 : 512;
    }
    return plan->kernel->threads;
}

static int
small_get_kernel(const small_plan *plan, pcu_context *ctx, CUfunction *kernel)
{
    pcu_kernel_key key;
    memset(&key, 0, sizeof(key));
    key.family = PCU_FAMILY_SOLVER;
    key.operation = PCU_OP_COPY;
    key.variant = (uint8_t)plan->kernel->variant;
    key.compute = plan->operands[0]->type;
    key.threads = (uint16_t)small_threads(plan);
    int rc = pcu_kernel_table_get(plan->st, ctx, &key, kernel);
    if (rc == 0 && plan->shared > PCU_SOLVER_SHARED) {
        PCU_CALL(rc, plan->st, FuncSetAttribute,
                 (*kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                  (int)plan->shared));
    }
    return rc;
}

static int
small_option(const pcu_small_call *call)
{
    if (call->kind == PCU_SMALL_SLOGDET || call->kind == PCU_SMALL_FACTORS_SLOGDET) {
        return 1;
    }
    return call->option;
}

/* Check that the arrays are those of the plan, and that work may use them. */
static int
small_check(small_plan *plan, const pcu_context *ctx, pcu_small_results *results)
{
    small_plan again = *plan;
    if (!small_plan_fill(&again) || again.count != plan->count ||
        again.rows != plan->rows || again.columns != plan->columns ||
        again.width != plan->width || again.shared != plan->shared) {
        PyErr_SetString(PyExc_RuntimeError,
                        "linalg: the shape or dtype of an array changed during the "
                        "call");
        return -1;
    }
    for (int i = 0; i < PCU_SOLVER_OPERANDS; i++) {
        pcu_gpuarray *result = (pcu_gpuarray *)results->arrays[i];
        if ((plan->operands[i] != NULL &&
             pcu_gpuarray_check(plan->operands[i], ctx) < 0) ||
            (result != NULL && pcu_gpuarray_check(result, ctx) < 0)) {
            return -1;
        }
    }
    return 0;
}

/* Check the arrays and enqueue the kernel. PCU_KERNEL_MADE: nothing was enqueued. */
static int
small_attempt(small_plan *plan, pcu_context *ctx, pcu_small_results *results,
              CUdeviceptr wrong)
{
    CUfunction kernel = NULL;
    pcu_solver_params p;
    pcu_argument_buffer params;
    if (small_check(plan, ctx, results) < 0) {
        return -1;
    }
    int rc = small_get_kernel(plan, ctx, &kernel);
    if (rc != 0) {
        return rc;
    }
    memset(&p, 0, sizeof(p));
    for (int i = 0; i < PCU_SOLVER_OPERANDS; i++) {
        small_put_stack(plan, i, &p.stacks[i]);
        if (results->arrays[i] != NULL) {
            p.results[i] = ((pcu_gpuarray *)results->arrays[i])->address;
        }
    }
    p.wrong = wrong;
    p.rows = (int32_t)plan->rows;
    p.columns = (int32_t)plan->columns;
    p.width = (int32_t)plan->width;
    p.chunk = (int32_t)plan->chunk;
    p.chunks = (int32_t)plan->chunks;
    p.option = small_option(plan->call);
    pcu_argument_buffer_init(&params);
    rc = pcu_kernel_put(&params, &p, sizeof(p), 8);
    if (rc == 0) {
        rc = pcu_kernel_launch_shared(plan->st, kernel, plan->count * plan->chunks,
                                      small_threads(plan), (unsigned int)plan->shared,
                                      plan->call->stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

/* Enqueue the kernel, and wait for its report if it may fail. */
static int
small_run(small_plan *plan, pcu_context *ctx, pcu_small_results *results)
{
    pcu_true_count report = {.ctx = NULL};
    CUdeviceptr wrong = 0;
    size_t failed = 0;
    int rc;
    if (plan->kernel->may_fail && pcu_true_count_take(ctx, &report, &wrong) < 0) {
        return -1;
    }
    do {
        rc = small_attempt(plan, ctx, results, wrong);
    } while (rc == PCU_KERNEL_MADE);
    if (rc == 0 && plan->kernel->may_fail) {
        rc = pcu_true_count_read(&report, plan->call->stream, &failed);
    }
    pcu_true_count_give_back(&report);
    results->failed = failed != 0;
    return rc;
}

/* -- the call ---------------------------------------------------------------------- */

static int
small_call(small_plan *plan, pcu_context *ctx, pcu_small_results *results)
{
    int taken = small_plan_fill(plan);
    if (taken) {
        taken = small_has_room(plan, ctx);
    }
    if (taken <= 0) {
        return taken;
    }
    for (int i = 0; i < PCU_SOLVER_OPERANDS; i++) {
        if (small_pack_operand(plan, i) < 0) {
            return -1;
        }
    }
    if (small_results_new(plan, results) < 0 || small_run(plan, ctx, results) < 0) {
        return -1;
    }
    return 1;
}

int
pcu_small_matrices(pcu_state *st, const pcu_small_call *call,
                   pcu_small_results *results)
{
    small_plan plan = {.st = st,
                       .call = call,
                       .kernel = &small_kernels[call->kind],
                       .operands = {call->a, call->b}};
    memset(results, 0, sizeof(*results));
    if (!small_has_factors(call)) {
        int wish = small_read_wish();
        if (wish <= 0) {
            return wish;
        }
    }
    pcu_context *ctx = pcu_context_launch_borrow(st);
    if (ctx == NULL) {
        return -1;
    }
    Py_INCREF(ctx);
    int rc = small_call(&plan, ctx, results);
    for (int i = 0; i < PCU_SOLVER_OPERANDS; i++) {
        Py_XDECREF(plan.copies[i]);
        if (rc <= 0) {
            Py_CLEAR(results->arrays[i]);
        }
    }
    Py_DECREF(ctx);
    return rc;
}
