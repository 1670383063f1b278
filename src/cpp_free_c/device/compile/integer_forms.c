/* The integer forms of arithmetic opcodes. See integer_forms.h. */
#include "device/compile/integer_forms.h"

#include "device/compile/encoding.h"
#include "device/compile/lower_operand.h"

/* -- which operation --------------------------------------------------------------- */

unsigned
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

unsigned
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

unsigned
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

unsigned
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

void
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

void
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

low_value
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

void
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

low_insn *
low_emit_pair(low_func *f, unsigned number, low_value d, low_value a, low_value b,
              low_value zero)
{
    low_insn *insn = low_emit(f, EMU_OP_simd_video, d, a, b, zero);

    insn->aux = number;
    insn->imm = EMU_VIDEO_PAIRS;
    return insn;
}
