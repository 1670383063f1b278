/* Products of few, long sums: see segments.h. */

#include "python/array/product/segments.h"

#include "python/array/construction.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/reduction.h"
#include "python/array/product/tiles.h"

enum {
    SEGMENTS_LEAST = 256, /* products of a sum that make a segment worth its launch */
    SEGMENTS_FILL = 2,    /* blocks that fill a multiprocessor */
    SEGMENTS_ROUND = 16   /* segments are multiples, so that loads stay aligned */
};

typedef struct {
    size_t each; /* products in a segment */
    size_t full; /* segments of that length */
    size_t rest; /* products in the last, shorter segment */
} segments_cut;

/* Cut the sums: whether there are two segments or more. */
static bool
segments_fill(const pcu_product *p, const pcu_context *ctx, segments_cut *cut)
{
    size_t room = (size_t)ctx->rec.limits.multiprocessors * SEGMENTS_FILL;
    size_t blocks = pcu_tiles_blocks(p, ctx);
    size_t segments = Py_MIN(room / blocks, p->k / SEGMENTS_LEAST);
    if (segments < 2 || p->ndim > PCU_MAX_NDIM - 3) {
        return false;
    }
    size_t each = (p->k + segments - 1) / segments;
    cut->each = (each + SEGMENTS_ROUND - 1) / SEGMENTS_ROUND * SEGMENTS_ROUND;
    cut->full = p->k / cut->each;
    cut->rest = p->k - cut->full * cut->each;
    return cut->full + (cut->rest != 0) > 1;
}

/* The type of the results of segments: half precision stays in float until the end. */
static int
segments_type(int compute)
{
    if (pcu_type_is_half(compute)) {
        return PCU_T_FLOAT32;
    }
    return compute;
}

/* An array of shape (segments, batch, m, n). */
static pcu_gpuarray *
segments_partial_new(pcu_state *st, const pcu_product *p, const segments_cut *cut,
                     PyObject *allocator)
{
    size_t shape[PCU_MAX_NDIM];
    PyArray_Descr *dtype = pcu_dtype_of_type(segments_type(p->compute));
    shape[0] = cut->full + (cut->rest != 0);
    memcpy(shape + 1, p->shape, (size_t)p->ndim * sizeof(*shape));
    shape[p->ndim + 1] = p->m;
    shape[p->ndim + 2] = p->n;
    PyObject *partial =
        pcu_gpuarray_new(st, NULL, p->ndim + 3, shape, NULL, dtype, allocator);
    Py_DECREF(dtype);
    return (pcu_gpuarray *)partial;
}

/* The product of the segments from number `first` on, all of the length `length`: the
 * last axis of the batch has their number. */
static void
segments_product(const pcu_product *p, const pcu_gpuarray *partial,
                 const segments_cut *cut, size_t first, size_t count, size_t length,
                 pcu_product *part)
{
    pcu_matrix *left = &part->matrices[PCU_LEFT];
    pcu_matrix *right = &part->matrices[PCU_RIGHT];
    pcu_matrix *result = &part->matrices[PCU_RESULT];
    int axis = p->ndim;
    *part = *p;
    ptrdiff_t left_step = left->column * (ptrdiff_t)cut->each;
    ptrdiff_t right_step = right->row * (ptrdiff_t)cut->each;
    part->k = length;
    left->address += (CUdeviceptr)(left_step * (ptrdiff_t)first);
    right->address += (CUdeviceptr)(right_step * (ptrdiff_t)first);
    result->address =
        partial->address + (CUdeviceptr)(partial->strides[0] * (ptrdiff_t)first);
    result->type = partial->type;
    result->row = partial->strides[p->ndim + 1];
    result->column = partial->strides[p->ndim + 2];
    memcpy(part->steps[PCU_RESULT], partial->strides + 1,
           (size_t)p->ndim * sizeof(*partial->strides));
    part->ndim = axis + 1;
    part->shape[axis] = count;
    part->steps[PCU_LEFT][axis] = left_step;
    part->steps[PCU_RIGHT][axis] = right_step;
    part->steps[PCU_RESULT][axis] = partial->strides[0];
}

/* Add the results of the segments into the target. */
static int
segments_add(pcu_state *st, const pcu_product *p, pcu_gpuarray *partial,
             pcu_gpuarray *target, CUstream stream)
{
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    size_t axes = (size_t)p->ndim;
    PyObject *done = NULL;
    PyObject *axis = PyLong_FromLong(0);
    memcpy(shape, partial->shape + 1, (axes + 2) * sizeof(*shape));
    memcpy(strides, p->steps[PCU_RESULT], axes * sizeof(*strides));
    strides[axes] = p->matrices[PCU_RESULT].row;
    strides[axes + 1] = p->matrices[PCU_RESULT].column;
    pcu_gpuarray *view =
        pcu_gpuarray_view_new(target, p->ndim + 2, shape, strides, 0, NULL);
    if (axis != NULL && view != NULL) {
        pcu_reduction_call call = {.op = PCU_REDUCE_SUM,
                                   .inputs = {partial, NULL},
                                   .dtype = partial->type,
                                   .axis = axis,
                                   .out = (PyObject *)view,
                                   .allocator = Py_None,
                                   .stream = stream};
        if (p->compute == PCU_T_BOOL) {
            call.op = PCU_REDUCE_ANY;
            call.dtype = PCU_T_NONE;
        }
        done = pcu_reduce(st, &call);
    }
    Py_XDECREF(view);
    Py_XDECREF(axis);
    if (done == NULL) {
        return -1;
    }
    Py_DECREF(done);
    return 0;
}

int
pcu_segments_multiply(pcu_state *st, pcu_context *ctx, const pcu_product *p,
                      pcu_gpuarray *target, PyObject *allocator, CUstream stream)
{
    segments_cut cut;
    pcu_product part;
    if (allocator == Py_None) {
        allocator = target->allocator;
    }
    if (!segments_fill(p, ctx, &cut)) {
        return pcu_tiles_multiply(st, ctx, p, stream);
    }
    pcu_gpuarray *partial = segments_partial_new(st, p, &cut, allocator);
    if (partial == NULL) {
        return -1;
    }
    segments_product(p, partial, &cut, 0, cut.full, cut.each, &part);
    int rc = pcu_tiles_multiply(st, ctx, &part, stream);
    if (rc == 0 && cut.rest != 0) {
        segments_product(p, partial, &cut, cut.full, 1, cut.rest, &part);
        rc = pcu_tiles_multiply(st, ctx, &part, stream);
    }
    if (rc == 0) {
        rc = segments_add(st, p, partial, target, stream);
    }
    Py_DECREF(partial);
    return rc;
}
