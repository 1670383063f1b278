/* The walk over a function: each PTX instruction becomes instructions of the machine.
 * See lower.h. */
#include "device/compile/lower.h"

#include "device/compile/dump.h"
#include "device/compile/lower_opcodes.h"

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

void
low_declare(emu_load *load, ptx_function *function, emu_func *out)
{
    uint64_t top = 0;

    if (function->is_entry) {
        top = LOW_ENTRY_ROOM;
    }
    else {
        out->return_count =
            lower_declare_slots(load, function, function->returns, &out->returns, &top);
        out->param_count =
            lower_declare_slots(load, function, function->params, &out->params, &top);
        top = lower_align_up(top, 16);
    }
    lower_declare_locals(load, function, &top);
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
    f->carry = low_temp(f, PTX_PRED);
    lower_add_formals(f, low_emit(f, EMU_OP_entry, 0, 0, 0, 0), f->function->params,
                      true);
}

void
low_instructions(low_func *f)
{
    for (size_t i = 0; i < f->function->insn_count; i++) {
        const size_t first = f->count;

        f->in = &f->function->insns[i];
        lower_insn(f);
        if (f->dump & EMU_DUMP_LOWERED) {
            emu_dump_lowered(f, first);
        }
    }
    f->in = NULL;
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
