/* Places of virtual registers in the frame: liveness, then linear scan. See
 * registers.h.
 *
 * A lane writes no other lane's values. So a register is free for another use when no
 * path of a single lane reads it any more, whatever the other lanes do meanwhile. A
 * write under a guard keeps the old value of some lanes, so it counts as a read, too.
 * Temporaries are an exception: their readers have the same guard. */
#include "device/compile/registers.h"

#include <string.h>

typedef struct {
    uint32_t first, last; /* its first and its last instruction */
    uint32_t succ[2];     /* blocks, or UINT32_MAX */
    uint32_t branch;      /* number + 1 of the brx at its end, or 0 */
} block;

typedef struct {
    low_func *f;
    block *blocks;
    uint32_t block_count;
    uint32_t *block_of_label;
    uint32_t *start, *end; /* interval of each register, in half instructions */
    uint32_t *home;        /* the block + 1 that alone uses the register; 0: none
                            * yet; UINT32_MAX: several */
    uint32_t *global;      /* number among those that several blocks use */
    uint32_t global_count;
    size_t words; /* of one bit set */
    uint64_t *in, *out, *use, *def;
} scan;

#define IS_REGISTER(value) ((value) && !((value)&1))

enum { MAX_SET_BYTES = 1 << 28 };

/* -- blocks ------------------------------------------------------------------------ */

static bool
registers_ends_block(unsigned op)
{
    return (emu_operation_flags[op] & (EMU_TARGET | EMU_TARGETS | EMU_LEAVES)) != 0;
}

static void
registers_find_blocks(scan *s)
{
    low_func *f = s->f;
    uint32_t i, n = 0;
    bool fresh = true;

    for (i = 0; i < f->count; i++) {
        fresh = fresh || f->insns[i].op == EMU_OP_label;
        n += fresh;
        fresh = registers_ends_block(f->insns[i].op);
    }
    s->blocks = emu_arena_get(f->load, &f->load->scratch, n + 1, sizeof *s->blocks);
    s->block_of_label =
        emu_arena_get(f->load, &f->load->scratch, f->label_count + 1, sizeof(uint32_t));
    fresh = true;
    for (i = 0; i < f->count; i++) {
        if (fresh || f->insns[i].op == EMU_OP_label) {
            s->blocks[s->block_count++].first = i;
        }
        if (f->insns[i].op == EMU_OP_label) {
            s->block_of_label[f->insns[i].label] = s->block_count - 1;
        }
        s->blocks[s->block_count - 1].last = i;
        fresh = registers_ends_block(f->insns[i].op);
    }
    for (i = 0; i < s->block_count; i++) {
        block *b = &s->blocks[i];
        const low_insn *insn = &f->insns[b->last];
        const unsigned flags = emu_operation_flags[insn->op];

        b->succ[0] = b->succ[1] = UINT32_MAX;
        if (flags & EMU_TARGET) {
            b->succ[0] = s->block_of_label[insn->label];
        }
        if (flags & EMU_TARGETS) {
            b->branch = b->last + 1;
        }
        if (!(flags & EMU_LEAVES) && i + 1 < s->block_count) {
            b->succ[1] = i + 1;
        }
    }
}

/* -- operands ---------------------------------------------------------------------- */

typedef void (*visit)(scan *s, uint32_t reg, uint32_t insn, uint32_t blk);

/* Calls `read`, then `write`, for each register of an instruction. */
static void
registers_visit_insn(scan *s, uint32_t index, uint32_t blk, visit read, visit write)
{
    const low_func *f = s->f;
    const low_insn *insn = &f->insns[index];
    const low_value reads[] = {insn->a, insn->b, insn->c, insn->guard};
    const low_value writes[] = {insn->d, insn->e};
    uint32_t first = insn->x_defs, k;

    for (k = 0; k < 4; k++) {
        if (IS_REGISTER(reads[k])) {
            read(s, LOW_REGISTER_NUMBER(reads[k]), index, blk);
        }
    }
    if (emu_operation_flags[insn->op] & EMU_TARGETS) {
        first = insn->x_count; /* they are labels */
    }
    for (k = first; k < insn->x_count; k++) {
        if (IS_REGISTER(f->xs[insn->x + k])) {
            read(s, LOW_REGISTER_NUMBER(f->xs[insn->x + k]), index, blk);
        }
    }
    for (k = 0; k < 2 + insn->x_defs; k++) {
        low_value value = k < 2 ? writes[k] : f->xs[insn->x + k - 2];

        if (!IS_REGISTER(value)) {
            continue;
        }
        if (insn->guarded && LOW_REGISTER_NUMBER(value) < f->function->reg_count) {
            read(s, LOW_REGISTER_NUMBER(value), index, blk);
        }
        write(s, LOW_REGISTER_NUMBER(value), index, blk);
    }
}

static void
registers_widen(scan *s, uint32_t reg, uint32_t position)
{
    if (position < s->start[reg]) {
        s->start[reg] = position;
    }
    if (position > s->end[reg]) {
        s->end[reg] = position;
    }
}

static void
registers_first_read(scan *s, uint32_t reg, uint32_t insn, uint32_t blk)
{
    if (s->home[reg] != blk + 1) {
        s->home[reg] = UINT32_MAX; /* read before it is written here */
    }
    registers_widen(s, reg, 2 * insn);
}

static void
registers_first_write(scan *s, uint32_t reg, uint32_t insn, uint32_t blk)
{
    if (s->home[reg] == 0) {
        s->home[reg] = blk + 1;
    }
    else if (s->home[reg] != blk + 1) {
        s->home[reg] = UINT32_MAX;
    }
    registers_widen(s, reg, 2 * insn + 1);
}

static void
registers_set_bit(uint64_t *set, uint32_t bit)
{
    set[bit >> 6] |= (uint64_t)1 << (bit & 63);
}

static void
registers_note_read(scan *s, uint32_t reg, uint32_t insn, uint32_t blk)
{
    const size_t at = s->words * blk;

    (void)insn;
    if (s->home[reg] == UINT32_MAX) {
        const uint32_t g = s->global[reg];

        if (!(s->def[at + (g >> 6)] >> (g & 63) & 1)) {
            registers_set_bit(s->use + at, g);
        }
    }
}

static void
registers_note_write(scan *s, uint32_t reg, uint32_t insn, uint32_t blk)
{
    (void)insn;
    if (s->home[reg] == UINT32_MAX) {
        registers_set_bit(s->def + s->words * blk, s->global[reg]);
    }
}

/* -- liveness ---------------------------------------------------------------------- */

static bool
registers_flow_into(scan *s, uint32_t from, uint32_t to)
{
    uint64_t *out = s->out + s->words * from;
    const uint64_t *in = s->in + s->words * to;
    bool changed = false;
    size_t k;

    for (k = 0; k < s->words; k++) {
        changed |= (in[k] & ~out[k]) != 0;
        out[k] |= in[k];
    }
    return changed;
}

static void
registers_solve(scan *s)
{
    const low_func *f = s->f;
    bool changed = true;

    while (changed) {
        uint32_t i;

        changed = false;
        for (i = s->block_count; i-- > 0;) {
            const block *b = &s->blocks[i];
            uint64_t *in = s->in + s->words * i, *out = s->out + s->words * i;
            const uint64_t *use = s->use + s->words * i, *def = s->def + s->words * i;
            uint32_t k;

            for (k = 0; k < 2; k++) {
                if (b->succ[k] != UINT32_MAX) {
                    changed |= registers_flow_into(s, i, b->succ[k]);
                }
            }
            if (b->branch) {
                const low_insn *insn = &f->insns[b->branch - 1];

                for (k = 0; k < insn->x_count; k++) {
                    changed |= registers_flow_into(
                        s, i, s->block_of_label[f->xs[insn->x + k]]);
                }
            }
            for (k = 0; k < s->words; k++) {
                uint64_t now = use[k] | (out[k] & ~def[k]);

                changed |= now != in[k];
                in[k] = now;
            }
        }
    }
}

static void
registers_extend_globals(scan *s)
{
    uint32_t i, reg;

    for (reg = 0; reg < s->f->register_count; reg++) {
        uint32_t g = s->global[reg];

        if (s->home[reg] != UINT32_MAX) {
            continue;
        }
        for (i = 0; i < s->block_count; i++) {
            const size_t at = s->words * i + (g >> 6);

            if (s->in[at] >> (g & 63) & 1) {
                registers_widen(s, reg, 2 * s->blocks[i].first);
            }
            if (s->out[at] >> (g & 63) & 1) {
                registers_widen(s, reg, 2 * s->blocks[i].last + 1);
            }
        }
    }
}

static void
registers_find_intervals(scan *s)
{
    low_func *f = s->f;
    emu_arena *arena = &f->load->scratch;
    const size_t regs = f->register_count;
    uint32_t i, k;

    s->start = emu_arena_get(f->load, arena, regs + 1, sizeof(uint32_t));
    s->end = emu_arena_get(f->load, arena, regs + 1, sizeof(uint32_t));
    s->home = emu_arena_get(f->load, arena, regs + 1, sizeof(uint32_t));
    s->global = emu_arena_get(f->load, arena, regs + 1, sizeof(uint32_t));
    memset(s->start, 0xff, regs * sizeof(uint32_t));
    for (i = 0; i < s->block_count; i++) {
        for (k = s->blocks[i].first; k <= s->blocks[i].last; k++) {
            registers_visit_insn(s, k, i, registers_first_read, registers_first_write);
        }
    }
    for (i = 0; i < regs; i++) {
        if (s->home[i] == UINT32_MAX) {
            s->global[i] = s->global_count++;
        }
    }
    s->words = (s->global_count + 63) / 64;
    if (s->words && s->block_count > MAX_SET_BYTES / 32 / s->words) {
        for (i = 0; i < regs; i++) { /* too large: each lives in all instructions */
            if (s->home[i] == UINT32_MAX) {
                s->start[i] = 0;
                s->end[i] = 2 * (uint32_t)f->count;
            }
        }
        return;
    }
    s->in = emu_arena_get(f->load, arena, s->words * s->block_count + 1, 8);
    s->out = emu_arena_get(f->load, arena, s->words * s->block_count + 1, 8);
    s->use = emu_arena_get(f->load, arena, s->words * s->block_count + 1, 8);
    s->def = emu_arena_get(f->load, arena, s->words * s->block_count + 1, 8);
    for (i = 0; i < s->block_count; i++) {
        for (k = s->blocks[i].first; k <= s->blocks[i].last; k++) {
            registers_visit_insn(s, k, i, registers_note_read, registers_note_write);
        }
    }
    registers_solve(s);
    registers_extend_globals(s);
}

/* -- linear scan ------------------------------------------------------------------- */

static const uint32_t class_bytes[PTX_CLASSES] = {4, 64, 128, 256, 512};
static const uint32_t class_weight[PTX_CLASSES] = {0, 1, 1, 2, 4};

typedef struct {
    uint32_t *heap; /* registers in use; the one that ends first is on top */
    uint32_t heap_count;
    uint32_t *free_slots[PTX_CLASSES];
    uint32_t free_count[PTX_CLASSES], slot_count[PTX_CLASSES];
    uint32_t weight;
} pools;

static void
registers_heap_push(const scan *s, pools *p, uint32_t reg)
{
    uint32_t at = p->heap_count++;

    while (at && s->end[p->heap[(at - 1) / 2]] > s->end[reg]) {
        p->heap[at] = p->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    p->heap[at] = reg;
}

static uint32_t
registers_heap_pop(const scan *s, pools *p)
{
    const uint32_t top = p->heap[0], last = p->heap[--p->heap_count];
    uint32_t at = 0;

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= p->heap_count) {
            break;
        }
        if (child + 1 < p->heap_count &&
            s->end[p->heap[child + 1]] < s->end[p->heap[child]]) {
            child++;
        }
        if (s->end[p->heap[child]] >= s->end[last]) {
            break;
        }
        p->heap[at] = p->heap[child];
        at = child;
    }
    p->heap[at] = last;
    return top;
}

/* Registers in order of their first instruction: a counting sort. */
static uint32_t *
registers_sort_by_start(const scan *s, uint32_t *count)
{
    const low_func *f = s->f;
    emu_arena *arena = &f->load->scratch;
    const size_t positions = 2 * f->count + 2;
    uint32_t *at = emu_arena_get(f->load, arena, positions + 1, sizeof(uint32_t));
    uint32_t *order =
        emu_arena_get(f->load, arena, f->register_count + 1, sizeof(uint32_t));
    size_t i;

    for (i = 0; i < f->register_count; i++) {
        if (s->start[i] != UINT32_MAX) {
            at[s->start[i] + 1]++;
        }
    }
    for (i = 1; i <= positions; i++) {
        at[i] += at[i - 1];
    }
    *count = at[positions];
    for (i = 0; i < f->register_count; i++) {
        if (s->start[i] != UINT32_MAX) {
            order[at[s->start[i]]++] = (uint32_t)i;
        }
    }
    return order;
}

static void
registers_place(low_func *f, const pools *p)
{
    uint64_t base[PTX_CLASSES], total = 0;
    size_t i;

    for (i = PTX_CLASSES; i-- > 0;) {
        base[i] = total;
        total += (uint64_t)p->slot_count[i] * class_bytes[i];
    }
    total = (total + 63) & ~(uint64_t)63;
    if (total > 1 << 26) {
        emu_load_fail(f->load, EMU_LOAD_INVALID_PTX, f->function->line,
                      "%s needs too many registers", f->function->name->text);
    }
    /* an absent operand is read at the start of the frame, whatever its width */
    f->frame_size = (uint32_t)(total < 512 ? 512 : total);
    for (i = 0; i < f->register_count; i++) {
        low_register *r = &f->registers[i];

        r->offset =
            (uint32_t)(base[r->width] + (uint64_t)r->offset * class_bytes[r->width]);
    }
}

void
low_allocate(low_func *f)
{
    scan s = {.f = f};
    pools p = {.heap_count = 0};
    uint32_t *order, count, i, k;

    registers_find_blocks(&s);
    registers_find_intervals(&s);
    order = registers_sort_by_start(&s, &count);
    p.heap = emu_arena_get(f->load, &f->load->scratch, count + 1, sizeof(uint32_t));
    for (k = 0; k < PTX_CLASSES; k++) {
        p.free_slots[k] =
            emu_arena_get(f->load, &f->load->scratch, count + 1, sizeof(uint32_t));
    }
    for (i = 0; i < count; i++) {
        const uint32_t reg = order[i];
        low_register *r = &f->registers[reg];

        while (p.heap_count && s.end[p.heap[0]] < s.start[reg]) {
            const low_register *gone = &f->registers[registers_heap_pop(&s, &p)];

            p.free_slots[gone->width][p.free_count[gone->width]++] = gone->offset;
            p.weight -= class_weight[gone->width];
        }
        r->offset = p.free_count[r->width]
                        ? p.free_slots[r->width][--p.free_count[r->width]]
                        : p.slot_count[r->width]++;
        p.weight += class_weight[r->width];
        f->pressure = p.weight > f->pressure ? p.weight : f->pressure;
        registers_heap_push(&s, &p, reg);
    }
    registers_place(f, &p);
}
