/* Medians and quantiles: see quantile.h, and cuda/pycuda-quantile.hpp for the kernels.
 *
 * One kernel sorts short lines and stores their quantiles. Longer lines are sorted by
 * sort.c; a second kernel then reads the elements at the places of the quantiles. */

#include "python/array/sort/quantile.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/memory.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/reduction_axes.h"
#include "python/array/sort/sort.h"

enum {
    QUANTILE_THREADS = 256,
    QUANTILE_MOST = 32,           /* quantiles of a launch */
    QUANTILE_LANES_LONGEST = 256, /* line that lanes of a warp sort */
    QUANTILE_THREAD_LONGEST = 16, /* line that one lane sorts */
    QUANTILE_LEAST_ITEMS = 4,     /* elements of a lane */
    QUANTILE_ITEMS = 8            /* elements of each of several lanes */
};

/* The quantiles of a launch, as struct quantile_list in pycuda-quantile.hpp. */
typedef struct {
    double q[QUANTILE_MOST];
    double alpha;
    double slope;
    uint32_t count;
    uint32_t method;
    uint32_t skips_nan;
    uint32_t is_single;
} quantile_list;

/* What a call works on. */
typedef struct {
    const pcu_quantile_call *call;
    pcu_state *st;
    size_t lines;
    size_t length; /* of a line */
    bool by_lanes; /* the lines are short */
    unsigned int lanes;
    unsigned int items; /* elements of a lane */
} quantile_plan;

/* -- methods ----------------------------------------------------------------------- */

const pcu_quantile_method pcu_quantile_median = {"median", PCU_QUANTILE_MEDIAN, false,
                                                 0, 0};

static const pcu_quantile_method quantile_methods[] = {
    {"linear", PCU_QUANTILE_LINEAR, false, 0, 0},
    {"lower", PCU_QUANTILE_LOWER, true, 0, 0},
    {"higher", PCU_QUANTILE_HIGHER, true, 0, 0},
    {"nearest", PCU_QUANTILE_NEAREST, true, 0, 0},
    {"midpoint", PCU_QUANTILE_MIDPOINT, false, 0, 0},
    {"averaged_inverted_cdf", PCU_QUANTILE_AVERAGED_INVERTED_CDF, false, 0, 0},
    {"inverted_cdf", PCU_QUANTILE_INVERTED_CDF, true, 0, 0},
    {"closest_observation", PCU_QUANTILE_CLOSEST_OBSERVATION, true, 0, 0},
    {"interpolated_inverted_cdf", PCU_QUANTILE_BY_FORMULA, false, 0, 1},
    {"hazen", PCU_QUANTILE_BY_FORMULA, false, 0.5, 0.5},
    {"weibull", PCU_QUANTILE_BY_FORMULA, false, 0, 0},
    {"median_unbiased", PCU_QUANTILE_BY_FORMULA, false, 1 / 3.0, 1 / 3.0},
    {"normal_unbiased", PCU_QUANTILE_BY_FORMULA, false, 3 / 8.0, 3 / 8.0},
};

const pcu_quantile_method *
pcu_quantile_default_method(void)
{
    return &quantile_methods[0];
}

const pcu_quantile_method *
pcu_quantile_find_method(PyObject *name)
{
    for (size_t i = 0; PyUnicode_Check(name) && i < Py_ARRAY_LENGTH(quantile_methods);
         i++) {
        if (PyUnicode_CompareWithASCIIString(name, quantile_methods[i].name) == 0) {
            return &quantile_methods[i];
        }
    }
    return NULL;
}

/* -- lines ------------------------------------------------------------------------- */

static size_t
quantile_step(const pcu_gpuarray *x, int axis)
{
    return (size_t)Py_ABS(x->strides[axis]);
}

/* The axes of x: those of the result, then those of the lines. The order of the
 * elements of a line is of no importance, so the latter are in the order of memory. */
static void
quantile_order_axes(const pcu_quantile_call *call, int *axes)
{
    const pcu_gpuarray *x = call->x;
    int kept = 0;
    for (int axis = 0; axis < x->ndim; axis++) {
        if (!call->reduced[axis]) {
            axes[kept++] = axis;
        }
    }
    int place = kept;
    for (int axis = 0; axis < x->ndim; axis++) {
        if (!call->reduced[axis]) {
            continue;
        }
        int at = place++;
        while (at > kept && quantile_step(x, axes[at - 1]) < quantile_step(x, axis)) {
            axes[at] = axes[at - 1];
            at--;
        }
        axes[at] = axis;
    }
}

/* The array itself, a view, or a packed copy: the lines follow each other in memory. */
static PyObject *
quantile_lines_new(const quantile_plan *plan)
{
    pcu_gpuarray *x = plan->call->x;
    int axes[PCU_MAX_NDIM];
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    quantile_order_axes(plan->call, axes);
    bool in_order = true;
    for (int k = 0; k < x->ndim; k++) {
        shape[k] = x->shape[axes[k]];
        strides[k] = x->strides[axes[k]];
        in_order = in_order && axes[k] == k;
    }
    if (in_order && (x->contiguous & PCU_ARRAY_C)) {
        return Py_NewRef((PyObject *)x);
    }
    PyObject *view =
        (PyObject *)pcu_gpuarray_view_new(x, x->ndim, shape, strides, 0, NULL);
    if (view == NULL) {
        return NULL;
    }
    PyObject *lines = pcu_gpuarray_in_c_order_new((pcu_gpuarray *)view, x->allocator,
                                                  plan->call->stream);
    Py_DECREF(view);
    return lines;
}

/* A packed array with the sorted lines. It may be the lines, if these are a copy. */
static PyObject *
quantile_sorted_new(const quantile_plan *plan, PyObject *lines)
{
    size_t shape[2] = {plan->lines, plan->length};
    ptrdiff_t item = (ptrdiff_t)pcu_gpuarray_itemsize((pcu_gpuarray *)lines);
    ptrdiff_t strides[2] = {item * (ptrdiff_t)plan->length, item};
    pcu_gpuarray *view =
        pcu_gpuarray_view_new((pcu_gpuarray *)lines, 2, shape, strides, 0, NULL);
    if (view == NULL) {
        return NULL;
    }
    pcu_sort_call call = {.x = view,
                          .axis = 1,
                          .keys = true,
                          .allocator = plan->call->x->allocator,
                          .stream = plan->call->stream};
    PyObject *sorted = pcu_sort(plan->st, &call);
    Py_DECREF(view);
    return sorted;
}

/* -- the launch -------------------------------------------------------------------- */

/* The type in which a kernel computes. */
static int
quantile_compute_type(const pcu_quantile_call *call)
{
    int type = call->is_element ? call->x->type : call->type;
    if (pcu_type_is_half(type)) {
        return PCU_T_FLOAT32;
    }
    return type;
}

static int
quantile_get_kernel(const quantile_plan *plan, pcu_context *ctx, CUfunction *kernel)
{
    const pcu_quantile_call *call = plan->call;
    pcu_kernel_key key;
    memset(&key, 0, sizeof(key));
    key.family = PCU_FAMILY_QUANTILE;
    key.inputs = 1;
    key.outputs = 1;
    key.types[0] = call->x->type;
    key.types[1] = (uint8_t)call->type;
    key.compute = (uint8_t)quantile_compute_type(call);
    key.partial = (uint8_t)call->is_element;
    key.threads = QUANTILE_THREADS;
    key.variant = PCU_VARIANT_QUANTILE_SORTED;
    if (plan->by_lanes) {
        key.variant = PCU_VARIANT_QUANTILE_LANES;
        key.tile = (uint16_t)plan->lanes;
        key.vector = (uint8_t)plan->items;
    }
    return pcu_kernel_table_get(plan->st, ctx, &key, kernel);
}

static size_t
quantile_blocks(const quantile_plan *plan, size_t count)
{
    size_t in_block = QUANTILE_THREADS;
    size_t work = plan->lines * count;
    if (plan->by_lanes) {
        in_block = QUANTILE_THREADS / plan->lanes;
        work = plan->lines;
    }
    return (work + in_block - 1) / in_block;
}

/* Enqueue the quantiles from number `first` on. */
static int
quantile_launch_some(const quantile_plan *plan, CUfunction kernel, CUdeviceptr lines,
                     CUdeviceptr target, size_t first, size_t count)
{
    const pcu_quantile_call *call = plan->call;
    pcu_argument_buffer params;
    quantile_list list = {.alpha = call->method->alpha,
                          .slope = 1 - call->method->alpha - call->method->beta,
                          .count = (uint32_t)count,
                          .method = call->method->rule,
                          .skips_nan = (uint32_t)call->skips_nan,
                          .is_single = (uint32_t)call->is_single};
    target += first * plan->lines * pcu_types[call->type].size;
    for (size_t k = 0; k < count && call->q != NULL; k++) {
        list.q[k] = call->q[first + k];
    }
    pcu_argument_buffer_init(&params);
    int rc = -1;
    if (pcu_kernel_put_address(&params, lines) == 0 &&
        pcu_kernel_put_address(&params, target) == 0 &&
        pcu_kernel_put_index(&params, 1, (ptrdiff_t)plan->lines) == 0 &&
        pcu_kernel_put_index(&params, 1, (ptrdiff_t)plan->length) == 0 &&
        pcu_kernel_put(&params, &list, sizeof(list), sizeof(double)) == 0) {
        rc = pcu_kernel_launch(plan->st, kernel, quantile_blocks(plan, count),
                               QUANTILE_THREADS, call->stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

/* Making a kernel may run code that changes the arrays. */
static int
quantile_check(const quantile_plan *plan, const pcu_context *ctx, pcu_gpuarray *lines,
               pcu_gpuarray *target)
{
    if (lines->type != plan->call->x->type || !(lines->contiguous & PCU_ARRAY_C) ||
        lines->count != plan->lines * plan->length) {
        PyErr_Format(PyExc_RuntimeError,
                     "%s: the shape or dtype of the array changed during the call",
                     plan->call->name);
        return -1;
    }
    if (pcu_gpuarray_check(lines, ctx) < 0) {
        return -1;
    }
    return pcu_gpuarray_check(target, ctx);
}

/* Enqueue the kernels that read the lines, which are sorted unless they are short. */
static int
quantile_enqueue(const quantile_plan *plan, pcu_gpuarray *lines, pcu_gpuarray *target)
{
    size_t count = plan->call->count;
    CUfunction kernel = NULL;
    int rc;
    pcu_context *ctx = pcu_context_launch_borrow(plan->st);
    if (ctx == NULL) {
        return -1;
    }
    Py_INCREF(ctx); /* its kernels stay loaded until the launch */
    do {
        rc = quantile_get_kernel(plan, ctx, &kernel);
    } while (rc == PCU_KERNEL_MADE);
    if (rc == 0) {
        rc = quantile_check(plan, ctx, lines, target);
    }
    for (size_t first = 0; rc == 0 && first < count; first += QUANTILE_MOST) {
        size_t some = Py_MIN(count - first, (size_t)QUANTILE_MOST);
        rc = quantile_launch_some(plan, kernel, lines->address, target->address, first,
                                  some);
    }
    Py_DECREF(ctx);
    return rc;
}

/* -- the result -------------------------------------------------------------------- */

static PyObject *
quantile_result_new(const quantile_plan *plan)
{
    const pcu_quantile_call *call = plan->call;
    size_t shape[2 * PCU_MAX_NDIM];
    for (int k = 0; k < call->ndim; k++) {
        shape[k] = (size_t)call->shape[k];
    }
    int ndim =
        call->ndim + pcu_reduction_axes_shape(call->x, call->reduced, call->keepdims,
                                              shape + call->ndim);
    if (ndim > PCU_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError,
                     "%s: the result has %d axes, but an array has at most %d",
                     call->name, ndim, PCU_MAX_NDIM);
        return NULL;
    }
    PyArray_Descr *dtype = pcu_dtype_of_type(call->type);
    PyObject *result =
        pcu_gpuarray_new(plan->st, NULL, ndim, shape, NULL, dtype, call->x->allocator);
    Py_DECREF(dtype);
    return result;
}

/* Choose the lanes of a short line: those that were the fastest on an H200. */
static void
quantile_choose_lanes(quantile_plan *plan)
{
    size_t room = QUANTILE_LEAST_ITEMS;
    plan->by_lanes = !pcu_type_is_complex(plan->call->x->type) &&
                     plan->length <= QUANTILE_LANES_LONGEST;
    while (room < plan->length) {
        room *= 2;
    }
    plan->items = QUANTILE_ITEMS;
    if (room <= QUANTILE_THREAD_LONGEST) {
        plan->items = (unsigned int)room;
    }
    plan->lanes = (unsigned int)room / plan->items;
}

/* Count the lines, and choose the kernel. */
static int
quantile_fill(quantile_plan *plan, pcu_state *st, const pcu_quantile_call *call)
{
    const pcu_gpuarray *x = call->x;
    memset(plan, 0, sizeof(*plan));
    plan->call = call;
    plan->st = st;
    plan->lines = 1;
    plan->length = 1;
    for (int axis = 0; axis < x->ndim; axis++) {
        size_t *product = call->reduced[axis] ? &plan->length : &plan->lines;
        *product *= x->shape[axis];
    }
    if (plan->length == 0 && call->needs_values) {
        PyObject *shape =
            PyObject_GetAttrString((PyObject *)(pcu_gpuarray *)x, "shape");
        if (shape != NULL) {
            PyErr_Format(PyExc_ValueError, "%s: the lines of shape %S have no elements",
                         call->name, shape);
            Py_DECREF(shape);
        }
        return -1;
    }
    quantile_choose_lanes(plan);
    return 0;
}

PyObject *
pcu_quantile(pcu_state *st, const pcu_quantile_call *call)
{
    quantile_plan plan;
    if (quantile_fill(&plan, st, call) < 0) {
        return NULL;
    }
    PyObject *result = quantile_result_new(&plan);
    if (result == NULL || plan.lines * call->count == 0) {
        return result;
    }
    PyObject *lines = quantile_lines_new(&plan);
    if (lines != NULL && !plan.by_lanes) {
        Py_SETREF(lines, quantile_sorted_new(&plan, lines));
    }
    if (lines == NULL ||
        quantile_enqueue(&plan, (pcu_gpuarray *)lines, (pcu_gpuarray *)result) < 0) {
        Py_CLEAR(result);
    }
    Py_XDECREF(lines);
    return result;
}
