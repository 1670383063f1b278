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
    PyObject *result = NULL;
    PyObject *sources = PyTuple_New(nin);
    PyObject *targets = PyTuple_New(nout);
    if (sources == NULL || targets == NULL) {
        goto done;
    }
    for (int i = 0; i < nin; i++) {
        PyObject *input = record_input_new(&inputs[i]);
        if (input == NULL) {
            goto done;
        }
        PyTuple_SET_ITEM(sources, i, input);
    }
    for (int i = 0; i < nout; i++) {
        PyTuple_SET_ITEM(targets, i, Py_NewRef((PyObject *)outputs[i]));
    }
    result = PyObject_CallFunction(pcu_recorder_item(st, PCU_RECORDER_CALL), "ssOO",
                                   pcu_ops[op].name, record_type_name(compute), sources,
                                   targets);
done:
    Py_XDECREF(sources);
    Py_XDECREF(targets);
    if (result == NULL) {
        return -1;
    }
    Py_DECREF(result);
    return 0;
}
