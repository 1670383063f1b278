/* Lowering of loads, stores, atomics. See lower.h. */
#include "device/compile/encoding.h"
#include "device/compile/lower.h"

/* The space an instruction names; NONE is generic. */
static unsigned
named_space(const low_func *f)
{
    if (low_has(f, PTX_W_global) || low_has(f, PTX_W_const)) {
        return EMU_AT_GLOBAL;
    }
    if (low_has(f, PTX_W_shared) || low_has(f, PTX_W_shared_cta) ||
        low_has(f, PTX_W_shared_cluster)) {
        return EMU_AT_SHARED;
    }
    if (low_has(f, PTX_W_local)) {
        return EMU_AT_LOCAL;
    }
    if (low_has(f, PTX_W_param) || low_has(f, PTX_W_param_entry) ||
        low_has(f, PTX_W_param_func)) {
        /* in a function parameters are in the thread's local memory */
        return f->function->is_entry ? EMU_AT_PARAM : EMU_AT_LOCAL;
    }
    return EMU_AT_GENERIC;
}

static low_place
variable_place(low_func *f, const ptx_operand *operand)
{
    const ptx_var *var = operand->var->same ? operand->var->same : operand->var;
    low_place p = {0, 0, (int64_t)(var->address + operand->bits)};

    switch (var->space) {
        case PTX_SPACE_GLOBAL:
        case PTX_SPACE_CONST:
            p.aux = EMU_AT_GLOBAL;
            break;
        case PTX_SPACE_SHARED:
            p.aux = EMU_AT_SHARED;
            if (var->unsized) {
                p.base = low_address_of(f, operand, PTX_R64);
                p.aux |= EMU_AT_BASE64;
                p.offset = 0;
            }
            break;
        case PTX_SPACE_PARAM:
            if (var->is_param && f->function->is_entry) {
                p.aux = EMU_AT_PARAM;
            }
            else {
                p.aux = EMU_AT_FRAME;
                p.offset += var->is_param ? 0 : (int64_t)f->call_base;
            }
            break;
        default:
            p.aux = EMU_AT_FRAME;
            break;
    }
    return p;
}

low_place
low_address(low_func *f, const ptx_operand *operand)
{
    const ptx_operand *item;
    low_place p = {0, 0, 0};

    if (operand->kind != PTX_O_ADDRESS || operand->count != 1) {
        low_fail(f, "an operand is no address");
    }
    item = &operand->items[0];
    switch (item->kind) {
        case PTX_O_REG:
            p.base = (item->reg + 1) << 1;
            p.offset = (int64_t)item->bits;
            p.aux = named_space(f);
            if (f->registers[item->reg].width == PTX_R64) {
                p.aux |= EMU_AT_BASE64;
            }
            else if (f->registers[item->reg].width == PTX_R32) {
                p.aux |= EMU_AT_BASE32;
            }
            else {
                low_fail(f, "an address is neither 32 nor 64 bits wide");
            }
            break;
        case PTX_O_INT:
            p.offset = (int64_t)item->bits;
            p.aux = named_space(f);
            break;
        case PTX_O_VAR:
            p = variable_place(f, item);
            break;
        case PTX_O_NAME:
            low_fail(f, "'%.100s' is not declared", item->name->text);
        default:
            low_fail(f, "an address is of the wrong kind");
    }
    return p;
}

low_insn *
low_access(low_func *f, unsigned op, low_value d, low_place p, low_value b)
{
    low_insn *insn = low_emit(f, op, d, p.base, b, 0);

    insn->aux = p.aux;
    insn->imm = p.offset;
    return insn;
}

static const uint8_t register_bytes[PTX_CLASSES] = {0, 2, 4, 8, 16};

/* The limits on what a vector access moves: 128 bits, and 256 in global memory from
 * compute capability 10.0 on. */
static void
check_vector(const low_func *f, const ptx_operand *vector, unsigned type,
             unsigned count, const char *which)
{
    const unsigned bytes = ptx_type_size(type);
    const bool may_be_wide = f->function->module->target >= 100 &&
                             named_space(f) == EMU_AT_GLOBAL &&
                             !low_has(f, PTX_W_const);
    unsigned i;

    if (vector->kind != PTX_O_VECTOR || vector->count != count) {
        low_fail(f, "the %s is no vector of %u elements", which, count);
    }
    if (type == PTX_W_pred || bytes > 8 || count * bytes > 32 ||
        (count * bytes > 16 && !may_be_wide)) {
        low_fail(f, "no access has %u elements of %u bits here", count,
                 type == PTX_W_pred ? 1 : 8 * bytes);
    }
    for (i = 0; i < count; i++) {
        if (vector->items[i].kind == PTX_O_SPECIAL) {
            low_fail(f, "the %s is a special register", which);
        }
    }
    low_check_access(f, vector, type);
}

/* -- loads ------------------------------------------------------------------------- */

static unsigned
load_op(const low_func *f, unsigned type, ptx_class width)
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
        op = ops[size == 1   ? 0
                 : size == 2 ? 1
                 : size == 4 ? 2
                             : 3][ptx_type_is_signed(type)][width - PTX_R16];
    }
    if (!op) {
        low_fail(f, "a register is too narrow for what is loaded");
    }
    return op;
}

/* {a} is a where the instruction has no .v2, .v4 or .v8. */
static const ptx_operand *
only_element(const low_func *f, const ptx_operand *operand, const char *which)
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

/* Loads that a thread may wait with for another one. */
static bool
may_spin(const low_func *f)
{
    return low_has(f, PTX_W_volatile) || low_has(f, PTX_W_acquire) ||
           low_has(f, PTX_W_relaxed) || low_has(f, PTX_W_mmio);
}

static void
load_vector(low_func *f, const ptx_operand *d, unsigned type, unsigned count)
{
    low_place p = low_address(f, &f->in->operands[1]);
    const unsigned bytes = ptx_type_size(type);
    ptx_class width = ptx_type_class(type);
    low_value values[8];
    low_insn *insn;
    unsigned i;

    check_vector(f, d, type, count, "destination");
    for (i = 0; i < count; i++) {
        if (d->items[i].kind != PTX_O_SINK) {
            (void)low_target_any(f, &d->items[i], &width);
            break;
        }
    }
    if (width == PTX_PRED || register_bytes[width] < bytes || width == PTX_R128) {
        low_fail(f, "a register is too narrow for what is loaded");
    }
    for (i = 0; i < count; i++) {
        values[i] = low_target(f, &d->items[i], width);
    }
    insn = low_access(f, EMU_OP_ld_vector, 0, p, 0);
    insn->e = LOW_NUMBER((uint32_t)ptx_type_is_signed(type) << 30 | count << 16 |
                         bytes << 8 | register_bytes[width]);
    for (i = 0; i < count; i++) {
        low_add_x(f, insn, values[i], true);
    }
}

static void
lower_ld(low_func *f)
{
    const unsigned type = low_type(f, 0), count = low_vector_count(f);
    const ptx_operand *d = &f->in->operands[0];
    ptx_class width = ptx_type_class(type);

    low_operands(f, 2, 3); /* the third is a cache policy */
    if (!type) {
        low_unsupported(f);
    }
    if (count > 1) {
        load_vector(f, d, type, count);
    }
    else {
        low_place p = low_address(f, &f->in->operands[1]);
        low_value target;

        d = only_element(f, d, "destination");
        low_check_access(f, d, type);
        target = low_target_any(f, d, &width);
        low_access(f, load_op(f, type, width), target, p, 0);
    }
    if (low_has(f, PTX_W_acquire)) {
        low_emit(f, EMU_OP_fence, 0, 0, 0, 0);
    }
    else if (may_spin(f)) {
        low_emit(f, EMU_OP_spin, 0, 0, 0, 0);
    }
}

/* -- stores ------------------------------------------------------------------------ */

static unsigned
store_op(const low_func *f, unsigned type, ptx_class width)
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
        op = ops[size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3][width - PTX_R16];
    }
    if (!op) {
        low_fail(f, "a register is too narrow for what is stored");
    }
    return op;
}

static void
store_vector(low_func *f, low_place p, const ptx_operand *s, unsigned type,
             unsigned count)
{
    const unsigned bytes = ptx_type_size(type);
    ptx_class width = ptx_type_class(type), found;
    low_value values[8];
    low_insn *insn;
    unsigned i;

    check_vector(f, s, type, count, "source");
    for (i = 0; i < count; i++) {
        values[i] = low_source_any(f, &s->items[i], type, &found);
        if (s->items[i].kind == PTX_O_REG) {
            width = found;
        }
    }
    if (width == PTX_PRED || register_bytes[width] < bytes || width == PTX_R128) {
        low_fail(f, "a register is too narrow for what is stored");
    }
    for (i = 0; i < count; i++) {
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
    insn->e = LOW_NUMBER(count << 16 | bytes << 8 | register_bytes[width]);
    for (i = 0; i < count; i++) {
        low_add_x(f, insn, values[i], false);
    }
}

static void
lower_st(low_func *f)
{
    const unsigned type = low_type(f, 0), count = low_vector_count(f);
    const ptx_operand *s;
    low_place p;
    ptx_class width;
    low_value value;

    low_operands(f, 2, 3);
    if (!type) {
        low_unsupported(f);
    }
    p = low_address(f, &f->in->operands[0]);
    if ((p.aux & EMU_AT_MASK) == EMU_AT_PARAM) {
        low_fail(f, "a kernel's parameters cannot be written");
    }
    if (low_has(f, PTX_W_release)) {
        low_emit(f, EMU_OP_fence, 0, 0, 0, 0);
    }
    if (count > 1) {
        store_vector(f, p, &f->in->operands[1], type, count);
        return;
    }
    s = only_element(f, &f->in->operands[1], "source");
    low_check_access(f, s, type);
    value = low_source_any(f, s, type, &width);
    low_access(f, store_op(f, type, width), 0, p, value);
}

/* -- atomics ----------------------------------------------------------------------- */

static int
float_atom(unsigned type)
{
    switch (type) {
        case PTX_W_f32:
            return EMU_ATOM_ADD_F32;
        case PTX_W_f64:
            return EMU_ATOM_ADD_F64;
        case PTX_W_f16:
            return EMU_ATOM_ADD_F16;
        case PTX_W_bf16:
            return EMU_ATOM_ADD_BF16;
        case PTX_W_f16x2:
            return EMU_ATOM_ADD_F16X2;
        case PTX_W_bf16x2:
            return EMU_ATOM_ADD_BF16X2;
        default:
            return EMU_ATOM_ADD;
    }
}

/* EMU_ATOM_ constant of the instruction. */
static int
atom_operation(const low_func *f, unsigned type)
{
    const bool is_signed = ptx_type_is_signed(type);

    if (low_has(f, PTX_W_add)) {
        return float_atom(type);
    }
    if (ptx_type_is_float(type)) {
        low_unsupported(f);
    }
    if (low_has(f, PTX_W_exch)) {
        return EMU_ATOM_EXCH;
    }
    if (low_has(f, PTX_W_cas)) {
        return EMU_ATOM_CAS;
    }
    if (low_has(f, PTX_W_and)) {
        return EMU_ATOM_AND;
    }
    if (low_has(f, PTX_W_or)) {
        return EMU_ATOM_OR;
    }
    if (low_has(f, PTX_W_xor)) {
        return EMU_ATOM_XOR;
    }
    if (low_has(f, PTX_W_min)) {
        return is_signed ? EMU_ATOM_MIN_S : EMU_ATOM_MIN_U;
    }
    if (low_has(f, PTX_W_max)) {
        return is_signed ? EMU_ATOM_MAX_S : EMU_ATOM_MAX_U;
    }
    if (low_has(f, PTX_W_inc)) {
        return EMU_ATOM_INC;
    }
    if (low_has(f, PTX_W_dec)) {
        return EMU_ATOM_DEC;
    }
    low_unsupported(f);
}

static void
lower_atom(low_func *f, bool wants_result)
{
    const unsigned type = low_type(f, 0), size = ptx_type_size(type);
    const unsigned first = wants_result ? 1 : 0;
    const int operation = atom_operation(f, type);
    const unsigned op = size == 2   ? EMU_OP_atom_16
                        : size == 4 ? EMU_OP_atom_32
                        : size == 8 ? EMU_OP_atom_64
                                    : 0;
    low_value d = 0, b, c = 0;
    low_insn *insn;
    low_place p;

    low_operands(f, first + (operation == EMU_ATOM_CAS ? 3 : 2), first + 4);
    if (!op || low_vector_count(f) > 1) {
        low_unsupported(f);
    }
    if (wants_result) {
        d = low_target(f, &f->in->operands[0], ptx_type_class(type));
    }
    p = low_address(f, &f->in->operands[first]);
    b = low_source(f, &f->in->operands[first + 1], type);
    if (operation == EMU_ATOM_CAS) {
        c = low_source(f, &f->in->operands[first + 2], type);
    }
    insn = low_access(f, op, d, p, b);
    insn->c = c;
    insn->e = LOW_NUMBER(operation);
    insn->aux |= wants_result ? EMU_AT_RESULT : 0;
}

/* -- the rest ---------------------------------------------------------------------- */

static void
lower_alloca(low_func *f)
{
    const unsigned type = low_type(f, 0);
    low_value size, wide;
    ptx_class width;
    uint64_t align = 16;

    low_operands(f, 2, 3);
    if (ptx_type_class(type) != PTX_R64) {
        low_unsupported(f);
    }
    size = low_source_any(f, &f->in->operands[1], type, &width);
    if (f->in->operand_count == 3) {
        align = low_number(f, &f->in->operands[2]);
        if (!align || (align & (align - 1)) || align > 1 << 12) {
            low_fail(f, "an alignment is no power of two");
        }
    }
    wide = size;
    if (width != PTX_R64) {
        wide = low_temp(f, PTX_R64);
        low_convert(f, wide, PTX_R64, size, width, PTX_W_u32);
    }
    low_emit(f, EMU_OP_alloca, low_target(f, &f->in->operands[0], PTX_R64), wide, 0, 0)
        ->imm = (int64_t)(align < 16 ? 16 : align);
}

/* A predicate that holds where the instruction's guard does and `size` is above `at`.
 */
static low_value
reaches(low_func *f, low_value size, uint32_t at)
{
    low_value p = low_temp(f, PTX_PRED), guard, both;

    f->plain = true;
    low_emit(f, EMU_OP_lt_u32, p, low_constant(f, PTX_R32, at), size, 0);
    if (f->in->guard != PTX_NO_REG) {
        guard = (f->in->guard + 1) << 1;
        if (f->in->guard_negated) {
            guard = low_temp(f, PTX_PRED);
            low_emit(f, EMU_OP_not_p, guard, (f->in->guard + 1) << 1, 0, 0);
        }
        both = low_temp(f, PTX_PRED);
        low_emit(f, EMU_OP_and_p, both, p, guard, 0);
        p = both;
    }
    f->plain = false;
    return p;
}

/* A word of which the bytes below `size` are loaded, each under its own predicate: the
 * others may lie outside of what may be read. */
static low_value
partial_word(low_func *f, low_place from, low_value size, unsigned at)
{
    low_value word = low_constant(f, PTX_R32, 0);
    unsigned i;

    for (i = 0; i < 4; i++) {
        low_value p = reaches(f, size, at + i), byte = low_temp(f, PTX_R32);
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

/* A space that the words name for an operand, unless its variable has told it. */
static low_place
place_in(low_place p, uint32_t space)
{
    if (p.aux & (EMU_AT_BASE64 | EMU_AT_BASE32)) {
        p.aux = (p.aux & ~(uint32_t)EMU_AT_MASK) | space;
    }
    return p;
}

/* cp.async [shared], [global], bytes {, bytes to read}: done at once, so that there is
 * nothing to wait for later. What is not read is zero. */
static void
lower_cp(low_func *f)
{
    static const struct {
        uint8_t bytes, elements;
    } shapes[] = {{4, 1}, {8, 2}, {16, 4}};
    const bool policy = low_has(f, PTX_W_l2_hint);
    low_value values[4], size;
    uint64_t bytes;
    low_insn *insn;
    low_place to, from;
    unsigned i, k;

    if (low_has(f, PTX_W_commit_group) || low_has(f, PTX_W_wait_group) ||
        low_has(f, PTX_W_wait_all)) {
        return;
    }
    if (!low_has(f, PTX_W_async) || low_has(f, PTX_W_bulk)) {
        low_unsupported(f);
    }
    low_operands(f, 3, 5);
    to = place_in(low_address(f, &f->in->operands[0]), EMU_AT_SHARED);
    from = place_in(low_address(f, &f->in->operands[1]), EMU_AT_GLOBAL);
    bytes = low_number(f, &f->in->operands[2]);
    for (i = 0; i < 3 && shapes[i].bytes != bytes; i++) {
    }
    if (i == 3) {
        low_fail(f, "a copy of %llu bytes", (unsigned long long)bytes);
    }
    if (f->in->operand_count == (policy ? 5 : 4)) {
        size = low_source(f, &f->in->operands[3], PTX_W_u32);
        for (k = 0; k < shapes[i].elements; k++) {
            values[k] = partial_word(f, from, size, 4 * k);
        }
    }
    else {
        for (k = 0; k < shapes[i].elements; k++) {
            values[k] = low_temp(f, PTX_R32);
        }
        insn = low_access(f, EMU_OP_ld_vector, 0, from, 0);
        insn->e = LOW_NUMBER((uint32_t)shapes[i].elements << 16 | 4 << 8 | 4);
        for (k = 0; k < shapes[i].elements; k++) {
            low_add_x(f, insn, values[k], true);
        }
    }
    insn = low_access(f, EMU_OP_st_vector, 0, to, 0);
    insn->e = LOW_NUMBER((uint32_t)shapes[i].elements << 16 | 4 << 8 | 4);
    for (k = 0; k < shapes[i].elements; k++) {
        low_add_x(f, insn, values[k], false);
    }
}

/* mbarrier.test_wait, which loops call: others must get their turn. */
static void
lower_mbarrier_wait(low_func *f)
{
    const bool parity = low_has(f, PTX_W_parity);
    low_insn *insn;

    low_operands(f, 3, 4);
    insn = low_access(
        f, EMU_OP_mbarrier_wait, low_target(f, &f->in->operands[0], PTX_PRED),
        low_address(f, &f->in->operands[1]),
        low_source(f, &f->in->operands[2], parity ? PTX_W_u32 : PTX_W_u64));
    insn->e = LOW_NUMBER(parity);
    low_emit(f, EMU_OP_spin, 0, 0, 0, 0);
}

static void
lower_mbarrier_arrive(low_func *f)
{
    const ptx_operand *operands = f->in->operands;
    const bool drop = low_has(f, PTX_W_arrive_drop);
    low_value d = low_target(f, &operands[0], PTX_R64), count;
    low_insn *insn;

    low_operands(f, 2, 3);
    count = f->in->operand_count == 3 ? low_source(f, &operands[2], PTX_W_u32)
                                      : low_constant(f, PTX_R32, 1);
    insn =
        low_access(f, EMU_OP_mbarrier_arrive, d, low_address(f, &operands[1]), count);
    insn->e = LOW_NUMBER(drop);
}

static void
lower_mbarrier(low_func *f)
{
    if (low_has(f, PTX_W_complete_tx) || low_has(f, PTX_W_expect_tx)) {
        low_unsupported(f);
    }
    if (low_has(f, PTX_W_init)) {
        low_operands(f, 2, 2);
        low_access(f, EMU_OP_mbarrier_init, 0, low_address(f, &f->in->operands[0]),
                   low_source(f, &f->in->operands[1], PTX_W_u32));
    }
    else if (low_has(f, PTX_W_test_wait) || low_has(f, PTX_W_try_wait)) {
        lower_mbarrier_wait(f);
    }
    else if (low_has(f, PTX_W_arrive) || low_has(f, PTX_W_arrive_drop)) {
        lower_mbarrier_arrive(f);
    }
    else if (!low_has(f, PTX_W_inval)) { /* which leaves bytes of no meaning */
        low_unsupported(f);
    }
}

bool
low_memory(low_func *f)
{
    switch (f->in->opcode) {
        case PTX_OP_cp:
            lower_cp(f);
            return true;
        case PTX_OP_mbarrier:
            lower_mbarrier(f);
            return true;
        case PTX_OP_ld:
        case PTX_OP_ldu:
            lower_ld(f);
            return true;
        case PTX_OP_st:
            lower_st(f);
            return true;
        case PTX_OP_atom:
            lower_atom(f, true);
            return true;
        case PTX_OP_red:
            lower_atom(f, false);
            return true;
        case PTX_OP_prefetch:
        case PTX_OP_prefetchu:
        case PTX_OP_applypriority:
        case PTX_OP_discard:
            return true; /* of no effect here */
        case PTX_OP_alloca:
            lower_alloca(f);
            return true;
        case PTX_OP_stacksave:
            low_operands(f, 1, 1);
            low_emit(f, EMU_OP_stacksave, low_target(f, &f->in->operands[0], PTX_R64),
                     0, 0, 0);
            return true;
        case PTX_OP_stackrestore:
            low_operands(f, 1, 1);
            low_emit(f, EMU_OP_stackrestore, 0,
                     low_source(f, &f->in->operands[0], PTX_W_u64), 0, 0);
            return true;
        default:
            return false;
    }
}
