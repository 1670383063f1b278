/* Lowering of arithmetic in single and double precision, and of the functions on
 * floating-point numbers (rcp to testp). See lower_float.h and lower_opcodes.h. */
#include "device/compile/lower_float.h"

#include "device/compile/lower_half.h"
#include "device/compile/lower_opcodes.h"
#include "device/compile/lower_operand.h"

/* Emits an operation that flushes its sources and its result itself. */
static void
float_flushing(low_func *f, unsigned op, low_value d, const low_value v[3])
{
    const bool sat = low_has(f, PTX_W_sat);
    low_value result = d;

    if (sat) {
        result = low_temp(f, PTX_R32);
    }
    low_emit(f, op, result, v[0], v[1], v[2])->round = (uint8_t)low_rounding(f);
    if (sat) {
        low_emit(f, EMU_OP_sat_f32, d, result, 0, 0);
    }
}

/* Emits an operation on f32 with .ftz or .sat, for which it adds further operations. */
static void
float_with_modifiers(low_func *f, unsigned op, low_value d, low_value v[3])
{
    const bool ftz = low_has(f, PTX_W_ftz), sat = low_has(f, PTX_W_sat);
    low_value result, flushed;

    for (unsigned i = 0; ftz && i < 3; i++) {
        if (v[i] != 0) {
            v[i] = low_flush(f, v[i]);
        }
    }
    result = low_temp(f, PTX_R32);
    low_emit(f, op, result, v[0], v[1], v[2])->round = (uint8_t)low_rounding(f);
    if (ftz) {
        flushed = d;
        if (sat) {
            flushed = low_temp(f, PTX_R32);
        }
        low_emit(f, EMU_OP_ftz_f32, flushed, result, 0, 0);
        result = flushed;
    }
    if (sat) {
        low_emit(f, EMU_OP_sat_f32, d, result, 0, 0);
    }
}

void
low_float_operation(low_func *f, low_float_ops ops, unsigned type, unsigned sources)
{
    const bool single = type == PTX_W_f32;
    unsigned op = ops.f64;
    low_value d, v[3] = {0, 0, 0};

    if (single) {
        op = ops.f32;
    }
    if (op == 0 || (!single && type != PTX_W_f64)) {
        low_unsupported(f);
    }
    low_operands(f, sources + 1, sources + 1);
    d = low_result(f, type);
    for (unsigned i = 0; i < sources; i++) {
        v[i] = low_source_at(f, i + 1, type);
    }
    if (single && ops.ftz != 0 && low_has(f, PTX_W_ftz)) {
        float_flushing(f, ops.ftz, d, v);
    }
    else if (single && (low_has(f, PTX_W_ftz) || low_has(f, PTX_W_sat))) {
        float_with_modifiers(f, op, d, v);
    }
    else {
        low_emit(f, op, d, v[0], v[1], v[2])->round = (uint8_t)low_rounding(f);
    }
}

/* -- functions --------------------------------------------------------------------- */

/* The operations of the row. */
static low_float_ops
float_row_ops(const low_func *f)
{
    return (low_float_ops){.f32 = f->ops[LOW_ROW_F32], .f64 = f->ops[LOW_ROW_F64]};
}

/* sqrt, sin, cos, lg2, ex2, tanh */
void
low_function(low_func *f)
{
    const unsigned type = low_type(f, 0);

    if (low_is_half(type)) {
        low_half_operation(f, f->ops[LOW_ROW_HALF], type, 1);
    }
    else {
        low_float_operation(f, float_row_ops(f), type, 1);
    }
}

/* rcp, rsqrt: the approximation in double precision is rcp.approx.ftz.f64 and
 * rsqrt.approx.ftz.f64. */
void
low_reciprocal(low_func *f)
{
    enum { GROSS_F64 = 3 };
    unsigned word = PTX_W_approx;
    low_float_ops ops = float_row_ops(f);

    if (f->in->opcode == PTX_OP_rsqrt) {
        word = PTX_W_ftz; /* rsqrt.approx.f64 without .ftz is the exact one */
    }
    if (low_has(f, word)) {
        ops.f64 = f->ops[GROSS_F64];
    }
    low_float_operation(f, ops, low_type(f, 0), 1);
}

void
low_copysign(low_func *f)
{
    low_float_operation(f, float_row_ops(f), low_type(f, 0), 2);
}

void
low_testp(low_func *f)
{
    static const uint16_t tests[] = {PTX_W_finite,     PTX_W_infinite, PTX_W_number,
                                     PTX_W_notanumber, PTX_W_normal,   PTX_W_subnormal};
    enum { TESTS = sizeof tests / sizeof *tests };
    const unsigned type = low_type(f, 0), test = low_find(f, tests, TESTS);
    unsigned op = f->ops[LOW_ROW_F64];
    low_value a;

    low_operands(f, 2, 2);
    if (test == TESTS) {
        low_unsupported(f);
    }
    if (type == PTX_W_f32) {
        op = f->ops[LOW_ROW_F32];
    }
    a = low_source_at(f, 1, type);
    low_emit(f, op, low_target(f, &f->in->operands[0], PTX_PRED), a, 0, 0)->aux = test;
}
