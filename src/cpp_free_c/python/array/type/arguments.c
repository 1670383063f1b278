/* The arguments that functions on arrays share: see arguments.h. */

#include "python/array/type/arguments.h"

#include "python/support/errors.h"

typedef struct {
    pcu_array_args shared;
} arguments_alone;

const pcu_word pcu_array_words[14] = {PCU_ARRAY_WORDS(arguments_alone)};

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
