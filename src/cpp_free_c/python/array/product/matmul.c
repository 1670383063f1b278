/* The matrix product of GPUArrays: see matmul.h.
 *
 * The way of one call: find the common dtype and the shape of the result, make or check
 * the output, and enqueue. A product with a vector is a reduction, which is bound by
 * memory, unless it sums across the rows of a large matrix. The others go through
 * cuBLAS, or through generated kernels: where there is no cuBLAS, and for integers and
 * bool, and for sums of few products. On the software device NumPy multiplies numbers
 * of its own BLAS, unless the product becomes a part of a graph. */

#include "python/array/product/matmul.h"

#include "driver/shape.h"
#include "python/array/construction.h"
#include "python/array/host_work.h"
#include "python/array/layout.h"
#include "python/array/memory.h"
#include "python/array/ops/assign.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/overlap.h"
#include "python/array/ops/reduction.h"
#include "python/array/product/blas.h"
#include "python/array/product/product.h"
#include "python/array/product/segments.h"
#include "python/array/product/tiles.h"
#include "python/support/errors.h"

enum { MATMUL_SMALL_DEPTH = 512, MATMUL_SMALL_PRODUCTS = 1 << 23 };

/* What computes a product with a vector. Neither is PCU_KERNEL_MADE. */
enum { MATMUL_REDUCES = 0, MATMUL_CUBLAS = 1 };

/* One call in progress. */
typedef struct {
    pcu_state *st;
    const pcu_matmul_options *options;
    pcu_gpuarray *operands[2];
    PyObject *copies[2]; /* owned: what took an operand's place */
    size_t m, n, k;
    int compute; /* pcu_type, also of the result */
    int ndim;    /* axes of the batch */
    size_t shape[PCU_MAX_NDIM];
} matmul_plan;

/* -- dtypes and shapes ------------------------------------------------------------- */

/* Check that the operands can be converted to the dtype that the program asks for. */
static int
matmul_check_type(const matmul_plan *plan)
{
    for (int i = 0; i < 2; i++) {
        if (pcu_type_casts(plan->operands[i]->type, plan->compute)) {
            continue;
        }
        PyErr_Format(PyExc_TypeError,
                     "matmul: an operand of dtype %S cannot be computed in dtype %s; "
                     "convert with astype()",
                     (PyObject *)plan->operands[i]->dtype,
                     pcu_types[plan->compute].name);
        return -1;
    }
    return 0;
}

static int
matmul_find_type(matmul_plan *plan)
{
    for (int i = 0; i < 2; i++) {
        const pcu_gpuarray *operand = plan->operands[i];
        if (!pcu_type_is_number(operand->type)) {
            PyErr_Format(PyExc_TypeError, "matmul does not take arrays of dtype %S",
                         (PyObject *)operand->dtype);
            return -1;
        }
        if (operand->ndim == 0) {
            PyErr_SetString(PyExc_ValueError,
                            "matmul takes arrays with one axis or more, not numbers: "
                            "multiply by them with *");
            return -1;
        }
    }
    if (plan->options->dtype != PCU_T_NONE) {
        plan->compute = plan->options->dtype;
        return matmul_check_type(plan);
    }
    return pcu_type_promote(plan->operands[0]->type, plan->operands[1]->type,
                            &plan->compute);
}

/* The axes of an operand that are no matrix's. */
static int
matmul_batch_ndim(const pcu_gpuarray *operand)
{
    return Py_MAX(operand->ndim - 2, 0);
}

static int
matmul_raise_lengths(const pcu_gpuarray *a, const pcu_gpuarray *b, size_t columns,
                     size_t rows)
{
    PyObject *first = pcu_shape_tuple_new(a->ndim, a->shape);
    PyObject *second = pcu_shape_tuple_new(b->ndim, b->shape);
    if (first != NULL && second != NULL) {
        PyErr_Format(PyExc_ValueError,
                     "matmul: shapes %S and %S do not fit: the first has %zu %s, the "
                     "second %zu %s",
                     first, second, columns, a->ndim > 1 ? "columns" : "elements", rows,
                     b->ndim > 1 ? "rows" : "elements");
    }
    Py_XDECREF(first);
    Py_XDECREF(second);
    return -1;
}

static int
matmul_find_lengths(matmul_plan *plan)
{
    const pcu_gpuarray *a = plan->operands[0];
    const pcu_gpuarray *b = plan->operands[1];
    size_t summed;
    plan->m = 1;
    plan->n = 1;
    plan->k = a->shape[a->ndim - 1];
    if (a->ndim > 1) {
        plan->m = a->shape[a->ndim - 2];
    }
    if (b->ndim > 1) {
        plan->n = b->shape[b->ndim - 1];
        summed = b->shape[b->ndim - 2];
    }
    else {
        summed = b->shape[0];
    }
    if (plan->k != summed) {
        return matmul_raise_lengths(a, b, plan->k, summed);
    }
    if (pcu_broadcast_shapes(matmul_batch_ndim(a), a->shape, matmul_batch_ndim(b),
                             b->shape, &plan->ndim, plan->shape) < 0) {
        return pcu_raise_shapes(
            "%s: shapes %S and %S do not fit: all axes but the last two must broadcast",
            "matmul", a->ndim, a->shape, b);
    }
    return 0;
}

static int
matmul_fill(matmul_plan *plan)
{
    if (matmul_find_type(plan) < 0) {
        return -1;
    }
    return matmul_find_lengths(plan);
}

/* The shape of the result: a vector has no axis of its own there. */
static int
matmul_shape(const matmul_plan *plan, size_t *shape)
{
    int ndim = plan->ndim;
    memcpy(shape, plan->shape, (size_t)ndim * sizeof(*shape));
    if (plan->operands[0]->ndim > 1) {
        shape[ndim++] = plan->m;
    }
    if (plan->operands[1]->ndim > 1) {
        shape[ndim++] = plan->n;
    }
    return ndim;
}

/* -- strides ----------------------------------------------------------------------- */

/* The matrices of an array of which the last `axes` axes are the matrix: its rows, its
 * columns or both. */
static void
matmul_matrix(const pcu_gpuarray *array, bool has_rows, bool has_columns,
              pcu_matrix *matrix)
{
    int axis = array->ndim - 1;
    matrix->address = array->address;
    matrix->type = array->type;
    matrix->row = 0;
    matrix->column = 0;
    if (has_columns) {
        matrix->column = array->strides[axis--];
    }
    if (has_rows) {
        matrix->row = array->strides[axis];
    }
}

static void
matmul_product(const matmul_plan *plan, const pcu_gpuarray *target, pcu_product *p)
{
    const pcu_gpuarray *a = plan->operands[0];
    const pcu_gpuarray *b = plan->operands[1];
    p->m = plan->m;
    p->n = plan->n;
    p->k = plan->k;
    p->compute = plan->compute;
    p->ndim = plan->ndim;
    memcpy(p->shape, plan->shape, (size_t)plan->ndim * sizeof(*p->shape));
    matmul_matrix(a, a->ndim > 1, true, &p->matrices[PCU_LEFT]);
    matmul_matrix(b, true, b->ndim > 1, &p->matrices[PCU_RIGHT]);
    matmul_matrix(target, a->ndim > 1, b->ndim > 1, &p->matrices[PCU_RESULT]);
    /* The shapes broadcast: matmul_find_lengths checked them. */
    (void)pcu_broadcast_strides(matmul_batch_ndim(a), a->shape, a->strides, p->ndim,
                                p->shape, p->steps[PCU_LEFT]);
    (void)pcu_broadcast_strides(matmul_batch_ndim(b), b->shape, b->strides, p->ndim,
                                p->shape, p->steps[PCU_RIGHT]);
    memcpy(p->steps[PCU_RESULT], target->strides,
           (size_t)p->ndim * sizeof(*target->strides));
}

/* -- a reduction ------------------------------------------------------------------- */

/* Whether a reduction computes the product: it has a vector. The reduction counts the
 * true products of bool arrays, so it does not take them. */
static bool
matmul_is_reduction(const matmul_plan *plan)
{
    return (plan->m == 1 || plan->n == 1) && plan->compute != PCU_T_BOOL &&
           plan->ndim <= PCU_MAX_NDIM - 3;
}

/* Whether the sums run across the rows of a matrix that is beyond the cache: cuBLAS is
 * faster then, measured on an H200. */
static bool
matmul_sums_across(const matmul_plan *plan, const pcu_product *p,
                   const pcu_context *ctx)
{
    const pcu_matrix *matrix = &p->matrices[PCU_LEFT];
    const pcu_gpuarray *array = plan->operands[0];
    ptrdiff_t along = matrix->column;
    ptrdiff_t across = matrix->row;
    if (plan->m == 1) {
        matrix = &p->matrices[PCU_RIGHT];
        array = plan->operands[1];
        along = matrix->row;
        across = matrix->column;
    }
    return array->ndim > 1 && plan->m * plan->n > 1 && across > 0 && along > across &&
           pcu_gpuarray_nbytes(array) > (size_t)ctx->rec.limits.cache;
}

/* MATMUL_CUBLAS if cuBLAS computes a product with a vector sooner than a reduction,
 * else MATMUL_REDUCES; PCU_KERNEL_MADE: plan again; -1: an error occurred. */
static int
matmul_vector_choose(const matmul_plan *plan, pcu_context *ctx,
                     const pcu_gpuarray *target)
{
    pcu_product p;
    matmul_product(plan, target, &p);
    if (!matmul_sums_across(plan, &p, ctx) || !pcu_blas_has_type(plan->compute) ||
        !pcu_blas_takes(&p, PCU_LEFT) || !pcu_blas_takes(&p, PCU_RIGHT) ||
        !pcu_blas_takes(&p, PCU_RESULT)) {
        return MATMUL_REDUCES;
    }
    switch (pcu_blas_choose(plan->st, ctx)) {
        case PCU_PRODUCT_CUBLAS:
            return MATMUL_CUBLAS;
        case PCU_PRODUCT_CHANGED:
            return PCU_KERNEL_MADE;
        case -1:
            return -1;
        default:
            return MATMUL_REDUCES;
    }
}

/* A view of the batch's axes and up to three others. */
static pcu_gpuarray *
matmul_view_new(const matmul_plan *plan, pcu_gpuarray *array, const ptrdiff_t *steps,
                int more, const ptrdiff_t *strides)
{
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t all[PCU_MAX_NDIM];
    const size_t lengths[] = {plan->m, plan->n, plan->k};
    size_t axes = (size_t)plan->ndim;
    memcpy(shape, plan->shape, axes * sizeof(*shape));
    memcpy(all, steps, axes * sizeof(*all));
    memcpy(shape + axes, lengths, (size_t)more * sizeof(*shape));
    memcpy(all + axes, strides, (size_t)more * sizeof(*all));
    return pcu_gpuarray_view_new(array, plan->ndim + more, shape, all, 0, NULL);
}

/* Sum the products of the operands, repeated to (batch, m, n, k), along k. */
static int
matmul_reduce(const matmul_plan *plan, pcu_gpuarray *target)
{
    pcu_product p;
    PyObject *axis = PyLong_FromLong(-1);
    PyObject *done = NULL;
    pcu_gpuarray *views[PCU_MATRICES] = {NULL};
    matmul_product(plan, target, &p);
    const pcu_matrix *m = p.matrices;
    const ptrdiff_t left[] = {m[PCU_LEFT].row, 0, m[PCU_LEFT].column};
    const ptrdiff_t right[] = {0, m[PCU_RIGHT].column, m[PCU_RIGHT].row};
    const ptrdiff_t result[] = {m[PCU_RESULT].row, m[PCU_RESULT].column};
    views[PCU_LEFT] =
        matmul_view_new(plan, plan->operands[0], p.steps[PCU_LEFT], 3, left);
    views[PCU_RIGHT] =
        matmul_view_new(plan, plan->operands[1], p.steps[PCU_RIGHT], 3, right);
    views[PCU_RESULT] = matmul_view_new(plan, target, p.steps[PCU_RESULT], 2, result);
    if (axis != NULL && views[PCU_LEFT] != NULL && views[PCU_RIGHT] != NULL &&
        views[PCU_RESULT] != NULL) {
        pcu_reduction_call call = {.op = PCU_REDUCE_DOT,
                                   .inputs = {views[PCU_LEFT], views[PCU_RIGHT]},
                                   .dtype = plan->compute,
                                   .axis = axis,
                                   .out = (PyObject *)views[PCU_RESULT],
                                   .allocator = plan->options->allocator,
                                   .stream = plan->options->stream};
        done = pcu_reduce(plan->st, &call);
    }
    for (int i = 0; i < PCU_MATRICES; i++) {
        Py_XDECREF(views[i]);
    }
    Py_XDECREF(axis);
    if (done == NULL) {
        return -1;
    }
    Py_DECREF(done);
    return 0;
}

/* -- a product of matrices --------------------------------------------------------- */

/* Put a packed copy in the dtype of the computation in an operand's place. */
static int
matmul_copy_operand(matmul_plan *plan, int i)
{
    pcu_gpuarray *operand = plan->operands[i];
    PyArray_Descr *dtype = pcu_dtype_of_type(plan->compute);
    PyObject *copy = pcu_gpuarray_new(plan->st, NULL, operand->ndim, operand->shape,
                                      NULL, dtype, operand->allocator);
    Py_DECREF(dtype);
    if (copy == NULL) {
        return -1;
    }
    if (pcu_device_copy((pcu_gpuarray *)copy, operand, plan->options->stream) < 0) {
        Py_DECREF(copy);
        return -1;
    }
    Py_XSETREF(plan->copies[i], copy);
    plan->operands[i] = (pcu_gpuarray *)copy;
    return PCU_KERNEL_MADE; /* the copy may have made a kernel: plan again */
}

/* Whether pycuda.fuse computes the product in its kernels. So a generated kernel
 * computes it here, too, which adds up in the same order. */
static bool
matmul_is_short(const matmul_plan *plan)
{
    const int type = plan->compute;
    return plan->m > 1 && plan->n > 1 &&
           pcu_tiles_is_short(plan->m, plan->n, plan->k) &&
           plan->operands[0]->type == type && plan->operands[1]->type == type &&
           (type == PCU_T_FLOAT32 || type == PCU_T_FLOAT64);
}

/* Whether a generated kernel computes the product sooner than cuBLAS, whose calls take
 * longer to enqueue: measured on an H200. */
static bool
matmul_is_small(const pcu_product *p)
{
    size_t products = p->m * p->n * p->k;
    for (int axis = 0; axis < p->ndim; axis++) {
        products *= p->shape[axis];
    }
    return p->k <= MATMUL_SMALL_DEPTH && products <= MATMUL_SMALL_PRODUCTS;
}

static int
matmul_multiply(matmul_plan *plan, pcu_context *ctx, pcu_gpuarray *target)
{
    pcu_product p;
    CUstream stream = plan->options->stream;
    matmul_product(plan, target, &p);
    if (pcu_blas_has_type(plan->compute) && pcu_blas_takes(&p, PCU_RESULT)) {
        int choice = pcu_blas_choose(plan->st, ctx);
        if (choice < 0) {
            return -1;
        }
        if (choice == PCU_PRODUCT_CHANGED) {
            return PCU_KERNEL_MADE;
        }
        bool is_own = matmul_is_small(&p) || matmul_is_short(plan) ||
                      (p.ndim == 0 && pcu_tiles_is_thin(&p));
        bool small = is_own && !pcu_blas_is_required(ctx);
        if (choice == PCU_PRODUCT_CUBLAS && !small) {
            for (int i = 0; i < 2; i++) {
                if (!pcu_blas_takes(&p, i)) {
                    return matmul_copy_operand(plan, i);
                }
            }
            pcu_product_join(&p);
            int rc = pcu_blas_multiply(plan->st, ctx, &p, stream);
            if (rc <= 0) {
                return rc;
            }
        }
    }
    pcu_product_join(&p);
    return pcu_segments_multiply(plan->st, ctx, &p, target, plan->options->allocator,
                                 stream);
}

/* -- on the software device -------------------------------------------------------- */

/* 1 if NumPy multiplies, 0 if not; PCU_KERNEL_MADE: plan again; or -1. */
static int
matmul_is_hosts(const matmul_plan *plan, pcu_context *ctx)
{
    const int type = plan->compute;
    if (pcu_drv_info.device == NULL || matmul_is_short(plan) ||
        (type != PCU_T_FLOAT32 && type != PCU_T_FLOAT64 && type != PCU_T_COMPLEX64 &&
         type != PCU_T_COMPLEX128)) {
        return 0;
    }
    int choice = pcu_blas_choose(plan->st, ctx);
    if (choice < 0) {
        return -1;
    }
    if (choice == PCU_PRODUCT_CHANGED) {
        return PCU_KERNEL_MADE;
    }
    if (choice != PCU_PRODUCT_HOST) {
        return 0;
    }
    return pcu_host_may_work(plan->st, plan->options->stream);
}

/* Let NumPy multiply, in the order of the stream. */
static int
matmul_on_host(const matmul_plan *plan, pcu_gpuarray *target)
{
    return pcu_host_call(
        "multiply",
        Py_BuildValue("OOOK", plan->operands[0], plan->operands[1], target,
                      (unsigned long long)(uintptr_t)plan->options->stream));
}

/* -- the call ---------------------------------------------------------------------- */

static int
matmul_zero(pcu_gpuarray *target, CUstream stream)
{
    PyObject *zero = PyLong_FromLong(0);
    if (zero == NULL) {
        return -1;
    }
    int rc = pcu_gpuarray_fill(target, zero, stream);
    Py_DECREF(zero);
    return rc;
}

/* Check the arrays and enqueue the plan. PCU_KERNEL_MADE: plan again. */
static int
matmul_attempt(matmul_plan *plan, pcu_context *ctx, pcu_gpuarray *target)
{
    if (pcu_gpuarray_check(plan->operands[0], ctx) < 0 ||
        pcu_gpuarray_check(plan->operands[1], ctx) < 0 ||
        pcu_gpuarray_check(target, ctx) < 0) {
        return -1;
    }
    if (target->count == 0) {
        return 0;
    }
    if (plan->k == 0) {
        return matmul_zero(target, plan->options->stream);
    }
    int on_host = matmul_is_hosts(plan, ctx);
    if (on_host != 0) {
        return on_host == 1 ? matmul_on_host(plan, target) : on_host;
    }
    if (matmul_is_reduction(plan)) {
        int choice = matmul_vector_choose(plan, ctx, target);
        if (choice == MATMUL_REDUCES) {
            return matmul_reduce(plan, target);
        }
        if (choice != MATMUL_CUBLAS) {
            return choice;
        }
    }
    return matmul_multiply(plan, ctx, target);
}

/* Other code may have changed the arrays: read them again, and refuse arrays that do
 * not fit the plan any more. */
static int
matmul_plan_again(matmul_plan *plan, const pcu_gpuarray *target)
{
    size_t shape[PCU_MAX_NDIM];
    matmul_plan before = *plan;
    if (matmul_fill(plan) < 0) {
        return -1;
    }
    int ndim = matmul_shape(plan, shape);
    if (plan->m != before.m || plan->n != before.n || plan->k != before.k ||
        plan->compute != before.compute || target->type != plan->compute ||
        !pcu_gpuarray_has_shape(target, ndim, shape)) {
        PyErr_SetString(
            PyExc_RuntimeError,
            "matmul: the shape or dtype of an array changed during the call");
        return -1;
    }
    return 0;
}

/* Run the plan into an array of the result's shape and dtype. */
static int
matmul_run(matmul_plan *plan, pcu_gpuarray *target)
{
    int rc;
    pcu_context *ctx = pcu_context_launch_borrow(plan->st);
    if (ctx == NULL) {
        return -1;
    }
    Py_INCREF(ctx);
    do {
        rc = matmul_attempt(plan, ctx, target);
    } while (rc == PCU_KERNEL_MADE && matmul_plan_again(plan, target) == 0);
    Py_DECREF(ctx);
    if (rc != 0) {
        return -1;
    }
    return 0;
}

static PyObject *
matmul_result_new(matmul_plan *plan, int ndim, const size_t *shape)
{
    PyObject *allocator = plan->options->allocator;
    PyArray_Descr *dtype = pcu_dtype_of_type(plan->compute);
    if (allocator == Py_None) {
        allocator = NULL;
    }
    PyObject *result =
        pcu_gpuarray_like_new(plan->operands[0], ndim, shape, dtype, allocator);
    Py_DECREF(dtype);
    if (result == NULL) {
        return NULL;
    }
    if (matmul_run(plan, (pcu_gpuarray *)result) < 0) {
        Py_DECREF(result);
        return NULL;
    }
    return result;
}

/* Whether the product can be written to `out`: it has the dtype, BLAS can store to it,
 * and no operand shares its memory. */
static bool
matmul_is_direct(const matmul_plan *plan, const pcu_gpuarray *out)
{
    pcu_product p;
    for (int i = 0; i < 2; i++) {
        const pcu_gpuarray *operand = plan->operands[i];
        if (operand->address == out->address || pcu_gpuarray_conflicts(operand, out)) {
            return false;
        }
    }
    matmul_product(plan, out, &p);
    return pcu_blas_takes(&p, PCU_RESULT);
}

static PyObject *
matmul_result_in_out(matmul_plan *plan, int ndim, const size_t *shape)
{
    PyObject *out = plan->options->out;
    if (pcu_check_out(plan->st, "matmul", out, ndim, shape) < 0 ||
        pcu_check_out_type("matmul", (pcu_gpuarray *)out, plan->compute) < 0) {
        return NULL;
    }
    if (matmul_is_direct(plan, (pcu_gpuarray *)out)) {
        if (matmul_run(plan, (pcu_gpuarray *)out) < 0) {
            return NULL;
        }
        return Py_NewRef(out);
    }
    PyObject *result = matmul_result_new(plan, ndim, shape);
    if (result == NULL) {
        return NULL;
    }
    int rc = pcu_gpuarray_assign((pcu_gpuarray *)out, result, plan->options->stream);
    Py_DECREF(result);
    if (rc < 0) {
        return NULL;
    }
    return Py_NewRef(out);
}

PyObject *
pcu_matmul(pcu_state *st, pcu_gpuarray *a, pcu_gpuarray *b,
           const pcu_matmul_options *options)
{
    size_t shape[PCU_MAX_NDIM];
    matmul_plan plan;
    PyObject *result;
    plan.st = st;
    plan.options = options;
    plan.operands[0] = a;
    plan.operands[1] = b;
    plan.ndim = 0;
    plan.copies[0] = NULL;
    plan.copies[1] = NULL;
    if (pcu_gpuarray_ready(a) < 0 || pcu_gpuarray_ready(b) < 0 ||
        matmul_fill(&plan) < 0) {
        return NULL;
    }
    int ndim = matmul_shape(&plan, shape);
    if (options->out == Py_None) {
        result = matmul_result_new(&plan, ndim, shape);
    }
    else {
        result = matmul_result_in_out(&plan, ndim, shape);
    }
    Py_XDECREF(plan.copies[0]);
    Py_XDECREF(plan.copies[1]);
    return result;
}
