/* Sorts of GPUArrays along an axis: see sort.h.
 *
 * Kernels sort lines that follow each other in memory. Of all other layouts a packed
 * copy with the axis at the end is made; the result is copied back to the place of the
 * axis. */

#include "python/array/sort/sort.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/layout.h"
#include "python/array/memory.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/sort/line_sort.h"

/* One sort in progress. */
typedef struct {
    pcu_state *st;
    const pcu_sort_call *call;
    PyObject *allocator;
    int axis;
    pcu_line_sort lines;
} sort_plan;

/* -- the launches ------------------------------------------------------------------ */

/* Making a kernel or allocating memory may run code that changes the source. */
static int
sort_check(const sort_plan *plan, const pcu_context *ctx, pcu_gpuarray *source,
           pcu_gpuarray *target)
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
    return pcu_gpuarray_check(target, ctx);
}

/* The memory that the kernels share, None if they need none. */
static PyObject *
sort_workspace_new(const sort_plan *plan)
{
    size_t bytes = plan->lines.workspace;
    if (bytes == 0) {
        return Py_NewRef(Py_None);
    }
    PyArray_Descr *dtype = pcu_dtype_of_type(PCU_T_UINT8);
    PyObject *workspace =
        pcu_gpuarray_new(plan->st, NULL, 1, &bytes, NULL, dtype, plan->allocator);
    Py_DECREF(dtype);
    return workspace;
}

/* Enqueue the sort of the lines of source, a packed array, to target. */
static int
sort_enqueue(const sort_plan *plan, pcu_gpuarray *source, pcu_gpuarray *target)
{
    pcu_sort_kernels kernels = {NULL, NULL};
    CUdeviceptr room = 0;
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
    if (rc < 0) {
        goto done;
    }
    rc = -1;
    workspace = sort_workspace_new(plan);
    if (workspace == NULL) {
        goto done;
    }
    if (workspace != Py_None) {
        room = ((pcu_gpuarray *)workspace)->address;
    }
    rc = sort_check(plan, ctx, source, target);
    if (rc == 0) {
        rc = pcu_line_sort_launch(&plan->lines, ctx, &kernels, source->address,
                                  target->address, room, plan->call->stream);
    }
done:
    Py_XDECREF(workspace);
    Py_DECREF(ctx);
    return rc;
}

/* -- arrays ------------------------------------------------------------------------ */

/* 1 if the lines of the array along the axis follow each other in memory. */
static int
sort_is_packed(const pcu_gpuarray *array, int axis)
{
    if (axis == array->ndim - 1 && (array->contiguous & PCU_ARRAY_C)) {
        return 1;
    }
    return axis == 0 && (array->contiguous & PCU_ARRAY_F);
}

/* An array of the dtype of the result, packed in C order or, for a source that is only
 * packed in Fortran order, in that. */
static PyObject *
sort_result_new(const sort_plan *plan, int f_order, int ndim, const size_t *shape)
{
    ptrdiff_t strides[PCU_MAX_NDIM];
    int type = plan->lines.indices ? PCU_T_INT64 : plan->lines.type;
    if (pcu_strides_in_order(f_order, ndim, shape, pcu_types[type].size, strides) < 0) {
        return NULL;
    }
    PyArray_Descr *dtype = pcu_dtype_of_type(type);
    PyObject *result =
        pcu_gpuarray_new(plan->st, NULL, ndim, shape, strides, dtype, plan->allocator);
    Py_DECREF(dtype);
    return result;
}

/* The sorted lines of a packed array, in the array itself if that is allowed and
 * possible, else in a new one. */
static PyObject *
sort_packed_new(const sort_plan *plan, pcu_gpuarray *source, int may_overwrite)
{
    PyObject *target;
    if (may_overwrite && pcu_line_sort_is_in_place(&plan->lines)) {
        target = Py_NewRef((PyObject *)source);
    }
    else {
        int f_order = !(source->contiguous & PCU_ARRAY_C);
        target = sort_result_new(plan, f_order, source->ndim, source->shape);
    }
    if (target == NULL) {
        return NULL;
    }
    if (sort_enqueue(plan, source, (pcu_gpuarray *)target) < 0) {
        Py_DECREF(target);
        return NULL;
    }
    return target;
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
static PyObject *
sort_direct(const sort_plan *plan)
{
    pcu_gpuarray *x = plan->call->x;
    PyObject *result = sort_packed_new(plan, x, plan->call->in_place);
    if (result == NULL || !plan->call->in_place || result == (PyObject *)x) {
        return result;
    }
    int rc = pcu_device_copy(x, (pcu_gpuarray *)result, plan->call->stream);
    Py_DECREF(result);
    if (rc < 0) {
        return NULL;
    }
    return Py_NewRef((PyObject *)x);
}

/* A packed copy of x with the axis at the end. */
static PyObject *
sort_lines_new(const sort_plan *plan)
{
    PyObject *lines = NULL;
    PyObject *view = sort_view_new(plan->call->x, plan->axis);
    if (view == NULL) {
        return NULL;
    }
    pcu_gpuarray *moved = (pcu_gpuarray *)view;
    lines = pcu_gpuarray_new(plan->st, NULL, moved->ndim, moved->shape, NULL,
                             moved->dtype, plan->allocator);
    if (lines != NULL &&
        pcu_device_copy((pcu_gpuarray *)lines, moved, plan->call->stream) < 0) {
        Py_CLEAR(lines);
    }
    Py_DECREF(view);
    return lines;
}

/* Copy sorted lines to x or to a new array, with the axis at its place. */
static PyObject *
sort_put_back(const sort_plan *plan, PyObject *sorted)
{
    pcu_gpuarray *x = plan->call->x;
    PyObject *result = Py_NewRef((PyObject *)x);
    if (!plan->call->in_place) {
        Py_SETREF(result, sort_result_new(plan, 0, x->ndim, x->shape));
    }
    if (result == NULL) {
        return NULL;
    }
    PyObject *view = sort_view_new((pcu_gpuarray *)result, plan->axis);
    if (view == NULL || pcu_device_copy((pcu_gpuarray *)view, (pcu_gpuarray *)sorted,
                                        plan->call->stream) < 0) {
        Py_CLEAR(result);
    }
    Py_XDECREF(view);
    return result;
}

/* Sort a packed copy. */
static PyObject *
sort_indirect(const sort_plan *plan)
{
    PyObject *lines = sort_lines_new(plan);
    if (lines == NULL) {
        return NULL;
    }
    PyObject *sorted = sort_packed_new(plan, (pcu_gpuarray *)lines, 1);
    Py_DECREF(lines);
    if (sorted == NULL) {
        return NULL;
    }
    if (plan->axis == plan->call->x->ndim - 1 && !plan->call->in_place) {
        return sorted;
    }
    PyObject *result = sort_put_back(plan, sorted);
    Py_DECREF(sorted);
    return result;
}

static int
sort_read_axis(const pcu_gpuarray *x, int axis, int *place)
{
    if (axis < -x->ndim || axis >= x->ndim) {
        PyErr_Format(PyExc_ValueError, "sort: axis %d is not one of the %d axes", axis,
                     x->ndim);
        return -1;
    }
    *place = axis;
    if (axis < 0) {
        *place += x->ndim;
    }
    return 0;
}

PyObject *
pcu_sort(pcu_state *st, const pcu_sort_call *call)
{
    pcu_gpuarray *x = call->x;
    sort_plan plan = {.st = st, .call = call, .allocator = call->allocator};
    PyObject *result;
    if (!pcu_type_is_number(x->type)) {
        PyErr_Format(PyExc_TypeError,
                     "sort does not take arrays of dtype %S: it sorts bool, integers, "
                     "floats and complex numbers",
                     (PyObject *)x->dtype);
        return NULL;
    }
    if (sort_read_axis(x, call->axis, &plan.axis) < 0) {
        return NULL;
    }
    if (plan.allocator == Py_None) {
        plan.allocator = x->allocator;
    }
    size_t length = x->shape[plan.axis];
    plan.lines = (pcu_line_sort){.st = st,
                                 .type = x->type,
                                 .indices = call->indices,
                                 .descending = call->descending,
                                 .length = length,
                                 .lines = x->count / Py_MAX(length, 1)};
    if (pcu_line_sort_plan(&plan.lines) < 0) {
        return NULL;
    }
    if (sort_is_packed(x, plan.axis)) {
        result = sort_direct(&plan);
    }
    else {
        result = sort_indirect(&plan);
    }
    if (result != NULL && !call->indices) {
        ((pcu_gpuarray *)result)->counts_as = x->counts_as;
    }
    return result;
}
