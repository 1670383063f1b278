/* The race check. See race_check.h.
 *
 * Elements of four bytes and more have a cell for each word, smaller ones for each
 * byte; an access looks at both. Plain accesses of whole warps are remembered for
 * several words at once: in the log (race_log.h) for shared memory, by lines
 * (race_lines.h) for global memory. */
#include "device/machine/warp/race_check.h"

#include <stdlib.h>
#include <string.h>

#include "device/compile/encoding.h"
#include "device/machine/warp/race_cell.h"
#include "device/machine/warp/race_cells.h"
#include "device/machine/warp/race_lines.h"
#include "device/machine/warp/race_report.h"
#include "device/machine/warp/store_value.h"

enum { WORD = 4, TAGS = 255 };

/* -- blocks ------------------------------------------------------------------------ */

/* All accesses to shared memory count no more. False: out of memory. */
static bool
race_begin_shared(emu_race *race)
{
    bool clear;

    if (!emu_visits_begin_block(&race->spaces[EMU_RACE_SHARED].table, &clear)) {
        return false;
    }
    if (clear) { /* numbers of visits begin anew */
        memset(race->cells, 0, race->cell_count * sizeof *race->cells);
        memset(race->visitors, 0, sizeof race->visitors);
        race->narrow = 0;
    }
    return true;
}

/* Set the cells of shared memory. What is in them is old. False: out of memory. */
static bool
race_reserve_shared(emu_block *block, emu_race *race)
{
    emu_race_space *space = &race->spaces[EMU_RACE_SHARED];
    const size_t bytes = block->shared_size + WORD, words = bytes / WORD + 1;
    const size_t count = 3 * bytes + 3 * words;

    if (race->cell_count < count) {
        free(race->cells);
        race->cells = calloc(count, sizeof *race->cells);
        race->cell_count = race->cells == NULL ? 0 : count;
        if (race->cells == NULL) {
            return false;
        }
    }
    space->words =
        (emu_visits){race->cells, race->cells + words, race->cells + 2 * words};
    space->bytes =
        (emu_visits){race->cells + 3 * words, race->cells + 3 * words + bytes,
                     race->cells + 3 * words + 2 * bytes};
    space->base = (uint64_t)(uintptr_t)block->shared;
    space->size = block->shared_size;
    space->narrow = &race->narrow;
    space->tag = 1;
    space->narrow_shift = 63;
    return emu_race_log_begin(&race->log, block->shared_size);
}

/* Set what is the same for all blocks of a launch. False: out of memory. */
static bool
race_prepare(emu_block *block, emu_race *race)
{
    emu_race_space *global = &race->spaces[EMU_RACE_GLOBAL];

    *global = (emu_race_space){
        .base = emu_memory_tables.base,
        .size = emu_memory_tables.size,
        .lines = emu_memory_shadow.lines,
        .words = emu_memory_shadow.words,
        .bytes = emu_memory_shadow.bytes,
        .narrow = emu_memory_shadow.narrow,
        .tag = (uint8_t)(block->grid->number % TAGS + 1),
        .narrow_shift = EMU_CHUNK_SHIFT,
        .table = *emu_race_grid_visits(block->grid->race),
    };
    memset(race->visitors, 0, sizeof race->visitors);
    race->launch = block->grid->number;
    return race_reserve_shared(block, race);
}

bool
emu_race_begin(emu_block *block)
{
    emu_race *race = block->race;

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
    if (race->launch != block->grid->number && !race_prepare(block, race)) {
        race->launch = 0;
        return false;
    }
    emu_order_begin(&race->order);
    for (unsigned i = 0; i < EMU_RACE_VISITORS; i++) {
        for (unsigned k = 0; k < EMU_RACE_SPACES; k++) {
            emu_visitor_begin(&race->visitors[i][k]);
        }
    }
    emu_race_log_clear(&race->log);
    race->narrow = 0;
    race->has_copies = false;
    race->keeps_writes = false;
    return race_begin_shared(race);
}

void
emu_race_free(emu_block *block)
{
    if (block->race) {
        emu_visits_free_block(&block->race->spaces[EMU_RACE_SHARED].table);
        emu_race_log_free(&block->race->log);
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
    emu_race_log_clear(&race->log);
    (void)race_begin_shared(race); /* it has its memory */
}

void
emu_race_meet(emu_block *block)
{
    emu_order_meet(block);
    emu_race_forget(block);
}

/* -- visits ------------------------------------------------------------------------ */

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
race_begin_access(emu_race_try *a, uint32_t epoch)
{
    emu_race *race = a->warp->block->race;
    const unsigned group = a->warp->number / EMU_VISIT_WARPS;
    emu_visitor *visitor = race->visitors[group] + (a->space - race->spaces);
    unsigned first = group * EMU_VISIT_WARPS;
    uint32_t number;

    if (a->is_copy) {
        visitor = race->visitors[EMU_RACE_VISITORS - 1] + (a->space - race->spaces);
        first = EMU_RACE_COPIES;
    }
    a->visitor = visitor;
    number = emu_visit_again(&a->space->table, visitor, a->insn, epoch);
    if (number == 0) {
        number =
            emu_visit_new(&a->space->table, visitor,
                          &(emu_visit){.launch = (uint32_t)a->warp->block->grid->number,
                                       .block = (uint32_t)a->warp->block->number,
                                       .func = a->warp->frame->func,
                                       .insn = a->insn,
                                       .epoch = epoch,
                                       .first = (uint8_t)first,
                                       .starter = (uint8_t)a->warp->number,
                                       .kind = (uint8_t)a->kind});
    }
    a->stamp =
        number * EMU_VISIT_STAMPS + a->warp->number % EMU_VISIT_WARPS * EMU_LANES;
    return number != 0;
}

/* -- the log ----------------------------------------------------------------------- */

/* An access to words by consecutive lanes from that of the stamp on. */
static emu_cell_access
race_words(const emu_race_try *a, uint32_t stamp, bool same)
{
    emu_cell_access cells = {
        .stamp = stamp,
        .own = emu_race_own(a),
        .oldest = a->space->table.oldest,
        .down = (unsigned)__builtin_ctz(a->size / WORD),
        .writes = emu_race_kind_writes(a->kind),
        .keeps_readers = a->space == &a->warp->block->race->spaces[EMU_RACE_SHARED]};

    if (same) {
        cells.down = 31; /* all cells are of one lane */
    }
    return cells;
}

/* Set the parts of an entry. False: one of them is in other memory. */
static bool
race_set_parts(emu_race_entry *entry, const emu_race_space *space,
               const emu_parts *parts)
{
    entry->count = (uint8_t)parts->count;
    entry->same = 0;
    for (unsigned i = 0; i < parts->count; i++) {
        const emu_part *part = &parts->parts[i];
        const uint64_t offset = part->start - space->base;

        if (offset >= space->size || offset % WORD != 0) {
            return false;
        }
        entry->start[i] = (uint16_t)(offset / WORD);
        entry->same |= (uint8_t)(part->same << i);
    }
    return true;
}

/* Remember an access of the log in the cells. */
static void
race_move_entry(emu_block *block, const emu_race_entry *entry)
{
    emu_race_try a = {.warp = &block->warps[entry->warp],
                      .insn = entry->insn,
                      .space = &block->race->spaces[EMU_RACE_SHARED],
                      .kind = (emu_race_kind)entry->kind,
                      .size = entry->size};

    if (!race_begin_access(&a, entry->epoch)) {
        return;
    }
    for (unsigned i = 0; i < entry->count; i++) {
        const bool same = entry->same >> i & 1;
        const emu_cell_access cells =
            race_words(&a, a.stamp + i * (EMU_LANES / 2), same);
        const unsigned count = (unsigned)emu_race_log_words(entry, i);

        if (emu_cells_take(&a.space->words, entry->start[i], count, &cells)) {
            continue;
        }
        for (unsigned k = 0; k < count; k++) {
            emu_cell_note(&a, &a.space->words, entry->start[i] + k,
                          cells.stamp + (k >> cells.down));
        }
    }
}

/* The same for the loads of several warps. */
static void
race_move_plan(emu_block *block, const emu_race_entry *plan)
{
    for (unsigned i = 0; i < plan->warps; i++) {
        emu_race_entry entry = *plan;
        emu_parts parts;

        entry.warp = (uint8_t)(plan->warp + i);
        if (emu_parts_of_shape(&block->warps[entry.warp], plan->insn, plan->size,
                               &parts) &&
            race_set_parts(&entry, &block->race->spaces[EMU_RACE_SHARED], &parts)) {
            race_move_entry(block, &entry);
        }
    }
}

/* Move the log to the cells: the next access needs to know the earlier ones. */
static void
race_move_log(emu_block *block)
{
    emu_race_log *log = &block->race->log;

    for (unsigned i = 0; i < log->count; i++) {
        if (log->entries[i].warps != 0) {
            race_move_plan(block, &log->entries[i]);
        }
        else {
            race_move_entry(block, &log->entries[i]);
        }
    }
    log->count = 0;
}

/* Append an access to the log. False: it must be checked by cells. */
static bool
race_log_parts(const emu_race_try *a, const emu_parts *parts)
{
    emu_race_log *log = &a->warp->block->race->log;
    emu_race_entry entry = {.insn = a->insn,
                            .epoch = emu_order_epoch(a->warp, a->kind),
                            .warp = (uint8_t)a->warp->number,
                            .size = (uint8_t)a->size,
                            .kind = (uint8_t)a->kind};

    if (!race_set_parts(&entry, a->space, parts)) {
        return false;
    }
    if (log->count == EMU_RACE_ENTRIES) {
        race_move_log(a->warp->block);
    }
    return emu_race_log_add(log, &entry);
}

/* -- one lane ---------------------------------------------------------------------- */

/* Whether the part of the space at an offset has stamps of bytes. */
static bool
race_is_narrow(const emu_race_try *a, uint64_t offset)
{
    return a->space->narrow[offset >> a->space->narrow_shift] == a->space->tag;
}

static void
race_set_narrow(const emu_race_try *a, uint64_t offset)
{
    a->space->narrow[offset >> a->space->narrow_shift] = a->space->tag;
}

/* Prepare the cells of words for an access. */
static void
race_prepare_words(const emu_race_try *a, uint64_t offset, uint64_t bytes)
{
    emu_block *block = a->warp->block;

    if (a->space == &block->race->spaces[EMU_RACE_GLOBAL]) {
        emu_lines_split(a, offset, bytes);
        return;
    }
    race_move_log(block);
    emu_race_log_note(&block->race->log, offset / WORD,
                      (offset + bytes - 1) / WORD - offset / WORD + 1,
                      emu_race_kind_writes(a->kind));
}

/* Check the cells of `size` bytes at an offset of the space, and remember the access.
 */
static bool
race_check_range(const emu_race_try *a, unsigned lane, uint64_t offset, unsigned size)
{
    const emu_race_space *space = a->space;
    const uint64_t first = offset / WORD, last = (offset + size - 1) / WORD;
    const bool is_narrow = size % WORD != 0 || offset % WORD != 0;
    uint32_t found;

    race_prepare_words(a, offset, size);
    for (uint64_t cell = first; cell <= last; cell++) {
        found = emu_cell_check(a, &space->words, cell);
        if (found != 0) {
            return emu_race_fault(a, lane, space->base + offset, found);
        }
        if (!is_narrow) {
            emu_cell_note(a, &space->words, cell, a->stamp + lane);
        }
    }
    if (is_narrow) {
        race_set_narrow(a, offset);
        race_set_narrow(a, offset + size - 1);
    }
    else if (!race_is_narrow(a, offset)) {
        return true;
    }
    for (uint64_t cell = offset; cell < offset + size; cell++) {
        found = emu_cell_check(a, &space->bytes, cell);
        if (found != 0) {
            return emu_race_fault(a, lane, space->base + offset, found);
        }
        if (is_narrow) {
            emu_cell_note(a, &space->bytes, cell, a->stamp + lane);
        }
    }
    return true;
}

/* -- one instruction --------------------------------------------------------------- */

/* Find lanes that write different values to one address in this instruction. */
static bool
race_check_instruction(const emu_race_try *a, uint32_t mask,
                       const uint64_t at[EMU_LANES])
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

            emu_store_value(a->warp, a->insn, i, a->size, one);
            emu_store_value(a->warp, a->insn, k, a->size, two);
            if (memcmp(one, two, a->size) == 0) {
                continue;
            }
            return emu_race_fault_instruction(a, i, k, at[k]);
        }
    }
    return true;
}

static bool
race_check_lane(emu_race_try *a, unsigned lane, uint64_t address)
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

/* Lanes that repeat what another lane does need no check of their own. */
static uint32_t
race_lanes_to_check(const emu_race_try *a, uint32_t mask, const uint64_t at[EMU_LANES])
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
    emu_race_try a = {.warp = warp, .insn = insn, .kind = kind, .size = size};
    uint32_t left;

    while (mask) {
        a.space = race_space_of(warp->block->race, at[__builtin_ctz(mask)]);
        if (a.space != NULL) {
            break;
        }
        mask &= mask - 1;
    }
    if (mask == 0 || !race_begin_access(&a, emu_order_epoch(warp, kind))) {
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

/* -- several lanes at once --------------------------------------------------------- */

/* Whether a warp, and the warps after it, are in one epoch. */
static bool
race_is_one_epoch(const emu_warp *warp, unsigned count)
{
    const emu_order *order = &warp->block->race->order;
    const uint32_t epoch = order->warps[warp->number].seen[warp->number];
    bool one = true;

    for (unsigned i = 1; i < count && order->is_used; i++) {
        one &= order->warps[warp->number + i].seen[warp->number + i] == epoch;
    }
    return one;
}

/* Check a part as a whole. False: its lanes must be checked one by one. */
static bool
race_take_part(emu_race_try *a, const emu_part *part)
{
    const uint64_t bytes = emu_part_bytes(part, a->size);
    uint64_t offset;
    emu_cell_access cells;

    a->space = race_space_of(a->warp->block->race, part->start);
    if (a->space == NULL) {
        return true; /* it is not checked */
    }
    offset = part->start - a->space->base;
    if (offset % WORD != 0 || race_is_narrow(a, offset) ||
        race_is_narrow(a, offset + bytes - 1)) {
        return false;
    }
    if (!race_begin_access(a, emu_order_epoch(a->warp, a->kind))) {
        return true;
    }
    if (a->space == &a->warp->block->race->spaces[EMU_RACE_GLOBAL] && !part->same &&
        emu_lines_take(a, offset, bytes, a->stamp + part->first)) {
        return true;
    }
    race_prepare_words(a, offset, bytes);
    cells = race_words(a, a->stamp + part->first, part->same);
    return emu_cells_take(&a->space->words, offset / WORD, (unsigned)(bytes / WORD),
                          &cells);
}

/* Whether the lanes of a store access different words for sure. */
static bool
race_are_apart(const emu_parts *parts, unsigned size)
{
    const emu_part *part = parts->parts;

    for (unsigned i = 0; i < parts->count; i++) {
        if (part[i].same) {
            return false;
        }
    }
    return parts->count == 1 ||
           part[1].start + emu_part_bytes(part, size) - part[0].start >=
               2 * emu_part_bytes(part, size);
}

/* Whether accesses of this kind and size are checked by parts. */
static bool
race_has_parts(unsigned size, emu_race_kind kind)
{
    return size % WORD == 0 && (size & (size - 1)) == 0 && kind != EMU_RACE_ATOMIC;
}

bool
emu_race_parts(emu_warp *warp, const emu_insn *insn, unsigned size, emu_race_kind kind,
               const emu_parts *parts)
{
    emu_race *race = warp->block->race;
    emu_race_try a = {.warp = warp,
                      .insn = insn,
                      .space = &race->spaces[EMU_RACE_SHARED],
                      .kind = kind,
                      .size = size};

    if (!race_has_parts(size, kind) ||
        (emu_race_kind_writes(kind) && !race_are_apart(parts, size))) {
        return false;
    }
    if (race_log_parts(&a, parts)) {
        return true;
    }
    if (race->keeps_writes) {
        return false;
    }
    for (unsigned i = 0; i < parts->count; i++) {
        if (!race_take_part(&a, &parts->parts[i])) {
            return false;
        }
    }
    return true;
}

bool
emu_race_warps(emu_warp *warp, const emu_insn *insn, unsigned size, emu_race_kind kind,
               uint64_t start)
{
    emu_race *race = warp->block->race;
    emu_race_try a = {.insn = insn,
                      .space = &race->spaces[EMU_RACE_GLOBAL],
                      .kind = kind,
                      .size = size};
    uint64_t offset = start - a.space->base;
    unsigned count;

    if (offset >= a.space->size) {
        return true; /* it is not checked */
    }
    if (!race_has_parts(size, kind) || race->keeps_writes ||
        race_is_narrow(&a, offset) ||
        race_is_narrow(&a, offset + (uint64_t)size * EMU_LANES * warp->abreast - 1)) {
        return false;
    }
    for (unsigned done = 0; done < warp->abreast; done += count) {
        a.warp = warp + done;
        count = EMU_VISIT_WARPS - a.warp->number % EMU_VISIT_WARPS;
        if (count > warp->abreast - done) {
            count = warp->abreast - done;
        }
        if (!race_is_one_epoch(a.warp, count) ||
            !race_begin_access(&a, emu_order_epoch(a.warp, kind)) ||
            !emu_lines_take_warps(&a, offset, (uint64_t)size * EMU_LANES * count)) {
            return false;
        }
        offset += (uint64_t)size * EMU_LANES * count;
    }
    return true;
}

bool
emu_race_plan(emu_warp *warp, const emu_insn *insn, unsigned size,
              const emu_shared_plan *plan)
{
    emu_race_log *log = &warp->block->race->log;
    const emu_race_entry entry = {.insn = insn,
                                  .epoch = emu_order_epoch(warp, EMU_RACE_READ),
                                  .warp = (uint8_t)warp->number,
                                  .warps = (uint8_t)warp->abreast,
                                  .size = (uint8_t)size,
                                  .kind = EMU_RACE_READ};

    if (log->count == EMU_RACE_ENTRIES) {
        race_move_log(warp->block);
    }
    return race_has_parts(size, EMU_RACE_READ) &&
           race_is_one_epoch(warp, warp->abreast) &&
           emu_race_log_add_plan(log, &entry, plan);
}

bool
emu_race_copy(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t offset,
              unsigned size, bool write)
{
    emu_race *race = warp->block->race;
    emu_race_try a = {.warp = warp,
                      .insn = insn,
                      .space = &race->spaces[EMU_RACE_SHARED],
                      .kind = EMU_RACE_READ,
                      .size = size};
    uint32_t epoch = emu_order_epoch(warp, EMU_RACE_READ);

    /* a copy from shared memory counts as a read of the thread */
    if (write) {
        a.kind = EMU_RACE_WRITE;
        a.is_copy = true;
        race->has_copies = true;
        epoch = race->order.copies;
    }
    if (size == 0 || !race_begin_access(&a, epoch)) {
        return true;
    }
    return race_check_range(&a, lane, offset, size);
}
