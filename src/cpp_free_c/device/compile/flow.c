/* The basic blocks of a function, and where the lanes of a branch meet again. See
 * lower.h.
 *
 * All paths behind a branch come to its immediate post-dominator. The algorithm is that
 * of Cooper, Harvey and Kennedy, on the edges taken backwards from the ends of the
 * function. A loop without an end has no such place. */
#include "device/compile/lower.h"

/* -- blocks ------------------------------------------------------------------------ */

static bool
flow_ends_block(unsigned op)
{
    return (emu_op_rows[op].fields & (EMU_TARGET | EMU_TARGETS | EMU_LEAVES)) != 0;
}

void
low_find_blocks(low_func *f)
{
    uint32_t n = 0;
    bool fresh = true;

    for (uint32_t i = 0; i < f->count; i++) {
        fresh = fresh || f->insns[i].op == EMU_OP_label;
        n += fresh;
        fresh = flow_ends_block(f->insns[i].op);
    }
    f->blocks = emu_arena_get(f->load, &f->load->scratch, n + 1, sizeof *f->blocks);
    f->block_of_label =
        emu_arena_get(f->load, &f->load->scratch, f->label_count + 1, sizeof(uint32_t));
    fresh = true;
    for (uint32_t i = 0; i < f->count; i++) {
        if (fresh || f->insns[i].op == EMU_OP_label) {
            f->blocks[f->block_count++].first = i;
        }
        if (f->insns[i].op == EMU_OP_label) {
            f->block_of_label[f->insns[i].label] = f->block_count - 1;
        }
        f->blocks[f->block_count - 1].last = i;
        fresh = flow_ends_block(f->insns[i].op);
    }
    for (uint32_t i = 0; i < f->block_count; i++) {
        low_block *b = &f->blocks[i];
        const low_insn *insn = &f->insns[b->last];
        const unsigned fields = emu_op_rows[insn->op].fields;

        b->succ[0] = b->succ[1] = LOW_NO_BLOCK;
        if (fields & EMU_TARGET) {
            b->succ[0] = f->block_of_label[insn->label];
        }
        if (fields & EMU_TARGETS) {
            b->branch = b->last + 1;
        }
        if (!(fields & EMU_LEAVES) && i + 1 < f->block_count) {
            b->succ[1] = i + 1;
        }
    }
}

/* -- where lanes meet -------------------------------------------------------------- */

/* Blocks by number; number block_count is the end of the function. */
typedef struct {
    low_func *f;
    uint32_t
        *first; /* of each block: its first edge in `before`, and one number more */
    uint32_t *before; /* the blocks from which the edges come */
    uint32_t *place;  /* its place in the order, or LOW_NO_BLOCK if no end is reached */
    uint32_t *order;  /* each block comes behind those that it leads to */
    uint32_t *meet;   /* its post-dominator; LOW_NO_BLOCK: not known yet */
    uint32_t joined;  /* that of the block in hand, from the edges seen so far */
} flow;

/* Called for the edge from a block to another. */
typedef void (*flow_visit)(flow *w, uint32_t from, uint32_t to);

static void
flow_visit_edges(flow *w, uint32_t from, flow_visit visit)
{
    const low_func *f = w->f;
    const low_block *b = &f->blocks[from];

    for (unsigned k = 0; k < 2; k++) {
        if (b->succ[k] != LOW_NO_BLOCK) {
            visit(w, from, b->succ[k]);
        }
    }
    if (b->branch) {
        const low_insn *insn = &f->insns[b->branch - 1];

        for (uint32_t k = 0; k < insn->x_count; k++) {
            visit(w, from, f->block_of_label[f->xs[insn->x + k]]);
        }
    }
    else if (b->succ[0] == LOW_NO_BLOCK && b->succ[1] == LOW_NO_BLOCK) {
        visit(w, from, f->block_count);
    }
}

static void
flow_count_edge(flow *w, uint32_t from, uint32_t to)
{
    (void)from;
    w->first[to + 1]++;
}

/* `place` counts the edges that each block has got meanwhile. */
static void
flow_add_edge(flow *w, uint32_t from, uint32_t to)
{
    w->before[w->first[to] + w->place[to]++] = from;
}

static void
flow_find_edges(flow *w)
{
    const uint32_t count = w->f->block_count;

    for (uint32_t i = 0; i < count; i++) {
        flow_visit_edges(w, i, flow_count_edge);
    }
    for (uint32_t i = 0; i <= count; i++) {
        w->first[i + 1] += w->first[i];
    }
    w->before = emu_arena_get(w->f->load, &w->f->load->scratch,
                              (size_t)w->first[count + 1] + 1, sizeof(uint32_t));
    for (uint32_t i = 0; i < count; i++) {
        flow_visit_edges(w, i, flow_add_edge);
    }
}

/* Depth first from the end, backwards. Returns how many blocks lead to the end, with
 * the end itself, which is the last one in the order. */
static uint32_t
flow_find_order(flow *w)
{
    const uint32_t count = w->f->block_count;
    emu_arena *arena = &w->f->load->scratch;
    uint32_t *stack = emu_arena_get(w->f->load, arena, count + 1, sizeof *stack);
    uint32_t *next = emu_arena_get(w->f->load, arena, count + 1, sizeof *next);
    uint32_t depth = 1, found = 0;

    for (uint32_t i = 0; i <= count; i++) {
        w->place[i] = LOW_NO_BLOCK;
        next[i] = w->first[i];
    }
    stack[0] = count;
    w->place[count] = 0; /* seen */
    while (depth > 0) {
        const uint32_t at = stack[depth - 1];

        if (next[at] == w->first[at + 1]) {
            w->place[at] = found;
            w->order[found++] = at;
            depth--;
        }
        else if (w->place[w->before[next[at]]] == LOW_NO_BLOCK) {
            w->place[w->before[next[at]]] = 0;
            stack[depth++] = w->before[next[at]];
            next[at]++;
        }
        else {
            next[at]++;
        }
    }
    return found;
}

/* The nearest block to which both lead. */
static void
flow_join(flow *w, uint32_t from, uint32_t to)
{
    uint32_t a = w->joined, b = to;

    (void)from;
    if (w->meet[to] == LOW_NO_BLOCK) {
        return;
    }
    while (a != LOW_NO_BLOCK && a != b) {
        if (w->place[a] < w->place[b]) {
            a = w->meet[a];
        }
        else {
            b = w->meet[b];
        }
    }
    w->joined = b;
}

static void
flow_find_meetings(flow *w)
{
    const uint32_t count = w->f->block_count, found = flow_find_order(w);
    bool changed = true;

    for (uint32_t i = 0; i <= count; i++) {
        w->meet[i] = LOW_NO_BLOCK;
    }
    w->meet[count] = count;
    while (changed) {
        changed = false;
        for (uint32_t k = found - 1; k-- > 0;) {
            const uint32_t block = w->order[k];

            w->joined = LOW_NO_BLOCK;
            flow_visit_edges(w, block, flow_join);
            changed |= w->meet[block] != w->joined;
            w->meet[block] = w->joined;
        }
    }
}

void
low_find_meetings(low_func *f)
{
    emu_arena *arena = &f->load->scratch;
    const size_t room = (size_t)f->block_count + 2;
    flow w = {.f = f};

    w.first = emu_arena_get(f->load, arena, room, sizeof(uint32_t));
    w.place = emu_arena_get(f->load, arena, room, sizeof(uint32_t));
    w.order = emu_arena_get(f->load, arena, room, sizeof(uint32_t));
    w.meet = emu_arena_get(f->load, arena, room, sizeof(uint32_t));
    flow_find_edges(&w);
    flow_find_meetings(&w);
    for (uint32_t i = 0; i < f->block_count; i++) {
        low_insn *insn = &f->insns[f->blocks[i].last];
        const uint32_t meet = w.meet[i];

        if (insn->op == EMU_OP_bra_if && meet < f->block_count &&
            f->insns[f->blocks[meet].first].op == EMU_OP_label) {
            insn->meets = true;
            insn->meet = f->insns[f->blocks[meet].first].label;
        }
    }
}
