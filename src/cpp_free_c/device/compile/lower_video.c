/* Lowering of video instructions. See lower_opcodes.h. */
#include "device/compile/encoding.h"
#include "device/compile/lower_opcodes.h"
#include "device/compile/lower_operand.h"

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
