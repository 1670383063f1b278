/* From an operation and its Python operands to elementwise kernels: the rules of dtypes
 * and shapes. They are NumPy's: Python's numbers yield to the dtype of arrays. */
#include "python/support/base.h"

#include "python/array/gpuarray.h"

#include "driver/shape.h"

#define APPLY_RULES(X) \
    X(SAME)            \
    X(NUMBER)          \
    X(FLOAT)           \
    X(REAL)            \
    X(DIVIDE)          \
    X(FLOOR)           \
    X(ROUND)           \
    X(BITS) X(SHIFT) X(COMPARE) X(TEST) X(PART) X(LDEXP) X(FREXP) X(SELECT) X(COPY)
#define APPLY_RULE(name) RULE_##name,
typedef enum { APPLY_RULES(APPLY_RULE) RULE_COUNT } apply_rule;

typedef struct {
    unsigned char nin;
    unsigned char nout;
    unsigned char rule;
} apply_row;

#define APPLY_ROW(NAME, name, inputs, outputs, rule) {inputs, outputs, RULE_##rule},
static const apply_row apply_rows[] = {PCU_ARRAY_OPS(APPLY_ROW)};

enum { APPLY_INPUTS_MAX = 4 };

/* One application being put together. */
typedef struct {
    pcu_state *st;
    int op;
    const apply_row *row;
    const pcu_apply_options *options;
    PyObject *const *values;
    pcu_operand inputs[APPLY_INPUTS_MAX];
    unsigned char weak[APPLY_INPUTS_MAX];
    pcu_gpuarray *first; /* the first input that is an array; NULL: none */
    int compute;         /* pcu_type */
    int results[2];      /* pcu_type of the outputs */
    int counts_as;       /* what a new bool array remembers: see pcu_gpuarray */
    int ndim;
    size_t shape[PCU_MAX_NDIM];
} apply_plan;

/* -- types ------------------------------------------------------------------------- */

static int
apply_is_float(int type)
{
    return type >= PCU_T_FLOAT16 && type <= PCU_T_FLOAT64;
}

static int
apply_is_complex(int type)
{
    return type == PCU_T_COMPLEX64 || type == PCU_T_COMPLEX128;
}

/* 0: bool, 1: integer, 2: float, 3: complex */
static int
apply_kind(int type)
{
    return type == PCU_T_BOOL       ? 0
           : apply_is_float(type)   ? 2
           : apply_is_complex(type) ? 3
                                    : 1;
}

/* What a weak number makes of the type it meets. */
static int
apply_meet_weak(int type, int weak)
{
    if (apply_kind(weak) <= apply_kind(type)) {
        return type;
    }
    if (apply_kind(weak) == 3 && apply_is_float(type)) {
        return type == PCU_T_FLOAT64 ? PCU_T_COMPLEX128 : PCU_T_COMPLEX64;
    }
    return weak;
}

/* The float that holds an integer type's values, as NumPy's functions choose it. */
static int
apply_float_of(int type)
{
    switch (type) {
        case PCU_T_BOOL: /* the dtype of tests such as isnan() only */
        case PCU_T_INT8:
        case PCU_T_UINT8:
            return PCU_T_FLOAT16;
        case PCU_T_INT16:
        case PCU_T_UINT16:
            return PCU_T_FLOAT32;
        default:
            return apply_kind(type) >= 2 ? type : PCU_T_FLOAT64;
    }
}

static int
apply_real_of(int type)
{
    return type == PCU_T_COMPLEX64    ? PCU_T_FLOAT32
           : type == PCU_T_COMPLEX128 ? PCU_T_FLOAT64
                                      : type;
}

static int
apply_refuse(const apply_plan *plan, int type)
{
    PyArray_Descr *dtype = pcu_dtype_of_type(type);
    PyErr_Format(PyExc_TypeError, "%s does not take arrays of dtype %S",
                 pcu_op_name(plan->op), (PyObject *)dtype);
    Py_XDECREF(dtype);
    return -1;
}

/* -- inputs ------------------------------------------------------------------------ */

/* Look at the inputs: 1, 0 if one is nothing that arrays go with, -1. */
static int
apply_read_inputs(apply_plan *plan)
{
    /* the caller has set what is read here */
    /* cppcheck-suppress ctuuninitvar */
    for (int i = 0; i < plan->row->nin; i++) {
        PyObject *value = plan->values[i];
        pcu_operand *input = &plan->inputs[i];
        input->array = NULL;
        plan->weak[i] = 0;
        if (pcu_is_array(plan->st, value)) {
            input->array = (pcu_gpuarray *)value;
            if (pcu_gpuarray_ready(input->array) < 0) {
                return -1;
            }
            input->type = input->array->type;
            plan->first = plan->first == NULL ? input->array : plan->first;
        }
        else if (pcu_is_scalar(value)) {
            int weak = 0;
            if (pcu_scalar_type(value, &input->type, &weak) < 0) {
                return -1;
            }
            plan->weak[i] = (unsigned char)weak;
        }
        else {
            return 0;
        }
        if (input->type >= PCU_T_RAW) {
            PyObject *dtype = PyObject_GetAttrString(value, "dtype");
            if (dtype != NULL) {
                PyErr_Format(PyExc_TypeError, "%s does not take arrays of dtype %S",
                             pcu_op_name(plan->op), dtype);
                Py_DECREF(dtype);
            }
            return -1;
        }
    }
    return 1;
}

/* The common type of the inputs from `from` on. With `numbers`, bool arrays have the
 * type that they count as. */
static int
apply_common_type(const apply_plan *plan, int from, int nin, int numbers, int *common)
{
    int type = PCU_T_NONE;
    int weak = PCU_T_NONE;
    for (int i = from; i < nin; i++) {
        const pcu_gpuarray *array = plan->inputs[i].array;
        int own = numbers && array != NULL ? pcu_gpuarray_number_type(array)
                                           : plan->inputs[i].type;
        if (plan->weak[i]) {
            weak =
                weak == PCU_T_NONE || apply_kind(own) > apply_kind(weak) ? own : weak;
        }
        else if (type == PCU_T_NONE) {
            type = own;
        }
        else if (pcu_type_promote(type, own, &type) < 0) {
            return -1;
        }
    }
    if (type == PCU_T_NONE) {
        type = weak;
    }
    else if (weak != PCU_T_NONE) {
        type = apply_meet_weak(type, weak);
    }
    *common = type;
    return 0;
}

/* -- the rules --------------------------------------------------------------------- */

/* Raise for a type that the rule does not take. */
static int
apply_check_rule(const apply_plan *plan, int type)
{
    int kind = apply_kind(type);
    int bad = 0;
    switch (plan->row->rule) {
        case RULE_REAL:
        case RULE_FLOOR:
        case RULE_ROUND:
        case RULE_LDEXP:
        case RULE_FREXP:
            bad = kind == 3;
            break;
        case RULE_BITS:
        case RULE_SHIFT:
            bad = kind > 1;
            break;
        default:
            bad = plan->op == PCU_OP_SIGNBIT && kind == 3;
    }
    return bad ? apply_refuse(plan, type) : 0;
}

/* int64 with uint64: compared as they are, for no type holds both. */
static int
apply_is_mixed_integer(const apply_plan *plan, int common)
{
    return plan->row->rule == RULE_COMPARE && plan->op <= PCU_OP_GREATER_EQUAL &&
           common == PCU_T_FLOAT64 && apply_kind(plan->inputs[0].type) == 1 &&
           apply_kind(plan->inputs[1].type) == 1;
}

static int
apply_makes_float(int rule)
{
    return rule == RULE_FLOAT || rule == RULE_REAL || rule == RULE_LDEXP ||
           rule == RULE_FREXP;
}

/* The rules by which bool arrays count as numbers even if all inputs are bool. */
static int
apply_counts(int rule)
{
    return apply_makes_float(rule) || rule == RULE_NUMBER || rule == RULE_DIVIDE ||
           rule == RULE_FLOOR || rule == RULE_SHIFT;
}

/* The rules by which a remembered dtype has a say in the dtype of new arrays. */
static int
apply_remembers(int rule)
{
    return rule != RULE_BITS && rule != RULE_SHIFT && rule != RULE_COMPARE &&
           rule != RULE_TEST;
}

/* The common type of the inputs that have a say.
 *
 * The dtype that a bool array remembers has its say in the dtype of new arrays, as the
 * comparison's own dtype has in PyCUDA. It has none where the dtype of an output is
 * given (`count += x > 0`), nor where bits are meant, nor where all inputs are bool and
 * the result can only be 0 or 1. */
static int
apply_inputs_type(apply_plan *plan, int *common)
{
    int rule = plan->row->rule;
    int from = rule == RULE_SELECT;
    int is_new = plan->options->outs[0] == NULL && plan->options->outs[1] == NULL;
    int nin = rule == RULE_LDEXP ? 1 : plan->row->nin; /* exponents have no say */
    int numbers = PCU_T_NONE;
    int has_bool = 0;
    int all_bool = 1;
    for (int i = from; i < nin; i++) {
        int is_bool = plan->inputs[i].type == PCU_T_BOOL;
        has_bool |= is_bool;
        all_bool &= is_bool;
    }
    if (apply_common_type(plan, from, nin, 0, common) < 0) {
        return -1;
    }
    if (!has_bool) {
        return 0;
    }
    if (apply_common_type(plan, from, nin, 1, &numbers) < 0) {
        return -1;
    }
    if (is_new && apply_remembers(rule) && (!all_bool || apply_counts(rule))) {
        *common = numbers;
    }
    if (*common == PCU_T_BOOL && apply_counts(rule)) {
        *common = PCU_T_INT64;
    }
    if (all_bool && *common != PCU_T_FLOAT16 && apply_makes_float(rule) &&
        apply_float_of(*common) == PCU_T_FLOAT16) {
        *common = PCU_T_FLOAT32; /* kernels cannot name float16 */
    }
    plan->counts_as = all_bool ? numbers : PCU_T_BOOL;
    return 0;
}

/* What the result of a comparison remembers: the dtype of the arrays compared. */
static int
apply_compared_type(apply_plan *plan)
{
    int type = PCU_T_NONE;
    for (int i = 0; i < plan->row->nin; i++) {
        if (plan->inputs[i].array != NULL) {
            int own = pcu_gpuarray_number_type(plan->inputs[i].array);
            if (type == PCU_T_NONE) {
                type = own;
            }
            else if (pcu_type_promote(type, own, &type) < 0) {
                return -1;
            }
        }
    }
    plan->counts_as = type;
    return 0;
}

static int
apply_rules(apply_plan *plan)
{
    int common = PCU_T_NONE;
    int rule = plan->row->rule;
    plan->counts_as = PCU_T_BOOL;
    if (plan->options->dtype != PCU_T_NONE) {
        common = plan->options->dtype;
        if (common == PCU_T_BOOL && apply_counts(rule)) {
            return apply_refuse(plan, common);
        }
    }
    else if (apply_inputs_type(plan, &common) < 0) {
        return -1;
    }
    if (apply_check_rule(plan, common) < 0) {
        return -1;
    }
    switch (rule) {
        case RULE_FLOAT:
        case RULE_REAL:
        case RULE_TEST:
        case RULE_LDEXP:
        case RULE_FREXP:
            common = apply_float_of(common);
            break;
        case RULE_DIVIDE:
            common = apply_kind(common) < 2 ? PCU_T_FLOAT64 : common;
            break;
        default:
            break;
    }
    plan->compute = common;
    plan->results[0] = plan->results[1] = common;
    if (rule == RULE_COMPARE || rule == RULE_TEST) {
        plan->results[0] = PCU_T_BOOL;
        plan->counts_as = PCU_T_BOOL;
        if (plan->op >= PCU_OP_EQUAL && plan->op <= PCU_OP_GREATER_EQUAL &&
            apply_compared_type(plan) < 0) {
            return -1;
        }
        if (rule == RULE_COMPARE && plan->row->nin == 2 &&
            apply_is_mixed_integer(plan, common)) {
            plan->compute = PCU_T_RAW;
        }
    }
    else if (rule == RULE_PART || plan->op == PCU_OP_ANGLE) {
        plan->results[0] = apply_real_of(common);
    }
    else if (rule == RULE_FREXP) {
        plan->results[1] = PCU_T_INT32;
    }
    return 0;
}

/* -- scalars ----------------------------------------------------------------------- */

/* An integer that the arrays' type cannot hold is beyond all their elements, and true.
 */
static int
apply_pack_beyond(apply_plan *plan, pcu_operand *input, PyObject *value)
{
    PyObject *zero = PyLong_FromLong(0);
    int above = zero == NULL ? -1 : PyObject_RichCompareBool(value, zero, Py_GT);
    double infinity = above ? Py_HUGE_VAL : -Py_HUGE_VAL;
    Py_XDECREF(zero);
    if (above < 0) {
        return -1;
    }
    plan->compute = PCU_T_FLOAT64;
    input->type = PCU_T_FLOAT64;
    memcpy(input->value, &infinity, sizeof(infinity));
    return 0;
}

static int
apply_is_unsigned(int type)
{
    return type == PCU_T_UINT8 || type == PCU_T_UINT16 || type == PCU_T_UINT32 ||
           type == PCU_T_UINT64;
}

/* Is the scalar negative? 1, 0, or -1 with an exception. */
static int
apply_is_below_zero(PyObject *value)
{
    PyObject *zero = PyLong_FromLong(0);
    int below = zero == NULL ? -1 : PyObject_RichCompareBool(value, zero, Py_LT);
    Py_XDECREF(zero);
    return below;
}

static int
apply_pack_scalars(apply_plan *plan)
{
    int rule = plan->row->rule;
    for (int i = 0; i < plan->row->nin; i++) {
        pcu_operand *input = &plan->inputs[i];
        PyObject *value = plan->values[i];
        if (input->array != NULL) {
            continue;
        }
        int type = plan->compute;
        if (type == PCU_T_RAW || (rule == RULE_SELECT && i == 0)) {
            type = input->type; /* a mixed comparison, or what is chosen by */
        }
        else if (rule == RULE_LDEXP && i == 1) {
            type = PCU_T_INT32;
        }
        input->type = type;
        if (plan->op == PCU_OP_POWER && i == 1 && apply_is_unsigned(type)) {
            int below = apply_is_below_zero(value);
            if (below < 0) {
                return -1;
            }
            if (below > 0) { /* 1 where the element is 1, else 0 */
                plan->op = PCU_OP_EQUAL;
                memset(input->value, 0, sizeof(input->value));
                input->value[0] = 1; /* little-endian, as every host of CUDA is */
                continue;
            }
        }
        if (pcu_scalar_pack(value, type, rule == RULE_LDEXP, input->value) < 0) {
            if (rule != RULE_COMPARE || !PyErr_ExceptionMatches(PyExc_OverflowError)) {
                return -1;
            }
            PyErr_Clear(); /* infinity instead: compared alike, and as true */
            if (apply_pack_beyond(plan, input, value) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

/* -- shapes and outputs ------------------------------------------------------------ */

static int
apply_bad_shapes(const apply_plan *plan, const pcu_gpuarray *array)
{
    PyObject *a = pcu_shape_tuple_new(plan->ndim, plan->shape);
    PyObject *b = pcu_shape_tuple_new(array->ndim, array->shape);
    if (a != NULL && b != NULL) {
        PyErr_Format(PyExc_ValueError, "%s: shapes %S and %S do not go together",
                     pcu_op_name(plan->op), a, b);
    }
    Py_XDECREF(a);
    Py_XDECREF(b);
    return -1;
}

static int
apply_broadcast(apply_plan *plan)
{
    plan->ndim = plan->first->ndim;
    memcpy(plan->shape, plan->first->shape, (size_t)plan->ndim * sizeof(size_t));
    for (int i = 0; i < plan->row->nin; i++) {
        pcu_gpuarray *array = plan->inputs[i].array;
        if (array == NULL || array == plan->first ||
            (array->ndim == plan->ndim &&
             memcmp(array->shape, plan->shape, (size_t)plan->ndim * sizeof(size_t)) ==
                 0)) {
            continue;
        }
        if (pcu_broadcast_shapes(plan->ndim, plan->shape, array->ndim, array->shape,
                                 &plan->ndim, plan->shape) < 0) {
            return apply_bad_shapes(plan, array);
        }
    }
    return 0;
}

static int
apply_has_shape(const apply_plan *plan, const pcu_gpuarray *array)
{
    return array->ndim == plan->ndim &&
           memcmp(array->shape, plan->shape, (size_t)plan->ndim * sizeof(size_t)) == 0;
}

/* The array whose type and order of axes the result takes: the first that has the
 * result's shape. */
static pcu_gpuarray *
apply_model(const apply_plan *plan)
{
    pcu_gpuarray *model = NULL;
    for (int i = 0; i < plan->row->nin; i++) {
        pcu_gpuarray *array = plan->inputs[i].array;
        if (array != NULL && apply_has_shape(plan, array)) {
            if (array->contiguous & PCU_ARRAY_C) {
                return array;
            }
            model = model == NULL ? array : model;
        }
    }
    return model;
}

/* 1 if a subclass has its own _new_like_me. */
static int
apply_overrides(pcu_state *st, PyTypeObject *type)
{
    PyObject *own = PyObject_GetAttr((PyObject *)type, st->str__new_like_me);
    PyObject *ours = PyObject_GetAttr((PyObject *)st->GPUArray, st->str__new_like_me);
    int differs = own == NULL || ours == NULL ? -1 : own != ours;
    Py_XDECREF(own);
    Py_XDECREF(ours);
    return differs;
}

PyObject *
pcu_gpuarray_like_new(pcu_gpuarray *self, int ndim, const size_t *shape,
                      PyArray_Descr *dtype, PyObject *allocator)
{
    ptrdiff_t strides[PCU_MAX_NDIM];
    pcu_state *st = self->st;
    PyTypeObject *type = Py_TYPE(self);
    allocator = allocator == NULL ? self->allocator : allocator;
    if (shape != NULL) {
        return pcu_gpuarray_new(st, type, ndim, shape, NULL, dtype, allocator);
    }
    if (type != st->GPUArray) {
        int overrides = apply_overrides(st, type);
        if (overrides != 0) {
            return overrides < 0
                       ? NULL
                       : PyObject_CallMethodOneArg(
                             (PyObject *)self, st->str__new_like_me, (PyObject *)dtype);
        }
    }
    if (self->contiguous & PCU_ARRAY_C) {
        return pcu_gpuarray_new(st, type, self->ndim, self->shape, NULL, dtype,
                                allocator);
    }
    if (pcu_gpuarray_packed_strides(self, (size_t)PyDataType_ELSIZE(dtype), strides) <
        0) {
        return NULL;
    }
    return pcu_gpuarray_new(st, type, self->ndim, self->shape, strides, dtype,
                            allocator);
}

/* An output that is there: its shape is the result's, and its dtype takes the result as
 * NumPy's same_kind does. */
static int
apply_check_out(const apply_plan *plan, PyObject *out, int result)
{
    if (!pcu_is_array(plan->st, out)) {
        PyErr_Format(PyExc_TypeError, "out must be a GPUArray, not %s",
                     Py_TYPE(out)->tp_name);
        return -1;
    }
    pcu_gpuarray *array = (pcu_gpuarray *)out;
    if (pcu_gpuarray_ready(array) < 0) {
        return -1;
    }
    if (!apply_has_shape(plan, array)) {
        PyObject *wanted = pcu_shape_tuple_new(plan->ndim, plan->shape);
        PyObject *has = pcu_shape_tuple_new(array->ndim, array->shape);
        if (wanted != NULL && has != NULL) {
            PyErr_Format(PyExc_ValueError,
                         "%s: the result has shape %S, the array for it has %S",
                         pcu_op_name(plan->op), wanted, has);
        }
        Py_XDECREF(wanted);
        Py_XDECREF(has);
        return -1;
    }
    if (array->type >= PCU_T_RAW || apply_kind(result) > apply_kind(array->type)) {
        PyArray_Descr *dtype = pcu_dtype_of_type(result);
        PyErr_Format(PyExc_TypeError,
                     "%s: the result of dtype %S cannot be put into an array of dtype "
                     "%S; convert with astype()",
                     pcu_op_name(plan->op), (PyObject *)dtype,
                     (PyObject *)array->dtype);
        Py_XDECREF(dtype);
        return -1;
    }
    return 0;
}

static PyObject *
apply_output(apply_plan *plan, int number)
{
    PyObject *out = plan->options->outs[number];
    if (out != NULL) {
        return apply_check_out(plan, out, plan->results[number]) < 0 ? NULL
                                                                     : Py_NewRef(out);
    }
    pcu_gpuarray *model = apply_model(plan);
    PyArray_Descr *dtype = pcu_dtype_of_type(plan->results[number]);
    PyObject *made =
        model != NULL
            ? pcu_gpuarray_like_new(model, 0, NULL, dtype, plan->options->allocator)
            : pcu_gpuarray_like_new(plan->first, plan->ndim, plan->shape, dtype,
                                    plan->options->allocator);
    Py_DECREF(dtype);
    if (made != NULL && !pcu_is_array(plan->st, made)) {
        PyErr_Format(PyExc_TypeError, "_new_like_me() made a %s, which is no GPUArray",
                     Py_TYPE(made)->tp_name);
        Py_CLEAR(made);
    }
    if (made != NULL && plan->results[number] == PCU_T_BOOL) {
        ((pcu_gpuarray *)made)->counts_as = (unsigned char)plan->counts_as;
    }
    return made;
}

PyObject *
pcu_gpuarray_apply(pcu_state *st, int op, PyObject *const *values,
                   const pcu_apply_options *options)
{
    apply_plan plan;
    PyObject *outs[2] = {NULL, NULL};
    PyObject *result = NULL;
    memset(plan.inputs, 0, sizeof(plan.inputs));
    plan.st = st;
    plan.op = op;
    plan.row = &apply_rows[op];
    plan.options = options;
    plan.values = values;
    plan.first = NULL;
    int known = apply_read_inputs(&plan);
    if (known <= 0) {
        return NULL;
    }
    if (plan.first == NULL) { /* numbers only: the output, if any, gives the shape */
        if (options->outs[0] == NULL || !pcu_is_array(st, options->outs[0])) {
            PyErr_Format(PyExc_TypeError, "%s: no operand is a GPUArray",
                         pcu_op_name(op));
            return NULL;
        }
        plan.first = (pcu_gpuarray *)options->outs[0];
    }
    if (apply_rules(&plan) < 0 || apply_pack_scalars(&plan) < 0 ||
        apply_broadcast(&plan) < 0) {
        return NULL;
    }
    int nout = plan.row->nout;
    for (int i = 0; i < nout; i++) {
        outs[i] = apply_output(&plan, i);
        if (outs[i] == NULL) {
            goto done;
        }
    }
    pcu_gpuarray *outputs[2] = {(pcu_gpuarray *)outs[0], (pcu_gpuarray *)outs[1]};
    if (pcu_elementwise(st, plan.op, plan.row->nin, plan.inputs, nout, outputs,
                        plan.compute, options->stream) == 0) {
        result = nout == 1 ? Py_NewRef(outs[0]) : PyTuple_Pack(2, outs[0], outs[1]);
    }
done:
    Py_XDECREF(outs[0]);
    Py_XDECREF(outs[1]);
    return result;
}
