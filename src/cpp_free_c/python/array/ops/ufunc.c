/* Elementwise operations on GPUArrays as NumPy's universal functions: see ufunc.h.
 *
 * The way of one call: read the inputs, apply the rules of dtypes, pack the scalars,
 * broadcast the shapes, make or check the outputs, enqueue the kernel. */

#include "python/array/ops/ufunc.h"

#include "driver/setting.h"
#include "driver/shape.h"
#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/layout.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/dtype_rules.h"
#include "python/array/ops/elementwise_kernel.h"
#include "python/array/ops/overlap.h"
#include "python/array/scalar.h"

/* One call in progress. */
typedef struct {
    pcu_state *st;
    const pcu_ufunc_options *options;
    PyObject *const *values;
    pcu_gpuarray *first; /* the first input that is an array; NULL: none */
    pcu_typed_call call;
    int ndim; /* of the result */
    size_t shape[PCU_MAX_NDIM];
} ufunc_plan;

/* -- inputs ------------------------------------------------------------------------ */

static int
ufunc_refuse_dtype(const ufunc_plan *plan, PyObject *value)
{
    PyObject *dtype = PyObject_GetAttrString(value, "dtype");
    if (dtype != NULL) {
        PyErr_Format(PyExc_TypeError, "%s does not take arrays of dtype %S",
                     plan->call.row->name, dtype);
        Py_DECREF(dtype);
    }
    return -1;
}

/* Classify an input. 1 for an array or a scalar, 0 for a foreign type, -1 on error. */
static int
ufunc_read_input(ufunc_plan *plan, int i)
{
    PyObject *value = plan->values[i];
    pcu_operand *input = &plan->call.inputs[i];
    input->array = NULL;
    plan->call.yields[i] = 0;
    if (pcu_is_array(plan->st, value)) {
        input->array = (pcu_gpuarray *)value;
        if (pcu_gpuarray_ready(input->array) < 0) {
            return -1;
        }
        input->type = input->array->type;
        if (plan->first == NULL) {
            plan->first = input->array;
        }
    }
    else if (pcu_is_scalar(value)) {
        int yields = 0;
        if (pcu_scalar_type(value, &input->type, &yields) < 0) {
            return -1;
        }
        plan->call.yields[i] = (unsigned char)yields;
    }
    else {
        return 0;
    }
    if (!pcu_type_is_number(input->type)) {
        return ufunc_refuse_dtype(plan, value);
    }
    return 1;
}

/* Classify the inputs. 1 if all are arrays or scalars, 0 if one is of a foreign type,
 * -1 on error. */
static int
ufunc_read_inputs(ufunc_plan *plan)
{
    for (int i = 0; i < plan->call.row->inputs; i++) {
        int known = ufunc_read_input(plan, i);
        if (known <= 0) {
            return known;
        }
    }
    if (plan->first != NULL) {
        return 1;
    }
    PyObject *out = plan->options->outs[0]; /* of numbers, the output gives the shape */
    if (out == NULL || !pcu_is_array(plan->st, out)) {
        PyErr_Format(PyExc_TypeError, "%s: no operand is a GPUArray",
                     plan->call.row->name);
        return -1;
    }
    plan->first = (pcu_gpuarray *)out;
    return 1;
}

/* -- scalars ----------------------------------------------------------------------- */

/* Pack an infinity in place of an integer that the type cannot hold. The integer is
 * larger or smaller than all elements and its truth value is true, so in comparisons
 * and logical operations an infinity gives the same result. */
static int
ufunc_pack_infinity(ufunc_plan *plan, pcu_operand *input, PyObject *value)
{
    double infinity = Py_HUGE_VAL;
    int negative = pcu_scalar_is_negative(value);
    if (negative < 0) {
        return -1;
    }
    if (negative) {
        infinity = -infinity;
    }
    plan->call.compute = PCU_T_FLOAT64;
    input->type = PCU_T_FLOAT64;
    memcpy(input->value, &infinity, sizeof(infinity));
    return 0;
}

/* A negative exponent for unsigned integers: the power is 1 where the element is 1,
 * else 0. So the operation becomes a comparison with 1. OverflowError for an exponent
 * that signed integers of this size cannot hold. Returns 1 if it was done, 0 if not, -1
 * on error. */
static int
ufunc_pack_negative_exponent(ufunc_plan *plan, pcu_operand *input, PyObject *value)
{
    int negative = pcu_scalar_is_negative(value);
    if (negative <= 0) {
        return negative;
    }
    int type =
        input->type - 1; /* of the same size: the row before in tables/dtypes.h */
    if (pcu_scalar_pack(value, type, PCU_SCALAR_OPERAND, input->value) < 0) {
        return -1;
    }
    plan->call.op = PCU_OP_EQUAL;
    memset(input->value, 0, sizeof(input->value));
    input->value[0] = 1; /* all hosts of CUDA are little-endian */
    return 1;
}

/* A float as exponent: the operation POWER has exact cases, which the kernel need not
 * look for if the exponent is none of them. */
static void
ufunc_note_exponent(ufunc_plan *plan, const pcu_operand *input)
{
    static const float exact[] = {-1.0f, 0.5f, 1.0f, 2.0f};
    static const uint16_t exact_halves[] = {0xbc00, 0x3800, 0x3c00, 0x4000};
    static const uint16_t exact_bfloats[] = {0xbf80, 0x3f00, 0x3f80, 0x4000};
    uint16_t half;
    float single;
    double number;
    memcpy(&half, input->value, sizeof(half));
    memcpy(&single, input->value, sizeof(single));
    memcpy(&number, input->value, sizeof(number));
    for (size_t k = 0; k < Py_ARRAY_LENGTH(exact); k++) {
        if ((input->type == PCU_T_FLOAT16 && half == exact_halves[k]) ||
            (input->type == PCU_T_BFLOAT16 && half == exact_bfloats[k]) ||
            (input->type == PCU_T_FLOAT32 && single == exact[k]) ||
            (input->type == PCU_T_FLOAT64 && number == (double)exact[k])) {
            return;
        }
    }
    plan->call.op = PCU_OP_GENERAL_POWER;
}

static int
ufunc_pack_scalar(ufunc_plan *plan, int i)
{
    pcu_operand *input = &plan->call.inputs[i];
    PyObject *value = plan->values[i];
    input->type = pcu_dtype_rules_scalar_type(&plan->call, i);
    if (plan->call.op == PCU_OP_POWER && i == 1 && pcu_type_is_unsigned(input->type)) {
        int done = ufunc_pack_negative_exponent(plan, input, value);
        if (done != 0) {
            return Py_MIN(done, 0);
        }
    }
    pcu_scalar_way way = pcu_dtype_rules_scalar_way(&plan->call, i);
    if (pcu_scalar_pack(value, input->type, way, input->value) == 0) {
        if (plan->call.op == PCU_OP_POWER && i == 1 &&
            pcu_types[input->type].kind == PCU_KIND_FLOAT) {
            ufunc_note_exponent(plan, input);
        }
        return 0;
    }
    if (!pcu_dtype_rules_take_infinity(&plan->call) ||
        !PyErr_ExceptionMatches(PyExc_OverflowError)) {
        return -1;
    }
    PyErr_Clear(); /* an infinity takes the number's place */
    return ufunc_pack_infinity(plan, input, value);
}

static int
ufunc_pack_scalars(ufunc_plan *plan)
{
    for (int i = 0; i < plan->call.row->inputs; i++) {
        if (plan->call.inputs[i].array == NULL && ufunc_pack_scalar(plan, i) < 0) {
            return -1;
        }
    }
    return 0;
}

/* -- shapes ------------------------------------------------------------------------ */

static int
ufunc_broadcast(ufunc_plan *plan)
{
    int ndim;
    size_t shape[PCU_MAX_NDIM];
    plan->ndim = plan->first->ndim;
    memcpy(plan->shape, plan->first->shape, (size_t)plan->ndim * sizeof(size_t));
    for (int i = 0; i < plan->call.row->inputs; i++) {
        const pcu_gpuarray *array = plan->call.inputs[i].array;
        if (array == NULL || array == plan->first ||
            pcu_gpuarray_has_shape(array, plan->ndim, plan->shape)) {
            continue;
        }
        if (pcu_broadcast_shapes(plan->ndim, plan->shape, array->ndim, array->shape,
                                 &ndim, shape) < 0) {
            return pcu_raise_shapes("%s: shapes %S and %S cannot be broadcast together",
                                    plan->call.row->name, plan->ndim, plan->shape,
                                    array);
        }
        plan->ndim = ndim;
        memcpy(plan->shape, shape, (size_t)ndim * sizeof(size_t));
    }
    return 0;
}

/* Broadcast the inputs to the outputs that the program gives, as NumPy does. An output
 * to which they do not broadcast is refused later. */
static void
ufunc_broadcast_to_outputs(ufunc_plan *plan)
{
    int ndim;
    size_t shape[PCU_MAX_NDIM];
    for (int i = 0; i < plan->call.row->outputs; i++) {
        const pcu_gpuarray *out = (const pcu_gpuarray *)plan->options->outs[i];
        if (out == NULL || !pcu_is_array(plan->st, (PyObject *)out) ||
            pcu_gpuarray_has_shape(out, plan->ndim, plan->shape) ||
            pcu_broadcast_shapes(plan->ndim, plan->shape, out->ndim, out->shape, &ndim,
                                 shape) < 0 ||
            !pcu_gpuarray_has_shape(out, ndim, shape)) {
            continue;
        }
        plan->ndim = ndim;
        memcpy(plan->shape, shape, (size_t)ndim * sizeof(size_t));
    }
}

/* -- outputs ----------------------------------------------------------------------- */

/* The array whose type and order of axes the result takes: the first C-contiguous input
 * of the result's shape, else the first of that shape. */
static pcu_gpuarray *
ufunc_model(const ufunc_plan *plan)
{
    pcu_gpuarray *model = NULL;
    for (int i = 0; i < plan->call.row->inputs; i++) {
        pcu_gpuarray *array = plan->call.inputs[i].array;
        if (array == NULL || !pcu_gpuarray_has_shape(array, plan->ndim, plan->shape)) {
            continue;
        }
        if (array->contiguous & PCU_ARRAY_C) {
            return array;
        }
        if (model == NULL) {
            model = array;
        }
    }
    return model;
}

static PyObject *
ufunc_output_new(const ufunc_plan *plan, int type)
{
    PyObject *made;
    PyObject *allocator = plan->options->allocator;
    pcu_gpuarray *model = ufunc_model(plan);
    PyArray_Descr *dtype = pcu_dtype_of_type(type);
    if (model != NULL) {
        made = pcu_gpuarray_like_new(model, 0, NULL, dtype, allocator);
    }
    else {
        made = pcu_gpuarray_like_new(plan->first, plan->ndim, plan->shape, dtype,
                                     allocator);
    }
    Py_DECREF(dtype);
    if (made != NULL && type == PCU_T_BOOL) {
        ((pcu_gpuarray *)made)->counts_as = (unsigned char)plan->call.counts_as;
    }
    return made;
}

/* 1 if the output takes integers of any sign: PyCUDA's operators in place keep the
 * dtype of the array. Warns that NumPy refuses it; in a strict program we refuse it
 * too. -1 if the warning is an error. */
static int
ufunc_keeps_type(const ufunc_plan *plan, const pcu_gpuarray *out, int type)
{
    if (!plan->options->keeps_type || !pcu_type_is_integer(type) ||
        !pcu_type_is_integer(out->type) || pcu_type_casts(type, out->type) ||
        pcu_setting_is_strict()) {
        return 0;
    }
    if (PyErr_WarnFormat(plan->st->exc_PyCUDAWarning, 1,
                         "%s in place: the result of dtype %s is stored in an array of "
                         "dtype %s, where negative numbers wrap around. NumPy refuses "
                         "this; convert the operand with astype()",
                         plan->call.row->name, pcu_types[type].name,
                         pcu_types[out->type].name) < 0) {
        return -1;
    }
    return 1;
}

/* Check an output that the program gives: it has the result's shape, and its dtype
 * takes the result by NumPy's rule same_kind. */
static int
ufunc_check_out(const ufunc_plan *plan, PyObject *out, int type)
{
    const char *name = plan->call.row->name;
    const pcu_gpuarray *array = (pcu_gpuarray *)out;
    if (pcu_check_out(plan->st, name, out, plan->ndim, plan->shape) < 0) {
        return -1;
    }
    if (array->type == type) {
        return 0;
    }
    int keeps = ufunc_keeps_type(plan, array, type);
    if (keeps < 0) {
        return -1;
    }
    if (keeps) {
        return 0;
    }
    return pcu_check_out_type(name, array, type);
}

static PyObject *
ufunc_output(const ufunc_plan *plan, int i)
{
    PyObject *out = plan->options->outs[i];
    if (out == NULL) {
        return ufunc_output_new(plan, plan->call.results[i]);
    }
    if (ufunc_check_out(plan, out, plan->call.results[i]) < 0) {
        return NULL;
    }
    return Py_NewRef(out);
}

/* -- the call ---------------------------------------------------------------------- */

/* One value for all elements may have any target. */
static int
ufunc_check_targets(const ufunc_plan *plan, pcu_gpuarray *const *outputs)
{
    bool varies = false;
    for (int i = 0; i < plan->call.row->inputs; i++) {
        const pcu_gpuarray *input = plan->call.inputs[i].array;
        varies |= input != NULL && input->count > 1;
    }
    for (int i = 0; varies && i < plan->call.row->outputs; i++) {
        if (pcu_gpuarray_check_target(outputs[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
ufunc_enqueue(ufunc_plan *plan, pcu_gpuarray *const *outputs)
{
    PyObject *copies[PCU_INPUTS_MAX] = {NULL};
    int nin = plan->call.row->inputs;
    int nout = plan->call.row->outputs;
    CUstream stream = plan->options->stream;
    if (ufunc_check_targets(plan, outputs) < 0) {
        return -1;
    }
    int rc = pcu_device_copy_conflicting(nin, plan->call.inputs, nout, outputs, copies,
                                         stream);
    if (rc == 0) {
        rc = pcu_elementwise_enqueue(plan->st, plan->call.op, nin, plan->call.inputs,
                                     nout, outputs, plan->call.compute, stream);
    }
    for (int i = 0; i < nin; i++) {
        Py_XDECREF(copies[i]);
    }
    return rc;
}

static PyObject *
ufunc_run(ufunc_plan *plan)
{
    PyObject *outs[2] = {NULL, NULL};
    PyObject *result = NULL;
    int nout = plan->call.row->outputs;
    for (int i = 0; i < nout; i++) {
        outs[i] = ufunc_output(plan, i);
        if (outs[i] == NULL) {
            goto done;
        }
    }
    pcu_gpuarray *outputs[2] = {(pcu_gpuarray *)outs[0], (pcu_gpuarray *)outs[1]};
    if (ufunc_enqueue(plan, outputs) < 0) {
        goto done;
    }
    if (nout == 1) {
        return outs[0];
    }
    result = PyTuple_Pack(2, outs[0], outs[1]);
done:
    Py_XDECREF(outs[0]);
    Py_XDECREF(outs[1]);
    return result;
}

PyObject *
pcu_ufunc_call(pcu_state *st, int op, PyObject *const *values,
               const pcu_ufunc_options *options)
{
    ufunc_plan plan;
    bool new_outputs = options->outs[0] == NULL && options->outs[1] == NULL;
    memset(plan.call.inputs, 0, sizeof(plan.call.inputs));
    plan.st = st;
    plan.options = options;
    plan.values = values;
    plan.first = NULL;
    plan.call.op = op;
    plan.call.row = &pcu_ops[op];
    if (ufunc_read_inputs(&plan) <= 0) {
        return NULL;
    }
    if (pcu_dtype_rules_apply(&plan.call, options->dtype, new_outputs) < 0) {
        return NULL;
    }
    if (op == PCU_OP_FLOAT_POWER) {
        plan.call.op = PCU_OP_POWER;
    }
    if (ufunc_pack_scalars(&plan) < 0 || ufunc_broadcast(&plan) < 0) {
        return NULL;
    }
    if (!new_outputs) {
        ufunc_broadcast_to_outputs(&plan);
    }
    return ufunc_run(&plan);
}

/* Name the input of a foreign type. */
static void
ufunc_refuse_inputs(pcu_state *st, int op, PyObject *const *values)
{
    for (int i = 0; i < pcu_ops[op].inputs; i++) {
        if (pcu_is_array(st, values[i]) || pcu_is_scalar(values[i])) {
            continue;
        }
        const char *hint = "";
        if (PyArray_Check(values[i])) {
            hint = "; copy it with to_gpu()";
        }
        PyErr_Format(PyExc_TypeError, "%s takes GPUArrays and numbers, not %s%s",
                     pcu_ops[op].name, Py_TYPE(values[i])->tp_name, hint);
        return;
    }
}

PyObject *
pcu_ufunc_require(pcu_state *st, int op, PyObject *const *values,
                  const pcu_ufunc_options *options)
{
    PyObject *result = pcu_ufunc_call(st, op, values, options);
    if (result == NULL && !PyErr_Occurred()) {
        ufunc_refuse_inputs(st, op, values);
    }
    return result;
}

int
pcu_ufunc_read_outs(PyObject *value, const char *name, PyObject **outs)
{
    if (value == Py_None) {
        return 0;
    }
    if (!PyTuple_Check(value)) {
        outs[0] = value;
        return 0;
    }
    if (PyTuple_GET_SIZE(value) > 2) {
        PyErr_Format(PyExc_ValueError, "%s: out has %zd arrays", name,
                     PyTuple_GET_SIZE(value));
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++) {
        PyObject *item = PyTuple_GET_ITEM(value, i);
        if (item != Py_None) {
            outs[i] = item;
        }
    }
    return 0;
}
