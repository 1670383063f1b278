/* The race check. See race_check.h.
 *
 * A cell has the stamps of its last write and of its last reads by two different warps;
 * atomic operations after a plain write of the block count among the reads.
 * With barriers of the whole block two readers are enough: one of them is of another
 * warp than the next access. (If barriers are for a part of the block, a race with a
 * third warp may not be found.) Elements of four bytes and more have a stamp for each
 * word, smaller ones for each byte; an access looks at both. */
#include "device/machine/warp/race_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/compile/encoding.h"
#include "device/machine/warp/effect.h"
#include "device/machine/warp/race_cells.h"
#include "device/machine/warp/report.h"
#include "device/machine/warp/store_value.h"

enum { WORD = 4, CELLS = 6 };

/* An access of one warp that is being checked. */
typedef struct {
    emu_warp *warp;
    const emu_insn *insn;
    emu_race_space *space;
    const emu_visitor *visitor;
    emu_race_kind kind;
    unsigned size;
    uint32_t stamp; /* of lane 0 */
    bool same;      /* it writes the value that the bytes have */
    bool is_copy;
} access;

static bool
race_kind_writes(emu_race_kind kind)
{
    return kind != EMU_RACE_READ && kind != EMU_RACE_STRONG_READ;
}

/* -- blocks ------------------------------------------------------------------------ */

/* Set the cells of shared memory. False: out of memory. */
static bool
race_reserve_shared(emu_block *block, emu_race *race)
{
    emu_race_space *space = &race->spaces[EMU_RACE_SHARED];
    const size_t bytes = block->shared_size + WORD, words = bytes / WORD + 1;
    const size_t count = 3 * bytes + 3 * words;

    if (race->cell_count < count) {
        free(race->cells);
        race->cells = malloc(count * sizeof *race->cells);
        race->cell_count = race->cells == NULL ? 0 : count;
        if (race->cells == NULL) {
            return false;
        }
    }
    memset(race->cells, 0, count * sizeof *race->cells);
    space->words =
        (emu_visits){race->cells, race->cells + words, race->cells + 2 * words};
    space->bytes =
        (emu_visits){race->cells + 3 * words, race->cells + 3 * words + bytes,
                     race->cells + 3 * words + 2 * bytes};
    space->base = (uint64_t)(uintptr_t)block->shared;
    space->size = block->shared_size;
    race->narrow = 0;
    space->narrow = &race->narrow;
    space->narrow_shift = 63;
    return emu_visits_begin_block(&space->table);
}

bool
emu_race_begin(emu_block *block)
{
    emu_race *race = block->race;
    emu_race_space *global;

    if (block->grid->race == NULL) {
        emu_race_free(block);
        return true;
    }
    if (race == NULL) {
        race = block->race = calloc(1, sizeof *race);
        if (race == NULL) {
            return false;
        }
    }
    emu_order_begin(&race->order);
    memset(race->visitors, 0, block->warp_count * sizeof race->visitors[0]);
    memset(race->visitors[EMU_RACE_COPIES], 0, sizeof race->visitors[0]);
    race->has_copies = false;
    race->keeps_writes = false;
    global = &race->spaces[EMU_RACE_GLOBAL];
    global->base = emu_memory_tables.base;
    global->size = emu_memory_tables.size;
    global->words = emu_memory_shadow.words;
    global->bytes = emu_memory_shadow.bytes;
    global->narrow = emu_memory_shadow.narrow;
    global->narrow_shift = EMU_CHUNK_SHIFT;
    global->table = *emu_race_grid_visits(block->grid->race);
    return race_reserve_shared(block, race);
}

void
emu_race_free(emu_block *block)
{
    if (block->race) {
        emu_visits_free_block(&block->race->spaces[EMU_RACE_SHARED].table);
        free(block->race->cells);
        free(block->race);
        block->race = NULL;
    }
}

void
emu_race_forget(emu_block *block)
{
    emu_race *race = block->race;

    if (race->has_copies) {
        return; /* no barrier orders them */
    }
    if (!emu_visits_forget(&race->spaces[EMU_RACE_SHARED].table)) {
        memset(race->cells, 0, race->cell_count * sizeof *race->cells);
        race->narrow = 0;
        memset(race->visitors, 0, sizeof race->visitors);
        (void)emu_visits_begin_block(
            &race->spaces[EMU_RACE_SHARED].table); /* it has its memory */
    }
}

/* -- reports ----------------------------------------------------------------------- */

static const char *const kind_words[] = {
    [EMU_RACE_READ] = "read",
    [EMU_RACE_WRITE] = "write",
    [EMU_RACE_ATOMIC] = "atomic operation",
    [EMU_RACE_STRONG_READ] = "read",
    [EMU_RACE_STRONG_WRITE] = "write",
};

/* Write "offset 128 of shared memory", or "byte 4 of the 256-byte device allocation".
 */
static void
race_place_text(const access *a, uint64_t address, char *text, size_t room)
{
    const emu_allocation *memory;
    const char *space = "", *name = "";

    if (a->space == &a->warp->block->race->spaces[EMU_RACE_SHARED]) {
        (void)snprintf(text, room, "offset %llu of shared memory",
                       (unsigned long long)(address - a->space->base));
        return;
    }
    memory = emu_memory_find(address);
    if (memory == NULL) {
        (void)snprintf(text, room, "address 0x%llx", (unsigned long long)address);
        return;
    }
    if (memory->name) {
        space = " ";
        name = memory->name;
    }
    (void)snprintf(text, room, "byte %llu of the %llu-byte %s allocation%s%.60s",
                   (unsigned long long)(address - memory->base),
                   (unsigned long long)memory->size, emu_memory_kind_name(memory->kind),
                   space, name);
}

/* Write " of block (1, 0, 0)" for a thread of another block, else "". */
static void
race_block_text(const emu_grid *grid, const emu_block *block, uint64_t other,
                char *text, size_t room)
{
    text[0] = 0;
    if (other != (uint32_t)block->number) {
        (void)snprintf(text, room, " of block (%llu, %llu, %llu)",
                       (unsigned long long)(other % grid->grid[0]),
                       (unsigned long long)(other / grid->grid[0] % grid->grid[1]),
                       (unsigned long long)(other / grid->grid[0] / grid->grid[1]));
    }
}

static bool
race_fault(const access *a, unsigned lane, uint64_t address, uint32_t stamp)
{
    const emu_block *block = a->warp->block;
    const emu_visit *visit = emu_visit_of(&a->space->table, stamp);
    const emu_program *program = visit->func->program;
    emu_other_place other = {program, emu_report_place_of(visit->func, visit->insn)};
    const char *order = "no __syncthreads between them";
    unsigned warp = visit->warp;
    char thread[48], place[112], at[160], of[96], value[EMU_VALUE_LINE];

    if (warp == EMU_RACE_COPIES) {
        warp = visit->starter;
    }
    emu_report_thread_text(block->grid, warp * EMU_LANES + stamp % EMU_LANES, thread,
                           sizeof thread);
    emu_report_place_text(program, other.place, place, sizeof place);
    race_place_text(a, address, at, sizeof at);
    race_block_text(block->grid, block, visit->block, of, sizeof of);
    emu_store_value_line(a->warp, a->insn, lane, a->size,
                         (const void *)(uintptr_t)address, value);
    if (visit->warp == EMU_RACE_COPIES) {
        (void)emu_fault_with_other(
            a->warp, a->insn, CUDA_ERROR_LAUNCH_FAILED, lane, address, &other,
            "race: %s of %u bytes at %s and the copy that thread %s%s began, with no "
            "wait for its mbarrier between them%s",
            kind_words[a->kind], a->size, at, thread, place, value);
        return false;
    }
    if (visit->block != (uint32_t)block->number) {
        order = "nothing that orders the two blocks";
    }
    (void)emu_fault_with_other(
        a->warp, a->insn, CUDA_ERROR_LAUNCH_FAILED, lane, address, &other,
        "race: %s of %u bytes at %s and the %s by thread %s%s%s, "
        "with %s%s",
        kind_words[a->kind], a->size, at, kind_words[visit->kind], thread, of, place,
        order, value);
    return false;
}

/* -- one cell ---------------------------------------------------------------------- */

/* Whether two accesses without an order are a race. */
static bool
race_conflicts(const access *a, const emu_visit *visit)
{
    const emu_race_kind before = (emu_race_kind)visit->kind;

    if (!race_kind_writes(a->kind) && !race_kind_writes(before)) {
        return false;
    }
    if (a->kind >= EMU_RACE_ATOMIC && before >= EMU_RACE_ATOMIC) {
        return false;
    }
    return !(a->same && a->kind == EMU_RACE_WRITE && before == EMU_RACE_WRITE);
}

/* Whether a stamp is of this warp, or of none. */
static inline bool
race_is_own(const access *a, uint32_t stamp)
{
    const uint32_t own = (a->visitor->end - EMU_RACE_CHUNK) * EMU_LANES;

    return stamp < a->space->table.oldest || ((stamp ^ own) & EMU_RACE_OWN_MASK) == 0;
}

/* Check the access against one stamp. False: it is a race. */
static bool
race_check_stamp(const access *a, uint32_t stamp)
{
    const emu_visit *visit;

    if (race_is_own(a, stamp) && !a->is_copy) {
        return true;
    }
    if (stamp < a->space->table.oldest) {
        return true;
    }
    visit = emu_visit_of(&a->space->table, stamp);
    return !race_conflicts(a, visit) || emu_order_is_before(a->warp, visit);
}

/* Check the access against a cell. 0, or the stamp with which it races. */
static uint32_t
race_check_cell(const access *a, const emu_visits *visits, size_t cell)
{
    const uint32_t stamps[] = {visits->writer[cell], visits->reader[cell],
                               visits->other[cell]};

    for (unsigned i = 0; i < sizeof stamps / sizeof stamps[0]; i++) {
        if (!race_check_stamp(a, stamps[i])) {
            return stamps[i];
        }
    }
    return 0;
}

/* Whether an atomic operation must leave the write of a cell in its place: other blocks
 * race with the plain write, and not with the atomic operation. */
static bool
race_keeps_write(const access *a, uint32_t stamp)
{
    const emu_visit *visit = emu_visit_of(&a->space->table, stamp);

    return a->kind >= EMU_RACE_ATOMIC && stamp >= a->space->table.oldest &&
           visit->kind == EMU_RACE_WRITE &&
           visit->block == (uint32_t)a->warp->block->number;
}

/* Remember the access of a lane to a cell. */
static void
race_note(const access *a, const emu_visits *visits, size_t cell, unsigned lane)
{
    const uint32_t stamp = a->stamp + lane, before = visits->reader[cell];

    if (race_kind_writes(a->kind)) {
        if (!race_keeps_write(a, visits->writer[cell])) {
            visits->writer[cell] = stamp;
            return;
        }
        a->warp->block->race->keeps_writes = true;
    }
    if (!race_is_own(a, before)) {
        const emu_visit *visit = emu_visit_of(&a->space->table, before);

        if (visit->warp != a->warp->number ||
            visit->block != (uint32_t)a->warp->block->number) {
            visits->other[cell] = before;
        }
    }
    visits->reader[cell] = stamp;
}

/* -- one lane ---------------------------------------------------------------------- */

static uint8_t *
race_narrow_of(const access *a, uint64_t offset)
{
    return &a->space->narrow[offset >> a->space->narrow_shift];
}

/* Check the cells of `size` bytes at an offset of the space, and remember the access.
 */
static bool
race_check_range(const access *a, unsigned lane, uint64_t offset, unsigned size)
{
    const emu_race_space *space = a->space;
    const uint64_t first = offset / WORD, last = (offset + size - 1) / WORD;
    const bool is_narrow = size % WORD != 0 || offset % WORD != 0;
    uint32_t found;

    for (uint64_t cell = first; cell <= last; cell++) {
        found = race_check_cell(a, &space->words, cell);
        if (found != 0) {
            return race_fault(a, lane, space->base + offset, found);
        }
        if (!is_narrow) {
            race_note(a, &space->words, cell, lane);
        }
    }
    if (is_narrow) {
        *race_narrow_of(a, offset) = 1;
        *race_narrow_of(a, offset + size - 1) = 1;
    }
    else if (!*race_narrow_of(a, offset)) {
        return true;
    }
    for (uint64_t cell = offset; cell < offset + size; cell++) {
        found = race_check_cell(a, &space->bytes, cell);
        if (found != 0) {
            return race_fault(a, lane, space->base + offset, found);
        }
        if (is_narrow) {
            race_note(a, &space->bytes, cell, lane);
        }
    }
    return true;
}

/* -- one instruction --------------------------------------------------------------- */

/* Find lanes that write different values to one address in this instruction. */
static bool
race_check_instruction(const access *a, uint32_t mask, const uint64_t at[EMU_LANES])
{
    uint8_t one[EMU_MOST_STORED], two[EMU_MOST_STORED];

    for (uint32_t left = mask; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);
        uint32_t equal = 0;

        for (unsigned k = 0; k < EMU_LANES; k++) {
            equal |= (uint32_t)(at[k] == at[i]) << k;
        }
        for (equal &= left & (left - 1); equal; equal &= equal - 1) {
            const unsigned k = (unsigned)__builtin_ctz(equal);
            char thread[48], place[160];
            char mine[EMU_VALUE_ROOM], other[EMU_VALUE_ROOM];

            emu_store_value(a->warp, a->insn, i, a->size, one);
            emu_store_value(a->warp, a->insn, k, a->size, two);
            if (memcmp(one, two, a->size) == 0) {
                continue;
            }
            emu_report_thread_text(a->warp->block->grid,
                                   a->warp->number * EMU_LANES + i, thread,
                                   sizeof thread);
            race_place_text(a, at[i], place, sizeof place);
            emu_value_text(one, a->size, other);
            emu_value_text(two, a->size, mine);
            (void)emu_fault(a->warp, a->insn, CUDA_ERROR_LAUNCH_FAILED, k, at[k],
                            "race: write of %u bytes at %s; thread %s writes another "
                            "value there in the same instruction\n"
                            "  value: the thread writes %s, the other thread %s",
                            a->size, place, thread, mine, other);
            return false;
        }
    }
    return true;
}

static bool
race_check_lane(access *a, unsigned lane, uint64_t address)
{
    uint8_t value[EMU_MOST_STORED];

    if (address - a->space->base >= a->space->size) {
        return true; /* of another space */
    }
    a->same = false;
    if (a->kind == EMU_RACE_WRITE) {
        emu_store_value(a->warp, a->insn, lane, a->size, value);
        a->same = memcmp(value, (const void *)(uintptr_t)address, a->size) == 0;
    }
    return race_check_range(a, lane, address - a->space->base, a->size);
}

/* The space of an address, or NULL. */
static emu_race_space *
race_space_of(emu_race *race, uint64_t address)
{
    for (unsigned i = 0; i < EMU_RACE_SPACES; i++) {
        if (address - race->spaces[i].base < race->spaces[i].size) {
            return &race->spaces[i];
        }
    }
    return NULL;
}

/* Set the visitor and the stamp of an access. False: it cannot be remembered, and is
 * not checked. */
static bool
race_begin_access(access *a, uint16_t as_warp)
{
    emu_race *race = a->warp->block->race;
    emu_visitor *visitor = &race->visitors[as_warp][a->space - race->spaces];
    uint32_t epoch = emu_order_epoch(a->warp, a->kind);

    if (a->is_copy) {
        epoch = race->order.copies;
    }
    a->visitor = visitor;
    a->stamp = emu_visit_again(&a->space->table, visitor, a->insn, epoch);
    if (a->stamp == 0) {
        a->stamp = emu_visit_stamp(
            &a->space->table, visitor,
            &(emu_visit){.launch = (uint32_t)a->warp->block->grid->number,
                         .block = (uint32_t)a->warp->block->number,
                         .func = a->warp->frame->func,
                         .insn = a->insn,
                         .epoch = epoch,
                         .warp = (uint8_t)as_warp,
                         .starter = (uint8_t)a->warp->number,
                         .kind = (uint8_t)a->kind});
    }
    return a->stamp != 0;
}

/* Lanes that repeat what another lane does need no check of their own. */
static uint32_t
race_lanes_to_check(const access *a, uint32_t mask, const uint64_t at[EMU_LANES])
{
    const uint64_t first = at[__builtin_ctz(mask)];
    uint32_t left = mask & (mask - 1);

    if (a->kind == EMU_RACE_WRITE) {
        return mask;
    }
    while (left && at[__builtin_ctz(left)] == first) {
        left &= left - 1;
    }
    if (left == 0) {
        return mask & (0u - mask);
    }
    return mask;
}

bool
emu_race_access(emu_warp *warp, const emu_insn *insn, uint32_t mask, unsigned size,
                emu_race_kind kind, const uint64_t at[EMU_LANES])
{
    access a = {.warp = warp, .insn = insn, .kind = kind, .size = size};
    uint32_t left;

    while (mask) {
        a.space = race_space_of(warp->block->race, at[__builtin_ctz(mask)]);
        if (a.space != NULL) {
            break;
        }
        mask &= mask - 1;
    }
    if (mask == 0 || !race_begin_access(&a, (uint16_t)warp->number)) {
        return true;
    }
    if (kind == EMU_RACE_WRITE && !race_check_instruction(&a, mask, at)) {
        return false;
    }
    for (left = race_lanes_to_check(&a, mask, at); left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        if (!race_check_lane(&a, lane, at[lane])) {
            return false;
        }
    }
    return true;
}

/* Check a part as a whole. False: its lanes must be checked one by one. */
static bool
race_take_part(access *a, const emu_part *part)
{
    const uint64_t bytes = emu_part_bytes(part, a->size);
    uint64_t offset;
    emu_cell_access cells;

    a->space = race_space_of(a->warp->block->race, part->start);
    if (a->space == NULL) {
        return true; /* it is not checked */
    }
    offset = part->start - a->space->base;
    if (offset % WORD != 0 || *race_narrow_of(a, offset) ||
        *race_narrow_of(a, offset + bytes - 1)) {
        return false;
    }
    if (!race_begin_access(a, (uint16_t)a->warp->number)) {
        return true;
    }
    cells = (emu_cell_access){
        .stamp = a->stamp + part->first,
        .own = (a->visitor->end - EMU_RACE_CHUNK) * EMU_LANES,
        .oldest = a->space->table.oldest,
        .shift = (unsigned)__builtin_ctz(a->size / WORD),
        .writes = race_kind_writes(a->kind),
        .keeps_readers = a->space == &a->warp->block->race->spaces[EMU_RACE_SHARED]};
    if (part->same) {
        cells.shift = 31; /* all cells are of the first lane */
    }
    return emu_cells_take(&a->space->words, offset / WORD, (unsigned)(bytes / WORD),
                          &cells);
}

bool
emu_race_parts(emu_warp *warp, const emu_insn *insn, unsigned size, emu_race_kind kind,
               const emu_parts *parts)
{
    access a = {.warp = warp, .insn = insn, .kind = kind, .size = size};
    const emu_part *part = parts->parts;

    if (size % WORD != 0 || (size & (size - 1)) != 0 || kind == EMU_RACE_ATOMIC ||
        warp->block->race->keeps_writes) {
        return false;
    }
    for (unsigned i = 0; i < parts->count && race_kind_writes(kind); i++) {
        if (part[i].same) {
            return false; /* lanes may write different values */
        }
    }
    if (race_kind_writes(kind) && parts->count == 2 &&
        part[1].start + emu_part_bytes(part, size) - part[0].start <
            2 * emu_part_bytes(part, size)) {
        return false; /* so may those of two parts */
    }
    for (unsigned i = 0; i < parts->count; i++) {
        if (!race_take_part(&a, &part[i])) {
            return false;
        }
    }
    return true;
}

bool
emu_race_copy(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t offset,
              unsigned size, bool write)
{
    emu_race *race = warp->block->race;
    access a = {.warp = warp,
                .insn = insn,
                .space = &race->spaces[EMU_RACE_SHARED],
                .kind = EMU_RACE_READ,
                .size = size};
    uint16_t as_warp = (uint16_t)warp->number;

    /* a copy from shared memory counts as a read of the thread */
    if (write) {
        a.kind = EMU_RACE_WRITE;
        a.is_copy = true;
        race->has_copies = true;
        as_warp = EMU_RACE_COPIES;
    }
    if (size == 0 || !race_begin_access(&a, as_warp)) {
        return true;
    }
    return race_check_range(&a, lane, offset, size);
}
