/* The functions of numpy.fft on GPUArrays: see fourier.h. */

#include "python/array/fourier/fourier.h"

#include <math.h>

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/fourier/cufft.h"
#include "python/array/fourier/library.h"
#include "python/array/host_work.h"
#include "python/array/layout.h"
#include "python/array/ops/assign.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/overlap.h"
#include "python/support/convert.h"

typedef struct {
    const char *name;
    pcu_fourier_kind kind; /* of the last axis */
    bool inverse;
} fourier_row;

#define FOURIER_ROW(NAME, name, KIND, inverse) {name, PCU_FOURIER_##KIND, inverse},
static const fourier_row fourier_rows[] = {PCU_FOURIER_FUNCTIONS(FOURIER_ROW)};
#undef FOURIER_ROW

/* A call in progress: the transforms along the axes, in the order of their execution.
 */
typedef struct {
    pcu_state *st;
    const pcu_fourier_call *call;
    const fourier_row *row;
    int compute; /* PCU_T_FLOAT32 or PCU_T_FLOAT64 */
    int result;  /* pcu_type */
    int count;
    pcu_fourier_step steps[PCU_MAX_NDIM];
    int ndim;
    size_t shape[PCU_MAX_NDIM]; /* of the result */
} fourier_job;

/* -- dtypes ------------------------------------------------------------------------ */

/* Single precision stays single, half precision becomes single, all other numbers
 * double, as in NumPy 2. */
static int
fourier_types(fourier_job *job)
{
    const pcu_gpuarray *a = job->call->a;
    int type = a->type;
    if (!pcu_type_is_number(type)) {
        PyErr_Format(PyExc_TypeError, "%s does not take arrays of dtype %S",
                     job->row->name, (PyObject *)a->dtype);
        return -1;
    }
    if (job->row->kind == PCU_FOURIER_REAL && pcu_type_is_complex(type)) {
        PyErr_Format(PyExc_TypeError,
                     "%s takes real elements, not dtype %S; take the real part, or use "
                     "the function for complex numbers",
                     job->row->name, (PyObject *)a->dtype);
        return -1;
    }
    job->compute = PCU_T_FLOAT64;
    if (type == PCU_T_FLOAT16 || type == PCU_T_FLOAT32 || type == PCU_T_COMPLEX64) {
        job->compute = PCU_T_FLOAT32;
    }
    job->result = pcu_type_complex(job->compute);
    if (job->row->kind == PCU_FOURIER_HALF) {
        job->result = job->compute;
    }
    return 0;
}

/* -- norms ------------------------------------------------------------------------- */

typedef enum { FOURIER_BACKWARD, FOURIER_ORTHO, FOURIER_FORWARD } fourier_norm;

static int
fourier_read_norm(PyObject *value, fourier_norm *norm)
{
    static const char *const names[] = {"backward", "ortho", "forward"};
    *norm = FOURIER_BACKWARD;
    if (value == Py_None) {
        return 0;
    }
    size_t place = pcu_find_word(value, names, Py_ARRAY_LENGTH(names));
    if (place < Py_ARRAY_LENGTH(names)) {
        *norm = (fourier_norm)place;
        return 0;
    }
    PyErr_Format(PyExc_ValueError,
                 "norm is %R; it must be \"backward\", \"ortho\" or \"forward\"",
                 value);
    return -1;
}

static double
fourier_scale(fourier_norm norm, bool inverse, size_t n)
{
    if (norm == FOURIER_ORTHO) {
        return 1 / sqrt((double)n);
    }
    if ((norm == FOURIER_BACKWARD) == inverse) {
        return 1 / (double)n;
    }
    return 1;
}

/* -- axes and lengths -------------------------------------------------------------- */

static int
fourier_read_axis(const fourier_job *job, PyObject *value, int *axis)
{
    if (pcu_as_int(NULL, value, axis, "axis") < 0) {
        return -1;
    }
    return pcu_axis_place(job->row->name, axis, job->call->a->ndim);
}

/* Read a length. value NULL or None: `own`, that of the array. */
static int
fourier_read_length(const fourier_job *job, PyObject *value, int axis, Py_ssize_t own,
                    size_t *length)
{
    unsigned long long bits = 0;
    long long given = own;
    if (value != NULL && value != Py_None) {
        if (pcu_as_integer(value, LLONG_MIN, LLONG_MAX, &bits, "n") < 0) {
            return -1;
        }
        given = (long long)bits;
        if (given == -1 && job->call->is_nd) { /* all of the axis, as in NumPy */
            given = (long long)job->call->a->shape[axis];
        }
    }
    if (given < 1) {
        PyErr_Format(PyExc_ValueError,
                     "%s: the transform along axis %d would have %lld elements; it "
                     "needs at least 1",
                     job->row->name, axis, given);
        return -1;
    }
    *length = (size_t)given;
    return 0;
}

/* The length along an axis if the program gives none. */
static Py_ssize_t
fourier_own_length(const fourier_job *job, int axis, bool is_last)
{
    Py_ssize_t length = (Py_ssize_t)job->call->a->shape[axis];
    if (is_last && job->row->kind == PCU_FOURIER_HALF) {
        return 2 * (length - 1);
    }
    return length;
}

/* Fill in the step of an axis. is_last: the last of the axes that the program gives. */
static int
fourier_fill_step(fourier_job *job, pcu_fourier_step *step, PyObject *axis,
                  PyObject *length, bool is_last, fourier_norm norm)
{
    bool inverse = job->row->inverse;
    if (fourier_read_axis(job, axis, &step->axis) < 0 ||
        fourier_read_length(job, length, step->axis,
                            fourier_own_length(job, step->axis, is_last),
                            &step->n) < 0) {
        return -1;
    }
    step->kind = PCU_FOURIER_COMPLEX;
    step->conjugate = false;
    if (is_last) {
        step->kind = job->row->kind;
        step->conjugate = (step->kind == PCU_FOURIER_HALF && !inverse) ||
                          (step->kind == PCU_FOURIER_REAL && inverse);
    }
    step->inverse = inverse;
    step->scale = fourier_scale(norm, inverse, step->n);
    return 0;
}

/* The arguments s and axes as sequences, NULL if not given; *count: how many axes. */
static int
fourier_read_sequences(const fourier_job *job, PyObject **lengths, PyObject **axes,
                       Py_ssize_t *count)
{
    const pcu_fourier_call *call = job->call;
    *count = call->a->ndim;
    if (call->lengths != Py_None) {
        *lengths = PySequence_Fast(call->lengths, "s must be a sequence of lengths");
        if (*lengths == NULL) {
            return -1;
        }
        *count = PySequence_Fast_GET_SIZE(*lengths);
    }
    if (call->axes != Py_None) {
        *axes = PySequence_Fast(call->axes, "axes must be a sequence of axes");
        if (*axes == NULL) {
            return -1;
        }
        if (*lengths != NULL && *count != PySequence_Fast_GET_SIZE(*axes)) {
            PyErr_Format(PyExc_ValueError,
                         "%sn: s has %zd lengths, but there are %zd axes",
                         job->row->name, *count, PySequence_Fast_GET_SIZE(*axes));
            return -1;
        }
        *count = PySequence_Fast_GET_SIZE(*axes);
    }
    if (*count > PCU_MAX_NDIM || (*axes == NULL && *count > call->a->ndim)) {
        PyErr_Format(PyExc_ValueError, "%sn: %zd lengths for an array of %d axes",
                     job->row->name, *count, call->a->ndim);
        return -1;
    }
    if (*count == 0 && job->row->kind != PCU_FOURIER_COMPLEX) {
        PyErr_Format(PyExc_ValueError, "%sn needs at least one axis", job->row->name);
        return -1;
    }
    return 0;
}

/* The place among the steps of the axis at place i of the program. NumPy transforms the
 * last axis first, but half a spectrum is its last input. */
static Py_ssize_t
fourier_order(const fourier_job *job, Py_ssize_t i, Py_ssize_t count)
{
    if (job->row->kind != PCU_FOURIER_HALF) {
        return count - 1 - i;
    }
    if (i == count - 1) {
        return i;
    }
    return count - 2 - i;
}

static int
fourier_read_steps(fourier_job *job, fourier_norm norm)
{
    PyObject *lengths = NULL;
    PyObject *axes = NULL;
    Py_ssize_t count = 0;
    int rc = fourier_read_sequences(job, &lengths, &axes, &count);
    job->count = (int)count;
    for (Py_ssize_t i = 0; rc == 0 && i < count; i++) {
        pcu_fourier_step *step = &job->steps[fourier_order(job, i, count)];
        PyObject *length = NULL;
        PyObject *axis;
        if (lengths != NULL) {
            length = PySequence_Fast_GET_ITEM(lengths, i);
        }
        if (axes != NULL) {
            axis = Py_NewRef(PySequence_Fast_GET_ITEM(axes, i));
        }
        else {
            axis = PyLong_FromSsize_t(i - count);
        }
        if (axis == NULL) {
            rc = -1;
            break;
        }
        rc = fourier_fill_step(job, step, axis, length, i == count - 1, norm);
        Py_DECREF(axis);
    }
    Py_XDECREF(lengths);
    Py_XDECREF(axes);
    return rc;
}

/* A step that has the axis of an earlier one begins with the result of that one. If
 * the program gives no length, the length is that of the array, as in NumPy. */
static void
fourier_fill_shape(fourier_job *job)
{
    const pcu_gpuarray *a = job->call->a;
    job->ndim = a->ndim;
    memcpy(job->shape, a->shape, (size_t)a->ndim * sizeof(*job->shape));
    for (int i = 0; i < job->count; i++) {
        job->shape[job->steps[i].axis] = pcu_fourier_result_length(&job->steps[i]);
    }
}

static int
fourier_plan(fourier_job *job)
{
    fourier_norm norm;
    const pcu_fourier_call *call = job->call;
    if (fourier_types(job) < 0 || fourier_read_norm(call->norm, &norm) < 0) {
        return -1;
    }
    if (call->is_nd) {
        if (fourier_read_steps(job, norm) < 0) {
            return -1;
        }
    }
    else {
        job->count = 1;
        if (fourier_fill_step(job, &job->steps[0], call->axes, call->lengths, true,
                              norm) < 0) {
            return -1;
        }
    }
    fourier_fill_shape(job);
    return 0;
}

/* -- execution --------------------------------------------------------------------- */

static PyObject *
fourier_array_new(const fourier_job *job, int type, const size_t *shape)
{
    PyArray_Descr *dtype = pcu_dtype_of_type(type);
    if (dtype == NULL) {
        return NULL;
    }
    PyObject *array = pcu_gpuarray_new(job->st, NULL, job->ndim, shape, NULL, dtype,
                                       job->call->a->allocator);
    Py_DECREF(dtype);
    return array;
}

/* The array into which a step stores: `result`, `current` or a new one. */
static PyObject *
fourier_target_new(const fourier_job *job, int i, pcu_gpuarray *current,
                   pcu_gpuarray *result)
{
    size_t shape[PCU_MAX_NDIM];
    const pcu_fourier_step *step = &job->steps[i];
    int complex_type = pcu_type_complex(job->compute);
    if (i == job->count - 1) {
        return Py_NewRef((PyObject *)result);
    }
    memcpy(shape, current->shape, (size_t)job->ndim * sizeof(*shape));
    shape[step->axis] = pcu_fourier_result_length(step);
    if (result->type == complex_type &&
        pcu_gpuarray_has_shape(result, job->ndim, shape)) {
        return Py_NewRef((PyObject *)result);
    }
    if (current != job->call->a && current->type == complex_type &&
        pcu_gpuarray_has_shape(current, job->ndim, shape)) {
        return Py_NewRef((PyObject *)current);
    }
    return fourier_array_new(job, complex_type, shape);
}

/* Enqueue one step, by cuFFT or generated kernels. */
static int
fourier_run_step(const fourier_job *job, int i, pcu_gpuarray *current,
                 pcu_gpuarray *target)
{
    const pcu_fourier_call *call = job->call;
    const pcu_fourier_step *step = &job->steps[i];
    int rc = 1;
    if (job->count > 1) {
        rc = pcu_fourier_library(job->st, step, 1, current, target, job->compute,
                                 call->a->allocator, call->stream);
    }
    if (rc == 1) {
        rc = pcu_fourier_axis(job->st, step, current, target, job->compute,
                              call->a->allocator, call->stream);
    }
    return rc;
}

/* Enqueue the steps one after another. The result overlaps the input nowhere, or is the
 * input. */
static int
fourier_run_steps(const fourier_job *job, pcu_gpuarray *result)
{
    const pcu_fourier_call *call = job->call;
    PyObject *current = Py_NewRef((PyObject *)call->a);
    int rc = 0;
    for (int i = 0; rc == 0 && i < job->count; i++) {
        PyObject *target = fourier_target_new(job, i, (pcu_gpuarray *)current, result);
        if (target == NULL) {
            rc = -1;
            break;
        }
        rc = fourier_run_step(job, i, (pcu_gpuarray *)current, (pcu_gpuarray *)target);
        Py_SETREF(current, target);
    }
    Py_DECREF(current);
    return rc;
}

/* 1 if NumPy or SciPy transforms, 0 if not, or -1. */
static int
fourier_is_hosts(const fourier_job *job, const pcu_gpuarray *result)
{
    int chosen = 0;
    if (pcu_drv_info.device == NULL || result->count == 0) {
        return 0;
    }
    pcu_context *ctx = pcu_context_launch_borrow(job->st);
    if (ctx == NULL) {
        return -1;
    }
    Py_INCREF(ctx); /* the choice runs other code */
    do {
        chosen = pcu_cufft_choose(job->st, ctx);
    } while (chosen == PCU_CUFFT_CHANGED && ctx->rec.alive);
    bool is_hosts = pcu_cufft_is_hosts(ctx);
    Py_DECREF(ctx);
    if (chosen < 0 || !is_hosts) {
        return Py_MIN(chosen, 0);
    }
    return pcu_host_may_work(job->st, job->call->stream);
}

/* The steps as a tuple of tuples: see transform in pycuda/_array/host.py. */
static PyObject *
fourier_steps_new(const fourier_job *job)
{
    static const char *const kinds[] = {[PCU_FOURIER_COMPLEX] = "complex",
                                        [PCU_FOURIER_REAL] = "real",
                                        [PCU_FOURIER_HALF] = "half"};
    PyObject *steps = PyTuple_New(job->count);
    for (int i = 0; steps != NULL && i < job->count; i++) {
        const pcu_fourier_step *step = &job->steps[i];
        PyObject *words =
            Py_BuildValue("sNind", kinds[step->kind], PyBool_FromLong(step->inverse),
                          step->axis, (Py_ssize_t)step->n, step->scale);
        if (words == NULL) {
            Py_CLEAR(steps);
            break;
        }
        PyTuple_SET_ITEM(steps, i, words);
    }
    return steps;
}

/* Let NumPy or SciPy transform, in the order of the stream. */
static int
fourier_on_host(const fourier_job *job, pcu_gpuarray *result)
{
    const pcu_fourier_call *call = job->call;
    PyArray_Descr *dtype = pcu_dtype_of_type(job->compute);
    PyObject *steps = fourier_steps_new(job);
    PyObject *args = NULL;
    if (dtype != NULL && steps != NULL) {
        args = Py_BuildValue("OOOOK", call->a, result, steps, dtype,
                             (unsigned long long)(uintptr_t)call->stream);
    }
    Py_XDECREF(steps);
    Py_XDECREF(dtype);
    return pcu_host_call("transform", args);
}

/* Enqueue all steps: together by NumPy or cuFFT, or one after another. */
static int
fourier_run(const fourier_job *job, pcu_gpuarray *result)
{
    const pcu_fourier_call *call = job->call;
    if (job->count == 0) {
        return pcu_device_copy(result, call->a, call->stream);
    }
    int rc = fourier_is_hosts(job, result);
    if (rc != 0) {
        return rc == 1 ? fourier_on_host(job, result) : rc;
    }
    rc = pcu_fourier_library(job->st, job->steps, job->count, call->a, result,
                             job->compute, call->a->allocator, call->stream);
    if (rc == 1) {
        rc = fourier_run_steps(job, result);
    }
    return rc;
}

static PyObject *
fourier_result_new(const fourier_job *job)
{
    PyObject *result = fourier_array_new(job, job->result, job->shape);
    if (result != NULL && fourier_run(job, (pcu_gpuarray *)result) < 0) {
        Py_CLEAR(result);
    }
    return result;
}

/* -- the argument out -------------------------------------------------------------- */

static int
fourier_check_out(const fourier_job *job, PyObject *out)
{
    pcu_gpuarray *array = (pcu_gpuarray *)out;
    if (pcu_check_out(job->st, job->row->name, out, job->ndim, job->shape) < 0) {
        return -1;
    }
    if (pcu_type_is_complex(array->type) ||
        (!pcu_type_is_complex(job->result) && !pcu_type_is_exact(array->type) &&
         pcu_type_is_number(array->type))) {
        return 0;
    }
    PyErr_Format(PyExc_TypeError, "%s: out has dtype %S, which cannot hold a %s",
                 job->row->name, (PyObject *)array->dtype, pcu_types[job->result].name);
    return -1;
}

/* Whether the transforms can store to `out` directly. */
static bool
fourier_is_direct(const fourier_job *job, const pcu_gpuarray *out)
{
    const pcu_gpuarray *a = job->call->a;
    if (out->type != job->result || pcu_gpuarray_conflicts(a, out)) {
        return false;
    }
    /* of equal layout: in place, or the same elements of other dtypes */
    return a->address != out->address || a->type == out->type;
}

static PyObject *
fourier_result_in_out(const fourier_job *job)
{
    PyObject *out = job->call->out;
    if (fourier_check_out(job, out) < 0) {
        return NULL;
    }
    if (fourier_is_direct(job, (pcu_gpuarray *)out)) {
        if (fourier_run(job, (pcu_gpuarray *)out) < 0) {
            return NULL;
        }
        return Py_NewRef(out);
    }
    PyObject *result = fourier_result_new(job);
    if (result == NULL) {
        return NULL;
    }
    int rc = pcu_gpuarray_assign((pcu_gpuarray *)out, result, job->call->stream);
    Py_DECREF(result);
    if (rc < 0) {
        return NULL;
    }
    return Py_NewRef(out);
}

PyObject *
pcu_fourier(pcu_state *st, const pcu_fourier_call *call)
{
    fourier_job job;
    job.st = st;
    job.call = call;
    job.row = &fourier_rows[call->function];
    if (fourier_plan(&job) < 0) {
        return NULL;
    }
    if (call->out != Py_None) {
        return fourier_result_in_out(&job);
    }
    return fourier_result_new(&job);
}

PyObject *
pcu_fourier_numbers_new(void)
{
    PyObject *numbers = PyDict_New();
    for (int i = 0; numbers != NULL && i < PCU_FOURIER_FUNCTION_COUNT; i++) {
        PyObject *value = PyLong_FromLong(i);
        if (value == NULL ||
            PyDict_SetItemString(numbers, fourier_rows[i].name, value) < 0) {
            Py_CLEAR(numbers);
        }
        Py_XDECREF(value);
    }
    return numbers;
}
