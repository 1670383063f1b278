/* Lowering of loads, stores, copies by threads, and of atomic operations. */
#include "device/compile/lower.h"

#include "device/compile/encoding.h"

/* -- loads, stores, copies --------------------------------------------------------- */

/* Fails unless a vector access may move that many elements: 128 bits, or 256 in global
 * memory from compute capability 10.0 on. */
static void
memory_check_vector(const low_func *f, const ptx_operand *vector, unsigned type,
                    unsigned count, const char *which)
{
    const unsigned bytes = ptx_type_size(type);
    const bool may_be_wide = f->function->module->target >= 100 &&
                             low_is_global_or_const(f) && !low_has(f, PTX_W_const);

    if (vector->kind != PTX_O_VECTOR || vector->count != count) {
        low_fail(f, "the %s is not a vector of %u elements", which, count);
    }
    if (type == PTX_W_pred || bytes > 8 || count * bytes > 32 ||
        (count * bytes > 16 && !may_be_wide)) {
        low_fail(f, "no access has %u elements of %u bits here", count,
                 type == PTX_W_pred ? 1 : 8 * bytes);
    }
    for (unsigned i = 0; i < count; i++) {
        if (vector->items[i].kind == PTX_O_SPECIAL) {
            low_fail(f, "the %s is a special register", which);
        }
    }
    low_check_access(f, vector, type);
}

/* -- loads ------------------------------------------------------------------------- */

/* The base-2 logarithm of a size of 1, 2, 4 or 8 bytes. */
static unsigned
memory_size_index(unsigned size)
{
    unsigned index = 0;

    while (size > 1) {
        size /= 2;
        index++;
    }
    return index;
}

static unsigned
memory_load_op(const low_func *f, unsigned type, ptx_class width)
{
    static const uint16_t ops[4][2][3] = {
        {{EMU_OP_ld_u8_16, EMU_OP_ld_u8_32, EMU_OP_ld_u8_64},
         {EMU_OP_ld_s8_16, EMU_OP_ld_s8_32, EMU_OP_ld_s8_64}},
        {{EMU_OP_ld_u16_16, EMU_OP_ld_u16_32, EMU_OP_ld_u16_64},
         {EMU_OP_ld_u16_16, EMU_OP_ld_s16_32, EMU_OP_ld_s16_64}},
        {{0, EMU_OP_ld_u32_32, EMU_OP_ld_u32_64},
         {0, EMU_OP_ld_u32_32, EMU_OP_ld_s32_64}},
        {{0, 0, EMU_OP_ld_u64_64}, {0, 0, EMU_OP_ld_u64_64}}};
    const unsigned size = ptx_type_size(type);
    unsigned op = 0;

    if (width == PTX_R128 && size == 16) {
        return EMU_OP_ld_128;
    }
    if (width >= PTX_R16 && width <= PTX_R64 && size <= 8 && type != PTX_W_pred) {
        op = ops[memory_size_index(size)][ptx_type_is_signed(type)][width - PTX_R16];
    }
    if (op == EMU_OP_NONE) {
        low_fail(f, "a register is too narrow for what is loaded");
    }
    return op;
}

/* Returns a for {a}, which means the same without .v2, .v4 or .v8. */
static const ptx_operand *
memory_only_element(const low_func *f, const ptx_operand *operand, const char *which)
{
    if (operand->kind != PTX_O_VECTOR) {
        return operand;
    }
    if (operand->count != 1) {
        low_fail(f, "the %s is a vector of %u elements without .v2 or .v4", which,
                 operand->count);
    }
    return &operand->items[0];
}

/* Whether a loop may wait with this load for another thread to store. */
static bool
memory_may_spin(const low_func *f)
{
    return low_has(f, PTX_W_volatile) || low_has(f, PTX_W_acquire) ||
           low_has(f, PTX_W_relaxed) || low_has(f, PTX_W_mmio);
}

/* EMU_AT_STRONG for a load or store that other threads may meet. */
static uint32_t
memory_strength(const low_func *f)
{
    if (low_has(f, PTX_W_volatile)) {
        return EMU_AT_STRONG | EMU_AT_VOLATILE;
    }
    if (memory_may_spin(f) || low_has(f, PTX_W_release)) {
        return EMU_AT_STRONG;
    }
    return 0;
}

static void
memory_load_vector(low_func *f, const ptx_operand *d, unsigned type, unsigned count)
{
    low_place p = low_address(f, &f->in->operands[1]);
    const unsigned bytes = ptx_type_size(type);
    ptx_class width = ptx_type_class(type);
    low_value values[8];
    low_insn *insn;

    memory_check_vector(f, d, type, count, "destination");
    for (unsigned i = 0; i < count; i++) {
        if (d->items[i].kind != PTX_O_SINK) {
            (void)low_target_any(f, &d->items[i], &width);
            break;
        }
    }
    if (width == PTX_PRED || ptx_class_bytes(width) < bytes || width == PTX_R128) {
        low_fail(f, "a register is too narrow for what is loaded");
    }
    for (unsigned i = 0; i < count; i++) {
        values[i] = low_target(f, &d->items[i], width);
    }
    insn = low_access(f, EMU_OP_ld_vector, 0, p, 0);
    insn->aux |= memory_strength(f);
    insn->e = LOW_NUMBER((uint32_t)ptx_type_is_signed(type) << 30 | count << 16 |
                         bytes << 8 | ptx_class_bytes(width));
    for (unsigned i = 0; i < count; i++) {
        low_add_x(f, insn, values[i], true);
    }
}

void
low_ld(low_func *f)
{
    const unsigned type = low_type_at(f, 0), count = low_vector_count(f);
    const ptx_operand *d = &f->in->operands[0];
    ptx_class width = ptx_type_class(type);

    low_check_operand_count(f, 2, 3); /* the third is a cache policy */
    if (type == PTX_W_NONE) {
        low_unsupported(f);
    }
    if (count > 1) {
        memory_load_vector(f, d, type, count);
    }
    else {
        low_place p = low_address(f, &f->in->operands[1]);
        low_value target;

        d = memory_only_element(f, d, "destination");
        low_check_access(f, d, type);
        target = low_target_any(f, d, &width);
        low_access(f, memory_load_op(f, type, width), target, p, 0)->aux |=
            memory_strength(f);
    }
    if (low_has(f, PTX_W_acquire)) {
        low_emit(f, EMU_OP_fence, 0, 0, 0, 0)->aux = EMU_FENCE_ACQUIRE;
    }
    else if (memory_may_spin(f)) {
        low_emit(f, EMU_OP_spin, 0, 0, 0, 0);
    }
}

/* -- stores ------------------------------------------------------------------------ */

static unsigned
memory_store_op(const low_func *f, unsigned type, ptx_class width)
{
    static const uint16_t ops[4][3] = {
        {EMU_OP_st_8_16, EMU_OP_st_8_32, EMU_OP_st_8_64},
        {EMU_OP_st_16_16, EMU_OP_st_16_32, EMU_OP_st_16_64},
        {0, EMU_OP_st_32_32, EMU_OP_st_32_64},
        {0, 0, EMU_OP_st_64_64}};
    const unsigned size = ptx_type_size(type);
    unsigned op = 0;

    if (width == PTX_R128 && size == 16) {
        return EMU_OP_st_128;
    }
    if (width >= PTX_R16 && width <= PTX_R64 && size <= 8 && type != PTX_W_pred) {
        op = ops[memory_size_index(size)][width - PTX_R16];
    }
    if (op == EMU_OP_NONE) {
        low_fail(f, "a register is too narrow for what is stored");
    }
    return op;
}

static void
memory_store_vector(low_func *f, low_place p, const ptx_operand *s, unsigned type,
                    unsigned count)
{
    const unsigned bytes = ptx_type_size(type);
    ptx_class width = ptx_type_class(type), found;
    low_value values[8];
    low_insn *insn;

    memory_check_vector(f, s, type, count, "source");
    for (unsigned i = 0; i < count; i++) {
        values[i] = low_source_any(f, &s->items[i], type, &found);
        if (s->items[i].kind == PTX_O_REG) {
            width = found;
        }
    }
    if (width == PTX_PRED || ptx_class_bytes(width) < bytes || width == PTX_R128) {
        low_fail(f, "a register is too narrow for what is stored");
    }
    for (unsigned i = 0; i < count; i++) {
        const ptx_class natural = ptx_type_class(type);

        if (s->items[i].kind == PTX_O_REG) {
            if (low_width(f, values[i]) != width) {
                low_fail(f, "the elements of a vector differ in width");
            }
        }
        else if (natural != width) {
            low_fail(f, "the elements of a vector differ in width");
        }
    }
    insn = low_access(f, EMU_OP_st_vector, 0, p, 0);
    insn->aux |= memory_strength(f);
    insn->e = LOW_NUMBER(count << 16 | bytes << 8 | ptx_class_bytes(width));
    for (unsigned i = 0; i < count; i++) {
        low_add_x(f, insn, values[i], false);
    }
}

/* st: one element or a vector. */
static void
memory_store(low_func *f)
{
    const unsigned type = low_type_at(f, 0), count = low_vector_count(f);
    const ptx_operand *s;
    low_place p = low_address(f, &f->in->operands[0]);
    ptx_class width;
    low_value value;

    if ((p.aux & EMU_AT_MASK) == EMU_AT_PARAM) {
        low_fail(f, "a kernel's parameters cannot be written");
    }
    if (low_has(f, PTX_W_release)) {
        low_emit(f, EMU_OP_fence, 0, 0, 0, 0)->aux = low_fence_scope(f);
    }
    if (count > 1) {
        memory_store_vector(f, p, &f->in->operands[1], type, count);
        return;
    }
    s = memory_only_element(f, &f->in->operands[1], "source");
    low_check_access(f, s, type);
    value = low_source_any(f, s, type, &width);
    low_access(f, memory_store_op(f, type, width), 0, p, value)->aux |=
        memory_strength(f);
}

void
low_st(low_func *f)
{
    const unsigned type = low_type_at(f, 0);

    low_check_operand_count(f, 2, 3);
    if (type == PTX_W_NONE) {
        low_unsupported(f);
    }
    if (!low_has(f, PTX_W_async)) {
        memory_store(f);
        return;
    }
    /* st.async: the store is done at once, and the mbarrier counts its bytes. */
    low_check_operand_count(f, 3, 3);
    if (!low_has(f, PTX_W_mbarrier_complete_tx_bytes)) {
        low_unsupported(f);
    }
    memory_store(f);
    low_complete_bytes(f, low_vector_count(f) * ptx_type_size(type));
}

/* -- memory of the stack ----------------------------------------------------------- */

/* A register of 64 bits for the result of an operation whose instruction may have a
 * type of 32 bits; memory_give_address then writes the result. */
static low_value
memory_address_target(low_func *f, unsigned type)
{
    if (ptx_type_class(type) == PTX_R64) {
        return low_result(f, type);
    }
    if (ptx_type_class(type) != PTX_R32) {
        low_unsupported(f);
    }
    return low_temp(f, PTX_R64);
}

static void
memory_give_address(low_func *f, unsigned type, low_value wide)
{
    if (ptx_type_class(type) == PTX_R32) {
        low_emit(f, EMU_OP_cvt_32from64_u32, low_result(f, type), wide, 0, 0);
    }
}

/* A source of 32 or 64 bits, as 64 bits. */
static low_value
memory_wide_source(low_func *f, unsigned index, unsigned type)
{
    ptx_class width;
    low_value value = low_source_any(f, &f->in->operands[index], type, &width), wide;

    if (width == PTX_R64) {
        return value;
    }
    wide = low_temp(f, PTX_R64);
    low_convert(f, wide, PTX_R64, value, width, PTX_W_u32);
    return wide;
}

void
low_alloca(low_func *f)
{
    const unsigned type = low_type_at(f, 0);
    low_value size, d;
    uint64_t align = 16;

    low_check_operand_count(f, 2, 3);
    d = memory_address_target(f, type);
    size = memory_wide_source(f, 1, type);
    if (f->in->operand_count == 3) {
        align = low_number(f, &f->in->operands[2]);
        if (align == 0 || (align & (align - 1)) != 0 || align > 1 << 12) {
            low_fail(f, "an alignment is not a power of two");
        }
    }
    if (align < 16) {
        align = 16;
    }
    low_emit(f, EMU_OP_alloca, d, size, 0, 0)->imm = (int64_t)align;
    memory_give_address(f, type, d);
}

void
low_stacksave(low_func *f)
{
    const unsigned type = low_type_at(f, 0);
    low_value d;

    low_check_operand_count(f, 1, 1);
    d = memory_address_target(f, type);
    low_emit(f, EMU_OP_stacksave, d, 0, 0, 0);
    memory_give_address(f, type, d);
}

void
low_stackrestore(low_func *f)
{
    low_check_operand_count(f, 1, 1);
    low_emit(f, EMU_OP_stackrestore, 0, memory_wide_source(f, 0, low_type_at(f, 0)), 0,
             0);
}

/* -- copies ------------------------------------------------------------------------ */

/* A predicate that is true where the instruction's guard is and `size` exceeds `at`. */
static low_value
memory_reaches(low_func *f, low_value size, uint32_t at)
{
    low_value p = low_temp(f, PTX_PRED), guard, both;

    f->plain = true;
    low_emit(f, EMU_OP_lt_u32, p, low_constant(f, PTX_R32, at), size, 0);
    if (f->in->guard != PTX_NO_REG) {
        guard = LOW_REGISTER(f->in->guard);
        if (f->in->guard_negated) {
            guard = low_temp(f, PTX_PRED);
            low_emit(f, EMU_OP_not_p, guard, LOW_REGISTER(f->in->guard), 0, 0);
        }
        both = low_temp(f, PTX_PRED);
        low_emit(f, EMU_OP_and_p, both, p, guard, 0);
        p = both;
    }
    f->plain = false;
    return p;
}

/* A word of which the bytes below `size` are loaded and the others are zero. Each byte
 * has its own predicate: the others may be outside the memory that may be read. */
static low_value
memory_partial_word(low_func *f, low_place from, low_value size, unsigned at)
{
    low_value word = low_constant(f, PTX_R32, 0);

    for (unsigned i = 0; i < 4; i++) {
        low_value p = memory_reaches(f, size, at + i), byte = low_temp(f, PTX_R32);
        low_value shifted = low_temp(f, PTX_R32), sum = low_temp(f, PTX_R32);
        low_insn *insn;

        low_emit(f, EMU_OP_mov_32, byte, low_constant(f, PTX_R32, 0), 0, 0);
        insn = low_access(f, EMU_OP_ld_u8_32, byte, from, 0);
        insn->imm += at + i;
        insn->guarded = true;
        insn->guard = p;
        insn->guard_negated = false;
        low_emit(f, EMU_OP_shl_32, shifted, byte,
                 low_constant(f, PTX_R32, (uint64_t)8 * i), 0);
        low_emit(f, EMU_OP_or_32, sum, word, shifted, 0);
        word = sum;
    }
    return word;
}

/* Emits ld_vector or st_vector of 32-bit words. */
static void
memory_access_words(low_func *f, unsigned op, low_place place, const low_value *values,
                    unsigned count)
{
    low_insn *insn = low_access(f, op, 0, place, 0);

    insn->e = LOW_NUMBER((uint32_t)count << 16 | 4 << 8 | 4);
    for (unsigned k = 0; k < count; k++) {
        low_add_x(f, insn, values[k], op == EMU_OP_ld_vector);
    }
}

/* The number of 32-bit words that cp.async copies. */
static unsigned
memory_copied_words(const low_func *f)
{
    const uint64_t bytes = low_number(f, &f->in->operands[2]);

    if (bytes != 4 && bytes != 8 && bytes != 16) {
        low_fail(f, "a copy of %llu bytes", (unsigned long long)bytes);
    }
    return (unsigned)bytes / 4;
}

/* The operand that says how many bytes cp.async reads: a number, or a predicate that is
 * true if it reads none. */
static low_value
memory_size_to_read(low_func *f, unsigned bytes)
{
    const ptx_operand *operand = &f->in->operands[3];
    low_value size, all, none;

    if (operand->kind != PTX_O_REG ||
        f->function->reg_type[operand->reg] != PTX_W_pred) {
        return low_source(f, operand, PTX_W_u32);
    }
    size = low_temp(f, PTX_R32);
    all = low_constant(f, PTX_R32, bytes);
    none = low_constant(f, PTX_R32, 0);
    low_emit(f, EMU_OP_selp_32, size, none, all, low_predicate(f, operand));
    return size;
}

/* cp.async [shared], [global], bytes {, bytes to read}. The copy is done at once, so
 * commit and wait do nothing. Bytes that are not read are zero. */
void
low_cp(low_func *f)
{
    unsigned with_size = 4, count;
    low_value values[4];
    low_place to, from;

    if (low_has(f, PTX_W_bulk)) {
        low_bulk(f);
        return;
    }
    if (low_has(f, PTX_W_commit_group) || low_has(f, PTX_W_wait_group) ||
        low_has(f, PTX_W_wait_all)) {
        return;
    }
    if (low_has(f, PTX_W_mbarrier)) {
        low_copy_arrive(f);
        return;
    }
    if (!low_has(f, PTX_W_async)) {
        low_unsupported(f);
    }
    low_check_operand_count(f, 3, 5);
    to = low_place_in(low_address(f, &f->in->operands[0]), EMU_AT_SHARED);
    from = low_place_in(low_address(f, &f->in->operands[1]), EMU_AT_GLOBAL);
    count = memory_copied_words(f);
    if (low_has(f, PTX_W_L2_cache_hint)) {
        with_size = 5; /* the last operand is a cache policy */
    }
    if (f->in->operand_count == with_size) {
        low_value size = memory_size_to_read(f, 4 * count);

        for (unsigned k = 0; k < count; k++) {
            values[k] = memory_partial_word(f, from, size, 4 * k);
        }
    }
    else {
        for (unsigned k = 0; k < count; k++) {
            values[k] = low_temp(f, PTX_R32);
        }
        memory_access_words(f, EMU_OP_ld_vector, from, values, count);
    }
    memory_access_words(f, EMU_OP_st_vector, to, values, count);
}

/* -- atomic operations: atom, red -------------------------------------------------- */

/* -- which operation --------------------------------------------------------------- */

/* The operation of a floating-point type: the n-th word of add, min, max. */
static int
atomic_float_operation(const low_func *f, unsigned type, unsigned which)
{
    static const struct {
        uint16_t type;
        int8_t operations[3];
    } rows[] = {
        {PTX_W_f32, {EMU_ATOM_ADD_F32, -1, -1}},
        {PTX_W_f64, {EMU_ATOM_ADD_F64, -1, -1}},
        {PTX_W_f16, {EMU_ATOM_ADD_F16, EMU_ATOM_MIN_F16, EMU_ATOM_MAX_F16}},
        {PTX_W_bf16, {EMU_ATOM_ADD_BF16, EMU_ATOM_MIN_BF16, EMU_ATOM_MAX_BF16}},
        {PTX_W_f16x2, {EMU_ATOM_ADD_F16X2, EMU_ATOM_MIN_F16X2, EMU_ATOM_MAX_F16X2}},
        {PTX_W_bf16x2,
         {EMU_ATOM_ADD_BF16X2, EMU_ATOM_MIN_BF16X2, EMU_ATOM_MAX_BF16X2}}};

    for (size_t i = 0; which < 3 && i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].type == type && rows[i].operations[which] >= 0) {
            return rows[i].operations[which];
        }
    }
    low_unsupported(f);
}

/* EMU_ATOM_ constant of the instruction. */
static int
atomic_operation(const low_func *f, unsigned type)
{
    static const uint16_t words[] = {PTX_W_add, PTX_W_min, PTX_W_max, PTX_W_exch,
                                     PTX_W_cas, PTX_W_and, PTX_W_or,  PTX_W_xor,
                                     PTX_W_inc, PTX_W_dec};
    static const uint8_t of_unsigned[] = {
        EMU_ATOM_ADD, EMU_ATOM_MIN_U, EMU_ATOM_MAX_U, EMU_ATOM_EXCH, EMU_ATOM_CAS,
        EMU_ATOM_AND, EMU_ATOM_OR,    EMU_ATOM_XOR,   EMU_ATOM_INC,  EMU_ATOM_DEC};
    const unsigned count = sizeof of_unsigned, which = low_find(f, words, count);

    if (which == count) {
        low_unsupported(f);
    }
    if (ptx_type_is_float(type)) {
        return atomic_float_operation(f, type, which);
    }
    if (ptx_type_is_signed(type) && words[which] == PTX_W_min) {
        return EMU_ATOM_MIN_S;
    }
    if (ptx_type_is_signed(type) && words[which] == PTX_W_max) {
        return EMU_ATOM_MAX_S;
    }
    return of_unsigned[which];
}

/* The operation for 16, 32, 64 or 128 bits. */
static unsigned
atomic_op(const low_func *f, unsigned type, int operation)
{
    switch (ptx_type_size(type)) {
        case 2:
            return f->ops[0];
        case 4:
            return f->ops[1];
        case 8:
            return f->ops[2];
        case 16:
            if (operation == EMU_ATOM_EXCH || operation == EMU_ATOM_CAS) {
                return f->ops[3];
            }
            low_unsupported(f);
        default:
            low_unsupported(f);
    }
}

/* -- one element ------------------------------------------------------------------- */

/* Emits the atomic operation. Operand `first` is the address; `d` is the register for
 * the old value, or 0. */
static void
atomic_emit(low_func *f, unsigned first, low_value d)
{
    const unsigned type = low_type_at(f, 0);
    const int operation = atomic_operation(f, type);
    const low_place p = low_address(f, &f->in->operands[first]);
    low_value b = low_source_at(f, first + 1, type), c = 0;
    low_insn *insn;

    if (operation == EMU_ATOM_CAS) {
        c = low_source_at(f, first + 2, type);
    }
    insn = low_access(f, atomic_op(f, type, operation), d, p, b);
    insn->c = c;
    insn->e = LOW_NUMBER(operation);
    if (d != 0) {
        insn->aux |= EMU_AT_RESULT;
    }
    if (low_has(f, PTX_W_release) || low_has(f, PTX_W_acq_rel)) {
        insn->aux |= EMU_AT_RELEASE;
        if (low_fence_scope(f) & EMU_FENCE_IN_BLOCK) {
            insn->aux |= EMU_AT_IN_BLOCK;
        }
    }
}

/* -- vectors ----------------------------------------------------------------------- */

/* Each element is one atomic operation. The results are in registers of their own until
 * the last element is done: they may be sources of later elements. */
static void
atomic_emit_vector(low_func *f, unsigned first, const ptx_operand *results)
{
    const unsigned type = low_type_at(f, 0), count = low_vector_count(f);
    const unsigned bytes = ptx_type_size(type);
    const int operation = atomic_operation(f, type);
    const ptx_operand *values = &f->in->operands[first + 1];
    low_place p = low_address(f, &f->in->operands[first]);
    low_value old[8] = {0};

    if (!ptx_type_is_float(type) || bytes > 4 || count * bytes > 16 ||
        values->kind != PTX_O_VECTOR || values->count != count ||
        (results != NULL &&
         (results->kind != PTX_O_VECTOR || results->count != count))) {
        low_unsupported(f);
    }
    for (unsigned i = 0; i < count; i++, p.offset += bytes) {
        low_insn *insn;
        low_value b = low_source(f, &values->items[i], type);

        if (results != NULL) {
            old[i] = low_temp(f, ptx_type_class(type));
        }
        insn = low_access(f, atomic_op(f, type, operation), old[i], p, b);
        insn->e = LOW_NUMBER(operation);
        if (results != NULL) {
            insn->aux |= EMU_AT_RESULT;
        }
    }
    for (unsigned i = 0; results != NULL && i < count; i++) {
        low_value d = low_target(f, &results->items[i], ptx_type_class(type));
        unsigned op = EMU_OP_mov_32;

        if (bytes == 2) {
            op = EMU_OP_mov_16;
        }
        low_emit(f, op, d, old[i], 0, 0);
    }
}

/* -- the opcodes ------------------------------------------------------------------- */

/* Fails unless there are as many operands as the operation needs, from `first` on. The
 * last one may be a cache policy. */
static void
atomic_check(const low_func *f, unsigned first)
{
    unsigned least = first + 2;

    if (low_has(f, PTX_W_cas)) {
        least++;
    }
    low_check_operand_count(f, least, least + 1);
}

void
low_atom(low_func *f)
{
    atomic_check(f, 1);
    if (low_vector_count(f) > 1) {
        atomic_emit_vector(f, 1, &f->in->operands[0]);
    }
    else {
        atomic_emit(f, 1, low_result(f, low_type_at(f, 0)));
    }
}

/* red.async: the operation is done at once, and the mbarrier counts its bytes. */
static void
atomic_red_async(low_func *f)
{
    low_check_operand_count(f, 3, 3);
    if (!low_has(f, PTX_W_mbarrier_complete_tx_bytes) || low_vector_count(f) > 1) {
        low_unsupported(f);
    }
    atomic_emit(f, 0, 0);
    low_complete_bytes(f, ptx_type_size(low_type_at(f, 0)));
}

void
low_red(low_func *f)
{
    atomic_check(f, 0);
    if (low_has(f, PTX_W_async)) {
        atomic_red_async(f);
    }
    else if (low_vector_count(f) > 1) {
        atomic_emit_vector(f, 0, NULL);
    }
    else {
        atomic_emit(f, 0, 0);
    }
}
