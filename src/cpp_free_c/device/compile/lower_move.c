/* Lowering of moves, selections and conversions of addresses. See lower.h. */
#include "device/compile/lower.h"
#include "device/compile/encoding.h"

static const uint16_t mov_ops[PTX_CLASSES] = {
    EMU_OP_mov_p, EMU_OP_mov_16, EMU_OP_mov_32, EMU_OP_mov_64, EMU_OP_mov_128};

static bool
move_is_half_type(unsigned type)
{
    return ptx_type_is_float(type) && type != PTX_W_f32 && type != PTX_W_f64;
}

/* -- mov --------------------------------------------------------------------------- */

/* The bytes of each element of {a, b, ...} that packs or takes apart a whole. */
static unsigned
move_part_bytes(const low_func *f, const ptx_operand *parts, unsigned type)
{
    const unsigned bytes = low_element_bytes(f, parts), whole = ptx_type_size(type);

    if (type != PTX_W_b16 && type != PTX_W_b32 && type != PTX_W_b64 &&
        type != PTX_W_b128) {
        low_fail(f, "a vector is packed and taken apart as .b16, .b32, .b64 or .b128");
    }
    if (parts->count != 2 && parts->count != 4) {
        low_fail(f, "a vector has %u elements, not 2 or 4", parts->count);
    }
    /* without a register among the parts, any size fits that is at least a byte */
    if ((bytes != 0 && bytes * parts->count != whole) || whole < parts->count) {
        low_fail(f, "%u elements of %u bits are not the %u bits of the whole",
                 parts->count, 8 * bytes, 8 * whole);
    }
    return whole / parts->count;
}

/* d = the bits of a from `shift` on. */
static void
move_take_part(low_func *f, low_value d, low_value a, ptx_class width, unsigned bytes,
               unsigned shift)
{
    static const uint16_t of_32[9] = {0, EMU_OP_part_16from32, EMU_OP_part_16from32};
    static const uint16_t of_64[9] = {0, 0, EMU_OP_part_16from64, 0,
                                      EMU_OP_part_32from64};

    if (width == PTX_R128) {
        low_value half = d;

        if (bytes != 8) {
            half = low_temp(f, PTX_R64);
        }
        low_emit(f, EMU_OP_part_64from128, half, a, 0, 0)->imm = shift & 64;
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

/* The class of the registers for parts of this many bytes. */
static ptx_class
move_class_of_part(unsigned bytes)
{
    switch (bytes) {
        case 8:
            return PTX_R64;
        case 4:
            return PTX_R32;
        default:
            return PTX_R16;
    }
}

/* {a, b, ...} = whole: the first element is the lowest part. */
static void
move_unpack(low_func *f, const ptx_operand *parts, const ptx_operand *whole,
            unsigned type)
{
    const unsigned bytes = move_part_bytes(f, parts, type);
    const ptx_class part = move_class_of_part(bytes);
    bool any = false;
    low_value a;

    low_check_type(f, whole, type);
    a = low_source(f, whole, type);
    for (uint32_t i = 0; i < parts->count; i++) {
        if (parts->items[i].kind != PTX_O_SINK) {
            any = true;
            move_take_part(f, low_target(f, &parts->items[i], part), a,
                           ptx_type_class(type), bytes, i * 8 * bytes);
        }
    }
    if (!any) {
        low_fail(f, "no element of the destination is a register");
    }
}

/* whole = {a, b, ...} */
static void
move_pack(low_func *f, const ptx_operand *whole, const ptx_operand *parts,
          unsigned type)
{
    static const uint16_t types[] = {0, PTX_W_b8, PTX_W_b16, 0,        PTX_W_b32,
                                     0, 0,        0,         PTX_W_b64};
    static const uint16_t joins[] = {
        0, EMU_OP_join_16, EMU_OP_join_32, 0, EMU_OP_join_64, 0, 0, 0, EMU_OP_join_128};
    unsigned bytes = move_part_bytes(f, parts, type), count = parts->count, i;
    low_value d, v[4];

    low_check_type(f, whole, type);
    d = low_target(f, whole, ptx_type_class(type));
    for (i = 0; i < count; i++) {
        v[i] = low_source(f, &parts->items[i], types[bytes]);
    }
    for (; count > 1; count /= 2, bytes *= 2) {
        for (i = 0; i < count / 2; i++) {
            low_value r = d;

            if (count != 2) {
                r = low_temp(f, ptx_type_class(types[(size_t)2 * bytes]));
            }
            low_emit(f, joins[bytes], r, v[(size_t)2 * i], v[(size_t)2 * i + 1], 0);
            v[i] = r;
        }
    }
}

/* Part i of a scalar that a vector of `count` was expected for. A GPU accepts it,
 * though the manual does not mention it: each part is that share of the bits, without a
 * sign. */
static low_value
move_scalar_part(low_func *f, const ptx_operand *scalar, uint32_t i, unsigned type,
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

/* Fails unless mov.v2 or mov.v4 has such operands and such a type. */
static void
move_check_vector(low_func *f, const ptx_operand *d, const ptx_operand *s,
                  unsigned type, unsigned count)
{
    const unsigned bytes = ptx_type_size(type);

    if (bytes < 2 || bytes > 8 || move_is_half_type(type)) {
        low_unsupported(f);
    }
    if (count > 4 || count * bytes > 16) {
        low_fail(f, "a vector has at most 4 elements and 128 bits");
    }
    if (d->kind != PTX_O_VECTOR || d->count != count) {
        low_fail(f, "the destination is not a vector of %u elements", count);
    }
    if (s->kind == PTX_O_VECTOR && s->count != count) {
        low_fail(f, "the source is not a vector of %u elements", count);
    }
    low_check_type(f, d, type);
    low_check_type(f, s, type);
}

/* mov.v2, mov.v4: every element is read before the first is written. */
static void
move_vector(low_func *f, const ptx_operand *d, const ptx_operand *s, unsigned type,
            unsigned count)
{
    const ptx_class width = ptx_type_class(type);
    low_value v[4];

    move_check_vector(f, d, s, type, count);
    for (uint32_t i = 0; i < count; i++) {
        low_value now;

        if (s->kind == PTX_O_VECTOR) {
            now = low_source(f, &s->items[i], type);
        }
        else {
            now = move_scalar_part(f, s, i, type, count);
        }
        v[i] = now;
        if (!(now & 1)) { /* not a constant */
            v[i] = low_temp(f, width);
            low_emit(f, mov_ops[width], v[i], now, 0, 0);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        low_emit(f, mov_ops[width], low_target(f, &d->items[i], width), v[i], 0, 0);
    }
}

/* Returns a for {a}, which means the same for .b types and .pred. */
static const ptx_operand *
move_only_element(const ptx_operand *operand, unsigned type)
{
    if (operand->kind == PTX_O_VECTOR && operand->count == 1 &&
        !ptx_type_is_signed(type) && !ptx_type_is_unsigned(type) &&
        !ptx_type_is_float(type)) {
        return &operand->items[0];
    }
    return operand;
}

/* mov of one register. */
static void
move_scalar(low_func *f, const ptx_operand *d, const ptx_operand *s, unsigned type)
{
    const ptx_class width = ptx_type_class(type);
    low_value v, second = 0;

    if (type != PTX_W_pred && (ptx_type_size(type) < 2 || move_is_half_type(type))) {
        low_unsupported(f); /* bytes have no mov, halves are moved as .b16 and .b32 */
    }
    low_check_type(f, d, type);
    low_check_type(f, s, type);
    v = low_source(f, s, type);
    if (s->kind == PTX_O_SPECIAL && width != PTX_PRED) {
        f->insns[f->count - 1].d = low_target(f, d, width); /* no copy is needed */
        return;
    }
    if (width == PTX_PRED) {
        second = v; /* operations on predicates read two sources */
    }
    low_emit(f, mov_ops[width], low_target(f, d, width), v, second, 0);
}

void
low_mov(low_func *f)
{
    const unsigned type = low_type_at(f, 0), count = low_vector_count(f);
    const ptx_operand *d = &f->in->operands[0], *s = &f->in->operands[1];

    low_check_operand_count(f, 2, 2);
    if (type == PTX_W_NONE) {
        low_unsupported(f);
    }
    if (count > 1) {
        move_vector(f, d, s, type, count);
        return;
    }
    if (d->kind == PTX_O_VECTOR && s->kind == PTX_O_VECTOR) {
        low_fail(f, "vectors are moved by mov.v2 and mov.v4");
    }
    d = move_only_element(d, type);
    s = move_only_element(s, type);
    if (d->kind == PTX_O_VECTOR) {
        move_unpack(f, d, s, type);
    }
    else if (s->kind == PTX_O_VECTOR) {
        move_pack(f, d, s, type);
    }
    else {
        move_scalar(f, d, s, type);
    }
}

/* -- selections -------------------------------------------------------------------- */

void
low_selp(low_func *f)
{
    const unsigned type = low_type_at(f, 0);
    const ptx_class width = ptx_type_class(type);
    low_value a, b, p;

    low_check_operand_count(f, 4, 4);
    p = low_predicate(f, &f->in->operands[3]);
    b = low_source_at(f, 2, type);
    a = low_source_at(f, 1, type);
    low_emit(f, f->ops[width], low_result(f, type), a, b, p);
}

/* -- address windows --------------------------------------------------------------- */

static bool
move_has_param(const low_func *f)
{
    return low_has(f, PTX_W_param) || low_has(f, PTX_W_param_entry);
}

void
low_cvta(low_func *f)
{
    enum { MOVE, TO_WINDOW, FROM_WINDOW };
    const unsigned type = low_type_at(f, 0);
    unsigned op = f->ops[FROM_WINDOW];
    low_value d, a;
    int64_t window = 0;
    uint32_t space = 0;
    low_insn *insn;

    low_check_operand_count(f, 2, 2);
    if (ptx_type_class(type) != PTX_R64) {
        low_unsupported(f);
    }
    if (low_has(f, PTX_W_to)) {
        op = f->ops[TO_WINDOW];
    }
    if (low_has_shared(f)) {
        window = (int64_t)EMU_SHARED_WINDOW;
    }
    else if (low_has(f, PTX_W_local)) {
        window = (int64_t)EMU_LOCAL_WINDOW;
    }
    else if (move_has_param(f)) {
        space = EMU_AT_PARAM;
    }
    else {
        op = f->ops[MOVE]; /* addresses of global and const are generic already */
    }
    d = low_result(f, type);
    a = low_source_at(f, 1, type);
    insn = low_emit(f, op, d, a, 0, 0);
    insn->imm = window;
    insn->aux = space;
}

void
low_isspacep(low_func *f)
{
    uint32_t space = EMU_AT_GLOBAL;
    low_value a;
    low_insn *insn;

    low_check_operand_count(f, 2, 2);
    if (low_has_shared(f)) {
        space = EMU_AT_SHARED;
    }
    else if (low_has(f, PTX_W_local)) {
        space = EMU_AT_LOCAL;
    }
    else if (low_has(f, PTX_W_const)) {
        space = EMU_AT_MASK; /* no state space has this number */
    }
    else if (move_has_param(f)) {
        space = EMU_AT_PARAM;
    }
    a = low_source_at(f, 1, PTX_W_u64);
    insn =
        low_emit(f, f->ops[0], low_target(f, &f->in->operands[0], PTX_PRED), a, 0, 0);
    insn->aux = space;
    insn->imm = low_has(f, PTX_W_shared_cluster);
}

/* -- addresses in clusters --------------------------------------------------------- */

/* mapa: the address of the same variable in another block of the cluster. */
void
low_mapa(low_func *f)
{
    const unsigned type = low_type_at(f, 0);
    low_value d, a, rank;
    low_insn *insn;

    low_check_operand_count(f, 3, 3);
    d = low_result(f, type);
    a = low_source_at(f, 1, type);
    rank = low_source_at(f, 2, PTX_W_u32);
    insn = low_emit(f, f->ops[0], d, a, rank, 0);
    insn->e = LOW_NUMBER(ptx_class_bytes(ptx_type_class(type)));
    if (!low_has_shared(f)) {
        insn->imm = (int64_t)EMU_SHARED_WINDOW;
    }
}

/* getctarank: the rank of the block to which an address belongs. */
void
low_getctarank(low_func *f)
{
    const unsigned type = low_type_at(f, 0);
    low_value d, a;
    low_insn *insn;

    low_check_operand_count(f, 2, 2);
    d = low_target(f, &f->in->operands[0], PTX_R32);
    a = low_source_at(f, 1, type);
    insn = low_emit(f, f->ops[0], d, a, 0, 0);
    insn->e = LOW_NUMBER(ptx_class_bytes(ptx_type_class(type)));
    if (!low_has_shared(f)) {
        insn->imm = (int64_t)EMU_SHARED_WINDOW;
    }
}
