/* The final code: instructions with their prefixes, branches with their distances. See
 * lower.h. */
#include "device/compile/lower.h"

#include <fenv.h>
#include <string.h>

#include "device/base/number.h"

/* The rounding mode of the processor, by low_insn.round. */
static const int rounding_modes[] = {[EMU_RN] = FE_TONEAREST,
                                     [EMU_RZ] = FE_TOWARDZERO,
                                     [EMU_RM] = FE_DOWNWARD,
                                     [EMU_RP] = FE_UPWARD};

static uint32_t
finish_final_operand(const low_func *f, low_value value)
{
    if (value == 0 || (value & 1) != 0) {
        return value;
    }
    return f->registers[LOW_REGISTER_NUMBER(value)].offset;
}

/* Final instructions of one: it and its prefixes. */
static uint32_t
finish_insn_length(const low_insn *insn)
{
    if (insn->once != EMU_EACH) {
        return 0;
    }
    return 1 + insn->guarded + (insn->round != EMU_RN) + (insn->counted != NULL);
}

static void
finish_call(const low_func *f, const low_insn *insn)
{
    emu_callsite *call = insn->call;
    emu_slot *slots[2] = {(emu_slot *)(uintptr_t)call->returns,
                          (emu_slot *)(uintptr_t)call->params};
    const uint32_t counts[2] = {call->return_count, call->param_count};

    for (unsigned side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < counts[side]; i++) {
            if (slots[side][i].is_reg) {
                slots[side][i].offset =
                    finish_final_operand(f, f->xs[insn->x + slots[side][i].offset]);
            }
        }
    }
}

static void
finish_handlers(const emu_handler_set *handlers, unsigned op, emu_insn *at)
{
    at->run = handlers->run[op];
    at->lockstep = handlers->lockstep[op];
    at->op = (uint16_t)op;
}

/* Writes the prefixes; returns the place of the instruction. */
static emu_insn *
finish_prefixes(const low_func *f, const low_insn *insn,
                const emu_handler_set *handlers, emu_insn *at)
{
    if (insn->guarded) {
        finish_handlers(handlers, EMU_OP_guard, at);
        if (emu_op_rows[insn->op].lockstep == EMU_LOCKSTEP_separate ||
            emu_op_rows[insn->op].lockstep == EMU_LOCKSTEP_update) {
            at->lockstep = handlers->lockstep[insn->op];
        }
        at->a = finish_final_operand(f, insn->guard);
        at->used = EMU_USES_A;
        at->aux = insn->guard_negated;
        at->imm = finish_insn_length(insn) - 1;
        at++;
    }
    if (insn->counted != NULL) {
        finish_handlers(handlers, EMU_OP_count_access, at);
        at->imm = (int64_t)(uintptr_t)insn->counted;
        at++;
    }
    if (insn->round != EMU_RN) {
        finish_handlers(handlers, EMU_OP_round, at);
        at->aux = (uint32_t)rounding_modes[insn->round];
        at++;
    }
    return at;
}

/* Says which operands of the instruction are registers. */
static void
finish_uses(const low_insn *insn, unsigned fields, emu_insn *at)
{
    const low_value values[] = {insn->d, insn->e, insn->a, insn->b, insn->c};

    for (unsigned k = 0; k < sizeof values / sizeof values[0]; k++) {
        if (values[k] != 0 && (values[k] & 1) == 0) {
            at->used |= (uint8_t)(1u << k);
        }
    }
    if (!(fields & EMU_TARGETS) && insn->x_count <= UINT8_MAX) {
        at->x_count = (uint8_t)insn->x_count;
        at->x_written = (uint8_t)insn->x_defs;
    }
}

static void
finish_insn(const low_func *f, const low_insn *insn, const emu_handler_set *handlers,
            const uint32_t *label_at, const emu_insn *code, emu_insn *at, uint32_t *xs)
{
    const unsigned fields = emu_op_rows[insn->op].fields;

    finish_handlers(handlers, insn->op, at);
    at->d = finish_final_operand(f, insn->d) & ~(uint32_t)EMU_TAG_MASK;
    at->e = finish_final_operand(f, insn->e);
    at->a = finish_final_operand(f, insn->a);
    at->b = finish_final_operand(f, insn->b);
    at->c = finish_final_operand(f, insn->c);
    at->aux = insn->aux;
    at->imm = insn->imm;
    at->x = xs;
    finish_uses(insn, fields, at);
    if (fields & EMU_NUMBER_E) {
        at->e >>= 1; /* see LOW_NUMBER */
    }
    if (fields & EMU_TARGET) {
        at->imm = (int64_t)label_at[insn->label] - (at - code);
    }
    if (insn->meets) {
        at->e = label_at[insn->meet] - (uint32_t)(at - code);
    }
    if (insn->call != NULL) {
        at->call = insn->call;
        finish_call(f, insn);
    }
    for (uint32_t k = 0; k < insn->x_count; k++) {
        const low_value value = f->xs[insn->x + k];

        if (fields & EMU_TARGETS) {
            xs[k] = label_at[value] - (uint32_t)(at - code);
        }
        else {
            xs[k] = finish_final_operand(f, value);
        }
    }
}

/* Writes the bounds of the accesses. */
static void
finish_bounds(const low_func *f, emu_func *out)
{
    uint16_t *bound_of;
    emu_bound *bounds;
    uint32_t at = 0;

    if (f->bound_count == 0) {
        return;
    }
    bound_of = emu_arena_get(f->load, &f->load->keep, out->count, sizeof *bound_of);
    bounds = emu_arena_get(f->load, &f->load->keep, f->bound_count + 1, sizeof *bounds);
    memcpy(bounds + 1, f->bounds, f->bound_count * sizeof *bounds);
    for (size_t i = 0; i < f->count; i++) {
        at += finish_insn_length(&f->insns[i]);
        if (f->insns[i].bound != 0 && f->insns[i].once == EMU_EACH) {
            bound_of[at - 1] = f->insns[i].bound;
        }
    }
    out->bound_of = bound_of;
    out->bounds = bounds;
}

/* Gives the slots of a function the places of their registers, which are the further
 * operands of its entry or its last ret. */
static void
finish_slots(const low_func *f, const low_insn *insn, const ptx_var *vars,
             const emu_slot *slots)
{
    emu_slot *slot = (emu_slot *)(uintptr_t)slots;
    uint32_t k = 0;

    for (; vars != NULL; vars = vars->next, slot++) {
        if (slot->is_reg) {
            slot->offset = finish_final_operand(f, f->xs[insn->x + k++]);
        }
    }
}

/* Writes the places of the registers that the function may read before it writes. */
static void
finish_unset(const low_func *f, emu_func *out)
{
    uint32_t *unset =
        emu_arena_get(f->load, &f->load->keep, f->unset_count + 1, sizeof *unset);

    for (uint32_t i = 0; i < f->unset_count; i++) {
        const low_register *r = &f->registers[f->unset[i]];

        if (r->once == EMU_EACH) {
            unset[out->unset_count++] = r->offset;
        }
    }
    out->unset = unset;
}

static uint32_t
finish_once_count(const low_func *f)
{
    uint32_t count = 0;

    for (size_t i = 0; i < f->count; i++) {
        count += f->insns[i].once != EMU_EACH && f->insns[i].once != EMU_NEVER;
    }
    return count;
}

/* Writes the instructions that run once, level by level. */
static void
finish_once(const low_func *f, const emu_handler_set *handlers,
            const uint32_t *label_at, emu_insn *at, uint32_t *xs, emu_func *out)
{
    for (unsigned level = EMU_ONCE_LAUNCH; level < EMU_ONCE_LEVELS; level++) {
        emu_insn *const first = at;

        for (size_t i = 0; i < f->count; i++) {
            if (f->insns[i].once == level) {
                finish_insn(f, &f->insns[i], handlers, label_at, at, at,
                            xs + f->insns[i].x);
                at++;
            }
        }
        out->once[level].code = first;
        out->once[level].count = (uint32_t)(at - first);
    }
    out->uniform_size = f->uniform_size;
    out->warp_size = f->warp_size;
    out->shaped = f->shaped;
    out->shaped_count = f->shaped_count;
}

void
low_finish(const low_func *f, const emu_handler_set *handlers, emu_func *out)
{
    uint32_t *label_at =
        emu_arena_get(f->load, &f->load->scratch, f->label_count + 1, sizeof(uint32_t));
    uint32_t count = 0;
    emu_insn *code, *at;
    emu_place *places;
    uint32_t *xs;

    for (size_t i = 0; i < f->count; i++) {
        if (f->insns[i].op == EMU_OP_label) {
            label_at[f->insns[i].label] = count;
        }
        count += finish_insn_length(&f->insns[i]);
    }
    code = emu_arena_get(f->load, &f->load->keep, count + finish_once_count(f),
                         sizeof *code);
    places = emu_arena_get(f->load, &f->load->keep, count, sizeof *places);
    out->gives_way = f->gives_way;
    out->tried = emu_arena_get(f->load, &f->load->keep, 1, 1);
    out->warned = emu_arena_get(f->load, &f->load->keep, count, 1);
    xs = emu_arena_get(f->load, &f->load->keep, f->x_count + 1, sizeof *xs);
    at = code;
    for (size_t i = 0; i < f->count; i++) {
        const low_insn *insn = &f->insns[i];
        emu_insn *first = at;

        if (insn->once != EMU_EACH) {
            continue;
        }
        at = finish_prefixes(f, insn, handlers, at);
        finish_insn(f, insn, handlers, label_at, code, at, xs + insn->x);
        for (at++; first < at; first++) {
            places[first - code] = (emu_place){insn->line, insn->file, insn->ptx_line};
        }
    }
    finish_once(f, handlers, label_at, at, xs, out);
    finish_unset(f, out);
    out->code = code;
    out->places = places;
    out->count = count;
    finish_bounds(f, out);
    out->frame_size = f->frame_size;
    out->registers = f->pressure;
    if (!f->function->is_entry) {
        finish_slots(f, &f->insns[0], f->function->params, out->params);
        finish_slots(f, &f->insns[f->count - 1], f->function->returns, out->returns);
    }
}
