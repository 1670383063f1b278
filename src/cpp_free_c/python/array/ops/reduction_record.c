/* The record of a reduction: see reduction_record.h. */

#include "python/array/ops/reduction_record.h"

#include "python/array/element_type.h"
#include "python/array/layout.h"
#include "python/array/ops/reduction_kernel.h"
#include "python/array/recording.h"

/* The axes of the first input that are reduced, or those that are not, in the order in
 * which the kernels visit them. */
static PyObject *
record_axes_new(const pcu_reduction_plan *plan, bool reduced)
{
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t rows[3][PCU_MAX_NDIM] = {{0}}; /* strides of both inputs, axes */
    const pcu_gpuarray *x = plan->inputs[0];
    bool sorted = reduced && plan->row->rule != PCU_REDUCE_TO_INDEX;
    int count = 0;
    for (int axis = 0; axis < x->ndim; axis++) {
        if ((plan->mask[axis] != 0) != reduced || x->shape[axis] == 1) {
            continue;
        }
        shape[count] = x->shape[axis];
        rows[0][count] = x->strides[axis];
        if (plan->nin == 2) {
            const pcu_gpuarray *y = plan->inputs[1];
            int own = axis - (x->ndim - y->ndim);
            if (own >= 0 && y->shape[own] != 1) {
                rows[1][count] = y->strides[own];
            }
        }
        rows[2][count] = axis;
        count++;
    }
    if (sorted) {
        count = pcu_sort_axes(count, shape, plan->nin, 3, rows[0]);
    }
    return pcu_numbers_tuple_new(count, rows[2]);
}

static PyObject *
record_cut_new(const pcu_reduction_plan *plan, const pcu_context *ctx)
{
    const ptrdiff_t numbers[] = {(ptrdiff_t)pcu_reduction_join_lanes(plan),
                                 (ptrdiff_t)plan->segments,
                                 (ptrdiff_t)plan->segment,
                                 (ptrdiff_t)plan->vector,
                                 (ptrdiff_t)plan->threads,
                                 (ptrdiff_t)plan->lanes,
                                 (ptrdiff_t)plan->rounds,
                                 (ptrdiff_t)plan->blocks,
                                 (ptrdiff_t)plan->streamed,
                                 ctx->rec.limits.multiprocessors};
    PyObject *cut = NULL;
    PyObject *kept = record_axes_new(plan, false);
    PyObject *reduced = record_axes_new(plan, true);
    PyObject *rest = pcu_numbers_tuple_new((int)Py_ARRAY_LENGTH(numbers), numbers);
    if (kept != NULL && reduced != NULL && rest != NULL) {
        cut = Py_BuildValue("(iOOO)", plan->variant, kept, reduced, rest);
    }
    Py_XDECREF(kept);
    Py_XDECREF(reduced);
    Py_XDECREF(rest);
    return cut;
}

int
pcu_reduction_record(const pcu_reduction_plan *plan, const pcu_context *ctx,
                     pcu_gpuarray *target)
{
    PyObject *result = NULL;
    PyObject *cut = record_cut_new(plan, ctx);
    PyObject *sources = PyTuple_New(plan->nin);
    if (cut != NULL && sources != NULL) {
        for (int i = 0; i < plan->nin; i++) {
            PyTuple_SET_ITEM(sources, i, Py_NewRef((PyObject *)plan->inputs[i]));
        }
        result = PyObject_CallFunction(pcu_recorder_item(plan->st, PCU_RECORDER_CALL),
                                       "ssO(O)(dO)", plan->row->name,
                                       pcu_types[plan->compute].name, sources,
                                       (PyObject *)target, plan->divisor, cut);
    }
    Py_XDECREF(cut);
    Py_XDECREF(sources);
    if (result == NULL) {
        return -1;
    }
    Py_DECREF(result);
    return 0;
}
