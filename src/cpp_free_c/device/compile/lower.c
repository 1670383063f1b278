/* Functions become code: see lower.h. */
#include "device/compile/lower.h"

#include <fenv.h>
#include <stdio.h>
#include <string.h>

/* The order of low_rounding: none, to nearest, rz, rm, rp. */
static const int rounding_modes[] = {FE_TONEAREST, FE_TONEAREST, FE_TOWARDZERO,
                                     FE_DOWNWARD, FE_UPWARD};

/* -- messages ---------------------------------------------------------------------- */

const char *
low_opcode_name(unsigned opcode)
{
    /* clang-format off */
#define OPCODE_ROW(name) #name,
    static const char *const names[] = {"label", PTX_OPCODES(OPCODE_ROW)};
#undef OPCODE_ROW
    /* clang-format on */

    return names[opcode];
}

void
low_fail(const low_func *f, const char *format, ...)
{
    char text[300];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    emu_load_fail(f->load, CUDA_ERROR_INVALID_PTX,
                  f->in ? f->in->line : f->function->line, "%s: %s",
                  f->in ? low_opcode_name(f->in->opcode) : "function", text);
}

void
low_unsupported(const low_func *f)
{
    /* clang-format off */
#define TYPE_ROW(name) #name,
#define WORD_ROW(name, text) text,
    static const char *const words[] = {"", PTX_TYPES(TYPE_ROW) PTX_WORDS(WORD_ROW)};
#undef TYPE_ROW
#undef WORD_ROW
    /* clang-format on */
    char text[200];
    size_t size = 0;
    unsigned i;

    text[0] = 0;
    for (i = 0; i < f->in->word_count && size < sizeof text - 40; i++) {
        size += (size_t)snprintf(text + size, sizeof text - size, ".%s",
                                 words[f->in->words[i]]);
    }
    emu_load_fail(f->load, CUDA_ERROR_INVALID_PTX, f->in->line,
                  "the software device has no opcode '%s%s'",
                  low_opcode_name(f->in->opcode), text);
}

/* -- words ------------------------------------------------------------------------- */

bool
low_has(const low_func *f, unsigned word)
{
    unsigned i;

    for (i = 0; i < f->in->word_count; i++) {
        if (f->in->words[i] == word) {
            return true;
        }
    }
    return false;
}

unsigned
low_type(const low_func *f, unsigned n)
{
    unsigned i;

    for (i = 0; i < f->in->word_count; i++) {
        if (f->in->words[i] <= PTX_W_LAST_TYPE && n-- == 0) {
            return f->in->words[i];
        }
    }
    return PTX_W_NONE;
}

void
low_operands(const low_func *f, unsigned least, unsigned most)
{
    if (f->in->operand_count < least || f->in->operand_count > most) {
        low_fail(f, "%u operands", f->in->operand_count);
    }
}

unsigned
low_rounding(const low_func *f)
{
    return low_has(f, PTX_W_rz)   ? 2
           : low_has(f, PTX_W_rm) ? 3
           : low_has(f, PTX_W_rp) ? 4
                                  : 0;
}

/* -- registers, constants ---------------------------------------------------------- */

low_value
low_temp(low_func *f, ptx_class width)
{
    f->registers = emu_arena_grow(f->load, f->registers, f->register_count,
                                  &f->register_room, sizeof *f->registers);
    f->registers[f->register_count].width = (uint8_t)width;
    f->registers[f->register_count].offset = 0;
    return (low_value)(++f->register_count << 1);
}

ptx_class
low_width(const low_func *f, low_value value)
{
    return (ptx_class)f->registers[(value >> 1) - 1].width;
}

static void
constants_rehash(low_func *f)
{
    low_constants *c = f->constants;
    size_t room = c->slot_count ? c->slot_count * 4 : 256, i;
    uint32_t *slots = emu_arena_get(f->load, &f->load->parsed, room, sizeof *slots);

    for (i = 0; i < c->slot_count; i++) {
        uint32_t slot = c->slots[i];
        uint64_t bits;
        size_t at;

        if (!slot) {
            continue;
        }
        memcpy(&bits, c->bytes + slot - 1, 8);
        at = (bits * 0x9e3779b97f4a7c15u >> 20) & (room - 1);
        while (slots[at]) {
            at = (at + 1) & (room - 1);
        }
        slots[at] = slot;
    }
    c->slots = slots;
    c->slot_count = room;
}

/* Appends the vector; every one is preceded by 64 bytes that hold its key. */
static uint32_t
constants_append(low_func *f, ptx_class width, uint64_t bits)
{
    static const uint8_t bytes_of[PTX_CLASSES] = {4, 2, 4, 8, 16};
    low_constants *c = f->constants;
    const size_t bytes = bytes_of[width];
    const size_t need = 64 + (width == PTX_PRED ? 64 : bytes * EMU_LANES);
    uint32_t offset;
    unsigned i;

    if (c->size + need > c->room) {
        size_t room = c->room ? c->room * 2 : 1 << 14;
        uint8_t *larger;

        if (room > 1 << 28) {
            low_fail(f, "too many constants");
        }
        larger = emu_arena_get(f->load, &f->load->parsed, room, 1);
        if (c->size) {
            memcpy(larger, c->bytes, c->size);
        }
        c->bytes = larger;
        c->room = room;
    }
    offset = (uint32_t)c->size + 64;
    memcpy(c->bytes + c->size, &bits, 8);
    c->bytes[c->size + 8] = (uint8_t)width;
    if (width == PTX_PRED) {
        memset(c->bytes + offset, bits ? 0xff : 0, 4);
    }
    else {
        for (i = 0; i < EMU_LANES; i++) {
            memcpy(c->bytes + offset + i * bytes, &bits, bytes < 8 ? bytes : 8);
        }
    }
    c->size += need;
    return offset;
}

low_value
low_constant(low_func *f, ptx_class width, uint64_t bits)
{
    static const uint64_t masks[PTX_CLASSES] = {1, 0xffff, 0xffffffff, UINT64_MAX,
                                                UINT64_MAX};
    low_constants *c = f->constants;
    uint32_t offset;
    size_t at;

    bits = width == PTX_PRED ? bits != 0 : bits & masks[width];
    if (c->count * 2 >= c->slot_count) {
        constants_rehash(f);
    }
    at = (bits * 0x9e3779b97f4a7c15u >> 20) & (c->slot_count - 1);
    for (; c->slots[at]; at = (at + 1) & (c->slot_count - 1)) {
        const uint8_t *key = c->bytes + c->slots[at] - 1;
        uint64_t same;

        memcpy(&same, key, 8);
        if (same == bits && key[8] == width) {
            return (c->slots[at] - 1 + 64) | 1;
        }
    }
    offset = constants_append(f, width, bits);
    c->slots[at] = offset - 64 + 1;
    c->count++;
    return offset | 1;
}

/* -- instructions ------------------------------------------------------------------ */

low_insn *
low_emit(low_func *f, unsigned op, low_value d, low_value a, low_value b, low_value c)
{
    low_insn *insn;

    f->insns = emu_arena_grow(f->load, f->insns, f->count, &f->room, sizeof *f->insns);
    insn = &f->insns[f->count++];
    memset(insn, 0, sizeof *insn);
    insn->op = (uint16_t)op;
    insn->d = d;
    insn->a = a;
    insn->b = b;
    insn->c = c;
    if (f->in) {
        insn->line = f->in->loc_line;
        insn->file = f->in->loc_file;
        if (f->in->guard != PTX_NO_REG && !f->plain) {
            insn->guarded = true;
            insn->guard = (f->in->guard + 1) << 1;
            insn->guard_negated = f->in->guard_negated;
        }
    }
    return insn;
}

void
low_add_x(low_func *f, low_insn *insn, low_value value, bool written)
{
    if (!insn->x_count) {
        insn->x = (uint32_t)f->x_count;
    }
    f->xs = emu_arena_grow(f->load, f->xs, f->x_count, &f->x_room, sizeof *f->xs);
    f->xs[f->x_count++] = value;
    insn->x_count++;
    insn->x_defs += written;
}

uint32_t
low_guard_begin(low_func *f)
{
    low_insn *insn;

    f->plain = true;
    if (f->in->guard == PTX_NO_REG) {
        return UINT32_MAX;
    }
    insn = low_emit(f, EMU_OP_bra_if, 0, (f->in->guard + 1) << 1, 0, 0);
    insn->aux = !f->in->guard_negated;
    insn->label = f->label_count++;
    return insn->label;
}

void
low_guard_end(low_func *f, uint32_t label)
{
    if (label != UINT32_MAX) {
        low_emit(f, EMU_OP_label, 0, 0, 0, 0)->label = label;
    }
    f->plain = false;
}

/* -- operands ---------------------------------------------------------------------- */

static uint64_t
number_bits(const low_func *f, const ptx_operand *operand, unsigned type)
{
    float single;
    double number;
    uint64_t bits = 0;

    switch (operand->kind) {
        case PTX_O_INT:
            if (type != PTX_W_f32 && type != PTX_W_f64) {
                return operand->bits;
            }
            number = (double)(int64_t)operand->bits;
            break;
        case PTX_O_F32:
            if (type != PTX_W_f64) {
                return operand->bits;
            }
            memcpy(&single, &operand->bits, sizeof single);
            number = single;
            break;
        case PTX_O_F64:
            if (type != PTX_W_f32) {
                return operand->bits;
            }
            memcpy(&number, &operand->bits, sizeof number);
            break;
        default:
            low_fail(f, "an operand is no number");
    }
    if (type == PTX_W_f32) {
        single = (float)number;
        memcpy(&bits, &single, sizeof single);
    }
    else {
        memcpy(&bits, &number, sizeof number);
    }
    return bits;
}

uint64_t
low_number(const low_func *f, const ptx_operand *operand)
{
    if (operand->kind != PTX_O_INT) {
        low_fail(f, "an operand must be a number");
    }
    return operand->bits;
}

static low_value
special_source(low_func *f, const ptx_operand *operand, ptx_class width)
{
    static const uint8_t bytes[PTX_CLASSES] = {0, 2, 4, 8, 0};
    const bool by_lane =
        operand->word == PTX_S_tid || operand->word == PTX_S_laneid ||
        (operand->word >= PTX_S_lanemask_eq && operand->word <= PTX_S_lanemask_gt);
    low_value d;
    low_insn *insn;

    if (!bytes[width]) {
        low_fail(f, "a special register has no such width");
    }
    d = low_temp(f, width);
    insn = low_emit(f, by_lane ? EMU_OP_lane_special : EMU_OP_special, d, 0, 0, 0);
    insn->aux = operand->word;
    insn->imm = (int64_t)operand->bits;
    insn->e = LOW_NUMBER(bytes[width]);
    return d;
}

static low_value
local_address(low_func *f, uint64_t offset)
{
    low_value d = low_temp(f, PTX_R64);

    low_emit(f, EMU_OP_local_address, d, 0, 0, 0)->imm = (int64_t)offset;
    return d;
}

low_value
low_address_of(low_func *f, const ptx_operand *operand, ptx_class width)
{
    const ptx_var *var = operand->var;
    low_value value, narrow;

    if (var->same) {
        var = var->same;
    }
    if (width != PTX_R64 && width != PTX_R32) {
        low_fail(f, "the address of %s needs a 32- or 64-bit register",
                 var->name->text);
    }
    switch (var->space) {
        case PTX_SPACE_GLOBAL:
        case PTX_SPACE_CONST:
            return low_constant(f, width, var->address + operand->bits);
        case PTX_SPACE_SHARED:
            if (!var->unsized) {
                return low_constant(f, width, var->address + operand->bits);
            }
            if (f->function->is_entry) {
                return low_constant(f, width, f->dynamic_shared + operand->bits);
            }
            value = low_temp(f, PTX_R64);
            low_emit(f, EMU_OP_shared_dynamic, value, 0, 0, 0)->imm =
                (int64_t)operand->bits;
            break;
        case PTX_SPACE_PARAM:
            if (var->is_param && f->function->is_entry) {
                return low_constant(f, width, var->address + operand->bits);
            }
            value = local_address(
                f, (var->is_param ? 0 : f->call_base) + var->address + operand->bits);
            break;
        default:
            value = local_address(f, var->address + operand->bits);
            break;
    }
    if (width == PTX_R64) {
        return value;
    }
    narrow = low_temp(f, PTX_R32);
    low_emit(f, EMU_OP_cvt_32from64_u32, narrow, value, 0, 0);
    return narrow;
}

uint64_t
low_function_address(const emu_func *func)
{
    return EMU_FUNC_WINDOW + (uint64_t)func->number * EMU_FUNC_STEP;
}

low_value
low_source_any(low_func *f, const ptx_operand *operand, unsigned type, ptx_class *width)
{
    const ptx_class natural = ptx_type_class(type);
    const ptx_function *function;

    *width = natural;
    switch (operand->kind) {
        case PTX_O_REG:
            if (operand->bits) {
                low_fail(f, "a register has an offset");
            }
            *width = (ptx_class)f->registers[operand->reg].width;
            return (operand->reg + 1) << 1;
        case PTX_O_SPECIAL:
            return special_source(f, operand, natural);
        case PTX_O_INT:
        case PTX_O_F32:
        case PTX_O_F64:
            return low_constant(f, natural, number_bits(f, operand, type));
        case PTX_O_VAR:
            return low_address_of(f, operand, natural);
        case PTX_O_FUNCTION:
            function =
                operand->function->same ? operand->function->same : operand->function;
            if (!function->code || natural != PTX_R64) {
                low_fail(f, "the address of %s cannot be taken",
                         operand->function->name->text);
            }
            return low_constant(f, natural, low_function_address(function->code));
        case PTX_O_NAME:
            low_fail(f, "'%.100s' is not declared", operand->name->text);
        default:
            low_fail(f, "an operand is of the wrong kind");
    }
}

low_value
low_source(low_func *f, const ptx_operand *operand, unsigned type)
{
    ptx_class width;
    low_value value = low_source_any(f, operand, type, &width);

    if (width != ptx_type_class(type)) {
        low_fail(f, "a source register has the wrong width");
    }
    if (operand->negated) {
        low_value d;

        if (width != PTX_PRED) {
            low_fail(f, "'!' before what is no predicate");
        }
        d = low_temp(f, PTX_PRED);
        low_emit(f, EMU_OP_not_p, d, value, value, 0);
        return d;
    }
    return value;
}

low_value
low_predicate(low_func *f, const ptx_operand *operand)
{
    return low_source(f, operand, PTX_W_pred);
}

low_value
low_target_any(low_func *f, const ptx_operand *operand, ptx_class *width)
{
    if (operand->kind == PTX_O_SINK) {
        return low_temp(f, *width);
    }
    if (operand->kind != PTX_O_REG || operand->negated || operand->bits) {
        low_fail(f, "the destination is no register");
    }
    *width = (ptx_class)f->registers[operand->reg].width;
    return (operand->reg + 1) << 1;
}

low_value
low_target(low_func *f, const ptx_operand *operand, ptx_class width)
{
    ptx_class found = width;
    low_value value = low_target_any(f, operand, &found);

    if (found != width) {
        low_fail(f, "the destination register has the wrong width");
    }
    return value;
}

low_value
low_flush(low_func *f, low_value value)
{
    low_value d;

    if (!low_has(f, PTX_W_ftz)) {
        return value;
    }
    d = low_temp(f, PTX_R32);
    low_emit(f, EMU_OP_ftz_f32, d, value, 0, 0);
    return d;
}

/* -- functions --------------------------------------------------------------------- */

static void
lower_insn(low_func *f)
{
    switch (f->in->opcode) {
        case PTX_OP_NONE:
            low_emit(f, EMU_OP_label, 0, 0, 0, 0)->label = f->in->operands[0].label;
            return;
        case PTX_OP_cvt:
            low_cvt(f);
            return;
        default:
            break;
    }
    if (!low_arithmetic(f) && !low_moves(f) && !low_memory(f) && !low_flow(f) &&
        !low_bits(f) && !low_textures(f) && !low_matrix(f)) {
        low_unsupported(f);
    }
}

static uint64_t
align_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) & ~(align - 1);
}

static uint32_t
declare_slots(emu_load *load, const ptx_function *function, ptx_var *vars,
              const emu_slot **out, uint64_t *top)
{
    uint32_t count = 0;
    emu_slot *slots;
    ptx_var *var;

    for (var = vars; var; var = var->next) {
        count++;
    }
    slots = emu_arena_get(load, &load->keep, count, sizeof *slots);
    *out = slots;
    for (var = vars; var; var = var->next, slots++) {
        slots->is_reg = var->space == PTX_SPACE_REG;
        slots->size = (uint32_t)var->size;
        if (slots->is_reg) {
            static const uint8_t bytes[PTX_CLASSES] = {0, 2, 4, 8, 16};

            slots->size = bytes[ptx_type_class(var->type)];
            if (!slots->size) {
                emu_load_fail(load, CUDA_ERROR_INVALID_PTX, function->line,
                              "%s has a predicate as parameter", function->name->text);
            }
            continue;
        }
        *top = align_up(*top, var->align);
        var->address = *top;
        slots->offset = (uint32_t)*top;
        *top += var->size;
        if (*top > 1 << 20) {
            emu_load_fail(load, CUDA_ERROR_INVALID_PTX, function->line,
                          "the parameters of %s are too large", function->name->text);
        }
    }
    return count;
}

void
low_declare(emu_load *load, ptx_function *function, emu_func *out)
{
    uint64_t top = 0;
    const ptx_var *var;
    ptx_var *local;

    if (!function->is_entry) {
        out->return_count =
            declare_slots(load, function, function->returns, &out->returns, &top);
        out->param_count =
            declare_slots(load, function, function->params, &out->params, &top);
    }
    top = align_up(top, 16) + (function->is_entry ? 16 : 0);
    for (local = function->vars; local; local = local->next) {
        if (local->space == PTX_SPACE_LOCAL) {
            top = align_up(top, local->align);
            local->address = top;
            top += local->size;
            if (top > 1 << 24) {
                emu_load_fail(load, CUDA_ERROR_INVALID_PTX, local->line,
                              "the local memory of %s is too large",
                              function->name->text);
            }
        }
    }
    for (var = function->module->vars; var; var = var->next) {
        if (var->space == PTX_SPACE_LOCAL) {
            emu_load_fail(load, CUDA_ERROR_INVALID_PTX, var->line,
                          ".local variables outside of functions are not supported");
        }
    }
    out->call_base = (uint32_t)align_up(top, 16);
    out->local_size = (uint32_t)align_up(out->call_base + function->call_size, 16);
    out->name = emu_keep_text(load, function->name->text);
}

/* The entry writes the registers that parameters come in, each ret reads those that
 * results go out in. */
static void
add_formals(low_func *f, low_insn *insn, const ptx_var *vars, bool written)
{
    for (; vars; vars = vars->next) {
        if (vars->space == PTX_SPACE_REG) {
            low_add_x(f, insn, (vars->reg + 1) << 1, written);
        }
    }
}

static void
begin(low_func *f)
{
    size_t i;

    f->register_room = f->function->reg_count + 64;
    f->registers = emu_arena_get(f->load, &f->load->scratch, f->register_room,
                                 sizeof *f->registers);
    f->register_count = f->function->reg_count;
    for (i = 0; i < f->register_count; i++) {
        f->registers[i].width = (uint8_t)ptx_type_class(f->function->reg_type[i]);
    }
    f->label_count = (uint32_t)f->function->label_count;
    f->carry = low_temp(f, PTX_PRED);
    add_formals(f, low_emit(f, EMU_OP_entry, 0, 0, 0, 0), f->function->params, true);
}

static void
end(low_func *f)
{
    size_t i;

    f->in = NULL;
    (void)low_emit(f, EMU_OP_ret, 0, 0, 0, 0);
    if (f->count > 1 << 24) {
        low_fail(f, "too many instructions");
    }
    for (i = 0; i < f->count; i++) {
        if (f->insns[i].op == EMU_OP_ret) {
            add_formals(f, &f->insns[i], f->function->returns, false);
        }
    }
}

/* -- final code -------------------------------------------------------------------- */

static uint32_t
final_operand(const low_func *f, low_value value)
{
    if (!value || value & 1) {
        return value;
    }
    return f->registers[(value >> 1) - 1].offset;
}

static uint32_t
insn_length(const low_insn *insn)
{
    return 1 + insn->guarded + (insn->round > 1);
}

static void
finish_call(const low_func *f, const low_insn *insn)
{
    emu_callsite *call = insn->call;
    emu_slot *slots[2] = {(emu_slot *)(uintptr_t)call->returns,
                          (emu_slot *)(uintptr_t)call->params};
    const uint32_t counts[2] = {call->return_count, call->param_count};
    unsigned side;
    uint32_t i;

    for (side = 0; side < 2; side++) {
        for (i = 0; i < counts[side]; i++) {
            if (slots[side][i].is_reg) {
                slots[side][i].offset =
                    final_operand(f, f->xs[insn->x + slots[side][i].offset]);
            }
        }
    }
}

static emu_insn *
finish_prefixes(const low_func *f, const low_insn *insn, const emu_op *ops,
                emu_insn *at)
{
    if (insn->guarded) {
        at->run = ops[EMU_OP_guard];
        at->a = final_operand(f, insn->guard);
        at->aux = insn->guard_negated;
        at->imm = insn_length(insn) - 1;
        at++;
    }
    if (insn->round > 1) {
        at->run = ops[EMU_OP_round];
        at->aux = (uint32_t)rounding_modes[insn->round];
        at++;
    }
    return at;
}

/* Operations whose operand e is a number, made odd to keep it from the registers. */
static bool
e_is_number(unsigned op)
{
    return op == EMU_OP_special || op == EMU_OP_lane_special ||
           op == EMU_OP_ld_vector || op == EMU_OP_st_vector || op == EMU_OP_atom_16 ||
           op == EMU_OP_atom_32 || op == EMU_OP_atom_64 || op == EMU_OP_bar_red ||
           op == EMU_OP_mbarrier_wait || op == EMU_OP_mbarrier_arrive;
}

static void
finish_insn(const low_func *f, const low_insn *insn, const emu_op *ops,
            const uint32_t *label_at, const emu_insn *code, emu_insn *at, uint32_t *xs)
{
    uint32_t k;

    at->run = ops[insn->op];
    at->d = final_operand(f, insn->d);
    at->e = final_operand(f, insn->e);
    at->a = final_operand(f, insn->a);
    at->b = final_operand(f, insn->b);
    at->c = final_operand(f, insn->c);
    at->aux = insn->aux;
    at->imm = insn->imm;
    at->x = xs;
    if (e_is_number(insn->op)) {
        at->e >>= 1;
    }
    if (insn->op == EMU_OP_bra || insn->op == EMU_OP_bra_if) {
        at->imm = (int64_t)label_at[insn->label] - (at - code);
    }
    if (insn->call) {
        at->call = insn->call;
        finish_call(f, insn);
    }
    for (k = 0; k < insn->x_count; k++) {
        const low_value value = f->xs[insn->x + k];

        xs[k] = insn->op == EMU_OP_brx ? label_at[value] - (uint32_t)(at - code)
                                       : final_operand(f, value);
    }
}

static void
finish_slots(const low_func *f, const low_insn *insn, const ptx_var *vars,
             const emu_slot *slots)
{
    emu_slot *slot = (emu_slot *)(uintptr_t)slots;
    uint32_t k = 0;

    for (; vars; vars = vars->next, slot++) {
        if (slot->is_reg) {
            slot->offset = final_operand(f, f->xs[insn->x + k++]);
        }
    }
}

static void
finish(low_func *f, const emu_op *ops, emu_func *out)
{
    uint32_t *label_at =
        emu_arena_get(f->load, &f->load->scratch, f->label_count + 1, sizeof(uint32_t));
    uint32_t count = 0;
    size_t i;
    emu_insn *code, *at;
    emu_place *places;
    uint32_t *xs;

    for (i = 0; i < f->count; i++) {
        if (f->insns[i].op == EMU_OP_label) {
            label_at[f->insns[i].label] = count;
        }
        count += insn_length(&f->insns[i]);
    }
    code = emu_arena_get(f->load, &f->load->keep, count, sizeof *code);
    places = emu_arena_get(f->load, &f->load->keep, count, sizeof *places);
    xs = emu_arena_get(f->load, &f->load->keep, f->x_count + 1, sizeof *xs);
    at = code;
    for (i = 0; i < f->count; i++) {
        const low_insn *insn = &f->insns[i];
        emu_insn *first = at;

        at = finish_prefixes(f, insn, ops, at);
        finish_insn(f, insn, ops, label_at, code, at, xs + insn->x);
        for (at++; first < at; first++) {
            places[first - code].line = insn->line;
            places[first - code].file = insn->file;
        }
    }
    out->code = code;
    out->places = places;
    out->count = count;
    out->frame_size = f->frame_size;
    out->registers = f->pressure;
    if (!f->function->is_entry) {
        finish_slots(f, &f->insns[0], f->function->params, out->params);
        finish_slots(f, &f->insns[f->count - 1], f->function->returns, out->returns);
    }
}

void
low_lower(emu_load *load, low_constants *constants, ptx_function *function,
          emu_func *out, const emu_op *ops)
{
    low_func f = {.load = load,
                  .constants = constants,
                  .function = function,
                  .local_size = out->local_size,
                  .call_base = out->call_base,
                  .dynamic_shared = out->dynamic_shared};
    size_t i;

    load->source_name = function->module->source_name;
    begin(&f);
    for (i = 0; i < function->insn_count; i++) {
        f.in = &function->insns[i];
        lower_insn(&f);
    }
    end(&f);
    low_allocate(&f);
    finish(&f, ops, out);
}
