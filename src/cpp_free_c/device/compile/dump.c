/* The text of functions after each pass. See lower.h. */
#include "device/compile/lower.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
emu_dump_parse(const char *text, unsigned *flags)
{
    static const char letters[] = "plrc"; /* in the order of the flags */

    *flags = 0;
    for (; *text != 0; text++) {
        const char *letter = strchr(letters, *text);

        if (letter == NULL) {
            return false;
        }
        *flags |= 1u << (letter - letters);
    }
    return true;
}

unsigned
emu_dump_flags(void)
{
    const char *wanted = getenv("PYCUDA_EMULATOR_DUMP");
    unsigned flags;

    if (wanted == NULL || !emu_dump_parse(wanted, &flags)) {
        return 0;
    }
    return flags;
}

/* -- PTX --------------------------------------------------------------------------- */

static void dump_items(const ptx_operand *list, const char *marks);

/* The offset behind a register or a name. */
static void
dump_offset(const ptx_operand *operand)
{
    if (operand->bits != 0) {
        (void)fprintf(stderr, "%+" PRId64, (int64_t)operand->bits);
    }
}

static void
dump_operand(const ptx_operand *operand)
{
    if (operand->negated) {
        (void)fputc('!', stderr);
    }
    switch (operand->kind) {
        case PTX_O_REG:
            (void)fprintf(stderr, "%%%u", operand->reg);
            dump_offset(operand);
            break;
        case PTX_O_SPECIAL:
            (void)fprintf(stderr, "%%special%u.%u", operand->word,
                          (unsigned)operand->bits);
            break;
        case PTX_O_VAR:
            (void)fputs(operand->var->name->text, stderr);
            dump_offset(operand);
            break;
        case PTX_O_NAME:
            (void)fputs(operand->name->text, stderr);
            break;
        case PTX_O_FUNCTION:
            (void)fputs(operand->function->name->text, stderr);
            break;
        case PTX_O_LABEL:
            (void)fprintf(stderr, "L%u", operand->label);
            break;
        case PTX_O_VECTOR:
            dump_items(operand, "{}");
            break;
        case PTX_O_LIST:
        case PTX_O_ELEMENT:
            dump_items(operand, "()");
            break;
        case PTX_O_ADDRESS:
            dump_items(operand, "[]");
            break;
        case PTX_O_PROTOTYPE:
            (void)fputs("prototype", stderr);
            break;
        case PTX_O_SINK:
            (void)fputc('_', stderr);
            break;
        default: /* numbers */
            (void)fprintf(stderr, "0x%" PRIx64, operand->bits);
            break;
    }
}

static void
dump_items(const ptx_operand *list, const char *marks)
{
    (void)fputc(marks[0], stderr);
    for (uint32_t i = 0; i < list->count; i++) {
        if (i > 0) {
            (void)fputs(", ", stderr);
        }
        dump_operand(&list->items[i]);
    }
    (void)fputc(marks[1], stderr);
}

static void
dump_ptx(const ptx_insn *insn)
{
    if (insn->opcode == PTX_OP_NONE) {
        (void)fprintf(stderr, "L%u:\n", insn->operands[0].label);
        return;
    }
    (void)fputs("  ", stderr);
    if (insn->guard != PTX_NO_REG) {
        (void)fprintf(stderr, "@%s%%%u ", insn->guard_negated ? "!" : "", insn->guard);
    }
    (void)fputs(ptx_opcode_text(insn->opcode), stderr);
    for (unsigned i = 0; i < insn->word_count; i++) {
        (void)fprintf(stderr, ".%s", ptx_word_text(insn->words[i]));
    }
    for (unsigned i = 0; i < insn->operand_count; i++) {
        (void)fputs(i > 0 ? ", " : " ", stderr);
        dump_operand(&insn->operands[i]);
        if (i == 0 && insn->second != NULL) {
            (void)fputc('|', stderr);
            dump_operand(insn->second);
        }
    }
    (void)fputs(";\n", stderr);
}

void
emu_dump_parsed(const ptx_function *function)
{
    (void)fprintf(stderr, "-- parsed %s\n", function->name->text);
    for (size_t i = 0; i < function->insn_count; i++) {
        dump_ptx(&function->insns[i]);
    }
}

/* -- lowered instructions ---------------------------------------------------------- */

/* Prints ` name=value`: a register by its number, or by its place if it has one. */
static void
dump_value(const low_func *f, const char *name, low_value value, bool placed)
{
    if (value == 0) {
        return;
    }
    if (value & 1) {
        (void)fprintf(stderr, " %s=#%u", name, value - 1);
    }
    else if (placed) {
        (void)fprintf(stderr, " %s=@%u", name,
                      f->registers[LOW_REGISTER_NUMBER(value)].offset);
    }
    else {
        (void)fprintf(stderr, " %s=v%u", name, LOW_REGISTER_NUMBER(value));
    }
}

static void
dump_low(const low_func *f, const low_insn *insn, bool placed)
{
    const unsigned fields = emu_op_rows[insn->op].fields;

    (void)fprintf(stderr, "    %s", emu_op_names[insn->op]);
    dump_value(f, "d", insn->d, placed);
    if (fields & EMU_NUMBER_E) {
        (void)fprintf(stderr, " e=%u", insn->e >> 1);
    }
    else {
        dump_value(f, "e", insn->e, placed);
    }
    dump_value(f, "a", insn->a, placed);
    dump_value(f, "b", insn->b, placed);
    dump_value(f, "c", insn->c, placed);
    for (uint32_t i = 0; i < insn->x_count; i++) {
        const low_value value = f->xs[insn->x + i];

        if (fields & EMU_TARGETS) {
            (void)fprintf(stderr, " L%u", value);
        }
        else {
            dump_value(f, i < insn->x_defs ? "out" : "in", value, placed);
        }
    }
    if ((fields & EMU_TARGET) != 0 || insn->op == EMU_OP_label) {
        (void)fprintf(stderr, " L%u", insn->label);
    }
    (void)fprintf(stderr, " aux=%u imm=%" PRId64, insn->aux, insn->imm);
    if (insn->round != 0) {
        (void)fprintf(stderr, " round=%u", insn->round);
    }
    if (insn->guarded) {
        dump_value(f, insn->guard_negated ? "unless" : "if", insn->guard, placed);
    }
    (void)fputc('\n', stderr);
}

void
emu_dump_lowered(const low_func *f, size_t first)
{
    if (f->in == &f->function->insns[0]) {
        (void)fprintf(stderr, "-- lowered %s\n", f->function->name->text);
    }
    dump_ptx(f->in);
    for (size_t i = first; i < f->count; i++) {
        dump_low(f, &f->insns[i], false);
    }
}

void
emu_dump_registers(const low_func *f)
{
    (void)fprintf(stderr, "-- registers %s: %u bytes\n", f->function->name->text,
                  f->frame_size);
    for (size_t i = 0; i < f->count; i++) {
        dump_low(f, &f->insns[i], true);
    }
}

/* -- final code -------------------------------------------------------------------- */

void
emu_dump_code(const emu_func *func)
{
    (void)fprintf(stderr, "-- code %s: %u instructions\n", func->name, func->count);
    for (uint32_t i = 0; i < func->count; i++) {
        const emu_insn *insn = &func->code[i];

        (void)fprintf(stderr, "%6u %s d=%u e=%u a=%u b=%u c=%u aux=%u", i,
                      emu_op_names[insn->op], insn->d, insn->e, insn->a, insn->b,
                      insn->c, insn->aux);
        if (emu_op_rows[insn->op].fields & EMU_HAS_CALL) {
            (void)fprintf(stderr, " params=%u\n", insn->call->param_count);
        }
        else {
            (void)fprintf(stderr, " imm=%" PRId64 "\n", insn->imm);
        }
    }
}
