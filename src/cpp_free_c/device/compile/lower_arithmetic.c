/* Lowering of the arithmetic opcodes: sums, products, quotients, remainders, signs,
 * minimum and maximum, and the functions on floating-point numbers: rcp to testp. */
#include "device/compile/lower.h"

#include "device/base/number.h"
#include "device/compile/encoding.h"

/* -- the integer forms: sums and products with carry, pairs of 16-bit integers ----- */

/* -- which operation --------------------------------------------------------------- */

/* Of three operations the one for 16, 32 or 64 bits. */
static unsigned
low_op_by_width(const low_func *f, const uint16_t ops[3], unsigned type)
{
    switch (ptx_type_size(type)) {
        case 2:
            return ops[0];
        case 4:
            return ops[1];
        case 8:
            return ops[2];
        default:
            low_unsupported(f);
    }
}

/* Of six operations the one for u16, s16, u32, s32, u64 or s64. */
static unsigned
low_op_by_type(const low_func *f, const uint16_t ops[6], unsigned type)
{
    switch (type) {
        case PTX_W_u16:
        case PTX_W_b16:
            return ops[0];
        case PTX_W_s16:
            return ops[1];
        case PTX_W_u32:
        case PTX_W_b32:
            return ops[2];
        case PTX_W_s32:
            return ops[3];
        case PTX_W_u64:
        case PTX_W_b64:
            return ops[4];
        case PTX_W_s64:
            return ops[5];
        default:
            low_unsupported(f);
    }
}

/* The type with twice the bits, for .wide. */
static unsigned
low_type_wide(const low_func *f, unsigned type)
{
    switch (type) {
        case PTX_W_u16:
            return PTX_W_u32;
        case PTX_W_s16:
            return PTX_W_s32;
        case PTX_W_u32:
            return PTX_W_u64;
        case PTX_W_s32:
            return PTX_W_s64;
        default:
            low_unsupported(f);
    }
}

/* Of four operations the one for u16, s16, u32 or s32. */
static unsigned
low_op_wide(const low_func *f, const uint16_t ops[4], unsigned type)
{
    switch (type) {
        case PTX_W_u16:
            return ops[0];
        case PTX_W_s16:
            return ops[1];
        case PTX_W_u32:
            return ops[2];
        case PTX_W_s32:
            return ops[3];
        default:
            low_unsupported(f);
    }
}

/* -- sums -------------------------------------------------------------------------- */

/* Lowers the instruction to d = a op b. */
static void
low_integer_binary(low_func *f, unsigned op, unsigned type)
{
    low_value d, a, b;

    low_check_operand_count(f, 3, 3);
    b = low_source_at(f, 2, type);
    a = low_source_at(f, 1, type);
    d = low_result(f, type);
    low_emit(f, op, d, a, b, 0);
}

/* Of two operations the one for 32 or 64 bits. */
static unsigned
integer_carry_op(const low_func *f, const uint16_t ops[2], unsigned type)
{
    switch (ptx_type_size(type)) {
        case 4:
            return ops[0];
        case 8:
            return ops[1];
        default:
            low_unsupported(f);
    }
}

/* Emits d = a op b. `in`: the carry is the third source. Under .cc it is also a result.
 */
static void
integer_emit_carry(low_func *f, unsigned op, low_value d, low_value a, low_value b,
                   bool in)
{
    low_value carry = 0;
    low_insn *insn;

    if (in) {
        carry = f->carry;
    }
    insn = low_emit(f, op, d, a, b, carry);
    insn->aux = in;
    if (low_has(f, PTX_W_cc)) {
        insn->e = f->carry;
        insn->aux |= 2;
    }
}

/* Lowers the instruction to a sum that sets or reads the carry. `ops` are the
 * operations for 32 and 64 bits; `in`: the sum reads the carry. */
static void
low_carry_sum(low_func *f, const uint16_t ops[2], bool in)
{
    const unsigned type = low_type_at(f, 0);
    const unsigned op = integer_carry_op(f, ops, type);
    low_value d, a, b;

    low_check_operand_count(f, 3, 3);
    b = low_source_at(f, 2, type);
    a = low_source_at(f, 1, type);
    d = low_result(f, type);
    integer_emit_carry(f, op, d, a, b, in);
}

/* -- products ---------------------------------------------------------------------- */

/* A new register with the product of the first two sources. */
static low_value
low_product(low_func *f, const uint16_t low[3], const uint16_t high[6], unsigned type)
{
    low_value product = low_temp(f, ptx_type_class(type)), a, b;
    unsigned op;

    b = low_source_at(f, 2, type);
    a = low_source_at(f, 1, type);
    if (low_has(f, PTX_W_hi)) {
        op = low_op_by_type(f, high, type);
    }
    else {
        op = low_op_by_width(f, low, type);
    }
    low_emit(f, op, product, a, b, 0);
    return product;
}

/* The same for a product and a sum. `low` are the products by width; `high` are those
 * by type, for .hi; `sums` are for 32 and 64 bits. */
static void
low_carry_mad(low_func *f, const uint16_t low[3], const uint16_t high[6],
              const uint16_t sums[2], bool in)
{
    const unsigned type = low_type_at(f, 0);
    const unsigned op = integer_carry_op(f, sums, type);
    low_value product, c;

    low_check_operand_count(f, 4, 4);
    product = low_product(f, low, high, type);
    c = low_source_at(f, 3, type);
    integer_emit_carry(f, op, low_result(f, type), product, c, in);
}

/* -- pairs of 16-bit integers ------------------------------------------------------ */

/* Emits the operation of simd_video with this EMU_VIDEO_ number. `zero` is a register
 * of zeros. */
static low_insn *
low_emit_pair(low_func *f, unsigned number, low_value d, low_value a, low_value b,
              low_value zero)
{
    low_insn *insn = low_emit(f, EMU_OP_simd_video, d, a, b, zero);

    insn->aux = number;
    insn->imm = EMU_VIDEO_PAIRS;
    return insn;
}

/* -- the forms in single and double precision -------------------------------------- */

/* The positions of the operations on floating-point numbers in most rows of
 * tables/opcodes.h. */
enum { LOW_ROW_F32, LOW_ROW_F64, LOW_ROW_HALF, LOW_ROW_FTZ };

/* The operations of an opcode on floating-point numbers; 0 where there is none. */
typedef struct {
    unsigned f32, f64;
    unsigned ftz; /* f32 with .ftz: the operation itself flushes */
} low_float_ops;

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

/* Lowers the instruction to one of the operations, which reads the first `sources`
 * sources. Adds the operations that .ftz and .sat need. */
static void
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
    if (!single && sources == 3 && f->in->operands[1].kind == PTX_O_F64) {
        /* as ptxas does; it decides which NaN the result is */
        const low_value number = v[0];

        v[0] = v[1];
        v[1] = number;
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

/* -- the forms in half precision: .f16, .bf16 and pairs of them -------------------- */

static bool
half_is_pair(unsigned type)
{
    return type == PTX_W_f16x2 || type == PTX_W_bf16x2;
}

/* Whether the type is .f16, .bf16 or a pair of them. */
static bool
low_is_half(unsigned type)
{
    return type == PTX_W_f16 || type == PTX_W_bf16 || half_is_pair(type);
}

/* The first source; for neg.ftz and abs.ftz, with subnormal numbers flushed to zero.
 * The other operations flush their sources themselves. */
static low_value
half_flushed(low_func *f, unsigned op, uint32_t format, low_value value)
{
    enum { ONE = 0x3c00 };
    low_value d;

    if ((op != EMU_OP_neg_half && op != EMU_OP_abs_half) ||
        (format & EMU_HALF_FTZ) == 0) {
        return value;
    }
    d = low_temp(f, PTX_R16);
    low_emit(f, EMU_OP_half_mul, d, value, low_constant(f, PTX_R16, ONE), 0)->aux =
        format;
    return d;
}

/* Emits one operation on halves, then that of .sat or .relu. */
static void
half_emit(low_func *f, unsigned op, uint32_t format, low_value d, const low_value v[3])
{
    const bool sat = low_has(f, PTX_W_sat), relu = low_has(f, PTX_W_relu);
    low_value result = d;
    low_insn *insn;

    if (sat || relu) {
        result = low_temp(f, PTX_R16);
    }
    insn = low_emit(f, op, result, half_flushed(f, op, format, v[0]), v[1], v[2]);
    insn->aux = format;
    if (low_has(f, PTX_W_NaN)) {
        insn->imm |= EMU_HALF_PREFERS_NAN;
    }
    if (low_has(f, PTX_W_xorsign)) {
        insn->imm |= EMU_HALF_XORSIGN;
    }
    if (result != d) {
        insn = low_emit(f, EMU_OP_half_sat, d, result, 0, 0);
        insn->aux = format;
        insn->imm = relu;
    }
}

/* Lowers the instruction to `op`, which reads the first `sources` sources. A pair gets
 * one operation for each half. */
static void
low_half_operation(low_func *f, unsigned op, unsigned type, unsigned sources)
{
    uint32_t format = EMU_F16;
    low_value d, v[3] = {0, 0, 0}, parts[2][3] = {{0}}, results[2];

    if (type == PTX_W_bf16 || type == PTX_W_bf16x2) {
        format = EMU_BF16;
    }
    if (low_has(f, PTX_W_ftz)) {
        format |= EMU_HALF_FTZ;
    }
    if (low_has(f, PTX_W_oob)) {
        format |= EMU_HALF_OOB;
    }
    low_check_operand_count(f, sources + 1, sources + 1);
    d = low_result(f, type);
    for (unsigned i = 0; i < sources; i++) {
        v[i] = low_source_at(f, i + 1, type);
    }
    if (!half_is_pair(type)) {
        half_emit(f, op, format, d, v);
        return;
    }
    for (unsigned k = 0; k < 2; k++) {
        for (unsigned i = 0; i < sources; i++) {
            parts[k][i] = low_temp(f, PTX_R16);
            low_emit(f, EMU_OP_part_16from32, parts[k][i], v[i], 0, 0)->imm =
                (int64_t)16 * k;
        }
        results[k] = low_temp(f, PTX_R16);
        half_emit(f, op, format, results[k], parts[k]);
    }
    low_emit(f, EMU_OP_join_32, d, results[0], results[1], 0);
}

/* -- the opcodes ------------------------------------------------------------------- */

/* Each function chooses by the type; the forms above emit the operations of one kind of
 * numbers. A function reads the operations of its
 * row by position; an enum names the positions. */

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

/* -- functions on floating-point numbers ------------------------------------------- */

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
