/* Loads and stores of shared memory between which the threads do not wait. See lower.h.
 *
 * The pass follows what may have happened before an instruction, and what may happen
 * after it, along all paths of a lane: a load or a store of shared memory since lanes
 * have waited for each other, and a load since the block has. An address of unknown
 * space may be one of shared memory. What a called function does is unknown. */
#include "device/compile/lower.h"

enum {
    LOADED = 1, /* since lanes of the warp have waited for each other */
    STORED = 2,
    LOADED_IN_BLOCK = 4, /* since threads of the block have */
    UNKNOWN = LOADED | STORED | LOADED_IN_BLOCK
};

/* A jump, from an instruction to another. */
typedef struct {
    uint32_t from, to;
} jump;

typedef struct {
    const low_func *f;
    jump *jumps; /* in the order of `from` */
    uint32_t jump_count;
    uint8_t *before, *after; /* of each instruction */
    bool changed;
} exchanges;

/* What an instruction adds to a state. */
static uint8_t
exchanges_add(const low_insn *insn)
{
    const uint32_t space = insn->aux & EMU_AT_MASK;

    if (emu_op_rows[insn->op].fields & EMU_HAS_CALL) {
        return UNKNOWN;
    }
    if (emu_op_access(insn->op) == EMU_ACCESS_NONE ||
        (space != EMU_AT_SHARED && space != EMU_AT_GENERIC)) {
        return 0;
    }
    if (emu_op_access(insn->op) == EMU_ACCESS_READ) {
        return LOADED | LOADED_IN_BLOCK;
    }
    return STORED;
}

/* What of a state remains after an instruction, or before it. */
static uint8_t
exchanges_keep(const low_insn *insn)
{
    if (insn->guarded) {
        return UNKNOWN;
    }
    switch (emu_op_effect(insn->op)) {
        case EMU_EFFECT_MEET:
            if (insn->op == EMU_OP_bar_sync || insn->op == EMU_OP_bar_red) {
                return 0;
            }
            return LOADED_IN_BLOCK;
        case EMU_EFFECT_FENCE:
        case EMU_EFFECT_UPDATE:
        case EMU_EFFECT_NEW_OBJECT:
        case EMU_EFFECT_CHANGE_OBJECT:
        case EMU_EFFECT_TEST_OBJECT:
            return LOADED_IN_BLOCK;
        case EMU_EFFECT_PLAIN:
        case EMU_EFFECT_READ:
        case EMU_EFFECT_WRITE:
        case EMU_EFFECT_GUARD:
        case EMU_EFFECT_ROUND:
        case EMU_EFFECT_COUNT:
        case EMU_EFFECT_CLOCK:
        case EMU_EFFECT_SPIN:
        case EMU_EFFECT_ACT:
            break;
    }
    return UNKNOWN;
}

/* The state behind an instruction, if `state` is that before it; and the reverse. */
static uint8_t
exchanges_pass(const low_insn *insn, uint8_t state)
{
    return (uint8_t)((state & exchanges_keep(insn)) | exchanges_add(insn));
}

static void
exchanges_join(exchanges *e, uint8_t *state, uint8_t more)
{
    e->changed |= (*state | more) != *state;
    *state |= more;
}

/* Whether the next instruction may follow. */
static bool
exchanges_goes_on(const low_func *f, size_t i)
{
    const low_insn *insn = &f->insns[i];

    return i + 1 < f->count &&
           (insn->guarded || !(emu_op_rows[insn->op].fields & EMU_LEAVES));
}

static void
exchanges_look_back(exchanges *e)
{
    const low_insn *insns = e->f->insns;
    uint32_t k = 0;

    for (size_t i = 0; i < e->f->count; i++) {
        const uint8_t state = exchanges_pass(&insns[i], e->before[i]);

        if (exchanges_goes_on(e->f, i)) {
            exchanges_join(e, &e->before[i + 1], state);
        }
        for (; k < e->jump_count && e->jumps[k].from == i; k++) {
            exchanges_join(e, &e->before[e->jumps[k].to], state);
        }
    }
}

static void
exchanges_look_ahead(exchanges *e)
{
    const low_insn *insns = e->f->insns;
    uint32_t k = e->jump_count;

    for (size_t i = e->f->count; i-- > 0;) {
        if (exchanges_goes_on(e->f, i)) {
            exchanges_join(e, &e->after[i],
                           exchanges_pass(&insns[i + 1], e->after[i + 1]));
        }
        for (; k > 0 && e->jumps[k - 1].from == i; k--) {
            const uint32_t to = e->jumps[k - 1].to;

            exchanges_join(e, &e->after[i], exchanges_pass(&insns[to], e->after[to]));
        }
    }
}

static void
exchanges_find_jumps(exchanges *e)
{
    const low_func *f = e->f;
    uint32_t *label_at =
        emu_arena_get(f->load, &f->load->scratch, f->label_count + 1, sizeof(uint32_t));
    size_t count = 0;

    for (size_t i = 0; i < f->count; i++) {
        if (f->insns[i].op == EMU_OP_label) {
            label_at[f->insns[i].label] = (uint32_t)i;
        }
        count += 1 + f->insns[i].x_count;
    }
    e->jumps = emu_arena_get(f->load, &f->load->scratch, count, sizeof *e->jumps);
    for (size_t i = 0; i < f->count; i++) {
        const low_insn *insn = &f->insns[i];
        const unsigned fields = emu_op_rows[insn->op].fields;

        if (fields & EMU_TARGET) {
            e->jumps[e->jump_count++] = (jump){(uint32_t)i, label_at[insn->label]};
        }
        for (uint32_t k = 0; fields & EMU_TARGETS && k < insn->x_count; k++) {
            e->jumps[e->jump_count++] =
                (jump){(uint32_t)i, label_at[f->xs[insn->x + k]]};
        }
    }
}

/* Whether the function stores to shared memory at all. */
static bool
exchanges_are_there(const low_func *f)
{
    bool stores = false;

    for (size_t i = 0; i < f->count; i++) {
        stores |= exchanges_add(&f->insns[i]) == STORED;
    }
    return stores;
}

/* A function has any caller. */
static void
exchanges_begin(exchanges *e)
{
    const low_func *f = e->f;

    e->before = emu_arena_get(f->load, &f->load->scratch, f->count, 1);
    e->after = emu_arena_get(f->load, &f->load->scratch, f->count, 1);
    if (f->function->is_entry) {
        return;
    }
    e->before[0] = UNKNOWN;
    for (size_t i = 0; i < f->count; i++) {
        if (f->insns[i].op == EMU_OP_ret) {
            e->after[i] = UNKNOWN;
        }
    }
}

/* Set the flags of an access. Return whether it is to give way. */
static bool
exchanges_mark(const exchanges *e, size_t i)
{
    low_insn *insn = &e->f->insns[i];
    const uint8_t other = e->before[i] | e->after[i];

    switch (exchanges_add(insn)) {
        case LOADED | LOADED_IN_BLOCK:
            insn->aux |= other & STORED ? EMU_AT_EXCHANGES : 0;
            return false;
        case STORED:
            insn->aux |= other & LOADED ? EMU_AT_EXCHANGES : 0;
            insn->aux |= e->before[i] & LOADED_IN_BLOCK ? EMU_AT_AFTER_LOADS : 0;
            return insn->aux & EMU_AT_AFTER_LOADS;
        default:
            return false;
    }
}

void
low_find_exchanges(low_func *f)
{
    exchanges e = {.f = f, .changed = true};

    if (!exchanges_are_there(f)) {
        return;
    }
    exchanges_find_jumps(&e);
    exchanges_begin(&e);
    while (e.changed) {
        e.changed = false;
        exchanges_look_back(&e);
        exchanges_look_ahead(&e);
    }
    for (size_t i = 0; i < f->count; i++) {
        f->gives_way |= exchanges_mark(&e, i);
    }
}
