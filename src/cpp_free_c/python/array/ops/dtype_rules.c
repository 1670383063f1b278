/* The rules of dtypes: see dtype_rules.h. */

#include "python/array/ops/dtype_rules.h"

#include "python/array/element_type.h"

typedef enum {
    COMPUTED_COMMON,
    COMPUTED_FLOAT,
    COMPUTED_QUOTIENT,
    COMPUTED_DOUBLE
} rule_computed;
typedef enum { RESULT_COMPUTED, RESULT_REAL, RESULT_BOOL, RESULT_BYTE } rule_result;

typedef struct {
    unsigned char widest;   /* pcu_kind */
    unsigned char computed; /* rule_computed */
    unsigned char result;   /* rule_result */
    unsigned char counts;
    unsigned char remembers;
} rule_row;

#define RULE_ROW(RULE, WIDEST, COMPUTED, RESULT, counts, remembers) \
    {PCU_KIND_##WIDEST, COMPUTED_##COMPUTED, RESULT_##RESULT, counts, remembers},
static const rule_row rule_rows[] = {PCU_DTYPE_RULES(RULE_ROW)};
#undef RULE_ROW

/* -- types ------------------------------------------------------------------------- */

static int
rule_kind(int type)
{
    return pcu_types[type].kind;
}

/* The type of an array of `type` combined with a Python number of type `number`. */
static int
rule_combine_number(int type, int number)
{
    if (rule_kind(number) <= rule_kind(type)) {
        return type;
    }
    if (rule_kind(number) == PCU_KIND_COMPLEX && rule_kind(type) == PCU_KIND_FLOAT) {
        if (type == PCU_T_FLOAT64) {
            return PCU_T_COMPLEX128;
        }
        return PCU_T_COMPLEX64;
    }
    return number;
}

/* The float that holds the values of an integer type, as NumPy's functions choose it;
 * other types themselves. */
static int
rule_float_of(int type)
{
    if (!pcu_type_is_exact(type)) {
        return type;
    }
    switch (pcu_types[type].size) {
        case 1:
            return PCU_T_FLOAT16; /* of bool for tests such as isnan() only */
        case 2:
            return PCU_T_FLOAT32;
        default:
            return PCU_T_FLOAT64;
    }
}

/* -- the common type of the inputs ------------------------------------------------- */

/* The type of an input. With `numbers`, bool arrays have the type that they count as.
 */
static int
rule_input_type(const pcu_operand *input, bool numbers)
{
    if (numbers && input->array != NULL) {
        return pcu_gpuarray_number_type(input->array);
    }
    return input->type;
}

/* The common type of the inputs from `first` to `last` - 1. */
static int
rule_common_type(const pcu_typed_call *call, bool first, int last, bool numbers,
                 int *common)
{
    int type = PCU_T_NONE;   /* of the inputs with a dtype */
    int number = PCU_T_NONE; /* of the inputs that yield: the widest kind */
    for (int i = first; i < last; i++) {
        int own = rule_input_type(&call->inputs[i], numbers);
        if (call->yields[i]) {
            if (number == PCU_T_NONE || rule_kind(own) > rule_kind(number)) {
                number = own;
            }
        }
        else if (type == PCU_T_NONE) {
            type = own;
        }
        else if (pcu_type_promote(type, own, &type) < 0) {
            return -1;
        }
    }
    if (type == PCU_T_NONE) {
        type = number;
    }
    else if (number != PCU_T_NONE) {
        type = rule_combine_number(type, number);
    }
    *common = type;
    return 0;
}

/* The type of bool arrays that are computed as floats. Integers of 8 bits would give
 * float16, which the source of kernels cannot name: they give float32. */
static int
rule_widen_bool(const rule_row *rule, int type)
{
    if (rule->computed == COMPUTED_FLOAT && rule->counts && pcu_type_is_exact(type) &&
        pcu_types[type].size == 1) {
        return PCU_T_FLOAT32;
    }
    return type;
}

/* True for an input that has no part in the common dtype: a condition, exponents. */
static bool
rule_is_apart(const pcu_typed_call *call, int i)
{
    return (call->row->rule == PCU_RULE_SELECT && i == 0) ||
           (call->row->rule == PCU_RULE_LDEXP && i == 1);
}

/* The type of the inputs that a rule considers, and what a new bool array remembers.
 *
 * A bool array takes part with the dtype that it remembers where the outputs are new,
 * as the comparison's own dtype does in PyCUDA. It takes part as bool where the dtype
 * of an output is given (`count += x > 0`), in operations on bits, and where all inputs
 * are bool and the result can only be 0 or 1. */
static int
rule_inputs_type(pcu_typed_call *call, bool new_outputs, int *common)
{
    const rule_row *rule = &rule_rows[call->row->rule];
    bool first = call->row->rule == PCU_RULE_SELECT;
    int last = call->row->inputs;
    int numbers = PCU_T_NONE;
    bool has_bool = false;
    bool all_bool = true;
    if (call->row->rule == PCU_RULE_LDEXP) {
        last = 1; /* the exponents do not count */
    }
    for (int i = first; i < last; i++) {
        bool is_bool = call->inputs[i].type == PCU_T_BOOL;
        has_bool |= is_bool;
        all_bool &= is_bool;
    }
    if (rule_common_type(call, first, last, false, common) < 0) {
        return -1;
    }
    if (!has_bool) {
        return 0;
    }
    if (rule_common_type(call, first, last, true, &numbers) < 0) {
        return -1;
    }
    if (new_outputs && rule->remembers && (!all_bool || rule->counts)) {
        *common = numbers;
    }
    if (*common == PCU_T_BOOL && rule->counts) {
        *common = PCU_T_INT64;
    }
    if (all_bool) {
        call->counts_as = numbers;
        *common = rule_widen_bool(rule, *common);
    }
    return 0;
}

/* -- the rules --------------------------------------------------------------------- */

static int
rule_refuse(const pcu_typed_call *call, int type)
{
    PyArray_Descr *dtype = pcu_dtype_of_type(type);
    PyErr_Format(PyExc_TypeError, "%s does not take arrays of dtype %S",
                 call->row->name, (PyObject *)dtype);
    Py_XDECREF(dtype);
    return -1;
}

/* The result of a comparison remembers the dtype of the arrays compared. */
static int
rule_remember_compared(pcu_typed_call *call)
{
    int type = PCU_T_NONE;
    for (int i = 0; i < call->row->inputs; i++) {
        const pcu_gpuarray *array = call->inputs[i].array;
        if (array == NULL) {
            continue;
        }
        int own = pcu_gpuarray_number_type(array);
        if (type == PCU_T_NONE) {
            type = own;
        }
        else if (pcu_type_promote(type, own, &type) < 0) {
            return -1;
        }
    }
    call->counts_as = type;
    return 0;
}

static int
rule_compare(pcu_typed_call *call, int common)
{
    /* no integer type holds int64 and uint64: the kernel compares them as they are */
    if (common == PCU_T_FLOAT64 && pcu_type_is_integer(call->inputs[0].type) &&
        pcu_type_is_integer(call->inputs[1].type)) {
        call->compute = PCU_T_RAW;
    }
    return rule_remember_compared(call);
}

static int
rule_computed_type(const rule_row *rule, int common)
{
    if (rule->computed == COMPUTED_FLOAT) {
        return rule_float_of(common);
    }
    if (rule->computed == COMPUTED_QUOTIENT && pcu_type_is_exact(common)) {
        return PCU_T_FLOAT64;
    }
    if (rule->computed == COMPUTED_DOUBLE) {
        return pcu_type_is_complex(common) ? PCU_T_COMPLEX128 : PCU_T_FLOAT64;
    }
    return common;
}

/* The float of two integer arrays: the least one that holds the values of both, as
 * NumPy chooses it. Their common integer may need a wider one: int8 and uint8 give
 * float16. Other inputs leave the type as it is. */
static int
rule_float_of_both(const pcu_typed_call *call, int type)
{
    int result = PCU_T_NONE;
    const pcu_operand *inputs = call->inputs;
    if (call->row->inputs != 2 || call->yields[0] || call->yields[1] ||
        !pcu_type_is_integer(inputs[0].type) || !pcu_type_is_integer(inputs[1].type) ||
        pcu_type_promote(rule_float_of(inputs[0].type), rule_float_of(inputs[1].type),
                         &result) < 0) {
        PyErr_Clear(); /* of the promotion, which has no such error */
        return type;
    }
    return result;
}

/* Whether an input is complex. */
static bool
rule_takes_complex(const pcu_typed_call *call)
{
    for (int i = 0; i < call->row->inputs; i++) {
        if (pcu_type_is_complex(call->inputs[i].type)) {
            return true;
        }
    }
    return false;
}

/* Check a dtype that the program asks for: the operation computes in it, and the inputs
 * can be converted to it. */
static int
rule_check_asked(const pcu_typed_call *call, int dtype)
{
    const rule_row *rule = &rule_rows[call->row->rule];
    if ((dtype == PCU_T_BOOL && rule->counts) ||
        rule_computed_type(rule, dtype) != dtype || rule->result == RESULT_BOOL) {
        PyErr_Format(PyExc_TypeError, "%s does not compute in dtype %s",
                     call->row->name, pcu_types[dtype].name);
        return -1;
    }
    for (int i = 0; i < call->row->inputs; i++) {
        int own = call->inputs[i].type;
        if (rule_is_apart(call, i) || call->yields[i] || pcu_type_casts(own, dtype)) {
            continue;
        }
        PyErr_Format(PyExc_TypeError,
                     "%s: an input of dtype %s cannot be computed in dtype %s; convert "
                     "with astype()",
                     call->row->name, pcu_types[own].name, pcu_types[dtype].name);
        return -1;
    }
    return 0;
}

int
pcu_dtype_rules_apply(pcu_typed_call *call, int dtype, bool new_outputs)
{
    const rule_row *rule = &rule_rows[call->row->rule];
    call->counts_as = PCU_T_BOOL;
    if (dtype == PCU_T_BOOL && rule->result == RESULT_BOOL) {
        dtype = PCU_T_NONE; /* the dtype of the result, as in NumPy */
    }
    if (rule->result == RESULT_REAL && rule_takes_complex(call) &&
        (dtype == PCU_T_FLOAT32 || dtype == PCU_T_FLOAT64)) {
        dtype = pcu_type_complex(dtype);
    }
    int common = dtype;
    if (dtype == PCU_T_NONE) {
        if (rule_inputs_type(call, new_outputs, &common) < 0) {
            return -1;
        }
    }
    else if (rule_check_asked(call, dtype) < 0) {
        return -1;
    }
    if (rule_kind(common) > rule->widest) {
        return rule_refuse(call, common);
    }
    call->compute = rule_computed_type(rule, common);
    if (dtype == PCU_T_NONE && rule->computed == COMPUTED_FLOAT &&
        call->row->rule != PCU_RULE_LDEXP && pcu_type_is_integer(common)) {
        call->compute = rule_float_of_both(call, call->compute);
    }
    call->results[0] = call->results[1] = call->compute;
    if (call->row->rule == PCU_RULE_FREXP) {
        call->results[1] = PCU_T_INT32;
    }
    if (rule->result == RESULT_REAL) {
        call->results[0] = pcu_type_real(call->compute);
    }
    else if (rule->result == RESULT_BYTE) {
        call->results[0] = PCU_T_UINT8;
    }
    else if (rule->result == RESULT_BOOL) {
        call->results[0] = PCU_T_BOOL;
        call->counts_as = PCU_T_BOOL;
    }
    if (call->row->rule == PCU_RULE_COMPARE) {
        return rule_compare(call, common);
    }
    if (call->row->rule == PCU_RULE_CLOSE) {
        return rule_remember_compared(call);
    }
    return 0;
}

int
pcu_dtype_rules_scalar_type(const pcu_typed_call *call, int i)
{
    int rule = call->row->rule;
    if (rule == PCU_RULE_LDEXP && i == 1) {
        return PCU_T_INT32;
    }
    if (call->compute == PCU_T_RAW || (rule == PCU_RULE_SELECT && i == 0)) {
        return call->inputs[i].type;
    }
    return call->compute;
}

pcu_scalar_way
pcu_dtype_rules_scalar_way(const pcu_typed_call *call, int i)
{
    if (rule_is_apart(call, i)) {
        return PCU_SCALAR_ASSIGNED;
    }
    if (call->row->rule == PCU_RULE_SELECT) {
        return PCU_SCALAR_CONVERTED; /* as NumPy's where() */
    }
    return PCU_SCALAR_OPERAND;
}

bool
pcu_dtype_rules_take_infinity(const pcu_typed_call *call)
{
    return call->row->rule == PCU_RULE_COMPARE || call->row->rule == PCU_RULE_LOGICAL;
}
