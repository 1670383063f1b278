/* Lowering of logic, shifts, bit fields and bytes. See lower.h. */
#include "device/compile/lower.h"

static low_value
source(low_func *f, unsigned index, unsigned type)
{
    return low_source(f, &f->in->operands[index], type);
}

static low_value
target(low_func *f, unsigned type)
{
    return low_target(f, &f->in->operands[0], ptx_type_class(type));
}

/* ops: predicate, 16, 32, 64 bits; 0 where there is none. */
static unsigned
pick(const low_func *f, const uint16_t ops[4], unsigned type)
{
    const ptx_class width = ptx_type_class(type);

    if (width > PTX_R64 || !ops[width] || ptx_type_size(type) == 0 ||
        (ptx_type_size(type) == 1 && width != PTX_PRED)) {
        low_unsupported(f);
    }
    return ops[width];
}

static void
logic(low_func *f, const uint16_t ops[4])
{
    const unsigned type = low_type(f, 0);
    const unsigned op = pick(f, ops, type);

    low_operands(f, 3, 3);
    low_emit(f, op, target(f, type), source(f, 1, type), source(f, 2, type), 0);
}

static void
unary(low_func *f, const uint16_t ops[4])
{
    const unsigned type = low_type(f, 0);
    const unsigned op = pick(f, ops, type);
    low_value a;

    low_operands(f, 2, 2);
    a = source(f, 1, type);
    low_emit(f, op, target(f, type), a, type == PTX_W_pred ? a : 0, 0);
}

static void
shift(low_func *f, const uint16_t ops[4])
{
    const unsigned type = low_type(f, 0);
    const unsigned op = pick(f, ops, type);

    low_operands(f, 3, 3);
    low_emit(f, op, target(f, type), source(f, 1, type), source(f, 2, PTX_W_u32), 0);
}

/* An operation on 32 or 64 bits with a 32-bit result: popc, clz, bfind. */
static low_insn *
count_bits(low_func *f, unsigned op32, unsigned op64)
{
    const unsigned type = low_type(f, 0), size = ptx_type_size(type);

    if (size != 4 && size != 8) {
        low_unsupported(f);
    }
    low_operands(f, 2, 2);
    return low_emit(f, size == 4 ? op32 : op64, target(f, PTX_W_u32),
                    source(f, 1, type), 0, 0);
}

static void
bit_field(low_func *f)
{
    const unsigned type = low_type(f, 0), size = ptx_type_size(type);

    if (size != 4 && size != 8) {
        low_unsupported(f);
    }
    if (f->in->opcode == PTX_OP_bfe) {
        low_operands(f, 4, 4);
        low_emit(f, size == 4 ? EMU_OP_bfe_32 : EMU_OP_bfe_64, target(f, type),
                 source(f, 1, type), source(f, 2, PTX_W_u32), source(f, 3, PTX_W_u32))
            ->aux = ptx_type_is_signed(type);
    }
    else {
        low_value d, a, b, c, length;
        low_insn *insn;

        low_operands(f, 5, 5);
        d = target(f, type);
        a = source(f, 1, type);
        b = source(f, 2, type);
        c = source(f, 3, PTX_W_u32);
        length = source(f, 4, PTX_W_u32);
        insn = low_emit(f, size == 4 ? EMU_OP_bfi_32 : EMU_OP_bfi_64, d, a, b, c);
        low_add_x(f, insn, length, false);
    }
}

static low_insn *
three_words(low_func *f, unsigned op)
{
    low_operands(f, 4, 5);
    return low_emit(f, op, target(f, PTX_W_b32), source(f, 1, PTX_W_b32),
                    source(f, 2, PTX_W_b32), source(f, 3, PTX_W_b32));
}

static low_insn *
two_words(low_func *f, unsigned op)
{
    low_operands(f, 3, 3);
    return low_emit(f, op, target(f, PTX_W_b32), source(f, 1, PTX_W_b32),
                    source(f, 2, PTX_W_b32), 0);
}

static uint32_t
prmt_mode(const low_func *f)
{
    static const uint16_t modes[] = {PTX_W_f4e, PTX_W_b4e, PTX_W_rc8,
                                     PTX_W_ecl, PTX_W_ecr, PTX_W_rc16};
    uint32_t i;

    for (i = 0; i < 6; i++) {
        if (low_has(f, modes[i])) {
            return i + 1;
        }
    }
    return 0;
}

static void
lower_sad(low_func *f)
{
    static const uint16_t ops[4] = {0, EMU_OP_sad_16, EMU_OP_sad_32, EMU_OP_sad_64};
    const unsigned type = low_type(f, 0);
    const unsigned op = pick(f, ops, type);

    low_operands(f, 4, 4);
    low_emit(f, op, target(f, type), source(f, 1, type), source(f, 2, type),
             source(f, 3, type))
        ->aux = ptx_type_is_signed(type);
}

static void
dot(low_func *f, unsigned op)
{
    low_insn *insn = three_words(f, op);

    insn->aux = (ptx_type_is_signed(low_type(f, 0)) ? 1 : 0) |
                (ptx_type_is_signed(low_type(f, 1)) ? 2 : 0) |
                (low_has(f, PTX_W_hi) ? 4 : 0);
}

/* vadd4.u32.s32.u32.sat d, a, b, c and the like; selectors on the operands, which PTX
 * allows too, did not occur. */
static bool
video(low_func *f)
{
    static const struct {
        uint16_t opcode;
        uint8_t operation, halves;
    } rows[] = {
        {PTX_OP_vadd4, 0, 0},     {PTX_OP_vsub4, 1, 0},     {PTX_OP_vavrg4, 2, 0},
        {PTX_OP_vabsdiff4, 3, 0}, {PTX_OP_vmin4, 4, 0},     {PTX_OP_vmax4, 5, 0},
        {PTX_OP_vset4, 6, 0},     {PTX_OP_vadd2, 0, 1},     {PTX_OP_vsub2, 1, 1},
        {PTX_OP_vavrg2, 2, 1},    {PTX_OP_vabsdiff2, 3, 1}, {PTX_OP_vmin2, 4, 1},
        {PTX_OP_vmax2, 5, 1},     {PTX_OP_vset2, 6, 1}};
    static const uint16_t compares[] = {PTX_W_eq, PTX_W_ne, PTX_W_lt,
                                        PTX_W_le, PTX_W_gt, PTX_W_ge};
    low_insn *insn;
    unsigned i, k, shift_by;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].opcode == f->in->opcode) {
            break;
        }
    }
    if (i == sizeof rows / sizeof *rows) {
        return false;
    }
    insn = three_words(f, EMU_OP_simd_video);
    insn->aux = rows[i].operation;
    for (k = 0; k < 6; k++) {
        insn->aux |= rows[i].operation == 6 && low_has(f, compares[k]) ? k << 4 : 0;
    }
    /* vset has no type of its own result */
    shift_by = rows[i].operation == 6 ? 0 : 1;
    insn->imm = rows[i].halves | (ptx_type_is_signed(low_type(f, shift_by)) ? 2 : 0) |
                (ptx_type_is_signed(low_type(f, shift_by + 1)) ? 4 : 0) |
                (ptx_type_is_signed(low_type(f, 0)) && shift_by ? 8 : 0) |
                (low_has(f, PTX_W_sat) ? 16 : 0) | (low_has(f, PTX_W_add) ? 32 : 0);
    return true;
}

static bool
word_operation(low_func *f)
{
    switch (f->in->opcode) {
        case PTX_OP_shf:
            three_words(f, EMU_OP_shf)->aux =
                (low_has(f, PTX_W_r) ? 1 : 0) | (low_has(f, PTX_W_clamp) ? 2 : 0);
            return true;
        case PTX_OP_prmt:
            three_words(f, EMU_OP_prmt)->aux = prmt_mode(f);
            return true;
        case PTX_OP_fns:
            (void)three_words(f, EMU_OP_fns);
            return true;
        case PTX_OP_lop3:
            low_operands(f, 5, 5);
            if (low_has(f, PTX_W_and) || low_has(f, PTX_W_or)) {
                return false;
            }
            three_words(f, EMU_OP_lop3)->imm =
                (int64_t)(low_number(f, &f->in->operands[4]) & 0xff);
            return true;
        case PTX_OP_bmsk:
            two_words(f, EMU_OP_bmsk)->aux = low_has(f, PTX_W_clamp);
            return true;
        case PTX_OP_szext:
            two_words(f, EMU_OP_szext)->aux =
                (low_has(f, PTX_W_clamp) ? 1 : 0) |
                (ptx_type_is_signed(low_type(f, 0)) ? 2 : 0);
            return true;
        case PTX_OP_dp4a:
            dot(f, EMU_OP_dp4a);
            return true;
        case PTX_OP_dp2a:
            dot(f, EMU_OP_dp2a);
            return true;
        default:
            return video(f);
    }
}

static void
lower_shr(low_func *f)
{
    static const uint16_t logical[4] = {0, EMU_OP_shr_u16, EMU_OP_shr_u32,
                                        EMU_OP_shr_u64};
    static const uint16_t with_sign[4] = {0, EMU_OP_shr_s16, EMU_OP_shr_s32,
                                          EMU_OP_shr_s64};

    shift(f, ptx_type_is_signed(low_type(f, 0)) ? with_sign : logical);
}

bool
low_bits(low_func *f)
{
    static const uint16_t and_ops[4] = {EMU_OP_and_p, EMU_OP_and_16, EMU_OP_and_32,
                                        EMU_OP_and_64};
    static const uint16_t or_ops[4] = {EMU_OP_or_p, EMU_OP_or_16, EMU_OP_or_32,
                                       EMU_OP_or_64};
    static const uint16_t xor_ops[4] = {EMU_OP_xor_p, EMU_OP_xor_16, EMU_OP_xor_32,
                                        EMU_OP_xor_64};
    static const uint16_t not_ops[4] = {EMU_OP_not_p, EMU_OP_not_16, EMU_OP_not_32,
                                        EMU_OP_not_64};
    static const uint16_t cnot_ops[4] = {0, EMU_OP_cnot_16, EMU_OP_cnot_32,
                                         EMU_OP_cnot_64};
    static const uint16_t shl_ops[4] = {0, EMU_OP_shl_16, EMU_OP_shl_32, EMU_OP_shl_64};
    static const uint16_t brev_ops[4] = {0, 0, EMU_OP_brev_32, EMU_OP_brev_64};

    switch (f->in->opcode) {
        case PTX_OP_and:
            logic(f, and_ops);
            return true;
        case PTX_OP_or:
            logic(f, or_ops);
            return true;
        case PTX_OP_xor:
            logic(f, xor_ops);
            return true;
        case PTX_OP_not:
            unary(f, not_ops);
            return true;
        case PTX_OP_cnot:
            unary(f, cnot_ops);
            return true;
        case PTX_OP_brev:
            unary(f, brev_ops);
            return true;
        case PTX_OP_shl:
            shift(f, shl_ops);
            return true;
        case PTX_OP_shr:
            lower_shr(f);
            return true;
        case PTX_OP_popc:
            (void)count_bits(f, EMU_OP_popc_32, EMU_OP_popc_64);
            return true;
        case PTX_OP_clz:
            (void)count_bits(f, EMU_OP_clz_32, EMU_OP_clz_64);
            return true;
        case PTX_OP_bfind:
            count_bits(f, EMU_OP_bfind_32, EMU_OP_bfind_64)->aux =
                (ptx_type_is_signed(low_type(f, 0)) ? 1 : 0) |
                (low_has(f, PTX_W_shiftamt) ? 2 : 0);
            return true;
        case PTX_OP_bfe:
        case PTX_OP_bfi:
            bit_field(f);
            return true;
        case PTX_OP_sad:
            lower_sad(f);
            return true;
        default:
            return word_operation(f);
    }
}
