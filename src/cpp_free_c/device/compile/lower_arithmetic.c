/* Lowering of the arithmetic opcodes: sums, products, quotients, remainders, signs,
 * minimum and maximum. See lower_opcodes.h.
 *
 * Each function chooses by the type; integer_forms.c, float_forms.c and half_forms.c
 * emit the operations of one kind of numbers. A function reads the operations of its
 * row by position; an enum names the positions. */
#include "device/compile/encoding.h"
#include "device/compile/float_forms.h"
#include "device/compile/half_forms.h"
#include "device/compile/integer_forms.h"
#include "device/compile/lower_opcodes.h"
#include "device/compile/lower_operand.h"

/* The operations on floating-point numbers of a row that begins with them. */
static low_float_ops
arithmetic_float_ops(const low_func *f)
{
    return (low_float_ops){f->ops[LOW_ROW_F32], f->ops[LOW_ROW_F64],
                           f->ops[LOW_ROW_FTZ]};
}

/* -- sums -------------------------------------------------------------------------- */

static void
arithmetic_pair_sum(low_func *f, unsigned type)
{
    low_value zero = low_constant(f, PTX_R32, 0), d, a, b;
    unsigned number = EMU_VIDEO_ADD;

    if (f->in->opcode == PTX_OP_sub) {
        number = EMU_VIDEO_SUB;
    }
    low_check_operand_count(f, 3, 3);
    b = low_source_at(f, 2, type);
    a = low_source_at(f, 1, type);
    d = low_result(f, type);
    (void)low_emit_pair(f, number, d, a, b, zero);
}

/* add, sub */
void
low_add(low_func *f)
{
    enum {
        SUM_16, /* and 32, 64 */
        SATURATING = 3,
        SUM_F32,
        SUM_F64,
        SUM_HALF,
        SUM_FTZ,
        SUM_CARRY /* 32 and 64 */
    };
    const unsigned type = low_type_at(f, 0);
    const uint16_t *ops = f->ops;

    if (low_has(f, PTX_W_cc)) {
        low_carry_sum(f, ops + SUM_CARRY, false);
    }
    else if (low_is_half(type)) {
        low_half_operation(f, ops[SUM_HALF], type, 2);
    }
    else if (ptx_type_is_float(type)) {
        low_float_operation(
            f, (low_float_ops){ops[SUM_F32], ops[SUM_F64], ops[SUM_FTZ]}, type, 2);
    }
    else if (type == PTX_W_s16x2 || type == PTX_W_u16x2) {
        arithmetic_pair_sum(f, type);
    }
    else if (low_has(f, PTX_W_sat)) {
        if (type != PTX_W_s32) {
            low_unsupported(f);
        }
        low_integer_binary(f, ops[SATURATING], type);
    }
    else {
        low_integer_binary(f, low_op_by_width(f, ops + SUM_16, type), type);
    }
}

/* addc, subc */
void
low_addc(low_func *f)
{
    low_carry_sum(f, f->ops, true);
}

/* -- products ---------------------------------------------------------------------- */

void
low_mul(low_func *f)
{
    enum { LOW = 4, HIGH = 7, WIDE = 13 };
    const unsigned type = low_type_at(f, 0);

    if (low_is_half(type)) {
        low_half_operation(f, f->ops[LOW_ROW_HALF], type, 2);
    }
    else if (ptx_type_is_float(type)) {
        low_float_operation(f, arithmetic_float_ops(f), type, 2);
    }
    else if (low_has(f, PTX_W_wide)) {
        low_value d, a, b;

        low_check_operand_count(f, 3, 3);
        b = low_source_at(f, 2, type);
        a = low_source_at(f, 1, type);
        d = low_result(f, low_type_wide(f, type));
        low_emit(f, low_op_wide(f, f->ops + WIDE, type), d, a, b, 0);
    }
    else if (low_has(f, PTX_W_hi)) {
        low_integer_binary(f, low_op_by_type(f, f->ops + HIGH, type), type);
    }
    else {
        low_integer_binary(f, low_op_by_width(f, f->ops + LOW, type), type);
    }
}

enum {
    MAD_LOW = 4,
    MAD_PRODUCT = 7,
    MAD_HIGH = 10,
    MAD_WIDE = 16,
    MAD_SUM = 20,
    MAD_SATURATING = 23,
    MAD_CARRY
};

/* mad.hi has no operation of its own: emits a product and a sum. */
static void
arithmetic_mad_high(low_func *f, unsigned type)
{
    const bool sat = low_has(f, PTX_W_sat);
    low_value product, c;
    unsigned op;

    if (sat && type != PTX_W_s32) {
        low_unsupported(f);
    }
    product = low_product(f, f->ops + MAD_PRODUCT, f->ops + MAD_HIGH, type);
    c = low_source_at(f, 3, type);
    op = f->ops[MAD_SATURATING];
    if (!sat) {
        op = low_op_by_width(f, f->ops + MAD_SUM, type);
    }
    low_emit(f, op, low_result(f, type), product, c, 0);
}

void
low_mad(low_func *f)
{
    const unsigned type = low_type_at(f, 0);
    unsigned op, sum_type = type;
    low_value d, a, b, c;

    if (ptx_type_is_float(type)) {
        low_float_operation(f, arithmetic_float_ops(f), type, 3);
        return;
    }
    if (low_has(f, PTX_W_cc)) {
        low_carry_mad(f, f->ops + MAD_PRODUCT, f->ops + MAD_HIGH, f->ops + MAD_CARRY,
                      false);
        return;
    }
    low_check_operand_count(f, 4, 4);
    if (low_has(f, PTX_W_hi) && !low_has(f, PTX_W_wide)) {
        arithmetic_mad_high(f, type);
        return;
    }
    if (low_has(f, PTX_W_wide)) {
        sum_type = low_type_wide(f, type);
        op = low_op_wide(f, f->ops + MAD_WIDE, type);
    }
    else {
        op = low_op_by_width(f, f->ops + MAD_LOW, type);
    }
    c = low_source_at(f, 3, sum_type);
    b = low_source_at(f, 2, type);
    a = low_source_at(f, 1, type);
    d = low_result(f, sum_type);
    low_emit(f, op, d, a, b, c);
}

void
low_madc(low_func *f)
{
    enum { LOW, HIGH = 3, SUMS = 9 };

    low_carry_mad(f, f->ops + LOW, f->ops + HIGH, f->ops + SUMS, true);
}

/* The row's operation on 24 bits: low unsigned, low signed, high unsigned, high signed.
 */
static unsigned
arithmetic_op_of_24_bits(const low_func *f, unsigned type)
{
    const bool high = low_has(f, PTX_W_hi);

    if (type == PTX_W_s32) {
        return f->ops[(size_t)high * 2 + 1];
    }
    return f->ops[(size_t)high * 2];
}

void
low_mul24(low_func *f)
{
    const unsigned type = low_type_at(f, 0);

    low_integer_binary(f, arithmetic_op_of_24_bits(f, type), type);
}

void
low_mad24(low_func *f)
{
    enum { SUM = 4, SATURATING };
    const unsigned type = low_type_at(f, 0);
    low_value product, a, b, c;
    unsigned op = f->ops[SUM];

    low_check_operand_count(f, 4, 4);
    product = low_temp(f, PTX_R32);
    b = low_source_at(f, 2, type);
    a = low_source_at(f, 1, type);
    low_emit(f, arithmetic_op_of_24_bits(f, type), product, a, b, 0);
    if (low_has(f, PTX_W_sat)) {
        op = f->ops[SATURATING];
    }
    c = low_source_at(f, 3, type);
    low_emit(f, op, low_result(f, type), product, c, 0);
}

void
low_fma(low_func *f)
{
    const unsigned type = low_type_at(f, 0);

    if (low_is_half(type)) {
        low_half_operation(f, f->ops[LOW_ROW_HALF], type, 3);
    }
    else {
        low_float_operation(f, arithmetic_float_ops(f), type, 3);
    }
}

/* -- quotients, remainders, signs -------------------------------------------------- */

void
low_div(low_func *f)
{
    enum { BY_TYPE, DIV_F32 = 6, DIV_F64, DIV_APPROXIMATE };
    const unsigned type = low_type_at(f, 0);
    low_float_ops ops = {.f32 = f->ops[DIV_F32], .f64 = f->ops[DIV_F64]};

    if (!ptx_type_is_float(type)) {
        low_integer_binary(f, low_op_by_type(f, f->ops + BY_TYPE, type), type);
        return;
    }
    if (low_has(f, PTX_W_approx)) {
        ops.f32 = f->ops[DIV_APPROXIMATE];
    }
    low_float_operation(f, ops, type, 2);
}

void
low_rem(low_func *f)
{
    const unsigned type = low_type_at(f, 0);

    low_integer_binary(f, low_op_by_type(f, f->ops, type), type);
}

/* neg, abs */
void
low_sign(low_func *f)
{
    enum { BY_WIDTH, SIGN_F32 = 3, SIGN_F64, SIGN_HALF };
    const unsigned type = low_type_at(f, 0);
    low_value a;
    unsigned op;

    if (low_is_half(type)) {
        low_half_operation(f, f->ops[SIGN_HALF], type, 1);
        return;
    }
    if (ptx_type_is_float(type)) {
        low_float_operation(
            f, (low_float_ops){.f32 = f->ops[SIGN_F32], .f64 = f->ops[SIGN_F64]}, type,
            1);
        return;
    }
    low_check_operand_count(f, 2, 2);
    a = low_source_at(f, 1, type);
    op = low_op_by_width(f, f->ops + BY_WIDTH, type);
    low_emit(f, op, low_result(f, type), a, 0, 0);
}

/* -- minimum and maximum ----------------------------------------------------------- */

enum { EXTREME_BY_TYPE, EXTREME_F32 = 6, EXTREME_F64, EXTREME_HALF, EXTREME_NAN };

/* min.xorsign.abs: the result is that of the magnitudes; its sign is the product of the
 * signs. The last operation gives all NaN the same bits. */
static void
arithmetic_extreme_xorsign(low_func *f, unsigned op)
{
    low_value d = low_result(f, PTX_W_f32);
    low_value a = low_flush(f, low_source_at(f, 1, PTX_W_f32));
    low_value b = low_flush(f, low_source_at(f, 2, PTX_W_f32));
    low_value sign = low_temp(f, PTX_R32), x = low_temp(f, PTX_R32),
              y = low_temp(f, PTX_R32), r = low_temp(f, PTX_R32),
              with_sign = low_temp(f, PTX_R32);

    low_emit(f, EMU_OP_xor_32, sign, a, b, 0);
    low_emit(f, EMU_OP_abs_f32, x, a, 0, 0);
    low_emit(f, EMU_OP_abs_f32, y, b, 0, 0);
    low_emit(f, op, r, x, y, 0);
    low_emit(f, EMU_OP_copysign_f32, with_sign, sign, r, 0);
    low_emit(f, op, d, with_sign, with_sign, 0);
}

static void
arithmetic_extreme_single(low_func *f)
{
    unsigned op = f->ops[EXTREME_F32];

    if (low_has(f, PTX_W_NaN)) {
        op = f->ops[EXTREME_NAN];
    }
    if (low_has(f, PTX_W_xorsign)) {
        arithmetic_extreme_xorsign(f, op);
    }
    else {
        low_float_operation(f, (low_float_ops){.f32 = op}, PTX_W_f32, 2);
    }
}

static void
arithmetic_extreme_pair(low_func *f, unsigned type)
{
    const bool relu = low_has(f, PTX_W_relu), is_signed = type == PTX_W_s16x2;
    low_value zero = low_constant(f, PTX_R32, 0), d = low_result(f, type), r = d, a, b;
    unsigned number = EMU_VIDEO_MAX;
    low_insn *insn;

    if (f->in->opcode == PTX_OP_min) {
        number = EMU_VIDEO_MIN;
    }
    if (relu && !is_signed) {
        low_unsupported(f);
    }
    if (relu) {
        r = low_temp(f, PTX_R32);
    }
    b = low_source_at(f, 2, type);
    a = low_source_at(f, 1, type);
    insn = low_emit_pair(f, number, r, a, b, zero);
    if (is_signed) {
        insn->imm |= EMU_VIDEO_SIGNED;
    }
    if (relu) {
        low_emit_pair(f, EMU_VIDEO_MAX, d, r, zero, zero)->imm |= EMU_VIDEO_SIGNED;
    }
}

static void
arithmetic_extreme_integer(low_func *f, unsigned type)
{
    low_value d = low_result(f, type), a, b, r = d;
    const bool relu = low_has(f, PTX_W_relu);

    a = low_source_at(f, 1, type);
    b = low_source_at(f, 2, type);
    if (relu && type != PTX_W_s32) {
        low_unsupported(f);
    }
    if (relu) {
        r = low_temp(f, PTX_R32);
    }
    low_emit(f, low_op_by_type(f, f->ops + EXTREME_BY_TYPE, type), r, a, b, 0);
    if (relu) {
        low_emit(f, EMU_OP_max_s32, d, r, low_constant(f, PTX_R32, 0), 0);
    }
}

/* min, max */
void
low_extreme(low_func *f)
{
    const unsigned type = low_type_at(f, 0);

    low_check_operand_count(f, 3, 3);
    if (type == PTX_W_f32) {
        arithmetic_extreme_single(f);
    }
    else if (type == PTX_W_f64) {
        low_float_operation(f, (low_float_ops){.f64 = f->ops[EXTREME_F64]}, type, 2);
    }
    else if (low_is_half(type)) {
        low_half_operation(f, f->ops[EXTREME_HALF], type, 2);
    }
    else if (type == PTX_W_s16x2 || type == PTX_W_u16x2) {
        arithmetic_extreme_pair(f, type);
    }
    else {
        arithmetic_extreme_integer(f, type);
    }
}
