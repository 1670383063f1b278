/* The walk over a function: each PTX instruction becomes instructions of the machine;
 * and the helpers of lowering: words of the instruction, registers, constants, emitted
 * operations. See lower.h. */
#include "device/compile/lower.h"

#include <stdio.h>
#include <string.h>

#include "device/base/number.h"
#include "device/compile/code.h"
#include "device/compile/encoding.h"

/* -- constants: vectors of equal lanes, found by a hash table ---------------------- */

/* Each vector is preceded by this many bytes, which begin with its key: the value, then
 * the width. */
enum { KEY_ROOM = 64 };

/* Places are numbers of 32 bits. */
static const size_t max_bytes = (size_t)1 << 31;

static size_t
constants_slot(uint64_t bits, size_t slot_count)
{
    return (bits * 0x9e3779b97f4a7c15u >> 20) & (slot_count - 1);
}

static void
constants_rehash(emu_load *load, low_constants *c)
{
    size_t room = 256;
    uint32_t *slots;

    if (c->slot_count > 0) {
        room = c->slot_count * 4;
    }
    slots = emu_arena_get(load, &load->parsed, room, sizeof *slots);
    for (size_t i = 0; i < c->slot_count; i++) {
        const uint32_t slot = c->slots[i];
        uint64_t bits;
        size_t at;

        if (slot == 0) {
            continue;
        }
        memcpy(&bits, c->bytes + slot - 1, sizeof bits);
        at = constants_slot(bits, room);
        while (slots[at] != 0) {
            at = (at + 1) & (room - 1);
        }
        slots[at] = slot;
    }
    c->slots = slots;
    c->slot_count = room;
}

/* Makes room for `need` more bytes; false when there are too many constants. */
static bool
constants_reserve(emu_load *load, low_constants *c, size_t need)
{
    size_t room = (size_t)1 << 14;
    uint8_t *larger;

    if (c->size + need <= c->room) {
        return true;
    }
    if (c->room > 0) {
        room = c->room * 2;
    }
    if (room > max_bytes) {
        return false;
    }
    larger = emu_arena_get(load, &load->parsed, room, 1);
    if (c->size > 0) {
        memcpy(larger, c->bytes, c->size);
    }
    c->bytes = larger;
    c->room = room;
    return true;
}

/* Writes the key, then the vector; its place is *place. False: too many constants. */
static bool
constants_append(emu_load *load, low_constants *c, ptx_class width, uint64_t bits,
                 uint32_t *place)
{
    const size_t bytes = ptx_class_bytes(width);
    uint8_t *vector;
    size_t size = 64; /* of a predicate: one mask, and room to keep the alignment */

    if (width != PTX_PRED) {
        size = bytes * EMU_LANES;
    }
    if (!constants_reserve(load, c, KEY_ROOM + size)) {
        return false;
    }
    memcpy(c->bytes + c->size, &bits, sizeof bits);
    c->bytes[c->size + sizeof bits] = (uint8_t)width;
    *place = (uint32_t)c->size + KEY_ROOM;
    vector = c->bytes + *place;
    if (width == PTX_PRED) {
        const uint32_t mask = 0u - (uint32_t)bits; /* bits is 0 or 1 */

        memcpy(vector, &mask, sizeof mask);
    }
    else {
        size_t known = sizeof bits;

        if (bytes < known) {
            known = bytes;
        }
        for (size_t i = 0; i < EMU_LANES; i++) {
            memcpy(vector + i * bytes, &bits, known);
        }
    }
    c->size += KEY_ROOM + size;
    return true;
}

/* The place of a vector of lanes with this value: a byte offset, a multiple of
 * 64. Masks the
 * value to the width. Returns UINT32_MAX when there are too many constants. */
static uint32_t
low_constants_place(emu_load *load, low_constants *c, ptx_class width, uint64_t bits)
{
    static const uint64_t masks[PTX_CLASSES] = {1, 0xffff, 0xffffffff, UINT64_MAX,
                                                UINT64_MAX};
    uint32_t place;
    size_t at;

    if (width == PTX_PRED) {
        bits = bits != 0;
    }
    bits &= masks[width];
    if (c->count * 2 >= c->slot_count) {
        constants_rehash(load, c);
    }
    at = constants_slot(bits, c->slot_count);
    for (; c->slots[at] != 0; at = (at + 1) & (c->slot_count - 1)) {
        const uint8_t *key = c->bytes + c->slots[at] - 1;
        uint64_t same;

        memcpy(&same, key, sizeof same);
        if (same == bits && key[sizeof same] == width) {
            return c->slots[at] - 1 + KEY_ROOM;
        }
    }
    if (!constants_append(load, c, width, bits, &place)) {
        return UINT32_MAX;
    }
    c->slots[at] = place - KEY_ROOM + 1;
    c->count++;
    return place;
}

/* The value of the vector at a place. */
static uint64_t
low_constants_bits(const low_constants *constants, uint32_t place)
{
    uint64_t bits;

    memcpy(&bits, constants->bytes + place - KEY_ROOM, sizeof bits);
    return bits;
}

/* -- helpers ----------------------------------------------------------------------- */

/* -- messages ---------------------------------------------------------------------- */

void
low_fail(const low_func *f, const char *format, ...)
{
    char text[300];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (f->in == NULL) {
        emu_load_fail(f->load, EMU_LOAD_INVALID_PTX, f->function->line, "function: %s",
                      text);
    }
    emu_load_fail(f->load, EMU_LOAD_INVALID_PTX, f->in->line, "%s: %s",
                  ptx_opcode_text(f->in->opcode), text);
}

void
low_need_specific_target(const low_func *f)
{
    const ptx_module *const module = f->function->module;

    if (!module->is_specific) {
        low_fail(f,
                 "this instruction needs '.target sm_90a', the features of one "
                 "architecture; the text has '.target sm_%u'",
                 module->target);
    }
}

void
low_text(const low_func *f, char *text, size_t room)
{
    size_t size = (size_t)snprintf(text, room, "%s", ptx_opcode_text(f->in->opcode));

    for (unsigned i = 0; i < f->in->word_count && size < room; i++) {
        size += (size_t)snprintf(text + size, room - size, ".%s",
                                 ptx_word_text(f->in->words[i]));
    }
}

void
low_unsupported(const low_func *f)
{
    char text[200];

    low_text(f, text, sizeof text);
    emu_load_fail(f->load, EMU_LOAD_INVALID_PTX, f->in->line,
                  "the software device has no opcode '%s'", text);
}

/* -- words ------------------------------------------------------------------------- */

bool
low_has(const low_func *f, unsigned word)
{
    for (unsigned i = 0; i < f->in->word_count; i++) {
        if (f->in->words[i] == word) {
            return true;
        }
    }
    return false;
}

unsigned
low_type_at(const low_func *f, unsigned n)
{
    for (unsigned i = 0; i < f->in->word_count; i++) {
        if (f->in->words[i] > PTX_W_LAST_TYPE) {
            continue;
        }
        if (n == 0) {
            return f->in->words[i];
        }
        n--;
    }
    return PTX_W_NONE;
}

void
low_check_operand_count(const low_func *f, unsigned least, unsigned most)
{
    if (f->in->operand_count < least || f->in->operand_count > most) {
        low_fail(f, "%u operands", f->in->operand_count);
    }
}

unsigned
low_find(const low_func *f, const uint16_t *words, unsigned count)
{
    unsigned i = 0;

    while (i < count && !low_has(f, words[i])) {
        i++;
    }
    return i;
}

bool
low_has_shared(const low_func *f)
{
    return low_has(f, PTX_W_shared) || low_has(f, PTX_W_shared_cta) ||
           low_has(f, PTX_W_shared_cluster);
}

uint32_t
low_fence_scope(const low_func *f)
{
    if (low_has(f, PTX_W_cta)) {
        return EMU_FENCE_IN_BLOCK;
    }
    return 0;
}

unsigned
low_rounding(const low_func *f)
{
    if (low_has(f, PTX_W_rz)) {
        return EMU_RZ;
    }
    if (low_has(f, PTX_W_rm)) {
        return EMU_RM;
    }
    if (low_has(f, PTX_W_rp)) {
        return EMU_RP;
    }
    return EMU_RN;
}

/* -- registers and constants ------------------------------------------------------- */

low_value
low_temp(low_func *f, ptx_class width)
{
    f->registers = emu_arena_grow(f->load, f->registers, f->register_count,
                                  &f->register_room, sizeof *f->registers);
    f->registers[f->register_count].width = (uint8_t)width;
    f->registers[f->register_count].offset = 0;
    return LOW_REGISTER(f->register_count++);
}

ptx_class
low_width(const low_func *f, low_value value)
{
    return (ptx_class)f->registers[LOW_REGISTER_NUMBER(value)].width;
}

low_value
low_constant(low_func *f, ptx_class width, uint64_t bits)
{
    const uint32_t place = low_constants_place(f->load, f->constants, width, bits);

    if (place == UINT32_MAX) {
        low_fail(f, "too many constants");
    }
    return place | 1;
}

uint64_t
low_constant_bits(const low_func *f, low_value value)
{
    return low_constants_bits(f->constants, value - 1);
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
    if (f->in != NULL) {
        insn->line = f->in->loc_line;
        insn->file = f->in->loc_file;
        insn->ptx_line = f->in->line;
        if (f->in->guard != PTX_NO_REG && !f->plain) {
            insn->guarded = true;
            insn->guard = LOW_REGISTER(f->in->guard);
            insn->guard_negated = f->in->guard_negated;
        }
    }
    return insn;
}

void
low_add_x(low_func *f, low_insn *insn, low_value value, bool written)
{
    if (insn->x_count == 0) {
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
    insn = low_emit(f, EMU_OP_bra_if, 0, LOW_REGISTER(f->in->guard), 0, 0);
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

/* -- conversions ------------------------------------------------------------------- */

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

/* The operation that extends the low part, of type `type`, of a register of class aw to
 * class dw; 0 if there is none. */
static unsigned
state_conversion_op(ptx_class dw, ptx_class aw, unsigned type)
{
    static const uint16_t ops[3][3][7] = {
        /* u8, s8, u16, s16, u32, s32, 64 bits */
        {{EMU_OP_cvt_16_u8, EMU_OP_cvt_16_s8, EMU_OP_mov_16, EMU_OP_mov_16},
         {EMU_OP_cvt_16from32_u8, EMU_OP_cvt_16from32_s8, EMU_OP_cvt_16from32_u16,
          EMU_OP_cvt_16from32_u16, EMU_OP_cvt_16from32_u16, EMU_OP_cvt_16from32_u16},
         {EMU_OP_cvt_16from64_u8, EMU_OP_cvt_16from64_s8, EMU_OP_cvt_16from64_u16,
          EMU_OP_cvt_16from64_u16, EMU_OP_cvt_16from64_u16, EMU_OP_cvt_16from64_u16,
          EMU_OP_cvt_16from64_u16}},
        {{EMU_OP_cvt_32from16_u8, EMU_OP_cvt_32from16_s8, EMU_OP_cvt_32from16_u16,
          EMU_OP_cvt_32from16_s16},
         {EMU_OP_cvt_32_u8, EMU_OP_cvt_32_s8, EMU_OP_cvt_32_u16, EMU_OP_cvt_32_s16,
          EMU_OP_mov_32, EMU_OP_mov_32},
         {EMU_OP_cvt_32from64_u8, EMU_OP_cvt_32from64_s8, EMU_OP_cvt_32from64_u16,
          EMU_OP_cvt_32from64_s16, EMU_OP_cvt_32from64_u32, EMU_OP_cvt_32from64_u32,
          EMU_OP_cvt_32from64_u32}},
        {{EMU_OP_cvt_64from16_u8, EMU_OP_cvt_64from16_s8, EMU_OP_cvt_64from16_u16,
          EMU_OP_cvt_64from16_s16},
         {EMU_OP_cvt_64from32_u8, EMU_OP_cvt_64from32_s8, EMU_OP_cvt_64from32_u16,
          EMU_OP_cvt_64from32_s16, EMU_OP_cvt_64from32_u32, EMU_OP_cvt_64from32_s32},
         {EMU_OP_cvt_64_u8, EMU_OP_cvt_64_s8, EMU_OP_cvt_64_u16, EMU_OP_cvt_64_s16,
          EMU_OP_cvt_64_u32, EMU_OP_cvt_64_s32, EMU_OP_mov_64}}};
    unsigned part;

    if (dw < PTX_R16 || dw > PTX_R64 || aw < PTX_R16 || aw > PTX_R64) {
        return 0;
    }
    switch (ptx_type_size(type)) {
        case 8:
            part = 6;
            break;
        case 4:
            part = 4;
            break;
        case 2:
            part = 2;
            break;
        default:
            part = 0;
            break;
    }
    if (part < 6 && ptx_type_is_signed(type)) {
        part++;
    }
    return ops[dw - PTX_R16][aw - PTX_R16][part];
}

void
low_convert(low_func *f, low_value d, ptx_class dw, low_value a, ptx_class aw,
            unsigned type)
{
    const unsigned op = state_conversion_op(dw, aw, type);

    if (op == 0) {
        low_fail(f, "a register is too narrow or too wide for its type");
    }
    low_emit(f, op, d, a, 0, 0);
}

/* -- the table of opcodes ---------------------------------------------------------- */

typedef struct {
    void (*lower)(low_func *f);
    uint32_t types; /* a bit for each PTX_W_ type word */
    uint16_t ops[PTX_ROW_OPERATIONS];
} opcode_row;

/* clang-format off */
#define OPCODE_ROW(opcode, lower, types, modifiers, ...) \
    [PTX_OP_##opcode] = {lower, types, {__VA_ARGS__}},
static const opcode_row opcode_rows[PTX_OPCODE_COUNT] = {PTX_OPCODES(OPCODE_ROW)};
#undef OPCODE_ROW
/* clang-format on */

/* The types among the instruction's words, as a bit for each. */
static uint32_t
lower_types_of(const ptx_insn *in)
{
    uint32_t types = 0;

    for (unsigned i = 0; i < in->word_count; i++) {
        if (in->words[i] <= PTX_W_LAST_TYPE) {
            types |= (uint32_t)1 << in->words[i];
        }
    }
    if (types == 0) {
        types = PTX_NO_TYPES;
    }
    return types;
}

static void
lower_insn(low_func *f)
{
    const opcode_row *row = &opcode_rows[f->in->opcode];

    if (f->in->opcode == PTX_OP_NONE) {
        low_emit(f, EMU_OP_label, 0, 0, 0, 0)->label = f->in->operands[0].label;
        f->is_passed[f->in->operands[0].label] = true;
        return;
    }
    if ((lower_types_of(f->in) & ~row->types) != 0) {
        low_unsupported(f);
    }
    f->ops = row->ops;
    row->lower(f);
}

/* An opcode that the software device does not have. */
void
low_refuse(low_func *f)
{
    low_unsupported(f);
}

/* -- functions --------------------------------------------------------------------- */

static uint64_t
lower_align_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) & ~(align - 1);
}

/* Places parameters or results of a function: those in memory from *top on. */
static uint32_t
lower_declare_slots(emu_load *load, const ptx_function *function, ptx_var *vars,
                    const emu_slot **out, uint64_t *top)
{
    uint32_t count = 0;
    emu_slot *slots;

    for (const ptx_var *var = vars; var != NULL; var = var->next) {
        count++;
    }
    slots = emu_arena_get(load, &load->keep, count, sizeof *slots);
    *out = slots;
    for (ptx_var *var = vars; var != NULL; var = var->next, slots++) {
        slots->is_reg = var->space == PTX_SPACE_REG;
        slots->size = (uint32_t)var->size;
        if (slots->is_reg) {
            slots->size = ptx_class_bytes(ptx_type_class(var->type));
            if (slots->size == 0) {
                emu_load_fail(load, EMU_LOAD_INVALID_PTX, function->line,
                              "%s has a predicate as parameter", function->name->text);
            }
            continue;
        }
        *top = lower_align_up(*top, var->align);
        var->address = *top;
        slots->offset = (uint32_t)*top;
        *top += var->size;
        if (*top > 1 << 20) {
            emu_load_fail(load, EMU_LOAD_INVALID_PTX, function->line,
                          "the parameters of %s are too large", function->name->text);
        }
    }
    return count;
}

/* Places the .local variables from *top on. */
static void
lower_declare_locals(emu_load *load, ptx_function *function, uint64_t *top)
{
    for (ptx_var *local = function->vars; local != NULL; local = local->next) {
        if (local->space != PTX_SPACE_LOCAL) {
            continue;
        }
        *top = lower_align_up(*top, local->align);
        local->address = *top;
        *top += local->size;
        if (*top > 1 << 24) {
            emu_load_fail(load, EMU_LOAD_INVALID_PTX, local->line,
                          "the local memory of %s is too large", function->name->text);
        }
    }
    for (const ptx_var *var = function->module->vars; var != NULL; var = var->next) {
        if (var->space == PTX_SPACE_LOCAL) {
            emu_load_fail(load, EMU_LOAD_INVALID_PTX, var->line,
                          ".local variables outside of functions are not supported");
        }
    }
}

/* Whether local memory behind the variables may be used: by calls, or by alloca. */
static bool
lower_calls(const ptx_function *function)
{
    for (size_t i = 0; i < function->insn_count; i++) {
        if (function->insns[i].opcode == PTX_OP_call ||
            function->insns[i].opcode == PTX_OP_alloca) {
            return true;
        }
    }
    return function->call_size > 0;
}

void
low_declare(emu_load *load, ptx_function *function, emu_func *out)
{
    uint64_t top = 0;

    if (function->is_entry) {
        top = EMU_LOCAL_START;
    }
    else {
        out->return_count =
            lower_declare_slots(load, function, function->returns, &out->returns, &top);
        out->param_count =
            lower_declare_slots(load, function, function->params, &out->params, &top);
        top = lower_align_up(top, 16);
    }
    lower_declare_locals(load, function, &top);
    out->own_end = lower_calls(function) ? 0 : (uint32_t)top;
    out->call_base = (uint32_t)lower_align_up(top, 16);
    out->local_size =
        (uint32_t)lower_align_up(out->call_base + function->call_size, 16);
    out->name = emu_keep_text(load, function->name->text);
}

/* Adds the registers of parameters to the entry, which writes them, and the registers
 * of results to a ret, which reads them. */
static void
lower_add_formals(low_func *f, low_insn *insn, const ptx_var *vars, bool written)
{
    for (; vars != NULL; vars = vars->next) {
        if (vars->space == PTX_SPACE_REG) {
            low_add_x(f, insn, LOW_REGISTER(vars->reg), written);
        }
    }
}

void
low_begin(low_func *f)
{
    f->register_room = f->function->reg_count + 64;
    f->registers = emu_arena_get(f->load, &f->load->scratch, f->register_room,
                                 sizeof *f->registers);
    f->register_count = f->function->reg_count;
    for (size_t i = 0; i < f->register_count; i++) {
        f->registers[i].width = (uint8_t)ptx_type_class(f->function->reg_type[i]);
    }
    f->label_count = (uint32_t)f->function->label_count;
    f->is_passed = emu_arena_get(f->load, &f->load->scratch, f->label_count + 1, 1);
    f->carry = low_temp(f, PTX_PRED);
    lower_add_formals(f, low_emit(f, EMU_OP_entry, 0, 0, 0, 0), f->function->params,
                      true);
}

/* -- operands ---------------------------------------------------------------------- */

/* Fails unless a register has the width that the row of the operation says. */
static void
lower_check_width(const low_func *f, const low_insn *insn, unsigned operand,
                  low_value value)
{
    const unsigned wanted = emu_op_rows[insn->op].widths[operand];
    unsigned width;

    if (value == 0 || value & 1 || wanted == EMU_WIDTH_ANY) {
        return;
    }
    width = ptx_class_bytes(low_width(f, value));
    if (low_width(f, value) == PTX_PRED) {
        width = EMU_WIDTH_PREDICATE;
    }
    if (width != wanted) {
        low_fail(f,
                 "operand %c of the operation %s has the width %u instead of %u: see "
                 "tables/operations.inc",
                 "deabc"[operand], emu_op_names[insn->op], width, wanted);
    }
}

static void
lower_check_widths(const low_func *f, const low_insn *insn)
{
    lower_check_width(f, insn, EMU_D, insn->d);
    lower_check_width(f, insn, EMU_E, insn->e);
    lower_check_width(f, insn, EMU_A, insn->a);
    lower_check_width(f, insn, EMU_B, insn->b);
    lower_check_width(f, insn, EMU_C, insn->c);
}

static void
lower_counted(low_func *f, size_t first)
{
    if (f->in->opcode != PTX_OP_NONE) {
        low_count_before(f);
    }
    lower_insn(f);
    low_count_after(f, first);
}

void
low_instructions(low_func *f)
{
    if (f->counts != NULL) {
        low_count_begin(f);
    }
    for (size_t i = 0; i < f->function->insn_count; i++) {
        const size_t first = f->count;

        f->in = &f->function->insns[i];
        if (f->counts != NULL) {
            lower_counted(f, first);
        }
        else {
            lower_insn(f);
        }
        for (size_t k = first; k < f->count; k++) {
            lower_check_widths(f, &f->insns[k]);
        }
        if (f->dump & EMU_DUMP_LOWERED) {
            emu_dump_lowered(f, first);
        }
    }
    f->in = NULL;
    if (f->counts != NULL) {
        low_count_end(f);
    }
    (void)low_emit(f, EMU_OP_ret, 0, 0, 0, 0);
    if (f->count > 1 << 24) {
        low_fail(f, "too many instructions");
    }
    for (size_t i = 0; i < f->count; i++) {
        if (f->insns[i].op == EMU_OP_ret) {
            lower_add_formals(f, &f->insns[i], f->function->returns, false);
        }
    }
}
