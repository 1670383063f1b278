/* Lowering of the functions on floating-point numbers: rcp to testp. See
 * lower_opcodes.h. Sums, products (fma too) and quotients are in lower_arithmetic.c. */
#include "device/compile/float_forms.h"

#include "device/compile/half_forms.h"
#include "device/compile/lower_opcodes.h"
#include "device/compile/lower_operand.h"

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
    const unsigned type = low_type_at(f, 0);

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
    low_float_operation(f, ops, low_type_at(f, 0), 1);
}

void
low_copysign(low_func *f)
{
    low_float_operation(f, float_row_ops(f), low_type_at(f, 0), 2);
}

void
low_testp(low_func *f)
{
    static const uint16_t tests[] = {PTX_W_finite,     PTX_W_infinite, PTX_W_number,
                                     PTX_W_notanumber, PTX_W_normal,   PTX_W_subnormal};
    enum { TESTS = sizeof tests / sizeof *tests };
    const unsigned type = low_type_at(f, 0), test = low_find(f, tests, TESTS);
    unsigned op = f->ops[LOW_ROW_F64];
    low_value a;

    low_check_operand_count(f, 2, 2);
    if (test == TESTS) {
        low_unsupported(f);
    }
    if (type == PTX_W_f32) {
        op = f->ops[LOW_ROW_F32];
    }
    a = low_source_at(f, 1, type);
    low_emit(f, op, low_target(f, &f->in->operands[0], PTX_PRED), a, 0, 0)->aux = test;
}
