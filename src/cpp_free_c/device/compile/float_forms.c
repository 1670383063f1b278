/* The forms of arithmetic opcodes in single and double precision. See float_forms.h. */
#include "device/compile/float_forms.h"

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
    low_check_operand_count(f, sources + 1, sources + 1);
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
