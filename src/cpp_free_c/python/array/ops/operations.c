/* The operations that kernels do: see operations.h. */

#include "python/array/ops/operations.h"

#define OPERATION_ROW(NAME, name, inputs, outputs, RULE) \
    {name, inputs, outputs, PCU_RULE_##RULE},
const pcu_op_row pcu_ops[PCU_OP_COUNT] = {PCU_ARRAY_OPS(OPERATION_ROW)};
#undef OPERATION_ROW

#define REDUCTION_ROW(NAME, name, inputs, RULE) {name, inputs, PCU_REDUCE_TO_##RULE},
const pcu_reduction_row pcu_reductions[PCU_REDUCE_COUNT] = {
    PCU_ARRAY_REDUCTIONS(REDUCTION_ROW)};
#undef REDUCTION_ROW

static int
operations_add(PyObject *numbers, const char *name, long number)
{
    PyObject *value = PyLong_FromLong(number);
    if (value == NULL) {
        return -1;
    }
    int rc = PyDict_SetItemString(numbers, name, value);
    Py_DECREF(value);
    return rc;
}

PyObject *
pcu_op_numbers_new(void)
{
    static const struct {
        const char *name;
        int op;
    } aliases[] = {
        {"true_divide", PCU_OP_DIVIDE}, {"mod", PCU_OP_REMAINDER},
        {"degrees", PCU_OP_RAD2DEG},    {"radians", PCU_OP_DEG2RAD},
        {"abs", PCU_OP_ABSOLUTE},       {"bitwise_not", PCU_OP_INVERT},
    };
    PyObject *numbers = PyDict_New();
    if (numbers == NULL) {
        return NULL;
    }
    for (int op = 0; op < PCU_OP_COUNT; op++) {
        if (operations_add(numbers, pcu_ops[op].name, op) < 0) {
            goto error;
        }
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(aliases); i++) {
        if (operations_add(numbers, aliases[i].name, aliases[i].op) < 0) {
            goto error;
        }
    }
    return numbers;
error:
    Py_DECREF(numbers);
    return NULL;
}

PyObject *
pcu_reduction_numbers_new(void)
{
    PyObject *numbers = PyDict_New();
    if (numbers == NULL) {
        return NULL;
    }
    for (int op = 0; op < PCU_REDUCE_COUNT; op++) {
        if (operations_add(numbers, pcu_reductions[op].name, op) < 0) {
            Py_DECREF(numbers);
            return NULL;
        }
    }
    return numbers;
}
