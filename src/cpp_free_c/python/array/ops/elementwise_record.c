/* The record of an elementwise operation: see elementwise_record.h. */

#include "python/array/ops/elementwise_record.h"

#include "python/array/element_type.h"
#include "python/array/ops/operations.h"
#include "python/array/recording.h"

static const char *
record_type_name(int type)
{
    return type == PCU_T_RAW ? "raw" : pcu_types[type].name;
}

static PyObject *
record_input_new(const pcu_operand *input)
{
    if (input->array != NULL) {
        return Py_NewRef((PyObject *)input->array);
    }
    return Py_BuildValue("(sy#)", pcu_types[input->type].name, input->value,
                         (Py_ssize_t)pcu_types[input->type].size);
}

int
pcu_elementwise_record(pcu_state *st, int op, int nin, const pcu_operand *inputs,
                       int nout, pcu_gpuarray *const *outputs, int compute)
{
    PyObject *sources = PyTuple_New(nin);
    for (int i = 0; sources != NULL && i < nin; i++) {
        PyObject *input = record_input_new(&inputs[i]);
        if (input == NULL) {
            Py_CLEAR(sources);
            break;
        }
        PyTuple_SET_ITEM(sources, i, input);
    }
    return pcu_record(st, pcu_ops[op].name, record_type_name(compute), sources,
                      sources != NULL ? pcu_record_arrays_new(outputs, nout) : NULL,
                      sources != NULL ? PyTuple_New(0) : NULL);
}
