/* The arguments that functions on arrays share: see arguments.h. */

#include "python/array/type/arguments.h"

#include "python/driver/memory/pool.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"

#define AT(member) offsetof(pcu_array_args, member)

const pcu_word pcu_array_words[14] = {
    {"a", pcu_as_object, AT(a)},
    {"b", pcu_as_object, AT(b)},
    {"inputs", pcu_as_object, AT(inputs)},
    {"axis", pcu_as_object, AT(axis)},
    {"out", pcu_as_object, AT(out)},
    {"initial", pcu_as_object, AT(initial)},
    {"where", pcu_as_object, AT(where)},
    {"allocator", pcu_as_allocator, AT(allocator)},
    {"stream", pcu_as_stream, AT(stream)},
    {"ddof", pcu_as_double, AT(ddof)},
    {"op", pcu_as_int, AT(op)},
    {"dtype", pcu_as_type, AT(dtype)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"include_initial", pcu_as_bool, AT(include_initial)},
};

pcu_array_args
pcu_array_defaults(void)
{
    return (pcu_array_args){.axis = Py_None,
                            .out = Py_None,
                            .initial = Py_None,
                            .where = Py_True,
                            .allocator = Py_None,
                            .stream = pcu_stream_current(),
                            .dtype = PCU_T_NONE};
}

int
pcu_array_argument(pcu_state *st, const char *function, PyObject *value,
                   pcu_gpuarray **array)
{
    const char *hint = "";
    if (pcu_is_array(st, value)) {
        *array = (pcu_gpuarray *)value;
        return pcu_gpuarray_ready(*array);
    }
    if (PyArray_Check(value)) {
        hint = "; copy it with to_gpu()";
    }
    PyErr_Format(PyExc_TypeError, "%s takes a GPUArray, not %s%s", function,
                 Py_TYPE(value)->tp_name, hint);
    return -1;
}
