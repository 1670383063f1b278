/* Lowering of comparisons, and of selections by a comparison. See lower.h. */
#include "device/base/number.h"
#include "device/compile/lower.h"

/* -- which operation --------------------------------------------------------------- */

typedef enum {
    EQ,
    NE,
    LT,
    LE,
    GT,
    GE,
    EQU,
    NEU,
    LTU,
    LEU,
    GTU,
    GEU,
    NUM,
    NAN_,
    NO_COMPARE
} compare;

static compare
compare_of(const low_func *f)
{
    static const struct {
        uint16_t word;
        uint8_t which;
    } words[] = {{PTX_W_eq, EQ},   {PTX_W_ne, NE},   {PTX_W_lt, LT},   {PTX_W_le, LE},
                 {PTX_W_gt, GT},   {PTX_W_ge, GE},   {PTX_W_lo, LT},   {PTX_W_ls, LE},
                 {PTX_W_hi, GT},   {PTX_W_hs, GE},   {PTX_W_equ, EQU}, {PTX_W_neu, NEU},
                 {PTX_W_ltu, LTU}, {PTX_W_leu, LEU}, {PTX_W_gtu, GTU}, {PTX_W_geu, GEU},
                 {PTX_W_num, NUM}, {PTX_W_nan, NAN_}};

    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        if (low_has(f, words[i].word)) {
            return (compare)words[i].which;
        }
    }
    low_unsupported(f);
}

/* The row of the integer operations for a size; -1 if there is none. */
static int
compare_size_index(unsigned size)
{
    switch (size) {
        case 2:
            return 0;
        case 4:
            return 1;
        case 8:
            return 2;
        default:
            return -1;
    }
}

/* eq, ne, lt, le of an integer type; the others swap the operands. */
static unsigned
compare_integer_op(const low_func *f, compare which, unsigned type)
{
    static const uint16_t ops[3][2][4] = {
        {{EMU_OP_eq_16, EMU_OP_ne_16, EMU_OP_lt_u16, EMU_OP_le_u16},
         {EMU_OP_eq_16, EMU_OP_ne_16, EMU_OP_lt_s16, EMU_OP_le_s16}},
        {{EMU_OP_eq_32, EMU_OP_ne_32, EMU_OP_lt_u32, EMU_OP_le_u32},
         {EMU_OP_eq_32, EMU_OP_ne_32, EMU_OP_lt_s32, EMU_OP_le_s32}},
        {{EMU_OP_eq_64, EMU_OP_ne_64, EMU_OP_lt_u64, EMU_OP_le_u64},
         {EMU_OP_eq_64, EMU_OP_ne_64, EMU_OP_lt_s64, EMU_OP_le_s64}}};
    const int size = compare_size_index(ptx_type_size(type));

    if (which > LE || size < 0) {
        low_unsupported(f);
    }
    return ops[size][ptx_type_is_signed(type)][which];
}

static unsigned
compare_float_op(compare which, bool is_double)
{
    static const uint16_t ops[NO_COMPARE][2] = {
        [EQ] = {EMU_OP_eq_f32, EMU_OP_eq_f64},
        [NE] = {EMU_OP_ne_f32, EMU_OP_ne_f64},
        [LT] = {EMU_OP_lt_f32, EMU_OP_lt_f64},
        [LE] = {EMU_OP_le_f32, EMU_OP_le_f64},
        [EQU] = {EMU_OP_equ_f32, EMU_OP_equ_f64},
        [NEU] = {EMU_OP_neu_f32, EMU_OP_neu_f64},
        [LTU] = {EMU_OP_ltu_f32, EMU_OP_ltu_f64},
        [LEU] = {EMU_OP_leu_f32, EMU_OP_leu_f64},
        [NUM] = {EMU_OP_num_f32, EMU_OP_num_f64},
        [NAN_] = {EMU_OP_nan_f32, EMU_OP_nan_f64}};

    return ops[which][is_double];
}

/* For a comparison without an operation: the one with the same result on exchanged
 * operands. For others: NO_COMPARE. */
static compare
compare_exchanged(compare which)
{
    switch (which) {
        case GT:
            return LT;
        case GE:
            return LE;
        case GTU:
            return LTU;
        case GEU:
            return LEU;
        default:
            return NO_COMPARE;
    }
}

static low_value
compare_half_to_single(low_func *f, low_value a, unsigned type)
{
    low_value d = low_temp(f, PTX_R32);
    low_insn *insn = low_emit(f, EMU_OP_cvt_f32_f16, d, a, 0, 0);

    insn->aux = EMU_F16;
    if (type == PTX_W_bf16) {
        insn->aux = EMU_BF16;
    }
    else if (low_has(f, PTX_W_ftz)) {
        insn->aux |= EMU_HALF_FTZ;
    }
    return d;
}

/* A predicate for a compared with b. */
static low_value
compare_emit(low_func *f, compare which, unsigned type, low_value a, low_value b)
{
    low_value p = low_temp(f, PTX_PRED);
    unsigned op;

    if (type == PTX_W_f16 || type == PTX_W_bf16) {
        a = compare_half_to_single(f, a, type);
        b = compare_half_to_single(f, b, type);
        type = PTX_W_f32;
    }
    else if (type == PTX_W_f32) {
        a = low_flush(f, a);
        b = low_flush(f, b);
    }
    if (compare_exchanged(which) != NO_COMPARE) {
        const low_value first = a;

        a = b;
        b = first;
        which = compare_exchanged(which);
    }
    if (type == PTX_W_f32 || type == PTX_W_f64) {
        op = compare_float_op(which, type == PTX_W_f64);
    }
    else {
        op = compare_integer_op(f, which, type);
    }
    low_emit(f, op, p, a, b, 0);
    return p;
}

/* The operation that combines the comparison with the third source, or EMU_OP_NONE. */
static unsigned
compare_combining(const low_func *f)
{
    static const uint16_t words[] = {PTX_W_and, PTX_W_or, PTX_W_xor};
    static const uint16_t ops[] = {EMU_OP_and_p, EMU_OP_or_p, EMU_OP_xor_p,
                                   EMU_OP_NONE};

    return ops[low_find(f, words, 3)];
}

/* d = p, or p combined with the third source. `inverse`: !p in place of p. */
static void
compare_give_predicate(low_func *f, low_value d, low_value p, bool inverse)
{
    const unsigned op = compare_combining(f);
    low_value c;

    if (op == EMU_OP_NONE) {
        low_emit(f, inverse ? EMU_OP_not_p : EMU_OP_mov_p, d, p, p, 0);
        return;
    }
    if (inverse) {
        low_value n = low_temp(f, PTX_PRED);

        low_emit(f, EMU_OP_not_p, n, p, p, 0);
        p = n;
    }
    low_check_operand_count(f, 4, 4);
    c = low_predicate(f, &f->in->operands[3]);
    low_emit(f, op, d, p, c, 0);
}

/* Half k of a pair. */
static low_value
compare_half_part(low_func *f, low_value whole, unsigned k)
{
    low_value part = low_temp(f, PTX_R16);

    low_emit(f, EMU_OP_part_16from32, part, whole, 0, 0)->imm = (int64_t)16 * k;
    return part;
}

/* The type of one half of a pair. */
static unsigned
compare_single_half(unsigned type)
{
    if (type == PTX_W_f16x2) {
        return PTX_W_f16;
    }
    return PTX_W_bf16;
}

static bool
compare_is_pair(unsigned type)
{
    return type == PTX_W_f16x2 || type == PTX_W_bf16x2;
}

/* setp of two pairs: d from the first halves, q from the second ones. */
static void
compare_setp_pair(low_func *f, unsigned type, low_value d, low_value q, low_value a,
                  low_value b)
{
    const compare which = compare_of(f);

    for (unsigned k = 0; k < 2; k++) {
        low_value second = compare_half_part(f, b, k),
                  first = compare_half_part(f, a, k);
        low_value p = compare_emit(f, which, compare_single_half(type), first, second),
                  to = d;

        if (k == 1) {
            to = q;
            if (q == 0) {
                to = low_temp(f, PTX_PRED);
            }
        }
        compare_give_predicate(f, to, p, false);
    }
}

void
low_setp(low_func *f)
{
    const unsigned type = low_type_at(f, 0);
    const compare which = compare_of(f);
    low_value d, q = 0, a, b, p, first;

    low_check_operand_count(f, 3, 4);
    d = low_target(f, &f->in->operands[0], PTX_PRED);
    if (f->in->second != NULL) {
        q = low_target(f, f->in->second, PTX_PRED);
    }
    a = low_source_at(f, 1, type);
    b = low_source_at(f, 2, type);
    if (compare_is_pair(type)) {
        compare_setp_pair(f, type, d, q, a, b);
        return;
    }
    p = compare_emit(f, which, type, a, b);
    if (q != 0) {
        /* d may be the third source, which q still needs */
        first = low_temp(f, PTX_PRED);
        compare_give_predicate(f, first, p, false);
        compare_give_predicate(f, q, p, true);
        low_emit(f, EMU_OP_mov_p, d, first, first, 0);
    }
    else if (compare_combining(f) != EMU_OP_NONE) {
        compare_give_predicate(f, d, p, false);
    }
    else {
        f->insns[f->count - 1].d = d; /* the comparison writes it itself */
    }
}

/* Converts p to a type: true is all bits or 1.0, false is 0. */
static void
compare_select_constants(low_func *f, low_value d, unsigned type, low_value p)
{
    const ptx_class width = ptx_type_class(type);
    uint64_t yes = UINT64_MAX;
    unsigned op = EMU_OP_selp_32;
    low_value a, b;

    switch (type) {
        case PTX_W_f32:
            yes = 0x3f800000;
            break;
        case PTX_W_f16:
            yes = 0x3c00;
            break;
        case PTX_W_bf16:
            yes = 0x3f80;
            break;
        case PTX_W_u32:
        case PTX_W_s32:
        case PTX_W_u16:
        case PTX_W_s16:
            break;
        default:
            low_unsupported(f);
    }
    if (width == PTX_R16) {
        op = EMU_OP_selp_16;
    }
    b = low_constant(f, width, 0);
    a = low_constant(f, width, yes);
    low_emit(f, op, d, a, b, p);
}

/* set of a comparison of two values: d has type `to`. */
static void
compare_set_one(low_func *f, low_value d, unsigned to, unsigned type, low_value a,
                low_value b)
{
    low_value p = compare_emit(f, compare_of(f), type, a, b);
    low_value full = low_temp(f, PTX_PRED);

    compare_give_predicate(f, full, p, false);
    compare_select_constants(f, d, to, full);
}

void
low_set(low_func *f)
{
    const unsigned to = low_type_at(f, 0), type = low_type_at(f, 1);
    unsigned half = PTX_W_u16;
    low_value d, a, b, halves[2];

    (void)compare_of(f);
    low_check_operand_count(f, 3, 4);
    if (type == PTX_W_NONE) {
        low_unsupported(f);
    }
    a = low_source_at(f, 1, type);
    b = low_source_at(f, 2, type);
    d = low_result(f, to);
    if (!compare_is_pair(type)) {
        compare_set_one(f, d, to, type, a, b);
        return;
    }
    if (ptx_type_is_float(to)) {
        half = compare_single_half(to);
    }
    for (unsigned k = 0; k < 2; k++) {
        low_value second = compare_half_part(f, b, k),
                  first = compare_half_part(f, a, k);
        low_value p =
            compare_emit(f, compare_of(f), compare_single_half(type), first, second);
        low_value full = low_temp(f, PTX_PRED);

        compare_give_predicate(f, full, p, false);
        halves[k] = low_temp(f, PTX_R16);
        compare_select_constants(f, halves[k], half, full);
    }
    low_emit(f, EMU_OP_join_32, d, halves[0], halves[1], 0);
}

/* slct: a where the third source is at least 0, else b. */
void
low_slct(low_func *f)
{
    const unsigned type = low_type_at(f, 0), by = low_type_at(f, 1);
    const ptx_class width = ptx_type_class(type);
    low_value a, b, c, p;

    low_check_operand_count(f, 4, 4);
    if (by != PTX_W_s32 && by != PTX_W_f32) {
        low_unsupported(f);
    }
    c = low_source_at(f, 3, by);
    p = compare_emit(f, GE, by, c, low_constant(f, PTX_R32, 0));
    b = low_source_at(f, 2, type);
    a = low_source_at(f, 1, type);
    low_emit(f, f->ops[width], low_result(f, type), a, b, p);
}
