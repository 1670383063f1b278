/* The bounds of accesses to shared and local memory. See lower.h.
 *
 * The pass looks at all instructions of a function that write a register, in any order,
 * until nothing changes: an address is that of a variable, or such an address plus or
 * minus a number. A register that may hold addresses of several variables has the
 * bounds of all of them. Where the pass is not sure, there are no bounds. */
#include <stdlib.h>
#include <string.h>

#include "device/compile/lower.h"

enum { BOUND_PASSES = 16 };

/* What a register holds. Later kinds replace earlier ones. */
enum {
    HOLDS_NOTHING, /* nothing has written it yet */
    HOLDS_NUMBER,  /* no address of a variable is in it */
    HOLDS_ADDRESS, /* of the variables in [low, high) */
    HOLDS_ANY
};

struct low_holding {
    uint8_t kind;
    bool is_local;
    uint32_t low, high;
    const ptx_var *var; /* NULL: several */
};

typedef struct low_holding holding;

static const holding number = {.kind = HOLDS_NUMBER}, any = {.kind = HOLDS_ANY};

/* -- variables --------------------------------------------------------------------- */

static holding
bounds_of_variable(const low_func *f, const ptx_var *var)
{
    holding h = {.kind = HOLDS_ADDRESS, .var = var};

    if (var->same != NULL) {
        h.var = var = var->same;
    }
    if (var->space == PTX_SPACE_SHARED && var->unsized) {
        h.low = (uint32_t)f->dynamic_shared;
        h.high = UINT32_MAX;
        return f->function->is_entry ? h : any;
    }
    h.is_local = var->space == PTX_SPACE_LOCAL;
    h.low = (uint32_t)var->address;
    h.high = (uint32_t)(var->address + var->size);
    return h.is_local || var->space == PTX_SPACE_SHARED ? h : any;
}

/* Whether the function has variables with bounds. */
static bool
bounds_are_there(const ptx_function *function)
{
    for (const ptx_var *var = function->vars; var != NULL; var = var->next) {
        if (var->space == PTX_SPACE_LOCAL) {
            return true;
        }
    }
    for (size_t i = 0; i < function->reference_count; i++) {
        if (function->references[i]->kind == PTX_O_VAR) {
            return true;
        }
    }
    return false;
}

/* -- values ------------------------------------------------------------------------ */

static holding
bounds_join(holding a, holding b)
{
    if (a.kind == HOLDS_NOTHING || b.kind == HOLDS_ANY) {
        return b;
    }
    if (b.kind == HOLDS_NOTHING || a.kind == HOLDS_ANY) {
        return a;
    }
    if (a.kind != b.kind || (a.kind == HOLDS_ADDRESS && a.is_local != b.is_local)) {
        return any;
    }
    if (a.var != b.var) {
        a.var = NULL;
    }
    a.low = b.low < a.low ? b.low : a.low;
    a.high = b.high > a.high ? b.high : a.high;
    return a;
}

static holding
bounds_of_operand(const low_func *f, const ptx_operand *operand)
{
    switch (operand->kind) {
        case PTX_O_REG:
            return f->holdings[operand->reg];
        case PTX_O_VAR:
            return bounds_of_variable(f, operand->var);
        case PTX_O_ELEMENT:
            return bounds_of_variable(f, operand->items[0].var);
        case PTX_O_VECTOR:
        case PTX_O_LIST:
            for (uint32_t i = 0; i < operand->count; i++) {
                if (bounds_of_operand(f, &operand->items[i]).kind >= HOLDS_ADDRESS) {
                    return any;
                }
            }
            return number;
        default:
            return number;
    }
}

/* The sum of two values. */
static holding
bounds_add(holding a, holding b)
{
    if (a.kind == HOLDS_NOTHING || b.kind == HOLDS_NUMBER) {
        return a;
    }
    if (b.kind == HOLDS_NOTHING || a.kind == HOLDS_NUMBER) {
        return b;
    }
    return any;
}

/* A value that is computed in another way: no address comes of numbers. */
static holding
bounds_compute(const low_func *f, const ptx_insn *insn, unsigned first)
{
    for (unsigned i = first; i < insn->operand_count; i++) {
        if (bounds_of_operand(f, &insn->operands[i]).kind >= HOLDS_ADDRESS) {
            return any;
        }
    }
    return number;
}

static holding
bounds_of_result(const low_func *f, const ptx_insn *insn)
{
    const ptx_operand *o = insn->operands;
    holding b;

    switch (insn->opcode) {
        case PTX_OP_mov:
        case PTX_OP_cvta:
        case PTX_OP_cvt:
            return bounds_of_operand(f, &o[1]);
        case PTX_OP_selp:
            return bounds_join(bounds_of_operand(f, &o[1]),
                               bounds_of_operand(f, &o[2]));
        case PTX_OP_add:
        case PTX_OP_or:
            return bounds_add(bounds_of_operand(f, &o[1]), bounds_of_operand(f, &o[2]));
        case PTX_OP_sub:
            b = bounds_of_operand(f, &o[2]);
            return b.kind >= HOLDS_ADDRESS ? any : bounds_of_operand(f, &o[1]);
        case PTX_OP_mad:
            b = bounds_of_operand(f, &o[1]);
            b = bounds_join(b, bounds_of_operand(f, &o[2]));
            return b.kind >= HOLDS_ADDRESS ? any : bounds_of_operand(f, &o[3]);
        default:
            return bounds_compute(f, insn, 1);
    }
}

/* -- the pass ---------------------------------------------------------------------- */

/* Add what an operand may hold. Return whether that was not known. */
static bool
bounds_write(const low_func *f, const ptx_operand *operand, holding value)
{
    if (operand->kind == PTX_O_REG) {
        holding *old = &f->holdings[operand->reg], now = bounds_join(*old, value);
        const bool is_new = now.kind != old->kind || now.low != old->low ||
                            now.high != old->high || now.var != old->var;

        *old = now;
        return is_new;
    }
    if (operand->kind == PTX_O_VECTOR || operand->kind == PTX_O_LIST) {
        bool is_new = false;

        for (uint32_t i = 0; i < operand->count; i++) {
            is_new |= bounds_write(f, &operand->items[i],
                                   value.kind == HOLDS_ADDRESS ? any : value);
        }
        return is_new;
    }
    return false;
}

void
low_find_bounds(low_func *f)
{
    const ptx_function *function = f->function;
    bool is_new = true;

    if (!bounds_are_there(function)) {
        return;
    }
    f->holdings = emu_arena_get(f->load, &f->load->scratch, function->reg_count + 1,
                                sizeof *f->holdings);
    for (unsigned pass = 0; is_new; pass++) {
        if (pass == BOUND_PASSES) {
            f->holdings = NULL;
            return;
        }
        is_new = false;
        for (size_t i = 0; i < function->insn_count; i++) {
            const ptx_insn *insn = &function->insns[i];

            if (insn->opcode != PTX_OP_NONE && insn->operand_count > 1) {
                is_new |=
                    bounds_write(f, &insn->operands[0], bounds_of_result(f, insn));
            }
        }
    }
}

/* -- the bounds of an access ------------------------------------------------------- */

/* The name of a variable in the source: `_ZZ3sumPiE4tile` is `tile` of sum(int *). */
static const char *
bounds_name(const low_func *f, const ptx_var *var)
{
    const char *whole, *last;
    char *end, *name;
    size_t size;

    if (var == NULL || strncmp(var->name->text, "__local_depot", 13) == 0) {
        return NULL; /* several variables */
    }
    whole = var->name->text;
    last = strrchr(whole, 'E');
    if (strncmp(whole, "_ZZ", 3) != 0 || last == NULL) {
        return emu_keep_text(f->load, whole);
    }
    size = (size_t)strtoul(last + 1, &end, 10);
    if (end == last + 1 || size == 0 || strlen(end) < size) {
        return emu_keep_text(f->load, whole);
    }
    name = (char *)(uintptr_t)emu_keep_text(f->load, end);
    name[size] = 0;
    return name;
}

static uint16_t
bounds_enter(low_func *f, holding h)
{
    emu_bound *b;

    if (h.kind != HOLDS_ADDRESS || f->bound_count == UINT16_MAX) {
        return 0;
    }
    for (size_t i = 0; i < f->bound_count; i++) {
        b = &f->bounds[i];
        if (b->low == h.low && b->high == h.high && b->is_local == h.is_local) {
            return (uint16_t)(i + 1);
        }
    }
    f->bounds = emu_arena_grow(f->load, f->bounds, f->bound_count, &f->bound_room,
                               sizeof *f->bounds);
    f->bounds[f->bound_count++] =
        (emu_bound){h.low, h.high, bounds_name(f, h.var), h.is_local};
    return (uint16_t)f->bound_count;
}

uint16_t
low_bound_of(low_func *f, const ptx_operand *operand)
{
    if (f->holdings == NULL) {
        return 0;
    }
    return bounds_enter(f, bounds_of_operand(f, operand));
}
