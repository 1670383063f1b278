/* A Fourier transform along one axis by generated kernels: see axis.h. */

#include "python/array/fourier/axis.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/fourier/form.h"
#include "python/array/fourier/pass_launch.h"
#include "python/array/fourier/passes.h"
#include "python/array/memory.h"
#include "python/array/ops/kernel_table.h"

enum { AXIS_ALIGN = 256 }; /* of each part of the temporary memory */

/* A transform in progress. */
typedef struct {
    pcu_state *st;
    pcu_context *ctx;
    const pcu_fourier_step *step;
    pcu_gpuarray *in;
    pcu_gpuarray *out;
    int compute;
    PyObject *allocator;
    CUstream stream;
    size_t shape[PCU_MAX_NDIM];         /* of the other axes, joined */
    ptrdiff_t strides[2][PCU_MAX_NDIM]; /* of `in` and `out` along them */
    pcu_fourier_transform transform;
    pcu_fourier_plan plan;
} axis_run;

size_t
pcu_fourier_result_length(const pcu_fourier_step *step)
{
    if (step->kind == PCU_FOURIER_REAL) {
        return step->n / 2 + 1;
    }
    return step->n;
}

/* -- the transform of two arrays --------------------------------------------------- */

/* The axes other than the transformed one, joined where possible. */
static void
axis_fill_lines(axis_run *run)
{
    int ndim = 0;
    for (int k = 0; k < run->out->ndim; k++) {
        if (k != run->step->axis) {
            run->shape[ndim] = run->out->shape[k];
            run->strides[0][ndim] = run->in->strides[k];
            run->strides[1][ndim++] = run->out->strides[k];
        }
    }
    run->transform.ndim = pcu_collapse(ndim, run->shape, 2, run->strides[0]);
    run->transform.shape = run->shape;
}

/* Whether an address or a distance is not a multiple of `size`. */
static bool
axis_is_loose(const axis_run *run, const pcu_gpuarray *array, int side, size_t size)
{
    uint64_t bits = array->address;
    bits |= (uint64_t)array->strides[run->step->axis];
    for (int k = 0; k < run->transform.ndim; k++) {
        bits |= (uint64_t)run->strides[side][k];
    }
    return bits % size != 0;
}

/* The end in an array whose elements are numbers as they are. */
static void
axis_fill_end(axis_run *run, const pcu_gpuarray *array, int side, pcu_fourier_end *end)
{
    end->type = array->type;
    end->step = array->strides[run->step->axis];
    end->part = 0;
    end->strides = run->strides[side];
    if (pcu_type_is_complex(end->type) &&
        axis_is_loose(run, array, side, pcu_gpuarray_itemsize(array))) {
        end->words |= side == 0 ? PCU_FOURIER_LOAD_LOOSE : PCU_FOURIER_STORE_LOOSE;
    }
}

/* The end in an array of real elements, of which two are one number. Pairs that are
 * packed and aligned are complex elements. */
static void
axis_fill_pairs(axis_run *run, const pcu_gpuarray *array, int side,
                pcu_fourier_end *end)
{
    ptrdiff_t stride = array->strides[run->step->axis];
    ptrdiff_t size = (ptrdiff_t)pcu_gpuarray_itemsize(array);
    uint64_t bits = array->address;
    for (int k = 0; k < run->transform.ndim; k++) {
        bits |= (uint64_t)run->strides[side][k];
    }
    end->type = array->type;
    end->step = 2 * stride;
    end->part = stride;
    end->strides = run->strides[side];
    if (stride == size && bits % (2 * (uint64_t)size) == 0 && end->count % 2 == 0 &&
        array->type == run->compute) {
        end->type = pcu_type_complex(run->compute);
        end->count /= 2;
    }
    else {
        end->words |= side == 0 ? PCU_FOURIER_LOAD_PAIRS : PCU_FOURIER_STORE_PAIRS;
    }
}

static void
axis_fill_complex(axis_run *run)
{
    pcu_fourier_transform *transform = &run->transform;
    axis_fill_end(run, run->in, 0, &transform->in);
    axis_fill_end(run, run->out, 1, &transform->out);
    if (run->step->inverse) {
        transform->in.words |= PCU_FOURIER_LOAD_INVERSE;
        transform->out.words |= PCU_FOURIER_STORE_INVERSE;
    }
}

static void
axis_fill_real(axis_run *run, bool by_pairs)
{
    pcu_fourier_transform *transform = &run->transform;
    axis_fill_end(run, run->out, 1, &transform->out);
    if (by_pairs) {
        transform->n = run->step->n / 2;
        transform->unzips = true;
        axis_fill_pairs(run, run->in, 0, &transform->in);
    }
    else {
        axis_fill_end(run, run->in, 0, &transform->in);
    }
    if (run->step->conjugate) {
        transform->out.words |= PCU_FOURIER_STORE_CONJUGATE;
    }
}

static void
axis_fill_half(axis_run *run, bool by_pairs)
{
    pcu_fourier_transform *transform = &run->transform;
    size_t half = run->step->n / 2 + 1;
    axis_fill_end(run, run->in, 0, &transform->in);
    transform->in.count = Py_MIN(transform->in.count, half);
    if (by_pairs) {
        transform->n = run->step->n / 2;
        transform->in.words |= PCU_FOURIER_LOAD_HALF_PAIRS;
        axis_fill_pairs(run, run->out, 1, &transform->out);
    }
    else {
        transform->in.words |= PCU_FOURIER_LOAD_HALF;
        axis_fill_end(run, run->out, 1, &transform->out);
    }
    if (run->step->conjugate) {
        transform->in.words |= PCU_FOURIER_LOAD_CONJUGATE;
    }
    transform->in.words |= PCU_FOURIER_LOAD_INVERSE;
    transform->out.words |= PCU_FOURIER_STORE_INVERSE;
}

static void
axis_fill(axis_run *run)
{
    const pcu_fourier_step *step = run->step;
    pcu_fourier_transform *transform = &run->transform;
    bool by_pairs = step->n % 2 == 0 && pcu_fourier_is_smooth(step->n / 2);
    memset(transform, 0, sizeof(*transform));
    transform->compute = run->compute;
    transform->n = step->n;
    transform->whole = step->n;
    transform->scale = step->scale;
    transform->multiprocessors = (size_t)run->ctx->rec.limits.multiprocessors;
    transform->in.buffer = PCU_FOURIER_IN;
    transform->in.count = Py_MIN(run->in->shape[step->axis], step->n);
    transform->out.buffer = PCU_FOURIER_OUT;
    transform->out.count = run->out->shape[step->axis];
    axis_fill_lines(run);
    switch (step->kind) {
        case PCU_FOURIER_COMPLEX:
            axis_fill_complex(run);
            break;
        case PCU_FOURIER_REAL:
            axis_fill_real(run, by_pairs);
            break;
        case PCU_FOURIER_HALF:
            axis_fill_half(run, by_pairs);
            break;
    }
}

/* -- launches ---------------------------------------------------------------------- */

/* Get the kernels of all passes. Returns what pcu_kernel_table_get returns. */
static int
axis_get_kernels(axis_run *run)
{
    for (int p = 0; p < run->plan.count; p++) {
        pcu_fourier_pass *pass = &run->plan.passes[p];
        int rc = pcu_kernel_table_get(run->st, run->ctx, &pass->key, &pass->kernel);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/* Allocate the temporary memory of all passes as one array. *memory stays NULL if none
 * is needed. */
static int
axis_allocate(const axis_run *run, CUdeviceptr *addresses, PyObject **memory)
{
    size_t offsets[PCU_FOURIER_BUFFERS];
    size_t total = 0;
    for (int b = 0; b < PCU_FOURIER_BUFFERS; b++) {
        size_t padded = 0;
        offsets[b] = total;
        if (pcu_add_size(run->plan.bytes[b], AXIS_ALIGN - 1, &padded) < 0 ||
            pcu_add_size(total, padded / AXIS_ALIGN * AXIS_ALIGN, &total) < 0) {
            PyErr_NoMemory();
            return -1;
        }
    }
    addresses[PCU_FOURIER_IN] = run->in->address;
    addresses[PCU_FOURIER_OUT] = run->out->address;
    if (total == 0) {
        return 0;
    }
    PyArray_Descr *dtype = pcu_dtype_of_type(PCU_T_UINT8);
    *memory = pcu_gpuarray_new(run->st, NULL, 1, &total, NULL, dtype, run->allocator);
    Py_DECREF(dtype);
    if (*memory == NULL) {
        return -1;
    }
    for (int b = PCU_FOURIER_EVEN; b < PCU_FOURIER_BUFFERS; b++) {
        addresses[b] = ((pcu_gpuarray *)*memory)->address + offsets[b];
    }
    return 0;
}

/* -- the call ---------------------------------------------------------------------- */

/* Check the arrays, plan and enqueue. PCU_KERNEL_MADE: nothing was enqueued. */
static int
axis_attempt(axis_run *run)
{
    CUdeviceptr addresses[PCU_FOURIER_BUFFERS] = {0};
    PyObject *memory = NULL;
    if (pcu_gpuarray_check(run->in, run->ctx) < 0 ||
        pcu_gpuarray_check(run->out, run->ctx) < 0) {
        return -1;
    }
    axis_fill(run);
    if (pcu_fourier_plan_fill(&run->transform, &run->plan) < 0) {
        return -1;
    }
    int rc = axis_get_kernels(run);
    if (rc != 0) {
        return rc;
    }
    rc = axis_allocate(run, addresses, &memory);
    for (int p = 0; rc == 0 && p < run->plan.count; p++) {
        rc = pcu_fourier_pass_launch(run->st, &run->plan.passes[p], addresses,
                                     run->stream);
    }
    Py_XDECREF(memory);
    return rc;
}

/* Repeat the attempt while kernels are made. Making one runs other code, which may
 * change the arrays. */
static int
axis_run_all(axis_run *run)
{
    pcu_fourier_forms forms;
    pcu_fourier_forms_read(&forms, run->in, run->out);
    int rc = axis_attempt(run);
    while (rc == PCU_KERNEL_MADE) {
        if (pcu_fourier_forms_check(&forms, run->in, run->out) < 0) {
            return -1;
        }
        rc = axis_attempt(run);
    }
    return rc;
}

int
pcu_fourier_axis(pcu_state *st, const pcu_fourier_step *step, pcu_gpuarray *in,
                 pcu_gpuarray *out, int compute, PyObject *allocator, CUstream stream)
{
    if (out->count == 0) {
        return 0;
    }
    pcu_context *ctx = pcu_context_launch_borrow(st);
    if (ctx == NULL) {
        return -1;
    }
    axis_run *run = PyMem_Malloc(sizeof(*run)); /* too large for the stack */
    if (run == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    run->st = st;
    run->ctx = (pcu_context *)Py_NewRef(ctx); /* its kernels stay loaded */
    run->step = step;
    run->in = in;
    run->out = out;
    run->compute = compute;
    run->allocator = allocator;
    run->stream = stream;
    int rc = axis_run_all(run);
    Py_DECREF(ctx);
    PyMem_Free(run);
    return rc;
}
