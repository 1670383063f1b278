/* Reductions of GPUArrays: see reduction.h.
 *
 * A plan is made, its kernels are got from the context's table, and it is enqueued. If
 * its work is cut into segments, a second kernel joins their accumulators. */

#include "python/array/ops/reduction.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/layout.h"
#include "python/array/memory.h"
#include "python/array/ops/assign.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/overlap.h"
#include "python/array/ops/reduction_kernel.h"
#include "python/array/ops/reduction_plan.h"
#include "python/array/ops/reduction_record.h"
#include "python/array/recording.h"

/* -- the run ----------------------------------------------------------------------- */

/* Check that there is a result. */
static int
reduce_check_result(const pcu_reduction_plan *plan)
{
    int rule = plan->row->rule;
    if (plan->reduced.count == 0 &&
        (rule == PCU_REDUCE_TO_EXTREME || rule == PCU_REDUCE_TO_INDEX ||
         rule == PCU_REDUCE_TO_ENDS)) {
        PyErr_Format(PyExc_ValueError,
                     "%s of an array without elements along the axes: it has no result",
                     plan->row->name);
        return -1;
    }
    return 0;
}

/* Check that work in ctx may use the arrays, and that there is a result. */
static int
reduce_check(const pcu_reduction_plan *plan, const pcu_context *ctx,
             pcu_gpuarray *target)
{
    for (int i = 0; i < plan->nin; i++) {
        if (pcu_gpuarray_check(plan->inputs[i], ctx) < 0) {
            return -1;
        }
    }
    if (reduce_check_result(plan) < 0) {
        return -1;
    }
    return pcu_gpuarray_check(target, ctx);
}

/* Record the plan. pycuda.fuse calls a reduction of no elements as it is. */
static int
reduce_note(pcu_reduction_plan *plan, const pcu_context *ctx, pcu_gpuarray *target)
{
    if (reduce_check_result(plan) < 0) {
        return -1;
    }
    if (plan->kept.count == 0) {
        return 0;
    }
    if (plan->reduced.count == 0) {
        return pcu_stand_in_refuse(plan->st);
    }
    pcu_reduction_plan_cut(plan, ctx);
    return pcu_reduction_record(plan, ctx, target);
}

/* Both kernels, with room for the accumulators between them. PCU_KERNEL_MADE: nothing
 * was enqueued. */
static int
reduce_in_segments(const pcu_reduction_plan *plan, pcu_context *ctx,
                   pcu_gpuarray *target, PyObject *allocator)
{
    CUfunction first = NULL;
    CUfunction second = NULL;
    size_t bytes = plan->kept.count * plan->segments * PCU_REDUCTION_ACC_BYTES;
    int rc = pcu_reduction_kernel_get(plan, ctx, &first);
    if (rc == 0) {
        rc = pcu_reduction_join_get(plan, ctx, &second);
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
    rc = pcu_reduction_kernel_launch(plan, first, address, plan->stream);
    if (rc == 0) {
        rc = pcu_reduction_join_launch(plan, second, address, target->address,
                                       plan->stream);
    }
    Py_DECREF(partial);
    return rc;
}

/* Check the arrays and enqueue the plan. PCU_KERNEL_MADE: nothing was enqueued. */
static int
reduce_attempt(pcu_reduction_plan *plan, pcu_context *ctx, pcu_gpuarray *target,
               PyObject *allocator)
{
    CUfunction kernel = NULL;
    if (reduce_check(plan, ctx, target) < 0) {
        return -1;
    }
    if (plan->kept.count == 0) {
        return 0;
    }
    pcu_reduction_plan_cut(plan, ctx);
    if (plan->segments > 1) {
        return reduce_in_segments(plan, ctx, target, allocator);
    }
    int rc = pcu_reduction_kernel_get(plan, ctx, &kernel);
    if (rc != 0) {
        return rc;
    }
    return pcu_reduction_kernel_launch(plan, kernel, target->address, plan->stream);
}

/* After a kernel was made: other code may have changed the arrays. Read the axes of the
 * inputs again, and refuse inputs and a target that do not fit the plan any more. */
static int
reduce_plan_again(pcu_reduction_plan *plan, const pcu_gpuarray *target)
{
    bool same = target->type == plan->result && (target->contiguous & PCU_ARRAY_C) != 0;
    for (int i = 0; i < plan->nin; i++) {
        same = same && plan->inputs[i]->type == plan->types[i] &&
               plan->inputs[i]->ndim == plan->ndim;
    }
    if (same) {
        size_t reduced = plan->reduced.count;
        if (pcu_reduction_plan_axes(plan, plan->mask) < 0) {
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
reduce_run(pcu_reduction_plan *plan, pcu_gpuarray *target, PyObject *allocator)
{
    int rc;
    pcu_context *ctx = pcu_context_launch_borrow(plan->st);
    if (ctx == NULL) {
        return -1;
    }
    Py_INCREF(ctx); /* its kernels stay loaded until the launch */
    if (pcu_is_recording(plan->st)) {
        rc = reduce_note(plan, ctx, target);
    }
    else {
        do {
            rc = reduce_attempt(plan, ctx, target, allocator);
        } while (rc == PCU_KERNEL_MADE && reduce_plan_again(plan, target) == 0);
    }
    Py_DECREF(ctx);
    if (rc != 0) {
        return -1;
    }
    return 0;
}

/* -- the result -------------------------------------------------------------------- */

/* Whether the kernel can write its results to `out`. */
static bool
reduce_is_direct(const pcu_reduction_plan *plan, const pcu_gpuarray *out)
{
    if (!(out->contiguous & PCU_ARRAY_C) || out->type != plan->result) {
        return false;
    }
    if (plan->kept.count <= 1) {
        return true;
    }
    for (int i = 0; i < plan->nin; i++) {
        if (pcu_gpuarray_conflicts(plan->inputs[i], out)) {
            return false;
        }
    }
    return true;
}

static PyObject *
reduce_target_new(const pcu_reduction_plan *plan, int ndim, const size_t *shape,
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
reduce_result_new(pcu_reduction_plan *plan, int ndim, const size_t *shape,
                  PyObject *allocator)
{
    PyObject *target = reduce_target_new(plan, ndim, shape, allocator);
    if (target == NULL) {
        return NULL;
    }
    if (reduce_run(plan, (pcu_gpuarray *)target, allocator) < 0) {
        Py_DECREF(target);
        return NULL;
    }
    return target;
}

/* The result in the array that the program gives. */
static PyObject *
reduce_result_in_out(pcu_reduction_plan *plan, PyObject *out, int ndim,
                     const size_t *shape, PyObject *allocator)
{
    int op = plan->op;
    if (pcu_check_out(plan->st, plan->row->name, out, ndim, shape) < 0) {
        return NULL;
    }
    /* NumPy converts the result of a reduction, but not of the operation after it. */
    if ((op == PCU_REDUCE_STD || op == PCU_REDUCE_NANSTD || op == PCU_REDUCE_PTP) &&
        pcu_check_out_type(plan->row->name, (pcu_gpuarray *)out, plan->result) < 0) {
        return NULL;
    }
    if (reduce_is_direct(plan, (pcu_gpuarray *)out)) {
        if (reduce_run(plan, (pcu_gpuarray *)out, allocator) < 0) {
            return NULL;
        }
        return Py_NewRef(out);
    }
    PyObject *target = reduce_result_new(plan, ndim, shape, allocator);
    if (target == NULL) {
        return NULL;
    }
    int rc = pcu_gpuarray_assign((pcu_gpuarray *)out, target, plan->stream);
    Py_DECREF(target);
    if (rc < 0) {
        return NULL;
    }
    return Py_NewRef(out);
}

/* What the kernel divides by. Without NaN the kernel counts the elements itself and
 * takes ddof from them. */
static double
reduce_divisor(const pcu_reduction_plan *plan, double ddof)
{
    double divisor = (double)plan->reduced.count - ddof;
    if (plan->op == PCU_REDUCE_NANVAR || plan->op == PCU_REDUCE_NANSTD) {
        return ddof;
    }
    return Py_MAX(divisor, 0);
}

PyObject *
pcu_reduce(pcu_state *st, const pcu_reduction_call *call)
{
    unsigned char mask[PCU_MAX_NDIM + 1];
    size_t shape[PCU_MAX_NDIM];
    pcu_gpuarray *x = call->inputs[0];
    PyObject *allocator = call->allocator;
    pcu_reduction_plan plan;
    plan.st = st;
    plan.op = call->op;
    plan.stream = call->stream;
    plan.row = &pcu_reductions[call->op];
    plan.nin = plan.row->inputs;
    plan.inputs = call->inputs;
    if (pcu_reduction_types(&plan, call->dtype, call->out) < 0 ||
        pcu_reduction_axes_read(plan.row->name, call->axis, x->ndim, mask) < 0 ||
        pcu_reduction_plan_axes(&plan, mask) < 0) {
        return NULL;
    }
    plan.ndim = x->ndim;
    plan.mask = mask;
    for (int i = 0; i < plan.nin; i++) {
        plan.types[i] = plan.inputs[i]->type;
    }
    plan.divisor = reduce_divisor(&plan, call->ddof);
    if (allocator == Py_None) {
        allocator = x->allocator;
    }
    int ndim = pcu_reduction_axes_shape(x, mask, call->keepdims, shape);
    if (call->out != Py_None) {
        return reduce_result_in_out(&plan, call->out, ndim, shape, allocator);
    }
    PyObject *result = reduce_result_new(&plan, ndim, shape, allocator);
    if (result != NULL && plan.row->rule == PCU_REDUCE_TO_EXTREME) {
        ((pcu_gpuarray *)result)->counts_as = x->counts_as;
    }
    return result;
}
