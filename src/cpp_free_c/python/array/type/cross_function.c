/* The function by which pycuda's Python modules compute cross products. */

#include "python/array/type/members.h"

#include "python/array/construction.h"
#include "python/array/ops/cross.h"
#include "python/array/type/arguments.h"

PCU_SIGNATURE(
    cross, pcu_array_words,
    "_cross($module, a, b, /, stream=None)\n--\n\n"
    "Return the cross products of vectors along the last axis, or None if the\n"
    "arrays are not C-contiguous, of one shape and dtype, with 3 elements.")

static PyObject *
cross_of(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    pcu_array_args a = pcu_array_defaults();
    if (pcu_args_parse(st, &cross_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (!pcu_cross_takes(a.a, a.b)) {
        Py_RETURN_NONE;
    }
    PyObject *target = pcu_gpuarray_new(st, NULL, a.a->ndim, a.a->shape, NULL,
                                        a.a->dtype, a.a->allocator);
    if (target == NULL) {
        return NULL;
    }
    if (pcu_cross(st, (pcu_gpuarray *)target, a.a, a.b, a.stream) < 0) {
        Py_DECREF(target);
        return NULL;
    }
    return target;
}

PyMethodDef pcu_cross_functions[] = {
    {"_cross", (PyCFunction)(void (*)(void))cross_of, METH_FASTCALL | METH_KEYWORDS,
     cross_doc},
    {NULL, NULL, 0, NULL},
};
