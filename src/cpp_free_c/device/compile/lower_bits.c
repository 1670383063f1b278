/* Lowering of logic, shifts, bit fields and bytes, and of video instructions. */
#include "device/compile/lower.h"

#include "device/compile/encoding.h"

/* -- logic, shifts, bit fields, bytes ---------------------------------------------- */

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

/* -- video instructions ------------------------------------------------------------ */

/* -- selectors: .h1 of an operand %r1.h1 ------------------------------------------- */

/* The EMU_VIDEO_ part that the selector of an operand names. */
static uint32_t
video_part_of(const low_func *f, const ptx_operand *operand)
{
    const ptx_selector *s = &operand->selector;

    if (s->letter == 0) {
        return EMU_VIDEO_WHOLE;
    }
    if (s->count == 1 && s->letter == 'b' && s->digits[0] < 4) {
        return EMU_VIDEO_B0 + s->digits[0];
    }
    if (s->count == 1 && s->letter == 'h' && s->digits[0] < 2) {
        return EMU_VIDEO_H0 + s->digits[0];
    }
    low_fail(f, "an operand has a selector of another opcode");
}

/* The bytes of {b, a} that a selector of `parts` parts names, as prmt names them: the
 * byte of the lowest part last. Without a selector: those of `plain`. */
static uint32_t
video_bytes_of(const low_func *f, const ptx_operand *operand, unsigned parts,
               uint32_t plain)
{
    const ptx_selector *s = &operand->selector;
    uint32_t bytes = 0;

    if (s->letter == 0) {
        return plain;
    }
    if (s->count != parts || s->letter != (parts == 2 ? 'h' : 'b')) {
        low_fail(f, "an operand has a selector of another opcode");
    }
    for (unsigned i = 0; i < parts; i++) {
        const uint32_t digit = s->digits[i];

        if (digit >= 2 * parts) {
            low_fail(f, "a selector names part %u", digit);
        }
        if (parts == 2) {
            bytes = bytes << 8 | (2 * digit + 1) << 4 | 2 * digit;
        }
        else {
            bytes = bytes << 4 | digit;
        }
    }
    return bytes;
}

/* The bits of the result that the selector of the destination names. */
static uint32_t
video_mask_of(const low_func *f, const ptx_operand *operand, unsigned parts)
{
    const ptx_selector *s = &operand->selector;
    const unsigned bits = 32 / parts;
    uint32_t mask = 0;

    if (s->letter == 0) {
        return UINT32_MAX;
    }
    if (s->letter != (parts == 2 ? 'h' : 'b')) {
        low_fail(f, "an operand has a selector of another opcode");
    }
    for (unsigned i = 0; i < s->count; i++) {
        if (s->digits[i] >= parts) {
            low_fail(f, "a selector names part %u", s->digits[i]);
        }
        mask |= (UINT32_MAX >> (32 - bits)) << (s->digits[i] * bits);
    }
    return mask;
}

/* -- what the opcode does ---------------------------------------------------------- */

/* The EMU_VIDEO_ number of the opcode. *parts: how many parts its operands have. */
static unsigned
video_operation(const low_func *f, unsigned *parts)
{
    static const uint16_t opcodes[][3] = {
        [EMU_VIDEO_ADD] = {PTX_OP_vadd, PTX_OP_vadd2, PTX_OP_vadd4},
        [EMU_VIDEO_SUB] = {PTX_OP_vsub, PTX_OP_vsub2, PTX_OP_vsub4},
        [EMU_VIDEO_AVRG] = {PTX_OP_NONE, PTX_OP_vavrg2, PTX_OP_vavrg4},
        [EMU_VIDEO_ABSDIFF] = {PTX_OP_vabsdiff, PTX_OP_vabsdiff2, PTX_OP_vabsdiff4},
        [EMU_VIDEO_MIN] = {PTX_OP_vmin, PTX_OP_vmin2, PTX_OP_vmin4},
        [EMU_VIDEO_MAX] = {PTX_OP_vmax, PTX_OP_vmax2, PTX_OP_vmax4},
        [EMU_VIDEO_SET] = {PTX_OP_vset, PTX_OP_vset2, PTX_OP_vset4},
        [EMU_VIDEO_SHL] = {PTX_OP_vshl, PTX_OP_NONE, PTX_OP_NONE},
        [EMU_VIDEO_SHR] = {PTX_OP_vshr, PTX_OP_NONE, PTX_OP_NONE}};

    for (unsigned i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        for (unsigned k = 0; k < 3; k++) {
            if (opcodes[i][k] == f->in->opcode) {
                *parts = 1u << k;
                return i;
            }
        }
    }
    low_unsupported(f);
}

/* The number of the comparison of a set. */
static uint32_t
video_comparison(const low_func *f)
{
    static const uint16_t words[] = {PTX_W_eq, PTX_W_ne, PTX_W_lt,
                                     PTX_W_le, PTX_W_gt, PTX_W_ge};

    return low_find(f, words, 6) % 6;
}

/* The flags of the types. A set has no type for its result; that of a is used. */
static int64_t
video_type_flags(const low_func *f, bool is_set)
{
    const unsigned first = is_set ? 0 : 1;
    int64_t flags = 0;

    if (ptx_type_is_signed(low_type_at(f, 0))) {
        flags |= EMU_VIDEO_D_SIGNED;
    }
    if (ptx_type_is_signed(low_type_at(f, first))) {
        flags |= EMU_VIDEO_A_SIGNED;
    }
    if (ptx_type_is_signed(low_type_at(f, first + 1))) {
        flags |= EMU_VIDEO_B_SIGNED;
    }
    if (low_has(f, PTX_W_sat)) {
        flags |= EMU_VIDEO_SAT;
    }
    return flags;
}

/* -- two or four parts ------------------------------------------------------------- */

/* Bytes of a and b, chosen by a selector. */
static low_value
video_selected(low_func *f, low_value a, low_value b, low_value own, uint32_t bytes,
               uint32_t plain)
{
    low_value d;

    if (bytes == plain) {
        return own;
    }
    d = low_temp(f, PTX_R32);
    low_emit(f, EMU_OP_prmt, d, a, b, low_constant(f, PTX_R32, bytes));
    return d;
}

/* vadd4.u32.s32.u32.sat d, a, b, c and the like: the row's operation. */
void
low_video_parts(low_func *f)
{
    enum { FIRST = 0x3210, SECOND = 0x7654 };
    const ptx_operand *operands = f->in->operands;
    unsigned parts;
    const unsigned operation = video_operation(f, &parts);
    low_value a, b, c, d, r;
    uint32_t first, second, mask;
    low_insn *insn;

    low_check_operand_count(f, 4, 4);
    first = video_bytes_of(f, &operands[1], parts, FIRST);
    second = video_bytes_of(f, &operands[2], parts, SECOND);
    mask = video_mask_of(f, &operands[0], parts);
    c = low_source_at(f, 3, PTX_W_b32);
    b = low_source_at(f, 2, PTX_W_b32);
    a = low_source_at(f, 1, PTX_W_b32);
    d = low_result(f, PTX_W_b32);
    r = d;
    if (mask != UINT32_MAX) {
        r = low_temp(f, PTX_R32);
    }
    first = video_selected(f, a, b, a, first, FIRST);
    second = video_selected(f, a, b, b, second, SECOND);
    insn = low_emit(f, EMU_OP_simd_video, r, first, second, c);
    insn->aux = operation;
    insn->imm = video_type_flags(f, operation == EMU_VIDEO_SET);
    if (operation == EMU_VIDEO_SET) {
        insn->aux |= video_comparison(f) << EMU_VIDEO_COMPARE_SHIFT;
    }
    if (parts == 2) {
        insn->imm |= EMU_VIDEO_PAIRS;
    }
    if (low_has(f, PTX_W_add)) {
        insn->imm |= EMU_VIDEO_SUM;
    }
    if (mask != UINT32_MAX) { /* the other parts are those of c */
        low_emit(f, EMU_OP_lop3, d, r, c, low_constant(f, PTX_R32, mask))->imm = 0xe4;
    }
}

/* -- one part ---------------------------------------------------------------------- */

/* The EMU_VIDEO_THEN_ operation. */
static uint32_t
video_second(const low_func *f)
{
    static const uint16_t words[] = {PTX_W_add, PTX_W_min, PTX_W_max};
    static const uint8_t seconds[] = {EMU_VIDEO_THEN_ADD, EMU_VIDEO_THEN_MIN,
                                      EMU_VIDEO_THEN_MAX, EMU_VIDEO_THEN_NOTHING};
    const unsigned which = low_find(f, words, 3);
    const bool merges = f->in->operands[0].selector.letter != 0;

    if (which < 3 && merges) {
        low_fail(f, "a selector of the destination and an operation with c");
    }
    if (merges) {
        return EMU_VIDEO_THEN_MERGE;
    }
    return seconds[which];
}

/* vadd.s32.u32.s32.sat d, a.b0, b.h1 and the like */
void
low_video(low_func *f)
{
    const ptx_operand *operands = f->in->operands;
    const uint32_t second = video_second(f);
    unsigned parts, operands_count = 3;
    const unsigned operation = video_operation(f, &parts);
    low_value a, b, c;
    low_insn *insn;

    if (second != EMU_VIDEO_THEN_NOTHING) {
        operands_count = 4;
    }
    low_check_operand_count(f, operands_count, operands_count);
    c = low_constant(f, PTX_R32, 0);
    if (operands_count == 4) {
        c = low_source_at(f, 3, PTX_W_b32);
    }
    b = low_source_at(f, 2, PTX_W_b32);
    a = low_source_at(f, 1, PTX_W_b32);
    insn = low_emit(f, f->ops[0], low_result(f, PTX_W_b32), a, b, c);
    insn->aux = operation | second << EMU_VIDEO_SECOND_SHIFT |
                video_part_of(f, &operands[0]) << EMU_VIDEO_D_SHIFT |
                video_part_of(f, &operands[1]) << EMU_VIDEO_A_SHIFT |
                video_part_of(f, &operands[2]) << EMU_VIDEO_B_SHIFT;
    insn->imm = video_type_flags(f, operation == EMU_VIDEO_SET);
    if (operation == EMU_VIDEO_SET) {
        insn->aux |= video_comparison(f) << EMU_VIDEO_COMPARE_SHIFT;
    }
    if (low_has(f, PTX_W_wrap)) {
        insn->imm |= EMU_VIDEO_WRAP;
    }
}

/* vmad.s32.s32.u32.sat.shr7 d, -a.h0, b, c */
void
low_video_mad(low_func *f)
{
    const ptx_operand *operands = f->in->operands;
    uint32_t scale = 0;
    low_value a, b, c;
    low_insn *insn;

    low_check_operand_count(f, 4, 4);
    if (low_has(f, PTX_W_shr7)) {
        scale = 7;
    }
    else if (low_has(f, PTX_W_shr15)) {
        scale = 15;
    }
    c = low_source_at(f, 3, PTX_W_b32);
    b = low_source_at(f, 2, PTX_W_b32);
    a = low_source_at(f, 1, PTX_W_b32);
    insn = low_emit(f, f->ops[0], low_result(f, PTX_W_b32), a, b, c);
    insn->aux = scale << EMU_VIDEO_SCALE_SHIFT |
                video_part_of(f, &operands[1]) << EMU_VIDEO_A_SHIFT |
                video_part_of(f, &operands[2]) << EMU_VIDEO_B_SHIFT;
    insn->imm = video_type_flags(f, false);
    if (low_has(f, PTX_W_po)) {
        insn->imm |= EMU_VIDEO_PLUS_ONE;
    }
    if (operands[1].minus != operands[2].minus) {
        insn->imm |= EMU_VIDEO_NEGATE;
    }
    if (operands[3].minus) {
        insn->imm |= EMU_VIDEO_NEGATE_C;
    }
}
