/* Places of virtual registers in the frame: liveness, then linear scan. See
 * lower.h.
 *
 * A lane never writes the values of another lane. A register is therefore free for
 * another use when no path of a single lane reads it any more, whatever the other lanes
 * do meanwhile. A write under a guard keeps the old value of some lanes, so it also
 * counts as a read of the register. A write of a temporary does not: the instructions
 * that read a temporary have the same guard, so they read only lanes that were written.
 */
#include "device/compile/lower.h"

#include <string.h>

typedef struct {
    low_func *f;
    uint32_t *start, *end; /* interval of each register, in half instructions */
    uint32_t *home;        /* 0, the only block that uses the register + 1, or
                            * SEVERAL_BLOCKS */
    uint32_t *global;      /* its number among the registers of several blocks */
    uint32_t *globals;     /* back: the register with that number */
    uint32_t global_count;
    /* The sets of each block have a bit for each register of several blocks from number
     * `part` on. */
    uint32_t part;
    size_t words; /* of one set */
    uint64_t *in, *out, *use, *def;
} scan;

enum {
    LEAST_SET_WORDS = 1 << 18, /* of the sets of a part of the registers */
    MAX_FRAME = 1 << 30,
    LEAST_FRAME = 512 /* an absent operand is read at its start, whatever its width */
};
#define SEVERAL_BLOCKS UINT32_MAX

static bool
registers_is_register(low_value value)
{
    return value != 0 && (value & 1) == 0;
}

/* -- operands ---------------------------------------------------------------------- */

/* A visit of a register in instruction `insn` of block `blk`. */
typedef void (*visit)(scan *s, uint32_t reg, uint32_t insn, uint32_t blk);

/* Calls `write` for an operand that an instruction writes. Calls `read` before if the
 * guard keeps the old value of some lanes. */
static void
registers_visit_write(scan *s, uint32_t index, uint32_t blk, low_value value,
                      visit read, visit write)
{
    const low_insn *insn = &s->f->insns[index];

    if (!registers_is_register(value)) {
        return;
    }
    if (insn->guarded && LOW_REGISTER_NUMBER(value) < s->f->function->reg_count) {
        read(s, LOW_REGISTER_NUMBER(value), index, blk);
    }
    write(s, LOW_REGISTER_NUMBER(value), index, blk);
}

/* Calls `read`, then `write`, for each register of an instruction. */
static void
registers_visit_insn(scan *s, uint32_t index, uint32_t blk, visit read, visit write)
{
    const low_func *f = s->f;
    const low_insn *insn = &f->insns[index];
    const low_value reads[] = {insn->a, insn->b, insn->c, insn->guard};
    const low_value writes[] = {insn->d, insn->e};
    uint32_t first = insn->x_defs;

    for (uint32_t k = 0; k < 4; k++) {
        if (registers_is_register(reads[k])) {
            read(s, LOW_REGISTER_NUMBER(reads[k]), index, blk);
        }
    }
    if (emu_op_rows[insn->op].fields & EMU_TARGETS) {
        first = insn->x_count; /* they are labels */
    }
    for (uint32_t k = first; k < insn->x_count; k++) {
        if (registers_is_register(f->xs[insn->x + k])) {
            read(s, LOW_REGISTER_NUMBER(f->xs[insn->x + k]), index, blk);
        }
    }
    for (uint32_t k = 0; k < 2; k++) {
        registers_visit_write(s, index, blk, writes[k], read, write);
    }
    for (uint32_t k = 0; k < insn->x_defs; k++) {
        registers_visit_write(s, index, blk, f->xs[insn->x + k], read, write);
    }
}

/* Makes the interval of a register include a position. */
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

/* The first pass finds intervals within blocks, and the registers of several blocks. */
static void
registers_first_read(scan *s, uint32_t reg, uint32_t insn, uint32_t blk)
{
    if (s->home[reg] != blk + 1) {
        s->home[reg] = SEVERAL_BLOCKS; /* read before it is written here */
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
        s->home[reg] = SEVERAL_BLOCKS;
    }
    registers_widen(s, reg, 2 * insn + 1);
}

static void
registers_set_bit(uint64_t *set, uint32_t bit)
{
    set[bit >> 6] |= (uint64_t)1 << (bit & 63);
}

/* The bit of a register in the sets of the current part; false if it has none. */
static bool
registers_find_bit(const scan *s, uint32_t reg, uint32_t *bit)
{
    if (s->home[reg] != SEVERAL_BLOCKS) {
        return false;
    }
    *bit = s->global[reg] - s->part; /* wraps around for those of earlier parts */
    return *bit < 64 * s->words;
}

/* The second pass notes, for registers of several blocks, which blocks read them before
 * they write them (`use`) and which write them (`def`). */
static void
registers_note_read(scan *s, uint32_t reg, uint32_t insn, uint32_t blk)
{
    const size_t at = s->words * blk;
    uint32_t bit;

    (void)insn;
    if (registers_find_bit(s, reg, &bit) &&
        !(s->def[at + (bit >> 6)] >> (bit & 63) & 1)) {
        registers_set_bit(s->use + at, bit);
    }
}

static void
registers_note_write(scan *s, uint32_t reg, uint32_t insn, uint32_t blk)
{
    uint32_t bit;

    (void)insn;
    if (registers_find_bit(s, reg, &bit)) {
        registers_set_bit(s->def + s->words * blk, bit);
    }
}

/* -- liveness ---------------------------------------------------------------------- */

/* Adds what block `to` needs at its start to what block `from` keeps at its end.
 * Returns whether that changed. */
static bool
registers_flow_into(scan *s, uint32_t from, uint32_t to)
{
    uint64_t *out = s->out + s->words * from;
    const uint64_t *in = s->in + s->words * to;
    bool changed = false;

    for (size_t k = 0; k < s->words; k++) {
        changed |= (in[k] & ~out[k]) != 0;
        out[k] |= in[k];
    }
    return changed;
}

/* Updates the sets of one block from those of the blocks that follow it. */
static bool
registers_solve_block(scan *s, uint32_t i)
{
    const low_func *f = s->f;
    const low_block *b = &s->f->blocks[i];
    uint64_t *in = s->in + s->words * i, *out = s->out + s->words * i;
    const uint64_t *use = s->use + s->words * i, *def = s->def + s->words * i;
    bool changed = false;

    for (uint32_t k = 0; k < 2; k++) {
        if (b->succ[k] != LOW_NO_BLOCK) {
            changed |= registers_flow_into(s, i, b->succ[k]);
        }
    }
    if (b->branch != 0) {
        const low_insn *insn = &f->insns[b->branch - 1];

        for (uint32_t k = 0; k < insn->x_count; k++) {
            changed |=
                registers_flow_into(s, i, s->f->block_of_label[f->xs[insn->x + k]]);
        }
    }
    for (size_t k = 0; k < s->words; k++) {
        const uint64_t now = use[k] | (out[k] & ~def[k]);

        changed |= now != in[k];
        in[k] = now;
    }
    return changed;
}

/* Solves the equations of liveness: repeats until no set changes. */
static void
registers_solve(scan *s)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t i = s->f->block_count; i-- > 0;) {
            changed |= registers_solve_block(s, i);
        }
    }
}

/* Widens the intervals of the registers in `set` that are not in `seen`, and adds them
 * there. */
static void
registers_widen_new(scan *s, const uint64_t *set, uint64_t *seen, uint32_t position)
{
    for (size_t k = 0; k < s->words; k++) {
        uint64_t fresh = set[k] & ~seen[k];

        seen[k] |= fresh;
        for (; fresh != 0; fresh &= fresh - 1) {
            const uint32_t bit = (uint32_t)(64 * k) + (uint32_t)__builtin_ctzll(fresh);

            registers_widen(s, s->globals[s->part + bit], position);
        }
    }
}

/* Widens the intervals of the registers of several blocks to the blocks in which they
 * are live: from the first block that they enter to the last one that they leave. */
static void
registers_extend_globals(scan *s)
{
    uint64_t *seen = s->use; /* has served its purpose */

    memset(seen, 0, s->words * sizeof *seen);
    for (uint32_t i = 0; i < s->f->block_count; i++) {
        registers_widen_new(s, s->in + s->words * i, seen, 2 * s->f->blocks[i].first);
    }
    memset(seen, 0, s->words * sizeof *seen);
    for (uint32_t i = s->f->block_count; i-- > 0;) {
        registers_widen_new(s, s->out + s->words * i, seen,
                            2 * s->f->blocks[i].last + 1);
    }
}

static void
registers_visit_all(scan *s, visit read, visit write)
{
    for (uint32_t i = 0; i < s->f->block_count; i++) {
        for (uint32_t k = s->f->blocks[i].first; k <= s->f->blocks[i].last; k++) {
            registers_visit_insn(s, k, i, read, write);
        }
    }
}

/* The words of one set. All registers of several blocks have a bit, or in a large
 * function a part of them: the sets of all blocks then stay small. */
static size_t
registers_set_words(const scan *s)
{
    const size_t all = ((size_t)s->global_count + 63) / 64;
    const size_t part =
        (LEAST_SET_WORDS + 8 * s->f->count) / (s->f->block_count + 1) + 1;

    if (all < part) {
        return all;
    }
    return part;
}

static uint64_t *
registers_new_sets(scan *s)
{
    return emu_arena_get(s->f->load, &s->f->load->scratch,
                         s->words * s->f->block_count + 1, sizeof(uint64_t));
}

/* Notes the registers of the PTX that are live where the function begins: some path
 * reads them before it writes them. */
static void
registers_add_unset(scan *s)
{
    low_func *f = s->f;

    for (size_t k = 0; k < s->words && s->f->block_count > 0; k++) {
        for (uint64_t left = s->in[k]; left != 0; left &= left - 1) {
            const uint32_t bit = (uint32_t)(64 * k) + (uint32_t)__builtin_ctzll(left);
            const uint32_t reg = s->globals[s->part + bit];

            if (reg < f->function->reg_count) {
                f->unset[f->unset_count++] = reg;
            }
        }
    }
}

/* Finds where the registers of several blocks are live, part by part. */
static void
registers_solve_globals(scan *s)
{
    s->words = registers_set_words(s);
    s->in = registers_new_sets(s);
    s->out = registers_new_sets(s);
    s->use = registers_new_sets(s);
    s->def = registers_new_sets(s);
    s->f->unset = emu_arena_get(s->f->load, &s->f->load->scratch, s->global_count + 1,
                                sizeof(uint32_t));
    for (s->part = 0; s->part < s->global_count; s->part += 64 * s->words) {
        const size_t bytes = s->words * s->f->block_count * sizeof(uint64_t);

        if (s->part > 0) {
            memset(s->in, 0, bytes);
            memset(s->out, 0, bytes);
            memset(s->use, 0, bytes);
            memset(s->def, 0, bytes);
        }
        registers_visit_all(s, registers_note_read, registers_note_write);
        registers_solve(s);
        registers_add_unset(s);
        registers_extend_globals(s);
    }
}

static void
registers_find_intervals(scan *s)
{
    low_func *f = s->f;
    emu_arena *arena = &f->load->scratch;
    const size_t regs = f->register_count;

    s->start = emu_arena_get(f->load, arena, regs + 1, sizeof(uint32_t));
    s->end = emu_arena_get(f->load, arena, regs + 1, sizeof(uint32_t));
    s->home = emu_arena_get(f->load, arena, regs + 1, sizeof(uint32_t));
    s->global = emu_arena_get(f->load, arena, regs + 1, sizeof(uint32_t));
    s->globals = emu_arena_get(f->load, arena, regs + 1, sizeof(uint32_t));
    memset(s->start, 0xff, regs * sizeof(uint32_t));
    registers_visit_all(s, registers_first_read, registers_first_write);
    for (size_t i = 0; i < regs; i++) {
        if (s->home[i] == SEVERAL_BLOCKS) {
            s->global[i] = s->global_count;
            s->globals[s->global_count++] = (uint32_t)i;
        }
    }
    registers_solve_globals(s);
}

/* -- linear scan ------------------------------------------------------------------- */

/* By class: the bytes of a register of 32 lanes, and the 32-bit registers of a GPU that
 * it counts as. */
static const uint32_t class_bytes[PTX_CLASSES] = {4, 64, 128, 256, 512};
static const uint32_t class_weight[PTX_CLASSES] = {0, 1, 1, 2, 4};

/* The slots of the frame, by class. */
typedef struct {
    uint32_t *heap; /* registers in use; the one that ends first is on top */
    uint32_t heap_count;
    uint32_t *free_slots[PTX_CLASSES];
    uint32_t free_count[PTX_CLASSES], slot_count[PTX_CLASSES];
} pools;

static void
registers_heap_push(const scan *s, pools *p, uint32_t reg)
{
    uint32_t at = p->heap_count++;

    while (at > 0 && s->end[p->heap[(at - 1) / 2]] > s->end[reg]) {
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

    for (size_t i = 0; i < f->register_count; i++) {
        if (s->start[i] != UINT32_MAX) {
            at[s->start[i] + 1]++;
        }
    }
    for (size_t i = 1; i <= positions; i++) {
        at[i] += at[i - 1];
    }
    *count = at[positions];
    for (size_t i = 0; i < f->register_count; i++) {
        if (s->start[i] != UINT32_MAX) {
            order[at[s->start[i]]++] = (uint32_t)i;
        }
    }
    return order;
}

/* Turns the slots of the registers into offsets: the widest class comes first. */
static void
registers_place(low_func *f, const pools *p)
{
    uint64_t base[PTX_CLASSES], total = 0;

    for (size_t i = PTX_CLASSES; i-- > 0;) {
        base[i] = total;
        total += (uint64_t)p->slot_count[i] * class_bytes[i];
    }
    total = (total + 63) & ~(uint64_t)63;
    if (total > MAX_FRAME) {
        emu_load_fail(f->load, EMU_LOAD_INVALID_PTX, f->function->line,
                      "%s needs too many registers", f->function->name->text);
    }
    if (total < LEAST_FRAME) {
        total = LEAST_FRAME;
    }
    f->frame_size = (uint32_t)total;
    for (size_t i = 0; i < f->register_count; i++) {
        low_register *r = &f->registers[i];

        if (r->once == EMU_EACH) {
            r->offset = (uint32_t)(base[r->width] +
                                   (uint64_t)r->offset * class_bytes[r->width]);
        }
    }
}

/* Frees the slots of the registers whose intervals end before a position. */
static void
registers_expire(const scan *s, pools *p, uint32_t position)
{
    while (p->heap_count > 0 && s->end[p->heap[0]] < position) {
        const low_register *gone = &s->f->registers[registers_heap_pop(s, p)];

        p->free_slots[gone->width][p->free_count[gone->width]++] = gone->offset;
    }
}

/* A slot of a class: the one freed last, or a new one. */
static uint32_t
registers_take_slot(pools *p, unsigned width)
{
    if (p->free_count[width] > 0) {
        return p->free_slots[width][--p->free_count[width]];
    }
    return p->slot_count[width]++;
}

/* The greatest number of 32-bit registers that are in use at once. */
static void
registers_count_pressure(const scan *s)
{
    low_func *f = s->f;
    uint32_t *begins, *ends, weight = 0;
    const size_t positions = 2 * f->count + 3;

    begins = emu_arena_get(f->load, &f->load->scratch, positions, sizeof *begins);
    ends = emu_arena_get(f->load, &f->load->scratch, positions, sizeof *ends);
    for (size_t i = 0; i < f->register_count; i++) {
        if (s->start[i] != UINT32_MAX) {
            begins[s->start[i]] += class_weight[f->registers[i].width];
            ends[s->end[i] + 1] += class_weight[f->registers[i].width];
        }
    }
    for (size_t i = 0; i < positions; i++) {
        weight += begins[i] - ends[i];
        if (weight > f->pressure) {
            f->pressure = weight;
        }
    }
}

void
low_allocate(low_func *f)
{
    scan s = {.f = f};
    pools p = {.heap_count = 0};
    uint32_t *order, count;

    registers_find_intervals(&s);
    registers_count_pressure(&s);
    low_hoist(f, s.start, s.end);
    order = registers_sort_by_start(&s, &count);
    p.heap = emu_arena_get(f->load, &f->load->scratch, count + 1, sizeof(uint32_t));
    for (uint32_t k = 0; k < PTX_CLASSES; k++) {
        p.free_slots[k] =
            emu_arena_get(f->load, &f->load->scratch, count + 1, sizeof(uint32_t));
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t reg = order[i];
        low_register *r = &f->registers[reg];

        registers_expire(&s, &p, s.start[reg]);
        r->offset = registers_take_slot(&p, r->width);
        registers_heap_push(&s, &p, reg);
    }
    registers_place(f, &p);
}
