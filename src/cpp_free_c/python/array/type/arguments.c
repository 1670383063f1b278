/* The arguments that functions on arrays share: see arguments.h. */

#include "python/array/type/arguments.h"

#include "python/driver/memory/pool.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"
#include "python/support/errors.h"

const pcu_word pcu_array_words[14] = {
    PCU_WORD("a", pcu_as_array, pcu_array_args, a),
    PCU_WORD("b", pcu_as_array, pcu_array_args, b),
    PCU_WORD("inputs", pcu_as_object, pcu_array_args, inputs),
    PCU_WORD("axis", pcu_as_object, pcu_array_args, axis),
    PCU_WORD("out", pcu_as_object, pcu_array_args, out),
    PCU_WORD("initial", pcu_as_object, pcu_array_args, initial),
    PCU_WORD("where", pcu_as_object, pcu_array_args, where),
    PCU_WORD("allocator", pcu_as_allocator, pcu_array_args, allocator),
    PCU_WORD("stream", pcu_as_stream, pcu_array_args, stream),
    PCU_WORD("ddof", pcu_as_double, pcu_array_args, ddof),
    PCU_WORD("op", pcu_as_int, pcu_array_args, op),
    PCU_WORD("dtype", pcu_as_type, pcu_array_args, dtype),
    PCU_WORD("keepdims", pcu_as_bool, pcu_array_args, keepdims),
    PCU_WORD("include_initial", pcu_as_bool, pcu_array_args, include_initial),
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
pcu_as_array(pcu_state *st, PyObject *value, void *out, const char *Py_UNUSED(name))
{
    if (!pcu_is_array(st, value)) {
        return PCU_NOT_AN_ARRAY;
    }
    *(pcu_gpuarray **)out = (pcu_gpuarray *)value;
    return pcu_gpuarray_ready((pcu_gpuarray *)value);
}

int
pcu_as_optional_array(pcu_state *st, PyObject *value, void *out, const char *name)
{
    if (value == Py_None) {
        *(pcu_gpuarray **)out = NULL;
        return 0;
    }
    return pcu_as_array(st, value, out, name);
}

int
pcu_array_argument(pcu_state *st, const char *function, PyObject *value,
                   pcu_gpuarray **array)
{
    int rc = pcu_as_array(st, value, array, "");
    if (rc == PCU_NOT_AN_ARRAY) {
        return pcu_refuse_array(function, value);
    }
    return rc;
}
