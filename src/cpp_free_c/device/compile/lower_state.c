/* The helpers of lowering: words of the instruction, registers, emitted operations. See
 * lower_state.h. */
#include "device/compile/lower_state.h"

#include <stdio.h>
#include <string.h>

#include "device/base/half.h"
#include "device/compile/encoding.h"

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
low_unsupported(const low_func *f)
{
    char text[200];
    size_t size = 0;

    text[0] = 0;
    for (unsigned i = 0; i < f->in->word_count && size < sizeof text - 40; i++) {
        size += (size_t)snprintf(text + size, sizeof text - size, ".%s",
                                 ptx_word_text(f->in->words[i]));
    }
    emu_load_fail(f->load, EMU_LOAD_INVALID_PTX, f->in->line,
                  "the software device has no opcode '%s%s'",
                  ptx_opcode_text(f->in->opcode), text);
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
