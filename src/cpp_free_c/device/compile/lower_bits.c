/* Lowering of logic, shifts, bit fields and bytes. See lower_opcodes.h. */
#include "device/compile/encoding.h"
#include "device/compile/lower_opcodes.h"
#include "device/compile/lower_operand.h"

/* Of four operations the one for a predicate, 16, 32 or 64 bits. */
static unsigned
bits_op(const low_func *f, const uint16_t ops[4], unsigned type)
{
    const ptx_class width = ptx_type_class(type);

    if (width > PTX_R64 || ops[width] == EMU_OP_NONE || ptx_type_size(type) == 0 ||
        (ptx_type_size(type) == 1 && width != PTX_PRED)) {
        low_unsupported(f);
    }
    return ops[width];
}

/* Of two operations the one for 32 or 64 bits. */
static unsigned
bits_op_of_size(const low_func *f, unsigned type)
{
    switch (ptx_type_size(type)) {
        case 4:
            return f->ops[0];
        case 8:
            return f->ops[1];
        default:
            low_unsupported(f);
    }
}

/* and, or, xor */
void
low_logic(low_func *f)
{
    const unsigned type = low_type_at(f, 0), op = bits_op(f, f->ops, type);
    low_value a, b;

    low_check_operand_count(f, 3, 3);
    b = low_source_at(f, 2, type);
    a = low_source_at(f, 1, type);
    low_emit(f, op, low_result(f, type), a, b, 0);
}

/* not, cnot, brev */
void
low_unary(low_func *f)
{
    const unsigned type = low_type_at(f, 0), op = bits_op(f, f->ops, type);
    low_value a, b = 0;

    low_check_operand_count(f, 2, 2);
    a = low_source_at(f, 1, type);
    if (type == PTX_W_pred) {
        b = a; /* operations on predicates read two sources */
    }
    low_emit(f, op, low_result(f, type), a, b, 0);
}

/* -- shifts ------------------------------------------------------------------------ */

static void
bits_shift(low_func *f, const uint16_t ops[4], unsigned type)
{
    const unsigned op = bits_op(f, ops, type);
    low_value a, by;

    low_check_operand_count(f, 3, 3);
    by = low_source_at(f, 2, PTX_W_u32);
    a = low_source_at(f, 1, type);
    low_emit(f, op, low_result(f, type), a, by, 0);
}

void
low_shift(low_func *f)
{
    bits_shift(f, f->ops, low_type_at(f, 0));
}

void
low_shr(low_func *f)
{
    enum { UNSIGNED = 0, SIGNED = 4 };
    const unsigned type = low_type_at(f, 0);
    unsigned first = UNSIGNED;

    if (ptx_type_is_signed(type)) {
        first = SIGNED;
    }
    bits_shift(f, f->ops + first, type);
}

/* -- bits -------------------------------------------------------------------------- */

static low_insn *
bits_count(low_func *f)
{
    const unsigned type = low_type_at(f, 0), op = bits_op_of_size(f, type);
    low_value a;

    low_check_operand_count(f, 2, 2);
    a = low_source_at(f, 1, type);
    return low_emit(f, op, low_result(f, PTX_W_u32), a, 0, 0);
}

/* popc, clz */
void
low_count_bits(low_func *f)
{
    (void)bits_count(f);
}

void
low_bfind(low_func *f)
{
    const uint32_t is_signed = ptx_type_is_signed(low_type_at(f, 0));
    const uint32_t shift_amount = low_has(f, PTX_W_shiftamt);

    bits_count(f)->aux = is_signed | shift_amount << 1;
}

void
low_bfe(low_func *f)
{
    const unsigned type = low_type_at(f, 0), op = bits_op_of_size(f, type);
    low_value a, start, length;

    low_check_operand_count(f, 4, 4);
    length = low_source_at(f, 3, PTX_W_u32);
    start = low_source_at(f, 2, PTX_W_u32);
    a = low_source_at(f, 1, type);
    low_emit(f, op, low_result(f, type), a, start, length)->aux =
        ptx_type_is_signed(type);
}

void
low_bfi(low_func *f)
{
    const unsigned type = low_type_at(f, 0), op = bits_op_of_size(f, type);
    low_value d, a, b, start, length;

    low_check_operand_count(f, 5, 5);
    d = low_result(f, type);
    a = low_source_at(f, 1, type);
    b = low_source_at(f, 2, type);
    start = low_source_at(f, 3, PTX_W_u32);
    length = low_source_at(f, 4, PTX_W_u32);
    low_add_x(f, low_emit(f, op, d, a, b, start), length, false);
}

void
low_sad(low_func *f)
{
    const unsigned type = low_type_at(f, 0), op = bits_op(f, f->ops, type);
    low_value a, b, c;

    low_check_operand_count(f, 4, 4);
    c = low_source_at(f, 3, type);
    b = low_source_at(f, 2, type);
    a = low_source_at(f, 1, type);
    low_emit(f, op, low_result(f, type), a, b, c)->aux = ptx_type_is_signed(type);
}

/* -- words ------------------------------------------------------------------------- */

/* The row's operation on three words of 32 bits. */
static low_insn *
bits_three_words(low_func *f)
{
    low_value a, b, c;

    low_check_operand_count(f, 4, 5);
    c = low_source_at(f, 3, PTX_W_b32);
    b = low_source_at(f, 2, PTX_W_b32);
    a = low_source_at(f, 1, PTX_W_b32);
    return low_emit(f, f->ops[0], low_result(f, PTX_W_b32), a, b, c);
}

static low_insn *
bits_two_words(low_func *f)
{
    low_value a, b;

    low_check_operand_count(f, 3, 3);
    b = low_source_at(f, 2, PTX_W_b32);
    a = low_source_at(f, 1, PTX_W_b32);
    return low_emit(f, f->ops[0], low_result(f, PTX_W_b32), a, b, 0);
}

void
low_shf(low_func *f)
{
    const uint32_t right = low_has(f, PTX_W_r), clamp = low_has(f, PTX_W_clamp);

    bits_three_words(f)->aux = right | clamp << 1;
}

void
low_prmt(low_func *f)
{
    static const uint16_t modes[] = {PTX_W_f4e, PTX_W_b4e, PTX_W_rc8,
                                     PTX_W_ecl, PTX_W_ecr, PTX_W_rc16};
    enum { MODES = sizeof modes / sizeof *modes };
    const unsigned mode = low_find(f, modes, MODES);

    /* mode 0 is the plain one */
    bits_three_words(f)->aux = (mode + 1) % (MODES + 1);
}

void
low_fns(low_func *f)
{
    (void)bits_three_words(f);
}

/* lop3.and.b32 d|p, a, b, c, table, q: p says whether d is not zero, and q. */
static void
bits_lop3_predicate(low_func *f)
{
    const ptx_operand *operands = f->in->operands;
    low_value a, b, c, d, p, q, any = low_temp(f, PTX_PRED);
    unsigned op = EMU_OP_or_p;

    low_check_operand_count(f, 6, 6);
    if (f->in->second == NULL) {
        low_fail(f, "there is no predicate to write");
    }
    if (low_has(f, PTX_W_and)) {
        op = EMU_OP_and_p;
    }
    q = low_predicate(f, &operands[5]);
    c = low_source_at(f, 3, PTX_W_b32);
    b = low_source_at(f, 2, PTX_W_b32);
    a = low_source_at(f, 1, PTX_W_b32);
    d = low_target(f, &operands[0], PTX_R32);
    p = low_target(f, f->in->second, PTX_PRED);
    low_emit(f, f->ops[0], d, a, b, c)->imm =
        (int64_t)(low_number(f, &operands[4]) & 0xff);
    low_emit(f, EMU_OP_ne_32, any, d, low_constant(f, PTX_R32, 0), 0);
    low_emit(f, op, p, any, q, 0);
}

void
low_lop3(low_func *f)
{
    if (low_has(f, PTX_W_and) || low_has(f, PTX_W_or)) {
        bits_lop3_predicate(f);
        return;
    }
    low_check_operand_count(f, 5, 5);
    bits_three_words(f)->imm = (int64_t)(low_number(f, &f->in->operands[4]) & 0xff);
}

void
low_bmsk(low_func *f)
{
    bits_two_words(f)->aux = low_has(f, PTX_W_clamp);
}

void
low_szext(low_func *f)
{
    const uint32_t clamp = low_has(f, PTX_W_clamp);
    const uint32_t is_signed = ptx_type_is_signed(low_type_at(f, 0));

    bits_two_words(f)->aux = clamp | is_signed << 1;
}

/* dp4a, dp2a */
void
low_dot(low_func *f)
{
    const uint32_t first = ptx_type_is_signed(low_type_at(f, 0));
    const uint32_t second = ptx_type_is_signed(low_type_at(f, 1));
    const uint32_t high = low_has(f, PTX_W_hi);

    bits_three_words(f)->aux = first | second << 1 | high << 2;
}
