/* Sorts of GPUArrays along an axis: see sort.h.
 *
 * Kernels sort lines that follow each other in memory. Of all other layouts a packed
 * copy with the axis at the end is made; the result is copied back to the place of the
 * axis. On the software device NumPy sorts many numbers, unless their indices are a
 * result. */

#include "python/array/sort/sort.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/host_work.h"
#include "python/array/layout.h"
#include "python/array/memory.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/kernel_request.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/sort/line_sort.h"

/* The elements from which on NumPy sorts them on the software device. */
enum { SORT_HOST_LEAST = 4096 };

/* One sort in progress. */
typedef struct {
    pcu_state *st;
    const pcu_sort_call *call;
    PyObject *allocator;
    int axis;
    pcu_line_sort lines;
} sort_plan;

/* Arrays; NULL if they are no results. */
typedef struct {
    PyObject *keys;
    PyObject *indices;
} sort_results;

static void
sort_results_clear(sort_results *results)
{
    Py_CLEAR(results->keys);
    Py_CLEAR(results->indices);
}

/* -- the launches ------------------------------------------------------------------ */

/* Making a kernel or allocating memory may run code that changes the source. */
static int
sort_check(const sort_plan *plan, const pcu_context *ctx, pcu_gpuarray *source,
           const sort_results *targets)
{
    const pcu_line_sort *lines = &plan->lines;
    if (source->type != lines->type || source->contiguous == 0 ||
        source->count != lines->lines * lines->length) {
        PyErr_SetString(PyExc_RuntimeError,
                        "sort: the shape or dtype of the array changed during the "
                        "call");
        return -1;
    }
    if (pcu_gpuarray_check(source, ctx) < 0) {
        return -1;
    }
    if (targets->keys != NULL &&
        pcu_gpuarray_check((pcu_gpuarray *)targets->keys, ctx) < 0) {
        return -1;
    }
    if (targets->indices != NULL) {
        return pcu_gpuarray_check((pcu_gpuarray *)targets->indices, ctx);
    }
    return 0;
}

/* The memory that the kernels share. */
static PyObject *
sort_workspace_new(const sort_plan *plan)
{
    size_t bytes = plan->lines.workspace;
    PyArray_Descr *dtype = pcu_dtype_of_type(PCU_T_UINT8);
    PyObject *workspace =
        pcu_gpuarray_new(plan->st, NULL, 1, &bytes, NULL, dtype, plan->allocator);
    Py_DECREF(dtype);
    return workspace;
}

/* Enqueue the sort of the lines of source, a packed array. */
static int
sort_enqueue(const sort_plan *plan, pcu_gpuarray *source, const sort_results *targets)
{
    pcu_sort_kernels kernels = {NULL, NULL};
    PyObject *workspace = NULL;
    int rc;
    if (plan->lines.lines * plan->lines.length == 0) {
        return 0;
    }
    pcu_context *ctx = pcu_context_launch_borrow(plan->st);
    if (ctx == NULL) {
        return -1;
    }
    Py_INCREF(ctx); /* its kernels stay loaded until the launch */
    do {
        rc = pcu_line_sort_get_kernels(&plan->lines, ctx, &kernels);
    } while (rc == PCU_KERNEL_MADE);
    if (rc == 0 && plan->lines.workspace > 0) {
        workspace = sort_workspace_new(plan);
        rc = workspace == NULL ? -1 : 0;
    }
    if (rc == 0) {
        rc = sort_check(plan, ctx, source, targets);
    }
    if (rc == 0) {
        pcu_sort_memory memory = {.source = source->address,
                                  .keys = pcu_gpuarray_address_of(targets->keys),
                                  .indices = pcu_gpuarray_address_of(targets->indices),
                                  .workspace = pcu_gpuarray_address_of(workspace)};
        rc = pcu_line_sort_launch(&plan->lines, ctx, &kernels, &memory,
                                  plan->call->stream);
    }
    Py_XDECREF(workspace);
    Py_DECREF(ctx);
    return rc;
}

/* -- on the software device -------------------------------------------------------- */

/* Whether NumPy sorts elements of the type as fast as it can. */
static bool
sort_is_of_numpy(int type)
{
    switch (type) {
        case PCU_T_BOOL:
        case PCU_T_INT8:
        case PCU_T_UINT8:
        case PCU_T_INT16:
        case PCU_T_UINT16:
        case PCU_T_INT32:
        case PCU_T_UINT32:
        case PCU_T_INT64:
        case PCU_T_UINT64:
        case PCU_T_FLOAT32:
        case PCU_T_FLOAT64:
            return true;
        default:
            return false;
    }
}

/* 1 if NumPy sorts, 0 if kernels do, or -1. */
static int
sort_is_hosts(const sort_plan *plan)
{
    if (pcu_drv_info.device == NULL || plan->call->x->count < SORT_HOST_LEAST ||
        !sort_is_of_numpy(plan->lines.type)) {
        return 0;
    }
    int may = pcu_kernel_may_differ();
    if (may <= 0) {
        return may;
    }
    return pcu_host_may_work(plan->st, plan->call->stream);
}

/* -- arrays ------------------------------------------------------------------------ */

/* Whether the lines of the array along the axis follow each other in memory. */
static bool
sort_is_packed(const pcu_gpuarray *array, int axis)
{
    if (axis == array->ndim - 1 && (array->contiguous & PCU_ARRAY_C)) {
        return true;
    }
    return axis == 0 && (array->contiguous & PCU_ARRAY_F);
}

/* A packed array in Fortran order if f_order is 1, else in C order. */
static PyObject *
sort_result_new(const sort_plan *plan, int type, bool f_order, int ndim,
                const size_t *shape)
{
    ptrdiff_t strides[PCU_MAX_NDIM];
    if (pcu_strides_in_order(f_order, ndim, shape, pcu_types[type].size, strides) < 0) {
        return NULL;
    }
    PyArray_Descr *dtype = pcu_dtype_of_type(type);
    PyObject *result =
        pcu_gpuarray_new(plan->st, NULL, ndim, shape, strides, dtype, plan->allocator);
    Py_DECREF(dtype);
    return result;
}

/* Make the arrays that the caller wants, in the shape of an array. in_place: its
 * elements go to the array itself. */
static int
sort_results_make(const sort_plan *plan, pcu_gpuarray *x, bool f_order, bool in_place,
                  sort_results *results)
{
    if (plan->lines.keys && in_place) {
        results->keys = Py_NewRef((PyObject *)x);
    }
    else if (plan->lines.keys) {
        results->keys =
            sort_result_new(plan, plan->lines.type, f_order, x->ndim, x->shape);
        if (results->keys == NULL) {
            return -1;
        }
    }
    if (plan->lines.indices) {
        results->indices =
            sort_result_new(plan, PCU_T_INT64, f_order, x->ndim, x->shape);
        if (results->indices == NULL) {
            return -1;
        }
    }
    return 0;
}

/* Sort the lines of a packed array. The elements go to the array itself if that is
 * allowed and possible. New arrays have the order of axes of the source. */
static int
sort_packed(const sort_plan *plan, pcu_gpuarray *source, bool may_overwrite,
            sort_results *results)
{
    bool f_order = !(source->contiguous & PCU_ARRAY_C);
    bool in_place = may_overwrite && pcu_line_sort_is_in_place(&plan->lines);
    if (sort_results_make(plan, source, f_order, in_place, results) < 0) {
        return -1;
    }
    return sort_enqueue(plan, source, results);
}

/* Let NumPy sort, in the order of the stream. */
static int
sort_on_host(const sort_plan *plan, sort_results *results)
{
    pcu_gpuarray *x = plan->call->x;
    bool f_order = sort_is_packed(x, plan->axis) && !(x->contiguous & PCU_ARRAY_C);
    if (sort_results_make(plan, x, f_order, plan->call->in_place, results) < 0) {
        return -1;
    }
    PyObject *keys = results->keys != NULL ? results->keys : Py_None;
    PyObject *indices = results->indices != NULL ? results->indices : Py_None;
    return pcu_host_call(
        "sort",
        Py_BuildValue("OiiOOK", x, plan->axis, plan->call->descending, keys, indices,
                      (unsigned long long)(uintptr_t)plan->call->stream));
}

/* A view of the array with the axis at the end. */
static PyObject *
sort_view_new(pcu_gpuarray *array, int axis)
{
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    int last = array->ndim - 1;
    for (int k = 0; k < last; k++) {
        int from = k + (k >= axis);
        shape[k] = array->shape[from];
        strides[k] = array->strides[from];
    }
    shape[last] = array->shape[axis];
    strides[last] = array->strides[axis];
    return (PyObject *)pcu_gpuarray_view_new(array, array->ndim, shape, strides, 0,
                                             NULL);
}

/* Sort a packed array, and copy the result back if the sort cannot be in place. */
static int
sort_direct(const sort_plan *plan, sort_results *results)
{
    pcu_gpuarray *x = plan->call->x;
    if (sort_packed(plan, x, plan->call->in_place, results) < 0) {
        return -1;
    }
    if (!plan->call->in_place || results->keys == (PyObject *)x) {
        return 0;
    }
    if (pcu_device_copy(x, (pcu_gpuarray *)results->keys, plan->call->stream) < 0) {
        return -1;
    }
    Py_SETREF(results->keys, Py_NewRef((PyObject *)x));
    return 0;
}

/* A packed copy of x with the axis at the end. */
static PyObject *
sort_lines_new(const sort_plan *plan)
{
    PyObject *view = sort_view_new(plan->call->x, plan->axis);
    if (view == NULL) {
        return NULL;
    }
    pcu_gpuarray *moved = (pcu_gpuarray *)view;
    PyObject *lines = pcu_gpuarray_new(plan->st, NULL, moved->ndim, moved->shape, NULL,
                                       moved->dtype, plan->allocator);
    if (lines != NULL &&
        pcu_device_copy((pcu_gpuarray *)lines, moved, plan->call->stream) < 0) {
        Py_CLEAR(lines);
    }
    Py_DECREF(view);
    return lines;
}

/* Replace sorted lines by an array with the axis at its place: x or a new one. */
static int
sort_put_back(const sort_plan *plan, PyObject **sorted)
{
    pcu_gpuarray *x = plan->call->x;
    pcu_gpuarray *lines = (pcu_gpuarray *)*sorted;
    PyObject *result;
    if (plan->call->in_place) {
        result = Py_NewRef((PyObject *)x);
    }
    else {
        result = sort_result_new(plan, lines->type, false, x->ndim, x->shape);
    }
    if (result == NULL) {
        return -1;
    }
    int rc = -1;
    PyObject *view = sort_view_new((pcu_gpuarray *)result, plan->axis);
    if (view != NULL) {
        rc = pcu_device_copy((pcu_gpuarray *)view, lines, plan->call->stream);
        Py_DECREF(view);
    }
    Py_SETREF(*sorted, result);
    return rc;
}

/* Sort a packed copy. */
static int
sort_indirect(const sort_plan *plan, sort_results *results)
{
    PyObject *lines = sort_lines_new(plan);
    if (lines == NULL) {
        return -1;
    }
    int rc = sort_packed(plan, (pcu_gpuarray *)lines, true, results);
    Py_DECREF(lines);
    if (rc < 0) {
        return -1;
    }
    if (plan->axis == plan->call->x->ndim - 1 && !plan->call->in_place) {
        return 0;
    }
    if (results->keys != NULL && sort_put_back(plan, &results->keys) < 0) {
        return -1;
    }
    if (results->indices != NULL && sort_put_back(plan, &results->indices) < 0) {
        return -1;
    }
    return 0;
}

/* Check the array and fill in the plan. */
static int
sort_fill(sort_plan *plan, pcu_state *st, const pcu_sort_call *call)
{
    pcu_gpuarray *x = call->x;
    if (!pcu_type_is_number(x->type)) {
        PyErr_Format(PyExc_TypeError,
                     "sort does not take arrays of dtype %S: it sorts bool, integers, "
                     "floats and complex numbers",
                     (PyObject *)x->dtype);
        return -1;
    }
    plan->axis = call->axis;
    if (pcu_axis_place("sort", &plan->axis, x->ndim) < 0) {
        return -1;
    }
    size_t length = x->shape[plan->axis];
    plan->st = st;
    plan->call = call;
    plan->allocator = call->allocator;
    if (plan->allocator == Py_None) {
        plan->allocator = x->allocator;
    }
    plan->lines = (pcu_line_sort){.st = st,
                                  .type = x->type,
                                  .keys = call->keys,
                                  .indices = call->indices,
                                  .descending = call->descending,
                                  .length = length,
                                  .lines = x->count / Py_MAX(length, 1)};
    const pcu_context *ctx = pcu_context_launch_borrow(st);
    if (ctx == NULL) {
        return -1;
    }
    return pcu_line_sort_plan(&plan->lines, ctx);
}

PyObject *
pcu_sort(pcu_state *st, const pcu_sort_call *call)
{
    sort_plan plan;
    sort_results results = {NULL, NULL};
    unsigned char counts_as = call->x->counts_as;
    int rc;
    if (sort_fill(&plan, st, call) < 0) {
        return NULL;
    }
    int on_host = sort_is_hosts(&plan);
    if (on_host != 0) {
        rc = on_host < 0 ? -1 : sort_on_host(&plan, &results);
    }
    else if (sort_is_packed(call->x, plan.axis)) {
        rc = sort_direct(&plan, &results);
    }
    else {
        rc = sort_indirect(&plan, &results);
    }
    if (rc < 0) {
        sort_results_clear(&results);
        return NULL;
    }
    if (results.keys == NULL) {
        return results.indices;
    }
    ((pcu_gpuarray *)results.keys)->counts_as = counts_as;
    if (results.indices == NULL) {
        return results.keys;
    }
    return Py_BuildValue("(NN)", results.keys, results.indices);
}
