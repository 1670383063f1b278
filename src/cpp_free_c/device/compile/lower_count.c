/* Lowering of counts: operations that count how often the blocks of a function run,
 * where its branches go and what its accesses cost. See lower.h.
 *
 * A block of instructions begins at a label and behind what may leave it. All its
 * instructions run equally often, so one count is enough. A predicate has a count of
 * its own: that of a guard, or of selp, which is a branch of the source. */
#include "device/compile/lower.h"

#include <stdio.h>

enum { COUNT_TEXT = 120 };

/* -- operations -------------------------------------------------------------------- */

/* Emits an operation without a guard that adds to the count of a number. */
static void
count_emit(low_func *f, unsigned op, low_value a, bool is_negated, uint32_t number)
{
    emu_count *const count = emu_counts_at(f->counts->record, number);
    low_insn *insn;

    if (count == NULL) {
        emu_load_fail(f->load, EMU_LOAD_NO_MEMORY, 0, "no memory for counts");
    }
    insn = low_emit(f, op, 0, a, 0, 0);
    insn->imm = (int64_t)(uintptr_t)count;
    insn->aux = is_negated;
}

static uint32_t
count_choice(low_func *f, low_value predicate, bool is_negated)
{
    const uint32_t number = f->counts->next++;

    count_emit(f, EMU_OP_count_choice, predicate, is_negated, number);
    return number;
}

/* The count of the instruction's predicate, or none. */
static uint32_t
count_predicate(low_func *f)
{
    enum { SELP_OPERANDS = 4 };

    if (f->in->guard != PTX_NO_REG) {
        return count_choice(f, LOW_REGISTER(f->in->guard), f->in->guard_negated);
    }
    if (f->in->opcode == PTX_OP_selp && f->in->operand_count == SELP_OPERANDS &&
        f->in->operands[SELP_OPERANDS - 1].kind == PTX_O_REG) {
        const ptx_operand *chosen = &f->in->operands[SELP_OPERANDS - 1];

        return count_choice(f, LOW_REGISTER(chosen->reg), chosen->negated);
    }
    return EMU_COUNT_NONE;
}

/* -- rows -------------------------------------------------------------------------- */

/* The number in the record of a file of the text; 0: unknown. */
static uint16_t
count_file(const low_func *f, unsigned index)
{
    const ptx_file *file = f->function->module->files;

    while (file != NULL && file->index != index) {
        file = file->next;
    }
    if (file == NULL) {
        return 0;
    }
    return emu_counts_add_file(f->counts->record, file->path);
}

static void
count_add_row(low_func *f, uint32_t choice)
{
    const low_counts *counts = f->counts;
    char text[COUNT_TEXT];
    emu_count_row row = {.function = counts->function,
                         .block = counts->block,
                         .choice = choice,
                         .access = EMU_COUNT_NONE,
                         .target = EMU_COUNT_NONE,
                         .ptx_line = f->in->line,
                         .line = f->in->loc_line,
                         .column = f->in->loc_column,
                         .file = count_file(f, f->in->loc_file),
                         .text = text};

    low_text(f, text, sizeof text);
    if (f->in->opcode == PTX_OP_bra && f->in->operands[0].kind == PTX_O_LABEL) {
        row.target = f->in->operands[0].label;
    }
    if (!emu_counts_add_row(counts->record, &row)) {
        emu_load_fail(f->load, EMU_LOAD_NO_MEMORY, 0, "no memory for counts");
    }
}

/* -- the instructions of a function ------------------------------------------------ */

void
low_count_begin(low_func *f)
{
    low_counts *counts = f->counts;
    emu_count_function *function =
        emu_counts_function(counts->record, counts->functions, f->function->name->text,
                            f->function->is_entry);

    if (function == NULL) {
        emu_load_fail(f->load, EMU_LOAD_NO_MEMORY, 0, "no memory for counts");
    }
    f->function->code->counted = function;
    counts->function = counts->functions++;
    counts->block = EMU_COUNT_NONE;
    (void)emu_counts_rows(counts->record, &counts->first_row);
    counts->label_rows = emu_arena_get(f->load, &f->load->scratch,
                                       f->function->label_count + 1, sizeof(uint32_t));
}

void
low_count_before(low_func *f)
{
    low_counts *counts = f->counts;
    uint32_t choice;

    f->plain = true;
    if (counts->block == EMU_COUNT_NONE) {
        counts->block = counts->next++;
        count_emit(f, EMU_OP_count_block, 0, false, counts->block);
    }
    choice = count_predicate(f);
    f->plain = false;
    counts->access = EMU_COUNT_NONE;
    if (counts->is_new) {
        count_add_row(f, choice);
    }
}

/* Whether the instruction passes a parameter or a result of a call. */
static bool
count_is_parameter(const low_func *f)
{
    return low_has(f, PTX_W_param) || low_has(f, PTX_W_param_entry) ||
           low_has(f, PTX_W_param_func);
}

/* Gives an access its count. */
static void
count_access(low_func *f, low_insn *insn)
{
    low_counts *counts = f->counts;
    uint32_t last;

    if (counts->access == EMU_COUNT_NONE) {
        counts->access = counts->next++;
    }
    insn->counted = emu_counts_at(counts->record, counts->access);
    if (counts->is_new && insn->counted != NULL) {
        emu_count_row *const rows = emu_counts_rows(counts->record, &last);
        const emu_insn at = {.op = insn->op, .e = insn->e >> 1};

        rows[last - 1].access = counts->access;
        rows[last - 1].bytes = (uint16_t)emu_access_bytes(&at);
    }
}

/* Whether the instruction may continue elsewhere than behind it. */
static bool
count_ends_block(const low_func *f)
{
    switch (f->in->opcode) {
        case PTX_OP_bra:
        case PTX_OP_brx:
        case PTX_OP_ret:
        case PTX_OP_exit:
        case PTX_OP_trap:
        case PTX_OP_call: /* the function may end threads */
            return true;
        default:
            return false;
    }
}

void
low_count_after(low_func *f, size_t first)
{
    low_counts *counts = f->counts;

    if (f->in->opcode == PTX_OP_NONE) { /* a label */
        counts->block = EMU_COUNT_NONE;
        if (counts->is_new) {
            (void)emu_counts_rows(counts->record,
                                  &counts->label_rows[f->in->operands[0].label]);
        }
        return;
    }
    for (size_t i = first; counts->flags & EMU_COUNT_ACCESSES && i < f->count; i++) {
        const emu_effect effect = emu_op_effect(f->insns[i].op);

        if ((effect == EMU_EFFECT_READ || effect == EMU_EFFECT_WRITE ||
             effect == EMU_EFFECT_UPDATE) &&
            (f->insns[i].aux & EMU_AT_MASK) != EMU_AT_PARAM && !count_is_parameter(f)) {
            count_access(f, &f->insns[i]);
        }
    }
    if (count_ends_block(f)) {
        counts->block = EMU_COUNT_NONE;
    }
}

void
low_count_end(low_func *f)
{
    const low_counts *counts = f->counts;
    uint32_t count;
    emu_count_row *rows;

    if (!counts->is_new) {
        return;
    }
    rows = emu_counts_rows(counts->record, &count);
    for (uint32_t i = counts->first_row; i < count; i++) {
        if (rows[i].target != EMU_COUNT_NONE) {
            rows[i].target = counts->label_rows[rows[i].target];
            if (rows[i].target >= count) {
                rows[i].target = EMU_COUNT_NONE; /* the label is at the end */
            }
        }
    }
}
