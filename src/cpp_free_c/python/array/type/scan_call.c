/* Calls of scans: see kernel_call.h. pycuda/_array/kernels/scan_kernel.py arranges the
 * arguments of calls that are refused here, and calls again. */
#include "python/array/type/kernel_call.h"

#include "python/array/construction.h"
#include "python/array/memory.h"
#include "python/array/ops/assign.h"
#include "python/array/ops/scan_layout.h"
#include "python/array/type/plain_array.h"
#include "python/driver/memory/pool.h"
#include "python/driver/stream.h"

/* The arguments of a scan: borrowed, NULL or None if missing. */
typedef struct {
    PyObject *input_ary;
    PyObject *output_ary;
    PyObject *allocator;
    PyObject *stream;
} scan_args;

/* Read the arguments: true, or false if Python has to handle the call, which raises the
 * errors. */
static bool
scan_read(PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, scan_args *a)
{
    static const char *const names[] = {"input_ary", "output_ary", "allocator",
                                        "stream"};
    PyObject **const places[] = {&a->input_ary, &a->output_ary, &a->allocator,
                                 &a->stream};
    Py_ssize_t count = 0;
    if (nargs > (Py_ssize_t)Py_ARRAY_LENGTH(places)) {
        return false;
    }
    for (Py_ssize_t i = 0; i < nargs; i++) {
        *places[i] = args[i];
    }
    if (kwnames != NULL) {
        count = PyTuple_GET_SIZE(kwnames);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        size_t k = 0;
        while (k < Py_ARRAY_LENGTH(places) &&
               PyUnicode_CompareWithASCIIString(name, names[k]) != 0) {
            k++;
        }
        if (k == Py_ARRAY_LENGTH(places) || *places[k] != NULL) {
            return false;
        }
        *places[k] = args[nargs + i];
    }
    return a->input_ary != NULL;
}

/* Whether the array is one packed axis of the scan's dtype. */
static bool
scan_accepts(const pcu_call_plan *plan, PyObject *value)
{
    const pcu_gpuarray *array = (const pcu_gpuarray *)value;
    return Py_IS_TYPE(value, ((pcu_function *)plan->stages[0])->st->GPUArray) &&
           array->dtype == plan->result && array->ndim == 1 && array->contiguous &&
           pcu_gpuarray_is_plain(array);
}

/* Whether blocks could write to elements that other blocks have still to read. */
static bool
scan_overlaps(const pcu_gpuarray *source, const pcu_gpuarray *target)
{
    CUdeviceptr distance = target->address - source->address;
    size_t nbytes = pcu_gpuarray_nbytes(target);
    return distance != 0 && (distance < nbytes || (CUdeviceptr)0 - distance < nbytes);
}

/* The words in which blocks publish the sums of tiles, all 0. */
static PyObject *
scan_slots_new(const pcu_call_run *run, pcu_state *st, size_t tiles,
               PyObject *allocator)
{
    size_t words = ((size_t)PyDataType_ELSIZE(run->plan->result) + 3) / 4;
    size_t count = pcu_scan_slots(1, tiles, words);
    PyArray_Descr *dtype = PyArray_DescrFromType(NPY_UINT64);
    PyObject *slots = pcu_gpuarray_new(st, NULL, 1, &count, NULL, dtype, allocator);
    PyObject *zero = PyLong_FromLong(0);
    Py_DECREF(dtype);
    if (slots == NULL || zero == NULL ||
        pcu_gpuarray_fill((pcu_gpuarray *)slots, zero, run->stream) < 0) {
        Py_CLEAR(slots);
    }
    Py_XDECREF(zero);
    return slots;
}

/* Launch the scan of packed arrays that may be used. Returns what pcu_call_enqueue
 * returns.
 */
static int
scan_enqueue(const pcu_call_run *run, pcu_gpuarray *source, pcu_gpuarray *target,
             PyObject *allocator)
{
    const pcu_call_plan *plan = run->plan;
    size_t block = (size_t)plan->threads * plan->each;
    size_t tiles = (source->count - 1) / block + 1;
    PyObject *slots = NULL;
    pcu_call_launch launch = {
        .function = plan->stages[0],
        .leading = 3,
        .addresses = {source->address, target->address},
        .trailing = 3,
        .numbers = {source->count, tiles,
                    (source->address | target->address) % 16 == 0},
        .shape = {.grid = {(unsigned int)tiles, 1, 1},
                  .block = {plan->threads, 1, 1},
                  .stream = run->stream}};
    if (tiles > INT32_MAX) {
        return 0;
    }
    if (tiles > 1) {
        slots = scan_slots_new(run, source->st, tiles, allocator);
        if (slots == NULL) {
            return -1;
        }
        launch.addresses[2] = ((pcu_gpuarray *)slots)->address;
        /* the allocator may be Python code that changed the arrays */
        if (pcu_gpuarray_check(source, NULL) < 0 ||
            pcu_gpuarray_check(target, NULL) < 0) {
            Py_DECREF(slots);
            return -1;
        }
        launch.addresses[0] = source->address;
        launch.addresses[1] = target->address;
    }
    int rc = pcu_call_enqueue(run, &launch);
    Py_XDECREF(slots);
    return rc;
}

/* The output that a call names, a new reference; NULL without an exception if Python
 * has to handle the call. */
static PyObject *
scan_output(const pcu_call_plan *plan, const scan_args *a)
{
    PyObject *output = a->output_ary;
    if (output == NULL || output == Py_None) {
        output = a->input_ary;
    }
    if (PyUnicode_Check(output)) {
        if (PyUnicode_CompareWithASCIIString(output, "new") != 0) {
            return NULL;
        }
        return pcu_gpuarray_like_new((pcu_gpuarray *)a->input_ary, 0, NULL,
                                     plan->result, NULL);
    }
    if (!scan_accepts(plan, output)) {
        return NULL;
    }
    return Py_NewRef(output);
}

int
pcu_call_scan(pcu_state *st, pcu_call_run *run, PyObject *const *args, Py_ssize_t nargs,
              PyObject *kwnames, PyObject **out)
{
    scan_args a = {NULL, NULL, NULL, NULL};
    if (!scan_read(args, nargs, kwnames, &a) || !scan_accepts(run->plan, a.input_ary)) {
        return 0;
    }
    if ((a.stream != NULL && pcu_as_stream(st, a.stream, &run->stream, "stream") < 0) ||
        (a.allocator != NULL &&
         pcu_as_allocator(st, a.allocator, &a.allocator, "allocator") < 0)) {
        return -1;
    }
    pcu_gpuarray *source = (pcu_gpuarray *)a.input_ary;
    PyObject *output = scan_output(run->plan, &a);
    pcu_gpuarray *target = (pcu_gpuarray *)output;
    if (output == NULL) {
        return -(PyErr_Occurred() != NULL);
    }
    PyObject *allocator = a.allocator;
    if (allocator == NULL || allocator == Py_None) {
        allocator = source->allocator;
    }
    int rc = 0;
    if (source->count != 0 && source->count == target->count &&
        !scan_overlaps(source, target)) {
        rc = -1;
        if (pcu_gpuarray_check_current(source) == 0 &&
            pcu_gpuarray_check_current(target) == 0) {
            Py_XINCREF(allocator);
            rc = scan_enqueue(run, source, target, allocator);
            Py_XDECREF(allocator);
        }
    }
    if (rc > 0) {
        *out = Py_NewRef(output);
    }
    Py_DECREF(output);
    return rc;
}
