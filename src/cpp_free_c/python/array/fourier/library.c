/* Transforms along one to three axes through cuFFT: see library.h. */

#include "python/array/fourier/library.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/fourier/cufft.h"
#include "python/array/fourier/fit.h"
#include "python/array/fourier/form.h"
#include "python/array/fourier/mirror.h"
#include "python/array/fourier/preference.h"
#include "python/array/memory.h"
#include "python/array/ops/assign.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/elementwise_kernel.h"
#include "python/array/ops/operations.h"

enum { LIBRARY_REPEATS = 64 }; /* executions of a plan in one call, at most */

/* A call in progress. */
typedef struct {
    pcu_state *st;
    pcu_context *ctx;
    const pcu_fourier_step *steps;
    int count;
    pcu_fourier_kind kind; /* of all steps together */
    pcu_gpuarray *in;
    pcu_gpuarray *out;
    int compute;
    PyObject *allocator;
    CUstream stream;
    pcu_cufft_call call;
} library_run;

/* Elements of the input along the axis of a step. */
static size_t
library_input_length(const pcu_fourier_step *step)
{
    if (step->kind == PCU_FOURIER_HALF) {
        return step->n / 2 + 1;
    }
    return step->n;
}

/* -- what cuFFT takes -------------------------------------------------------------- */

/* Whether the steps are transforms along different axes. */
static bool
library_takes_steps(library_run *run)
{
    unsigned char seen[PCU_MAX_NDIM] = {0};
    run->kind = PCU_FOURIER_COMPLEX;
    if (run->count < 1 || run->count > PCU_CUFFT_RANK_MAX) {
        return false;
    }
    for (int i = 0; i < run->count; i++) {
        const pcu_fourier_step *step = &run->steps[i];
        if (step->conjugate || step->n < 2 || seen[step->axis]++) {
            return false;
        }
        if (step->kind != PCU_FOURIER_COMPLEX) {
            run->kind = step->kind;
        }
    }
    return true;
}

/* Whether cuFFT takes the dtypes as they are. */
static bool
library_takes_types(const library_run *run)
{
    int number = pcu_type_complex(run->compute);
    switch (run->kind) {
        case PCU_FOURIER_COMPLEX:
            return run->in->type == number && run->out->type == number;
        case PCU_FOURIER_REAL:
            return run->in->type == run->compute && run->out->type == number;
        default:
            return run->in->type == number && run->out->type == run->compute;
    }
}

/* The axes of a plan, from the outermost in memory. The axis of half a spectrum must be
 * the innermost. */
static void
library_order_axes(const library_run *run, const pcu_fourier_step **order)
{
    for (int i = 0; i < run->count; i++) {
        const pcu_fourier_step *step = &run->steps[i];
        ptrdiff_t stride = run->in->strides[step->axis];
        int place = i;
        while (place > 0 && step->kind == PCU_FOURIER_COMPLEX &&
               (order[place - 1]->kind != PCU_FOURIER_COMPLEX ||
                run->in->strides[order[place - 1]->axis] < stride)) {
            order[place] = order[place - 1];
            place--;
        }
        order[place] = step;
    }
}

/* Describe the axes of a plan in one array. False: their distances are none that a plan
 * can have. */
static bool
library_fill_embed(const pcu_gpuarray *array, const pcu_fourier_step **order, int count,
                   long long *embed, long long *step)
{
    ptrdiff_t size = (ptrdiff_t)pcu_gpuarray_itemsize(array);
    ptrdiff_t inner = array->strides[order[count - 1]->axis];
    if (inner <= 0 || inner % size != 0) {
        return false;
    }
    *step = inner / size;
    embed[0] = (long long)array->shape[order[0]->axis];
    for (int k = count - 1; k > 0; k--) {
        ptrdiff_t outer = array->strides[order[k - 1]->axis];
        ptrdiff_t length = (ptrdiff_t)array->shape[order[k]->axis];
        if (outer <= 0 || outer % inner != 0 || outer / inner < length) {
            return false;
        }
        embed[k] = outer / inner;
        inner = outer;
    }
    return true;
}

/* The longest of the joined axes of lines becomes the batch of the plan, another one is
 * repeated. False: there are more, or their distances are none that a plan can have. */
static bool
library_fill_batch(library_run *run)
{
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[2][PCU_MAX_NDIM];
    ptrdiff_t sizes[2] = {(ptrdiff_t)pcu_gpuarray_itemsize(run->in),
                          (ptrdiff_t)pcu_gpuarray_itemsize(run->out)};
    pcu_cufft_call *call = &run->call;
    unsigned char transformed[PCU_MAX_NDIM] = {0};
    int ndim = 0;
    for (int i = 0; i < run->count; i++) {
        transformed[run->steps[i].axis] = 1;
    }
    for (int k = 0; k < run->in->ndim; k++) {
        if (!transformed[k]) {
            shape[ndim] = run->in->shape[k];
            strides[0][ndim] = run->in->strides[k];
            strides[1][ndim++] = run->out->strides[k];
        }
    }
    ndim = pcu_collapse(ndim, shape, 2, strides[0]);
    call->repeats = 1;
    call->in_repeat = 0;
    call->out_repeat = 0;
    call->layout.batch = 1;
    call->layout.in_distance = 1;
    call->layout.out_distance = 1;
    if (ndim == 0) {
        return true;
    }
    int batch = ndim == 2 && shape[1] > shape[0];
    if (strides[0][batch] <= 0 || strides[0][batch] % sizes[0] != 0 ||
        strides[1][batch] <= 0 || strides[1][batch] % sizes[1] != 0 || ndim > 2) {
        return false;
    }
    call->layout.batch = (long long)shape[batch];
    call->layout.in_distance = strides[0][batch] / sizes[0];
    call->layout.out_distance = strides[1][batch] / sizes[1];
    if (ndim == 2) {
        call->repeats = shape[1 - batch];
        call->in_repeat = strides[0][1 - batch];
        call->out_repeat = strides[1][1 - batch];
    }
    return call->repeats <= LIBRARY_REPEATS;
}

/* Whether all lines begin at multiples of the size of a complex number. */
static bool
library_is_aligned(const library_run *run)
{
    const pcu_cufft_call *call = &run->call;
    uint64_t size = pcu_types[pcu_type_complex(run->compute)].size;
    uint64_t bits =
        call->in | call->out | (uint64_t)call->in_repeat | (uint64_t)call->out_repeat;
    return bits % size == 0;
}

static long long
library_type(const library_run *run)
{
    static const int single[] = {PCU_CUFFT_C2C, PCU_CUFFT_R2C, PCU_CUFFT_C2R};
    static const int twice[] = {PCU_CUFFT_Z2Z, PCU_CUFFT_D2Z, PCU_CUFFT_Z2D};
    if (run->compute == PCU_T_FLOAT32) {
        return single[run->kind];
    }
    return twice[run->kind];
}

/* Describe the transforms to cuFFT. False: it does not take them. */
static bool
library_fill(library_run *run)
{
    const pcu_fourier_step *order[PCU_CUFFT_RANK_MAX];
    pcu_cufft_call *call = &run->call;
    memset(call, 0, sizeof(*call));
    library_order_axes(run, order);
    call->layout.type = library_type(run);
    call->layout.rank = run->count;
    for (int k = 0; k < run->count; k++) {
        call->layout.n[k] = (long long)order[k]->n;
    }
    call->direction = PCU_CUFFT_FORWARD;
    if (run->steps[0].inverse) {
        call->direction = PCU_CUFFT_INVERSE;
    }
    call->in = run->in->address;
    call->out = run->out->address;
    return library_fill_embed(run->in, order, run->count, call->layout.in_embed,
                              &call->layout.in_step) &&
           library_fill_embed(run->out, order, run->count, call->layout.out_embed,
                              &call->layout.out_step) &&
           library_fill_batch(run) && library_is_aligned(run);
}

/* -- execution --------------------------------------------------------------------- */

/* Check the arrays and execute. Returns what pcu_cufft_run returns. */
static int
library_attempt(library_run *run)
{
    if (pcu_gpuarray_check(run->in, run->ctx) < 0 ||
        pcu_gpuarray_check(run->out, run->ctx) < 0) {
        return -1;
    }
    int chosen = pcu_cufft_choose(run->st, run->ctx);
    if (chosen == 0) {
        return PCU_CUFFT_REFUSED;
    }
    if (chosen != 1) {
        return chosen;
    }
    if (!library_fill(run)) {
        return PCU_CUFFT_REFUSED;
    }
    return pcu_cufft_run(run->st, run->ctx, &run->call, run->allocator, run->stream);
}

/* Repeat the attempt while plans are made. Other threads run meanwhile, and may change
 * the arrays. */
static int
library_execute(library_run *run)
{
    pcu_fourier_forms forms;
    pcu_fourier_forms_read(&forms, run->in, run->out);
    int rc = library_attempt(run);
    while (rc == PCU_CUFFT_CHANGED) {
        if (pcu_fourier_forms_check(&forms, run->in, run->out) < 0) {
            return -1;
        }
        rc = library_attempt(run);
    }
    return rc;
}

/* -- the norm ---------------------------------------------------------------------- */

/* The elements as real numbers in one run; the array itself if they have gaps. */
static PyObject *
library_parts_new(const library_run *run, pcu_gpuarray *array)
{
    if (array->contiguous == 0) {
        return Py_NewRef((PyObject *)array);
    }
    size_t size = pcu_types[run->compute].size;
    size_t count = pcu_gpuarray_nbytes(array) / size;
    ptrdiff_t stride = (ptrdiff_t)size;
    PyArray_Descr *dtype = pcu_dtype_of_type(run->compute);
    if (dtype == NULL) {
        return NULL;
    }
    pcu_gpuarray *parts = pcu_gpuarray_view_new(array, 1, &count, &stride, 0, dtype);
    Py_DECREF(dtype);
    return (PyObject *)parts;
}

/* target = source * scale, or the source itself if the scale is 1. */
static int
library_store_scaled(const library_run *run, pcu_gpuarray *target, pcu_gpuarray *source,
                     double scale)
{
    float single = (float)scale;
    if (scale == 1) {
        return pcu_device_copy(target, source, run->stream);
    }
    pcu_operand inputs[2] = {{.array = source, .type = source->type},
                             {.array = NULL, .type = run->compute}};
    memcpy(inputs[1].value, &scale, sizeof(scale));
    if (run->compute == PCU_T_FLOAT32) {
        memcpy(inputs[1].value, &single, sizeof(single));
    }
    return pcu_elementwise_enqueue(run->st, PCU_OP_MULTIPLY, 2, inputs, 1, &target,
                                   target->type, run->stream);
}

/* The product of the factors of the steps. */
static double
library_scale(const library_run *run)
{
    double scale = 1;
    for (int i = 0; i < run->count; i++) {
        scale *= run->steps[i].scale;
    }
    return scale;
}

/* Multiply the result by the factors of the steps: cuFFT does not. */
static int
library_scale_result(const library_run *run)
{
    double scale = library_scale(run);
    if (scale == 1) {
        return 0;
    }
    PyObject *parts = library_parts_new(run, run->out);
    if (parts == NULL) {
        return -1;
    }
    int rc =
        library_store_scaled(run, (pcu_gpuarray *)parts, (pcu_gpuarray *)parts, scale);
    Py_DECREF(parts);
    return rc;
}

/* The input times the factors of the steps, packed in the order of its axes. */
static PyObject *
library_scaled_input_new(const library_run *run)
{
    PyObject *source = NULL;
    PyObject *target = NULL;
    pcu_gpuarray *in = run->in;
    int rc = -1;
    PyObject *copy =
        pcu_gpuarray_like_new(in, in->ndim, NULL, in->dtype, run->allocator);
    if (copy == NULL) {
        return NULL;
    }
    if (in->contiguous == 0) {
        rc = library_store_scaled(run, (pcu_gpuarray *)copy, in, library_scale(run));
        goto done;
    }
    source = library_parts_new(run, in);
    target = library_parts_new(run, (pcu_gpuarray *)copy);
    if (source != NULL && target != NULL) {
        rc = library_store_scaled(run, (pcu_gpuarray *)target, (pcu_gpuarray *)source,
                                  library_scale(run));
    }
done:
    Py_XDECREF(source);
    Py_XDECREF(target);
    if (rc < 0) {
        Py_CLEAR(copy);
    }
    return copy;
}

/* -- the call ---------------------------------------------------------------------- */

/* Whether the input is to be converted first: real elements, or those of another
 * precision, for a complex transform. */
static bool
library_converts(const library_run *run)
{
    return run->kind == PCU_FOURIER_COMPLEX && run->in != run->out &&
           run->out->type == pcu_type_complex(run->compute) &&
           run->in->type != run->out->type;
}

/* Whether a transform of real elements makes the first half of the result. cuFFT has no
 * faster transform of real elements for odd lengths. */
static bool
library_mirrors(const library_run *run)
{
    return library_converts(run) && run->in->type == run->compute &&
           run->steps[0].n % 2 == 0 && !run->steps[0].inverse;
}

/* Store 0 to the imaginary parts of the elements of half a spectrum that are real in
 * the spectrum of real elements: the first, and the last of an even length. NumPy
 * ignores these parts. cuFFT does not at all lengths. */
static int
library_clear_imaginary(const library_run *run, pcu_gpuarray *spectrum)
{
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    const pcu_fourier_step *step = &run->steps[0];
    ptrdiff_t part = (ptrdiff_t)pcu_types[run->compute].size;
    int rc = -1;
    memcpy(shape, spectrum->shape, (size_t)spectrum->ndim * sizeof(*shape));
    memcpy(strides, spectrum->strides, (size_t)spectrum->ndim * sizeof(*strides));
    shape[step->axis] = 1;
    if (step->n % 2 == 0) {
        shape[step->axis] = 2;
        strides[step->axis] *= (ptrdiff_t)(step->n / 2);
    }
    PyArray_Descr *dtype = pcu_dtype_of_type(run->compute);
    if (dtype == NULL) {
        return -1;
    }
    pcu_gpuarray *parts =
        pcu_gpuarray_view_new(spectrum, spectrum->ndim, shape, strides, part, dtype);
    PyObject *zero = PyLong_FromLong(0);
    if (parts != NULL && zero != NULL) {
        rc = pcu_gpuarray_fill(parts, zero, run->stream);
    }
    Py_XDECREF((PyObject *)parts);
    Py_XDECREF(zero);
    Py_DECREF(dtype);
    return rc;
}

/* Transform the spectrum in place along all axes but that of its half. Returns what
 * pcu_cufft_run returns. */
static int
library_run_whole_axes(const library_run *run, pcu_gpuarray *spectrum)
{
    library_run whole = *run;
    if (run->count == 1) {
        return PCU_CUFFT_DONE;
    }
    whole.count = run->count - 1; /* the axis of the half is the last */
    whole.kind = PCU_FOURIER_COMPLEX;
    whole.in = spectrum;
    whole.out = spectrum;
    return library_execute(&whole);
}

/* Half a spectrum to real elements. cuFFT may overwrite the input, so it gets a copy.
 * A plan for several axes takes only the spectra of real elements, NumPy takes any: the
 * axis of the half has a plan of its own. */
static int
library_run_half(library_run *run)
{
    pcu_fourier_forms forms;
    pcu_fourier_forms_read(&forms, run->out, run->out);
    PyObject *copy = library_scaled_input_new(run);
    if (copy == NULL) {
        return -1;
    }
    pcu_gpuarray *spectrum = (pcu_gpuarray *)copy;
    int rc = library_run_whole_axes(run, spectrum);
    if (rc == PCU_CUFFT_DONE) {
        run->steps += run->count - 1;
        run->count = 1;
        run->in = spectrum;
        rc = library_clear_imaginary(run, spectrum);
    }
    if (rc == PCU_CUFFT_DONE) {
        rc = pcu_fourier_forms_check(&forms, run->out, run->out);
    }
    if (rc == PCU_CUFFT_DONE) {
        rc = library_execute(run);
    }
    Py_DECREF(copy);
    return rc;
}

/* Real elements to a whole spectrum. */
static int
library_run_mirrored(library_run *run)
{
    pcu_fourier_step steps[PCU_CUFFT_RANK_MAX];
    memcpy(steps, run->steps, (size_t)run->count * sizeof(*steps));
    steps[0].kind = PCU_FOURIER_REAL;
    run->steps = steps;
    run->kind = PCU_FOURIER_REAL;
    int rc = library_execute(run);
    if (rc == PCU_CUFFT_DONE) {
        rc = pcu_fourier_mirror_half(run->st, steps, run->count, run->out, run->stream);
    }
    if (rc == PCU_CUFFT_DONE) {
        rc = library_scale_result(run);
    }
    return rc;
}

/* Elements of another dtype: convert them into the result and transform it in place. */
static int
library_run_converted(library_run *run)
{
    if (library_store_scaled(run, run->out, run->in, library_scale(run)) < 0) {
        return -1;
    }
    run->in = run->out;
    return library_execute(run);
}

/* Whether generated kernels are faster along the axis of a step. */
static bool
library_step_prefers_kernels(const library_run *run, const pcu_fourier_step *step,
                             bool adds_kernels)
{
    const pcu_gpuarray *out = run->out;
    pcu_fourier_case given = {
        .kind = step->kind,
        .n = step->n,
        .number = pcu_types[pcu_type_complex(run->compute)].size,
        .count = out->count,
        .adds_kernels = adds_kernels,
        .is_columns = out->ndim > 1 && step->axis < out->ndim - 1 &&
                      out->strides[step->axis] > out->strides[out->ndim - 1],
        .cache = (size_t)run->ctx->rec.limits.cache,
    };
    return pcu_fourier_prefers_kernels(&given);
}

/* Whether generated kernels are faster. cuFFT transforms several axes in fewer kernels,
 * so it must need others before or after. */
static bool
library_prefers_kernels(const library_run *run)
{
    bool adds_kernels = run->kind == PCU_FOURIER_HALF || library_converts(run) ||
                        library_scale(run) != 1;
    if (pcu_cufft_is_required(run->ctx) || (run->count > 1 && !adds_kernels)) {
        return false;
    }
    for (int i = 0; i < run->count; i++) {
        if (!library_step_prefers_kernels(run, &run->steps[i], adds_kernels)) {
            return false;
        }
    }
    return true;
}

/* Transform. Returns what pcu_cufft_run returns. */
static int
library_transform(library_run *run)
{
    if (run->kind == PCU_FOURIER_HALF) {
        return library_run_half(run);
    }
    if (library_mirrors(run)) {
        return library_run_mirrored(run);
    }
    if (library_converts(run)) {
        return library_run_converted(run);
    }
    int rc = library_execute(run);
    if (rc == PCU_CUFFT_DONE) {
        rc = library_scale_result(run);
    }
    return rc;
}

/* The input with the lengths that the steps need. NULL: an error occurred. */
static PyObject *
library_fitted_input_new(const library_run *run)
{
    size_t shape[PCU_MAX_NDIM];
    memcpy(shape, run->in->shape, (size_t)run->in->ndim * sizeof(*shape));
    for (int i = 0; i < run->count; i++) {
        shape[run->steps[i].axis] = library_input_length(&run->steps[i]);
    }
    return pcu_fourier_fit_new(run->st, run->in, shape, run->allocator, run->stream);
}

/* Transform an input of the lengths that the steps need. */
static int
library_fit_and_transform(library_run *run)
{
    pcu_gpuarray *given = run->in;
    PyObject *fitted = library_fitted_input_new(run);
    if (fitted == NULL) {
        return -1;
    }
    run->in = (pcu_gpuarray *)fitted;
    int rc = library_transform(run);
    run->in = given;
    Py_DECREF(fitted);
    return rc;
}

/* DONE if cuFFT transforms in the context. */
static int
library_choose(const library_run *run)
{
    int chosen = pcu_cufft_choose(run->st, run->ctx);
    if (chosen == PCU_CUFFT_CHANGED) {
        chosen = pcu_cufft_choose(run->st, run->ctx);
    }
    if (chosen < 0) {
        return -1;
    }
    if (chosen == 0) {
        return PCU_CUFFT_REFUSED;
    }
    return PCU_CUFFT_DONE;
}

/* Whether cuFFT may take the arrays, as far as their forms tell. */
static bool
library_may_take(library_run *run)
{
    if (!library_takes_steps(run)) {
        return false;
    }
    return library_takes_types(run) || library_converts(run);
}

int
pcu_fourier_library(pcu_state *st, const pcu_fourier_step *steps, int count,
                    pcu_gpuarray *in, pcu_gpuarray *out, int compute,
                    PyObject *allocator, CUstream stream)
{
    library_run run;
    if (out->count == 0) {
        return 1;
    }
    pcu_context *ctx = pcu_context_launch_borrow(st);
    if (ctx == NULL) {
        return -1;
    }
    run.st = st;
    run.ctx = ctx;
    run.steps = steps;
    run.count = count;
    run.in = in;
    run.out = out;
    run.compute = compute;
    run.allocator = allocator;
    run.stream = stream;
    if (!library_may_take(&run)) {
        return 1;
    }
    Py_INCREF(ctx); /* its plans stay until they are executed */
    int rc = library_choose(&run);
    if (rc == PCU_CUFFT_DONE && library_prefers_kernels(&run)) {
        rc = PCU_CUFFT_REFUSED;
    }
    if (rc == PCU_CUFFT_DONE) {
        rc = library_fit_and_transform(&run);
    }
    Py_DECREF(ctx);
    return rc;
}
