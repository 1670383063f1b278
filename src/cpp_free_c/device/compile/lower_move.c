/* Lowering of moves, comparisons and selections. See lower.h. */
#include "device/base/half.h"
#include "device/compile/lower.h"

static const uint16_t mov_ops[PTX_CLASSES] = {
    EMU_OP_mov_p, EMU_OP_mov_16, EMU_OP_mov_32, EMU_OP_mov_64, EMU_OP_mov_128};

/* -- mov --------------------------------------------------------------------------- */

/* The bytes of each element of {a, b, ...} that packs or takes apart a whole. */
static unsigned
part_bytes(const low_func *f, const ptx_operand *parts, unsigned type)
{
    const unsigned bytes = low_element_bytes(f, parts), whole = ptx_type_size(type);

    if (type != PTX_W_b16 && type != PTX_W_b32 && type != PTX_W_b64 &&
        type != PTX_W_b128) {
        low_fail(f, "a vector is packed and taken apart as .b16, .b32, .b64 or .b128");
    }
    if (parts->count != 2 && parts->count != 4) {
        low_fail(f, "a vector has %u elements, not 2 or 4", parts->count);
    }
    if (bytes ? bytes * parts->count != whole : whole < parts->count) {
        low_fail(f, "%u elements of %u bits are not the %u bits of the whole",
                 parts->count, 8 * bytes, 8 * whole);
    }
    return whole / parts->count;
}

/* d = the bits of a from `shift` on. */
static void
take_part(low_func *f, low_value d, low_value a, ptx_class width, unsigned bytes,
          unsigned shift)
{
    static const uint16_t of_32[9] = {0, EMU_OP_part_16from32, EMU_OP_part_16from32};
    static const uint16_t of_64[9] = {0, 0, EMU_OP_part_16from64, 0,
                                      EMU_OP_part_32from64};

    if (width == PTX_R128) {
        low_value half = bytes == 8 ? d : low_temp(f, PTX_R64);

        low_emit(f, EMU_OP_part_64from128, half, a, 0, 0)->imm = shift >= 64 ? 64 : 0;
        if (bytes == 4) {
            low_emit(f, EMU_OP_part_32from64, d, half, 0, 0)->imm = shift % 64;
        }
    }
    else if (width == PTX_R64) {
        low_emit(f, of_64[bytes], d, a, 0, 0)->imm = shift;
    }
    else {
        low_value word = a;

        if (width == PTX_R16) {
            word = low_temp(f, PTX_R32);
            low_convert(f, word, PTX_R32, a, PTX_R16, PTX_W_u16);
        }
        low_emit(f, of_32[bytes], d, word, 0, 0)->imm = shift;
    }
    if (bytes == 1) {
        low_emit(f, EMU_OP_cvt_16_u8, d, d, 0, 0);
    }
}

/* {a, b, ...} = whole: the first element is the lowest part. */
static void
unpack(low_func *f, const ptx_operand *parts, const ptx_operand *whole, unsigned type)
{
    const unsigned bytes = part_bytes(f, parts, type);
    const ptx_class part = bytes <= 2 ? PTX_R16 : bytes == 4 ? PTX_R32 : PTX_R64;
    bool any = false;
    low_value a;
    uint32_t i;

    low_check_type(f, whole, type);
    a = low_source(f, whole, type);
    for (i = 0; i < parts->count; i++) {
        if (parts->items[i].kind != PTX_O_SINK) {
            any = true;
            take_part(f, low_target(f, &parts->items[i], part), a, ptx_type_class(type),
                      bytes, i * 8 * bytes);
        }
    }
    if (!any) {
        low_fail(f, "no element of the destination is a register");
    }
}

/* whole = {a, b, ...} */
static void
pack(low_func *f, const ptx_operand *whole, const ptx_operand *parts, unsigned type)
{
    static const uint16_t types[] = {0, PTX_W_b8, PTX_W_b16, 0,        PTX_W_b32,
                                     0, 0,        0,         PTX_W_b64};
    static const uint16_t joins[] = {
        0, EMU_OP_join_16, EMU_OP_join_32, 0, EMU_OP_join_64, 0, 0, 0, EMU_OP_join_128};
    unsigned bytes = part_bytes(f, parts, type), count = parts->count, i;
    low_value d, v[4];

    low_check_type(f, whole, type);
    d = low_target(f, whole, ptx_type_class(type));
    for (i = 0; i < count; i++) {
        v[i] = low_source(f, &parts->items[i], types[bytes]);
    }
    for (; count > 1; count /= 2, bytes *= 2) {
        for (i = 0; i < count / 2; i++) {
            low_value r =
                count == 2 ? d : low_temp(f, ptx_type_class(types[(size_t)2 * bytes]));

            low_emit(f, joins[bytes], r, v[(size_t)2 * i], v[(size_t)2 * i + 1], 0);
            v[i] = r;
        }
    }
}

/* Part i of a scalar in place of a vector of `count`: so a GPU does it, though the
 * manual does not know of it. The parts are as many bits of the scalar, without a sign.
 */
static low_value
scalar_part(low_func *f, const ptx_operand *scalar, uint32_t i, unsigned type,
            unsigned count)
{
    static const uint16_t shifts[PTX_CLASSES] = {0, EMU_OP_shr_u16, EMU_OP_shr_u32,
                                                 EMU_OP_shr_u64};
    static const uint16_t ands[PTX_CLASSES] = {0, EMU_OP_and_16, EMU_OP_and_32,
                                               EMU_OP_and_64};
    const ptx_class width = ptx_type_class(type);
    const unsigned bits = 8 * ptx_type_size(type) / count;
    low_value whole = low_source(f, scalar, type), part = low_temp(f, width);

    low_emit(f, shifts[width], part, whole,
             low_constant(f, PTX_R32, (uint64_t)i * bits), 0);
    low_emit(f, ands[width], part, part,
             low_constant(f, width, ((uint64_t)1 << bits) - 1), 0);
    return part;
}

/* mov.v2, mov.v4: every element is read before the first is written. */
static void
move_vector(low_func *f, const ptx_operand *d, const ptx_operand *s, unsigned type,
            unsigned count)
{
    const ptx_class width = ptx_type_class(type);
    const unsigned bytes = ptx_type_size(type);
    low_value v[4];
    uint32_t i;

    if (bytes < 2 || bytes > 8 || type == PTX_W_f16 || type == PTX_W_bf16 ||
        type == PTX_W_f16x2 || type == PTX_W_bf16x2) {
        low_unsupported(f);
    }
    if (count > 4 || count * bytes > 16) {
        low_fail(f, "a vector has at most 4 elements and 128 bits");
    }
    if (d->kind != PTX_O_VECTOR || d->count != count) {
        low_fail(f, "the destination is no vector of %u elements", count);
    }
    if (s->kind == PTX_O_VECTOR && s->count != count) {
        low_fail(f, "the source is no vector of %u elements", count);
    }
    low_check_type(f, d, type);
    low_check_type(f, s, type);
    for (i = 0; i < count; i++) {
        low_value now = s->kind == PTX_O_VECTOR ? low_source(f, &s->items[i], type)
                                                : scalar_part(f, s, i, type, count);

        v[i] = now;
        if (now & 1) {
            continue; /* a constant */
        }
        v[i] = low_temp(f, width);
        low_emit(f, mov_ops[width], v[i], now, 0, 0);
    }
    for (i = 0; i < count; i++) {
        low_emit(f, mov_ops[width], low_target(f, &d->items[i], width), v[i], 0, 0);
    }
}

/* {a} is a for the types without a sign. */
static bool
is_alone(const ptx_operand *vector, unsigned type)
{
    return vector->count == 1 && !ptx_type_is_signed(type) &&
           !ptx_type_is_unsigned(type) && !ptx_type_is_float(type);
}

static void
lower_mov(low_func *f)
{
    const unsigned type = low_type(f, 0), count = low_vector_count(f);
    const ptx_operand *d = &f->in->operands[0], *s = &f->in->operands[1];
    ptx_class width;

    low_operands(f, 2, 2);
    if (!type) {
        low_unsupported(f);
    }
    if (count > 1) {
        move_vector(f, d, s, type, count);
        return;
    }
    if (d->kind == PTX_O_VECTOR && s->kind == PTX_O_VECTOR) {
        low_fail(f, "vectors are moved by mov.v2 and mov.v4");
    }
    if (d->kind == PTX_O_VECTOR && !is_alone(d, type)) {
        unpack(f, d, s, type);
        return;
    }
    if (s->kind == PTX_O_VECTOR && !is_alone(s, type)) {
        pack(f, d, s, type);
        return;
    }
    d = d->kind == PTX_O_VECTOR ? &d->items[0] : d;
    s = s->kind == PTX_O_VECTOR ? &s->items[0] : s;
    if (type != PTX_W_pred &&
        (ptx_type_size(type) < 2 ||
         (ptx_type_is_float(type) && type != PTX_W_f32 && type != PTX_W_f64))) {
        low_unsupported(f); /* bytes have no mov, halves are moved as .b16 and .b32 */
    }
    low_check_type(f, d, type);
    low_check_type(f, s, type);
    width = ptx_type_class(type);
    if (width == PTX_PRED) {
        low_value v = low_source(f, s, type);

        low_emit(f, EMU_OP_mov_p, low_target(f, d, width), v, v, 0);
        return;
    }
    low_emit(f, mov_ops[width], low_target(f, d, width), low_source(f, s, type), 0, 0);
}

/* -- comparisons ------------------------------------------------------------------- */

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
comparison(const low_func *f)
{
    static const struct {
        uint16_t word;
        uint8_t which;
    } words[] = {{PTX_W_eq, EQ},   {PTX_W_ne, NE},   {PTX_W_lt, LT},   {PTX_W_le, LE},
                 {PTX_W_gt, GT},   {PTX_W_ge, GE},   {PTX_W_lo, LT},   {PTX_W_ls, LE},
                 {PTX_W_hi, GT},   {PTX_W_hs, GE},   {PTX_W_equ, EQU}, {PTX_W_neu, NEU},
                 {PTX_W_ltu, LTU}, {PTX_W_leu, LEU}, {PTX_W_gtu, GTU}, {PTX_W_geu, GEU},
                 {PTX_W_num, NUM}, {PTX_W_nan, NAN_}};
    unsigned i;

    for (i = 0; i < sizeof words / sizeof *words; i++) {
        if (low_has(f, words[i].word)) {
            return (compare)words[i].which;
        }
    }
    low_unsupported(f);
}

/* eq, ne, lt, le of an integer type; the others swap the operands. */
static unsigned
integer_compare(const low_func *f, compare which, unsigned type)
{
    const bool is_signed = ptx_type_is_signed(type);
    static const uint16_t ops[3][2][4] = {
        {{EMU_OP_eq_16, EMU_OP_ne_16, EMU_OP_lt_u16, EMU_OP_le_u16},
         {EMU_OP_eq_16, EMU_OP_ne_16, EMU_OP_lt_s16, EMU_OP_le_s16}},
        {{EMU_OP_eq_32, EMU_OP_ne_32, EMU_OP_lt_u32, EMU_OP_le_u32},
         {EMU_OP_eq_32, EMU_OP_ne_32, EMU_OP_lt_s32, EMU_OP_le_s32}},
        {{EMU_OP_eq_64, EMU_OP_ne_64, EMU_OP_lt_u64, EMU_OP_le_u64},
         {EMU_OP_eq_64, EMU_OP_ne_64, EMU_OP_lt_s64, EMU_OP_le_s64}}};
    const unsigned size = ptx_type_size(type);

    if (which > LE || (size != 2 && size != 4 && size != 8)) {
        low_unsupported(f);
    }
    return ops[size == 2 ? 0 : size == 4 ? 1 : 2][is_signed][which];
}

static unsigned
float_compare(compare which, bool is_double)
{
    static const uint16_t ops[2][NO_COMPARE] = {
        {EMU_OP_eq_f32, EMU_OP_ne_f32, EMU_OP_lt_f32, EMU_OP_le_f32, 0, 0,
         EMU_OP_equ_f32, EMU_OP_neu_f32, EMU_OP_ltu_f32, EMU_OP_leu_f32, 0, 0,
         EMU_OP_num_f32, EMU_OP_nan_f32},
        {EMU_OP_eq_f64, EMU_OP_ne_f64, EMU_OP_lt_f64, EMU_OP_le_f64, 0, 0,
         EMU_OP_equ_f64, EMU_OP_neu_f64, EMU_OP_ltu_f64, EMU_OP_leu_f64, 0, 0,
         EMU_OP_num_f64, EMU_OP_nan_f64}};

    return ops[is_double][which];
}

static low_value
half_to_single(low_func *f, low_value a, unsigned type)
{
    low_value d = low_temp(f, PTX_R32);

    low_emit(f, EMU_OP_cvt_f32_f16, d, a, 0, 0)->aux =
        type == PTX_W_bf16 ? EMU_BF16 : EMU_F16;
    return d;
}

/* A predicate for a compared with b. */
static low_value
emit_compare(low_func *f, compare which, unsigned type, low_value a, low_value b)
{
    low_value p = low_temp(f, PTX_PRED), swapped;

    if (type == PTX_W_f16 || type == PTX_W_bf16) {
        a = half_to_single(f, a, type);
        b = half_to_single(f, b, type);
        type = PTX_W_f32;
    }
    else if (type == PTX_W_f32) {
        a = low_flush(f, a);
        b = low_flush(f, b);
    }
    if (which == GT || which == GE || which == GTU || which == GEU) {
        swapped = a;
        a = b;
        b = swapped;
        which = which == GT ? LT : which == GE ? LE : which == GTU ? LTU : LEU;
    }
    if (type == PTX_W_f32 || type == PTX_W_f64) {
        low_emit(f, float_compare(which, type == PTX_W_f64), p, a, b, 0);
    }
    else {
        low_emit(f, integer_compare(f, which, type), p, a, b, 0);
    }
    return p;
}

static unsigned
combining(const low_func *f)
{
    return low_has(f, PTX_W_and)   ? EMU_OP_and_p
           : low_has(f, PTX_W_or)  ? EMU_OP_or_p
           : low_has(f, PTX_W_xor) ? EMU_OP_xor_p
                                   : 0;
}

/* d = p, or p combined with the third source; `inverse`: of !p. */
static void
give_predicate(low_func *f, low_value d, low_value p, bool inverse)
{
    const unsigned op = combining(f);
    low_value c;

    if (inverse) {
        low_value n = op ? low_temp(f, PTX_PRED) : d;

        low_emit(f, EMU_OP_not_p, n, p, p, 0);
        p = n;
        if (!op) {
            return;
        }
    }
    if (!op) {
        low_emit(f, EMU_OP_mov_p, d, p, p, 0);
        return;
    }
    low_operands(f, 4, 4);
    c = low_predicate(f, &f->in->operands[3]);
    low_emit(f, op, d, p, c, 0);
}

static low_value
half_part(low_func *f, low_value whole, unsigned k)
{
    low_value part = low_temp(f, PTX_R16);

    low_emit(f, EMU_OP_part_16from32, part, whole, 0, 0)->imm = (int64_t)16 * k;
    return part;
}

static unsigned
single_half(unsigned type)
{
    return type == PTX_W_f16x2 ? PTX_W_f16 : PTX_W_bf16;
}

static void
lower_setp(low_func *f)
{
    const unsigned type = low_type(f, 0);
    const compare which = comparison(f);
    const ptx_operand *second = f->in->second;
    low_value d, q = 0, a, b, p;

    low_operands(f, 3, 4);
    d = low_target(f, &f->in->operands[0], PTX_PRED);
    if (second) {
        q = low_target(f, second, PTX_PRED);
    }
    if (type == PTX_W_pred) {
        low_unsupported(f);
    }
    a = low_source(f, &f->in->operands[1], type);
    b = low_source(f, &f->in->operands[2], type);
    if (type == PTX_W_f16x2 || type == PTX_W_bf16x2) {
        unsigned k;

        for (k = 0; k < 2; k++) {
            p = emit_compare(f, which, single_half(type), half_part(f, a, k),
                             half_part(f, b, k));
            give_predicate(f, k ? (q ? q : low_temp(f, PTX_PRED)) : d, p, false);
        }
        return;
    }
    p = emit_compare(f, which, type, a, b);
    if (!second && !combining(f)) {
        f->insns[f->count - 1].d = d; /* the comparison writes it itself */
        return;
    }
    if (second) {
        low_value first = low_temp(f, PTX_PRED);

        /* d may be the third source, which q still needs */
        give_predicate(f, first, p, false);
        give_predicate(f, q, p, true);
        low_emit(f, EMU_OP_mov_p, d, first, first, 0);
        return;
    }
    give_predicate(f, d, p, false);
}

static void
select_constants(low_func *f, low_value d, unsigned type, low_value p)
{
    const ptx_class width = ptx_type_class(type);
    uint64_t yes = UINT64_MAX;

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
    low_emit(f, width == PTX_R16 ? EMU_OP_selp_16 : EMU_OP_selp_32, d,
             low_constant(f, width, yes), low_constant(f, width, 0), p);
}

static void
lower_set(low_func *f)
{
    const unsigned dt = low_type(f, 0), st = low_type(f, 1);
    const compare which = comparison(f);
    low_value d, a, b, p, full;

    low_operands(f, 3, 4);
    if (!st) {
        low_unsupported(f);
    }
    a = low_source(f, &f->in->operands[1], st);
    b = low_source(f, &f->in->operands[2], st);
    d = low_target(f, &f->in->operands[0], ptx_type_class(dt));
    if (st == PTX_W_f16x2 || st == PTX_W_bf16x2) {
        low_value halves[2];
        unsigned k;
        const unsigned type = ptx_type_is_float(dt) ? single_half(dt) : PTX_W_u16;

        for (k = 0; k < 2; k++) {
            p = emit_compare(f, which, single_half(st), half_part(f, a, k),
                             half_part(f, b, k));
            full = low_temp(f, PTX_PRED);
            give_predicate(f, full, p, false);
            halves[k] = low_temp(f, PTX_R16);
            select_constants(f, halves[k], type, full);
        }
        low_emit(f, EMU_OP_join_32, d, halves[0], halves[1], 0);
        return;
    }
    p = emit_compare(f, which, st, a, b);
    full = low_temp(f, PTX_PRED);
    give_predicate(f, full, p, false);
    select_constants(f, d, dt, full);
}

/* -- selections -------------------------------------------------------------------- */

static unsigned
selp_op(const low_func *f, ptx_class width)
{
    switch (width) {
        case PTX_R16:
            return EMU_OP_selp_16;
        case PTX_R32:
            return EMU_OP_selp_32;
        case PTX_R64:
            return EMU_OP_selp_64;
        default:
            low_unsupported(f);
    }
}

static void
lower_selp(low_func *f)
{
    const unsigned type = low_type(f, 0);
    const ptx_class width = ptx_type_class(type);

    low_operands(f, 4, 4);
    low_emit(f, selp_op(f, width), low_target(f, &f->in->operands[0], width),
             low_source(f, &f->in->operands[1], type),
             low_source(f, &f->in->operands[2], type),
             low_predicate(f, &f->in->operands[3]));
}

/* d = c >= 0 ? a : b */
static void
lower_slct(low_func *f)
{
    const unsigned type = low_type(f, 0), by = low_type(f, 1);
    const ptx_class width = ptx_type_class(type);
    low_value c, p;

    low_operands(f, 4, 4);
    if (by != PTX_W_s32 && by != PTX_W_f32) {
        low_unsupported(f);
    }
    c = low_source(f, &f->in->operands[3], by);
    p = emit_compare(f, GE, by, c, low_constant(f, PTX_R32, 0));
    low_emit(f, selp_op(f, width), low_target(f, &f->in->operands[0], width),
             low_source(f, &f->in->operands[1], type),
             low_source(f, &f->in->operands[2], type), p);
}

/* -- address windows --------------------------------------------------------------- */

static void
lower_cvta(low_func *f)
{
    const bool to = low_has(f, PTX_W_to);
    const unsigned type = low_type(f, 0);
    const ptx_class width = ptx_type_class(type);
    low_value d, a;
    low_insn *insn;
    bool shared = low_has(f, PTX_W_shared) || low_has(f, PTX_W_shared_cta) ||
                  low_has(f, PTX_W_shared_cluster);

    low_operands(f, 2, 2);
    if (width != PTX_R64) {
        low_unsupported(f);
    }
    d = low_target(f, &f->in->operands[0], width);
    a = low_source(f, &f->in->operands[1], type);
    if (shared || low_has(f, PTX_W_local) || low_has(f, PTX_W_param) ||
        low_has(f, PTX_W_param_entry)) {
        insn = low_emit(f, to ? EMU_OP_to_window : EMU_OP_from_window, d, a, 0, 0);
        insn->imm = shared                    ? (int64_t)EMU_SHARED_WINDOW
                    : low_has(f, PTX_W_local) ? (int64_t)EMU_LOCAL_WINDOW
                                              : 0;
        insn->aux = shared || low_has(f, PTX_W_local) ? 0 : EMU_AT_PARAM;
        return;
    }
    low_emit(f, EMU_OP_mov_64, d, a, 0, 0); /* global and const are generic already */
}

static void
lower_isspacep(low_func *f)
{
    unsigned space = EMU_AT_GLOBAL;

    low_operands(f, 2, 2);
    if (low_has(f, PTX_W_shared) || low_has(f, PTX_W_shared_cta) ||
        low_has(f, PTX_W_shared_cluster)) {
        space = EMU_AT_SHARED;
    }
    else if (low_has(f, PTX_W_local)) {
        space = EMU_AT_LOCAL;
    }
    else if (low_has(f, PTX_W_const)) {
        space = EMU_AT_MASK;
    }
    else if (low_has(f, PTX_W_param) || low_has(f, PTX_W_param_entry)) {
        space = EMU_AT_PARAM;
    }
    low_emit(f, EMU_OP_isspacep, low_target(f, &f->in->operands[0], PTX_PRED),
             low_source(f, &f->in->operands[1], PTX_W_u64), 0, 0)
        ->aux = space;
}

bool
low_moves(low_func *f)
{
    switch (f->in->opcode) {
        case PTX_OP_mov:
            lower_mov(f);
            return true;
        case PTX_OP_setp:
            lower_setp(f);
            return true;
        case PTX_OP_set:
            lower_set(f);
            return true;
        case PTX_OP_selp:
            lower_selp(f);
            return true;
        case PTX_OP_slct:
            lower_slct(f);
            return true;
        case PTX_OP_cvta:
            lower_cvta(f);
            return true;
        case PTX_OP_isspacep:
            lower_isspacep(f);
            return true;
        default:
            return false;
    }
}
