/* Values that are computed once, and operations that become one. See lower.h. */
#include "device/compile/lower.h"

#include "device/compile/encoding.h"
#include "device/ptx/words.h"

enum {
    MOST_UNIFORM = 16384, /* bytes of the values of a launch and of a block */
    MOST_OF_WARP = 2048,  /* bytes of the values of a warp */
    MOST_OF_BLOCK = 64,   /* instructions that each block runs once */
    MOST_SHAPED = 8,
    SHAPE_ROOM = 64,   /* bytes of an emu_shape, to keep the alignment */
    MOST_DISTANCE = 64 /* instructions between an address and its use */
};

typedef struct {
    low_func *f;
    uint32_t *start, *end;
    uint32_t *writes; /* of each register: how many instructions write it */
    uint32_t *writer; /* the number of one of them */
    uint32_t *reads;  /* how many read it */
    uint64_t params_size;
    unsigned of_block; /* instructions that each block runs once */
} hoist;

static bool
hoist_is_register(low_value value)
{
    return value != 0 && (value & 1) == 0;
}

/* -- which instructions write and read a register ---------------------------------- */

static void
hoist_count_write(hoist *h, low_value value, uint32_t index)
{
    if (hoist_is_register(value)) {
        h->writes[LOW_REGISTER_NUMBER(value)]++;
        h->writer[LOW_REGISTER_NUMBER(value)] = index;
    }
}

static void
hoist_count_read(hoist *h, low_value value)
{
    if (hoist_is_register(value)) {
        h->reads[LOW_REGISTER_NUMBER(value)]++;
    }
}

static void
hoist_count(hoist *h)
{
    const low_func *f = h->f;

    for (uint32_t i = 0; i < f->count; i++) {
        const low_insn *insn = &f->insns[i];
        uint32_t k = 0;

        hoist_count_write(h, insn->d, i);
        hoist_count_write(h, insn->e, i);
        hoist_count_read(h, insn->a);
        hoist_count_read(h, insn->b);
        hoist_count_read(h, insn->c);
        hoist_count_read(h, insn->guard);
        if (emu_op_rows[insn->op].fields & EMU_TARGETS) {
            k = insn->x_count; /* they are labels */
        }
        for (; k < insn->x_count; k++) {
            if (k < insn->x_defs) {
                hoist_count_write(h, f->xs[insn->x + k], i);
            }
            else {
                hoist_count_read(h, f->xs[insn->x + k]);
            }
        }
    }
}

/* -- values that are computed once ------------------------------------------------- */

/* Whether the instruction loads a parameter of the kernel, and cannot fault. */
static bool
hoist_loads_parameter(const hoist *h, const low_insn *insn)
{
    const uint64_t size = emu_op_rows[insn->op].bytes, at = (uint64_t)insn->imm;

    return insn->aux == EMU_AT_PARAM && at % size == 0 && at < h->params_size &&
           size <= h->params_size - at;
}

static unsigned
hoist_level_of_value(const low_func *f, low_value value)
{
    if (!hoist_is_register(value)) {
        return EMU_ONCE_LAUNCH;
    }
    return f->registers[LOW_REGISTER_NUMBER(value)].once;
}

/* Whether the value is the same in all lanes. */
static bool
hoist_is_uniform(const low_func *f, low_value value)
{
    const unsigned level = hoist_level_of_value(f, value);

    return value && (level == EMU_ONCE_LAUNCH || level == EMU_ONCE_BLOCK);
}

/* How often a value must be computed that depends on values of two levels. */
static unsigned
hoist_join(unsigned one, unsigned other)
{
    if (one == EMU_EACH || other == EMU_EACH) {
        return EMU_EACH;
    }
    if (one == EMU_ONCE_LAUNCH || one == other) {
        return other;
    }
    if (other == EMU_ONCE_LAUNCH) {
        return one;
    }
    return EMU_EACH;
}

/* The same of a special register. */
static unsigned
hoist_level_of_special(unsigned special)
{
    switch (special) {
        case PTX_S_ctaid:
            return EMU_ONCE_BLOCK;
        case PTX_S_ntid:
        case PTX_S_nctaid:
            return EMU_ONCE_LAUNCH;
        case PTX_S_tid:
        case PTX_S_laneid:
            return EMU_ONCE_WARP;
        default:
            return EMU_EACH;
    }
}

/* How often the instruction must run. */
static unsigned
hoist_level(const hoist *h, const low_insn *insn)
{
    const low_func *f = h->f;

    if (insn->guarded || insn->round != 0 || insn->x_count ||
        !hoist_is_register(insn->d) || h->writes[LOW_REGISTER_NUMBER(insn->d)] != 1) {
        return EMU_EACH;
    }
    switch (emu_op_runs(insn->op)) {
        case EMU_RUNS_SPECIAL:
            return hoist_level_of_special(insn->aux);
        case EMU_RUNS_PARAMETER:
            return hoist_loads_parameter(h, insn) ? EMU_ONCE_LAUNCH : EMU_EACH;
        case EMU_RUNS_ONCE:
            return hoist_join(hoist_join(hoist_level_of_value(f, insn->a),
                                         hoist_level_of_value(f, insn->b)),
                              hoist_level_of_value(f, insn->c));
        case EMU_RUNS_EACH:
            break;
    }
    return EMU_EACH;
}

/* The place of a result in the memory of its level. False: this memory is full. */
static bool
hoist_place(low_func *f, low_register *r, unsigned level)
{
    const uint32_t bytes = ptx_class_bytes(r->width) * EMU_LANES;
    uint32_t *size = &f->uniform_size;
    uint32_t most = MOST_UNIFORM, tag = EMU_TAG_UNIFORM;

    if (level == EMU_ONCE_WARP) {
        size = &f->warp_size;
        most = MOST_OF_WARP;
        tag = EMU_TAG_WARP;
    }
    if (*size + bytes > most) {
        return false;
    }
    r->offset = *size | tag;
    r->once = (uint8_t)level;
    *size += bytes;
    return true;
}

static void
hoist_values(hoist *h)
{
    low_func *f = h->f;

    for (uint32_t i = 0; i < f->count; i++) {
        low_insn *insn = &f->insns[i];
        const unsigned level = hoist_level(h, insn);

        if (level == EMU_EACH ||
            (level == EMU_ONCE_BLOCK && h->of_block >= MOST_OF_BLOCK)) {
            continue;
        }
        if (hoist_place(f, &f->registers[LOW_REGISTER_NUMBER(insn->d)], level)) {
            insn->once = (uint8_t)level;
            h->of_block += level == EMU_ONCE_BLOCK;
            h->start[LOW_REGISTER_NUMBER(insn->d)] = UINT32_MAX;
        }
    }
}

/* -- linear values ----------------------------------------------------------------- */

static bool
hoist_is_linear_value(const low_func *f, low_value value)
{
    return hoist_is_register(value) &&
           f->registers[LOW_REGISTER_NUMBER(value)].is_linear;
}

/* Whether the result is tid.x plus a value that all lanes share. */
static bool
hoist_is_linear(const low_func *f, const low_insn *insn)
{
    const bool a = hoist_is_linear_value(f, insn->a);
    const bool b = hoist_is_linear_value(f, insn->b);

    switch (insn->op) {
        case EMU_OP_lane_special:
            return insn->aux == PTX_S_tid && insn->imm == 0;
        case EMU_OP_mov_32:
            return a;
        case EMU_OP_add_32:
            return (a && hoist_is_uniform(f, insn->b)) ||
                   (b && hoist_is_uniform(f, insn->a));
        case EMU_OP_mad_32:
            return hoist_is_uniform(f, insn->a) && hoist_is_uniform(f, insn->b) &&
                   hoist_is_linear_value(f, insn->c);
        default:
            return false;
    }
}

static void
hoist_find_linear(hoist *h)
{
    low_func *f = h->f;

    for (uint32_t i = 0; i < f->count; i++) {
        const low_insn *insn = &f->insns[i];

        if (!insn->guarded && hoist_is_register(insn->d) &&
            h->writes[LOW_REGISTER_NUMBER(insn->d)] == 1) {
            f->registers[LOW_REGISTER_NUMBER(insn->d)].is_linear =
                hoist_is_linear(f, insn);
        }
    }
}

/* Lets a comparison of tid.x plus a value that all lanes share with such a value look
 * at the first lane and the last one. */
static void
hoist_comparison(const low_func *f, low_insn *insn)
{
    switch (insn->op) {
        case EMU_OP_lt_u32:
        case EMU_OP_le_u32:
        case EMU_OP_lt_s32:
        case EMU_OP_le_s32:
            if ((hoist_is_linear_value(f, insn->a) && hoist_is_uniform(f, insn->b)) ||
                (hoist_is_linear_value(f, insn->b) && hoist_is_uniform(f, insn->a))) {
                insn->aux |= EMU_ENDS_DECIDE;
            }
            break;
        default:
            break;
    }
}

/* -- addresses --------------------------------------------------------------------- */

static bool
hoist_is_access(const low_insn *insn)
{
    const uint32_t space = insn->aux & EMU_AT_MASK;

    return emu_op_rows[insn->op].fields & EMU_TAKES_INDEX && space <= EMU_AT_GLOBAL &&
           insn->aux & EMU_AT_BASE64;
}

/* The only instruction that writes the value, or NULL. It may be computed once. */
static low_insn *
hoist_only_writer(const hoist *h, low_value value)
{
    low_insn *insn;
    uint32_t reg;

    if (!hoist_is_register(value)) {
        return NULL;
    }
    reg = LOW_REGISTER_NUMBER(value);
    if (h->writes[reg] != 1) {
        return NULL;
    }
    insn = &h->f->insns[h->writer[reg]];
    if (insn->guarded || insn->d != value) {
        return NULL;
    }
    return insn;
}

/* The same of a value that is computed each time. */
static low_insn *
hoist_writer(const hoist *h, low_value value)
{
    low_insn *insn = hoist_only_writer(h, value);

    if (insn == NULL || insn->once) {
        return NULL;
    }
    return insn;
}

static bool
hoist_writes(const hoist *h, const low_insn *insn, low_value value)
{
    if (insn->d == value || insn->e == value) {
        return true;
    }
    for (uint32_t k = 0; k < insn->x_defs; k++) {
        if (h->f->xs[insn->x + k] == value) {
            return true;
        }
    }
    return false;
}

/* Whether an instruction comes after another one in the same basic block. */
static bool
hoist_follows(const low_insn *from, const low_insn *to)
{
    if (to - from > MOST_DISTANCE || to <= from) {
        return false;
    }
    for (const low_insn *insn = from + 1; insn < to; insn++) {
        if (insn->op == EMU_OP_label ||
            emu_op_rows[insn->op].fields & (EMU_TARGET | EMU_TARGETS | EMU_LEAVES)) {
            return false;
        }
    }
    return true;
}

/* Whether none of the instructions between two writes the value. */
static bool
hoist_keeps(const hoist *h, const low_insn *from, const low_insn *to, low_value value)
{
    for (const low_insn *insn = from + 1; insn < to; insn++) {
        if (hoist_writes(h, insn, value)) {
            return false;
        }
    }
    return true;
}

/* Whether the index has, at the access, the value of which the address was computed. It
 * has if the product is computed once, or if nothing writes the index in between. It
 * also has if its only writer comes before the product in the basic block of the sum:
 * then it never runs without them. */
static bool
hoist_has_index(const hoist *h, low_value index, const low_insn *product,
                const low_insn *sum, const low_insn *access)
{
    const low_insn *writer = hoist_writer(h, index);

    if (product->once != EMU_EACH) {
        return true;
    }
    if (writer != NULL && writer < product && hoist_follows(writer, sum)) {
        return true;
    }
    return hoist_follows(product, access) && hoist_keeps(h, product, access, index);
}

static bool
hoist_is_widened(const low_insn *insn)
{
    return insn->op == EMU_OP_cvt_64from32_s32 || insn->op == EMU_OP_cvt_64from32_u32;
}

/* Whether the instruction multiplies an index by the size of an element. */
static bool
hoist_is_product(const low_insn *insn)
{
    return insn->op == EMU_OP_mulwide_s32 || insn->op == EMU_OP_mulwide_u32 ||
           hoist_is_widened(insn);
}

/* One read less of a value. An instruction whose result nothing reads is dropped. */
static void
hoist_drop_read(hoist *h, low_value value)
{
    low_insn *insn = hoist_writer(h, value);

    if (!hoist_is_register(value) || --h->reads[LOW_REGISTER_NUMBER(value)] ||
        insn == NULL) {
        return;
    }
    if (hoist_is_product(insn)) {
        insn->once = EMU_NEVER;
        h->start[LOW_REGISTER_NUMBER(value)] = UINT32_MAX;
    }
    else if (insn->op == EMU_OP_add_64) {
        insn->once = EMU_NEVER;
        h->start[LOW_REGISTER_NUMBER(value)] = UINT32_MAX;
        hoist_drop_read(h, insn->a);
        hoist_drop_read(h, insn->b);
    }
}

/* The factor of a product, or 0. */
static uint64_t
hoist_factor(const low_func *f, const low_insn *product)
{
    uint64_t bits = 0;

    if (hoist_is_widened(product)) {
        return 1;
    }
    if (product->b & 1) {
        bits = low_constant_bits(f, product->b);
    }
    if (bits > EMU_AT_MOST_SCALE) {
        return 0;
    }
    return bits;
}

/* Gives an access the operands of the sum that is its address, if it has the form. */
static void
hoist_address(hoist *h, low_insn *access)
{
    low_func *f = h->f;
    const low_value address = access->a;
    const low_insn *sum = hoist_writer(h, address), *product;
    low_value base, index;
    uint32_t reg;
    uint64_t scale;

    if (sum == NULL || sum->op != EMU_OP_add_64 || sum >= access) {
        return;
    }
    base = sum->a;
    product = hoist_only_writer(h, sum->b);
    if (!hoist_is_uniform(f, base)) {
        base = sum->b;
        product = hoist_only_writer(h, sum->a);
    }
    if (!hoist_is_uniform(f, base) || product == NULL || product >= sum ||
        !hoist_is_product(product)) {
        return;
    }
    index = product->a;
    scale = hoist_factor(f, product);
    if (scale == 0 || !hoist_is_register(index) ||
        !hoist_has_index(h, index, product, sum, access)) {
        return;
    }
    access->a = index;
    access->c = base;
    access->aux &= EMU_AT_MASK | EMU_AT_STRONG | EMU_AT_VOLATILE;
    access->aux |= EMU_AT_INDEX | (uint32_t)scale << EMU_AT_SCALE_SHIFT;
    if (hoist_is_linear_value(f, index)) {
        access->aux |= EMU_AT_LINEAR;
    }
    if (product->op == EMU_OP_mulwide_u32 || product->op == EMU_OP_cvt_64from32_u32) {
        access->aux |= EMU_AT_UNSIGNED;
    }
    reg = LOW_REGISTER_NUMBER(index);
    h->reads[reg]++;
    if (h->start[reg] != UINT32_MAX &&
        h->end[reg] < h->end[LOW_REGISTER_NUMBER(address)]) {
        h->end[reg] = h->end[LOW_REGISTER_NUMBER(address)]; /* in loops, too */
    }
    hoist_drop_read(h, address);
}

/* -- shapes ------------------------------------------------------------------------ */

/* The place of the shape of a value of the warp. UINT32_MAX: there is no room. */
static uint32_t
hoist_shape_of(low_func *f, uint32_t value)
{
    emu_shaped *shaped = f->shaped;

    for (uint32_t i = 0; i < f->shaped_count; i++) {
        if (shaped[i].value == value) {
            return shaped[i].shape;
        }
    }
    if (f->shaped_count == MOST_SHAPED) {
        return UINT32_MAX;
    }
    if (shaped == NULL) {
        f->shaped =
            emu_arena_get(f->load, &f->load->keep, MOST_SHAPED, sizeof *f->shaped);
    }
    f->shaped[f->shaped_count++] = (emu_shaped){value, f->warp_size};
    f->warp_size += SHAPE_ROOM;
    return f->warp_size - SHAPE_ROOM;
}

/* Lets a load from shared memory use the shape of its address. */
static void
hoist_shape(low_func *f, low_insn *load)
{
    const emu_op_row *row = &emu_op_rows[load->op];
    const low_register *r;
    uint32_t place;

    if (!(row->fields & EMU_TAKES_INDEX) || row->effect != EMU_EFFECT_READ ||
        (load->aux & ~(uint32_t)(EMU_AT_STRONG | EMU_AT_VOLATILE)) !=
            (EMU_AT_SHARED | EMU_AT_BASE32) ||
        !hoist_is_register(load->a)) {
        return;
    }
    r = &f->registers[LOW_REGISTER_NUMBER(load->a)];
    if (r->once != EMU_ONCE_WARP) {
        return;
    }
    place = hoist_shape_of(f, r->offset & ~(uint32_t)EMU_TAG_MASK);
    if (place != UINT32_MAX) {
        load->aux |= EMU_AT_SHAPE | place << EMU_AT_SHAPE_SHIFT;
    }
}

/* -- results that nothing reads ---------------------------------------------------- */

/* An atomic operation whose old value nothing reads need not return it. */
static void
hoist_result(const hoist *h, low_insn *insn)
{
    if (emu_op_effect(insn->op) == EMU_EFFECT_UPDATE && insn->aux & EMU_AT_RESULT &&
        emu_op_rows[insn->op].fields & EMU_NUMBER_E && hoist_is_register(insn->d) &&
        h->reads[LOW_REGISTER_NUMBER(insn->d)] == 0) {
        insn->aux &= ~(uint32_t)EMU_AT_RESULT;
    }
}

/* -- operations that become one ---------------------------------------------------- */

/* The instruction before `user` whose result it alone reads, once, if both are computed
 * each time and the operands still have their values; else NULL. */
static low_insn *
hoist_operand(const hoist *h, const low_insn *user, low_value value)
{
    low_insn *insn = hoist_writer(h, value);

    if (insn == NULL || insn->round != 0 || h->reads[LOW_REGISTER_NUMBER(value)] != 1 ||
        !hoist_follows(insn, user) || !hoist_keeps(h, insn, user, insn->a) ||
        !hoist_keeps(h, insn, user, insn->b)) {
        return NULL;
    }
    return insn;
}

/* A value that `gone` read is read by the instruction that read the result of `gone`.
 */
static void
hoist_keep_operand(hoist *h, low_value value, const low_insn *gone)
{
    const uint32_t end = h->end[LOW_REGISTER_NUMBER(gone->d)];

    if (hoist_is_register(value)) {
        const uint32_t reg = LOW_REGISTER_NUMBER(value);

        if (h->start[reg] != UINT32_MAX && h->end[reg] < end) {
            h->end[reg] = end;
        }
    }
}

/* Drop an instruction whose operands another one has got. */
static void
hoist_absorb(hoist *h, low_insn *gone)
{
    hoist_keep_operand(h, gone->a, gone);
    hoist_keep_operand(h, gone->b, gone);
    gone->once = EMU_NEVER;
    h->start[LOW_REGISTER_NUMBER(gone->d)] = UINT32_MAX;
}

/* The factor by which an instruction multiplies its operand a, as operand b of a
 * multiply-add, and the number of that. 0: it does something else. */
static low_value
hoist_multiplier(hoist *h, const low_insn *product, uint16_t *op)
{
    uint64_t shift = 32;

    switch (product->op) {
        case EMU_OP_mul_32:
            *op = EMU_OP_mad_32;
            return product->b;
        case EMU_OP_shl_32:
            *op = EMU_OP_mad_32;
            if (product->b & 1) {
                shift = low_constant_bits(h->f, product->b);
            }
            return shift < 32 ? low_constant(h->f, PTX_R32, (uint64_t)1 << shift) : 0;
        case EMU_OP_shl_64:
            *op = EMU_OP_mad_64;
            shift = product->b & 1 ? low_constant_bits(h->f, product->b) : 64;
            return shift < 64 ? low_constant(h->f, PTX_R64, (uint64_t)1 << shift) : 0;
        case EMU_OP_mulwide_s32:
            *op = EMU_OP_madwide_s32;
            return product->b;
        case EMU_OP_mulwide_u32:
            *op = EMU_OP_madwide_u32;
            return product->b;
        case EMU_OP_cvt_64from32_s32:
            *op = EMU_OP_madwide_s32;
            return low_constant(h->f, PTX_R32, 1);
        case EMU_OP_cvt_64from32_u32:
            *op = EMU_OP_madwide_u32;
            return low_constant(h->f, PTX_R32, 1);
        default:
            return 0;
    }
}

/* Makes a sum with a product a multiply-add. */
static bool
hoist_join_sum(hoist *h, low_insn *sum, low_value value, low_value other)
{
    low_insn *product = hoist_operand(h, sum, value);
    const uint16_t wide = sum->op;
    low_value factor;
    uint16_t op = 0;

    if (product == NULL) {
        return false;
    }
    factor = hoist_multiplier(h, product, &op);
    if (factor == 0 || (op == EMU_OP_mad_32) != (wide == EMU_OP_add_32)) {
        return false;
    }
    hoist_absorb(h, product);
    sum->op = op;
    sum->a = product->a;
    sum->b = factor;
    sum->c = other;
    return true;
}

/* Makes a difference from a product with a number a multiply-add. */
static void
hoist_join_difference(hoist *h, low_insn *insn)
{
    low_insn *product = hoist_operand(h, insn, insn->b);

    if (product == NULL || product->op != EMU_OP_mul_32 || !(product->b & 1)) {
        return;
    }
    hoist_absorb(h, product);
    insn->op = EMU_OP_mad_32;
    insn->c = insn->a;
    insn->a = product->a;
    insn->b =
        low_constant(h->f, PTX_R32, (uint32_t)-low_constant_bits(h->f, product->b));
}

/* Computes the high half of a product alone where no more of it is used. This is how
 * compilers divide by a number. */
static void
hoist_join_quotient(hoist *h, low_insn *narrow)
{
    low_insn *shift = hoist_operand(h, narrow, narrow->a), *product;
    uint64_t by;

    if (shift == NULL || shift != narrow - 1 || shift->op != EMU_OP_shr_u64 ||
        !(shift->b & 1) || h->writes[LOW_REGISTER_NUMBER(narrow->d)] != 1) {
        return;
    }
    product = hoist_operand(h, shift, shift->a);
    by = low_constant_bits(h->f, shift->b);
    if (product == NULL || product->op != EMU_OP_mulwide_u32 || by < 32 || by > 63) {
        return;
    }
    hoist_absorb(h, product);
    h->start[LOW_REGISTER_NUMBER(narrow->d)] = h->start[LOW_REGISTER_NUMBER(shift->d)];
    h->start[LOW_REGISTER_NUMBER(shift->d)] = UINT32_MAX;
    h->writes[LOW_REGISTER_NUMBER(narrow->d)]++;
    shift->op = EMU_OP_mulhi_u32;
    shift->d = narrow->d;
    shift->a = product->a;
    shift->b = product->b;
    narrow->op = EMU_OP_shr_u32;
    narrow->a = narrow->d;
    narrow->b = low_constant(h->f, PTX_R32, by - 32);
}

static void
hoist_join_operations(hoist *h, low_insn *insn)
{
    if (insn->once || insn->guarded || insn->round != 0) {
        return;
    }
    switch (insn->op) {
        case EMU_OP_add_32:
        case EMU_OP_add_64:
            if (!hoist_join_sum(h, insn, insn->b, insn->a)) {
                (void)hoist_join_sum(h, insn, insn->a, insn->b);
            }
            break;
        case EMU_OP_sub_32:
            hoist_join_difference(h, insn);
            break;
        case EMU_OP_cvt_32from64_u32:
            hoist_join_quotient(h, insn);
            break;
        default:
            break;
    }
}

/* -- the pass ---------------------------------------------------------------------- */

void
low_hoist(low_func *f, uint32_t *start, uint32_t *end)
{
    emu_arena *arena = &f->load->scratch;
    const size_t regs = f->register_count + 1;
    hoist h = {.f = f, .start = start, .end = end};

    if (!f->function->is_entry) {
        return;
    }
    for (const ptx_var *var = f->function->params; var != NULL; var = var->next) {
        if (var->address + var->size > h.params_size) {
            h.params_size = var->address + var->size;
        }
    }
    h.writes = emu_arena_get(f->load, arena, regs, sizeof(uint32_t));
    h.writer = emu_arena_get(f->load, arena, regs, sizeof(uint32_t));
    h.reads = emu_arena_get(f->load, arena, regs, sizeof(uint32_t));
    hoist_count(&h);
    hoist_values(&h);
    hoist_find_linear(&h);
    for (size_t i = 0; i < f->count; i++) {
        if (hoist_is_access(&f->insns[i])) {
            hoist_address(&h, &f->insns[i]);
        }
        hoist_comparison(f, &f->insns[i]);
        hoist_shape(f, &f->insns[i]);
        hoist_result(&h, &f->insns[i]);
    }
    for (size_t i = 0; i < f->count; i++) {
        hoist_join_operations(&h, &f->insns[i]);
    }
}
