/* The functions by which pycuda's Python modules keep a triangle of matrices. */

#include "python/array/type/members.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/ops/triangle.h"
#include "python/array/type/arguments.h"

typedef struct {
    pcu_array_args shared;
    bool lower;
    int64_t k;
} triangle_args;

typedef int64_t triangle_as_k_stores;

/* The diagonal: numbers far beyond any matrix stay so far that no distance overflows.
 */
static int
triangle_as_k(pcu_state *Py_UNUSED(st), PyObject *value, void *out, const char *name)
{
    const int64_t far = INT64_C(1) << 62;
    unsigned long long bits = 0;
    if (pcu_as_integer(value, INT64_MIN, INT64_MAX, &bits, name) < 0) {
        return -1;
    }
    *(int64_t *)out = Py_MAX(-far, Py_MIN((int64_t)bits, far));
    return 0;
}

static const pcu_word triangle_words[] = {
    PCU_WORD("lower", pcu_as_bool, triangle_args, lower),
    PCU_WORD("k", triangle_as_k, triangle_args, k),
    PCU_ARRAY_WORDS(triangle_args),
};

/* Read the arguments that both functions take. The array becomes the target. */
static int
triangle_read(pcu_state *st, const pcu_signature *signature, PyObject *const *args,
              Py_ssize_t nargs, PyObject *kwnames, pcu_triangle_call *call)
{
    triangle_args a = {.shared = pcu_array_defaults()};
    if (pcu_args_parse(st, signature, args, nargs, kwnames, &a) < 0) {
        return -1;
    }
    call->target = a.shared.a;
    call->lower = a.lower;
    call->stream = a.shared.stream;
    call->k = a.k;
    if (call->target->ndim < 2) {
        PyErr_Format(PyExc_ValueError,
                     "a triangle is kept of arrays with at least two axes, not %d",
                     call->target->ndim);
        return -1;
    }
    return 0;
}

PCU_SIGNATURE(
    triangle_of, triangle_words,
    "_triangle($module, a, lower, k, /, stream=None)\n--\n\n"
    "Return a copy of matrices in which one triangle is 0. With lower the one "
    "above diagonal k, else the one below.")

static PyObject *
triangle_of(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    pcu_triangle_call call = {.source = NULL};
    if (triangle_read(st, &triangle_of_signature, args, nargs, kwnames, &call) < 0) {
        return NULL;
    }
    call.source = call.target;
    PyObject *target =
        pcu_gpuarray_new(st, NULL, call.source->ndim, call.source->shape, NULL,
                         call.source->dtype, call.source->allocator);
    if (target == NULL) {
        return NULL;
    }
    call.target = (pcu_gpuarray *)target;
    if (pcu_triangle(st, &call) < 0) {
        Py_DECREF(target);
        return NULL;
    }
    return target;
}

PCU_SIGNATURE(triangle_fill, triangle_words,
              "_fill_triangle($module, a, lower, k, /, stream=None)\n--\n\n"
              "Fill a C-contiguous array of numbers: 1 in one triangle, 0 elsewhere.")

static PyObject *
triangle_fill(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    pcu_triangle_call call = {.source = NULL};
    if (triangle_read(st, &triangle_fill_signature, args, nargs, kwnames, &call) < 0) {
        return NULL;
    }
    if (!(call.target->contiguous & PCU_ARRAY_C) ||
        !pcu_type_is_number(call.target->type)) {
        PyErr_SetString(PyExc_ValueError,
                        "a triangle is filled of C-contiguous arrays of numbers");
        return NULL;
    }
    PyObject *one = PyLong_FromLong(1);
    if (one == NULL) {
        return NULL;
    }
    int rc = pcu_scalar_pack(one, call.target->type, PCU_SCALAR_ASSIGNED, call.value);
    Py_DECREF(one);
    if (rc < 0 || pcu_triangle(st, &call) < 0) {
        return NULL;
    }
    return Py_NewRef((PyObject *)call.target);
}

PyMethodDef pcu_triangle_functions[] = {
    PCU_METHOD("_triangle", triangle_of),
    PCU_METHOD("_fill_triangle", triangle_fill),
    {NULL, NULL, 0, NULL},
};
