/* The words that accesses touch. See race_words.h. */
#include "device/machine/warp/race_words.h"

#include "device/machine/warp/race_cell.h"
#include "device/machine/warp/race_lines.h"
#include "device/machine/warp/race_order.h"

enum { WORD = 4 };

/* -- visits ------------------------------------------------------------------------ */

/* The space of an address, or NULL. */
emu_race_space *
emu_race_space_of(emu_race *race, uint64_t address)
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
bool
emu_race_begin_access(emu_race_try *a, uint32_t epoch)
{
    emu_race *race = a->warp->block->race;
    const unsigned group = a->warp->number / EMU_VISIT_WARPS;
    unsigned first = group * EMU_VISIT_WARPS, row = group;
    emu_visitor *visitor;
    uint32_t number;

    if (a->pairs) {
        row += EMU_RACE_GROUPS * (1 + (unsigned)__builtin_ctz(a->size));
    }
    if (a->is_copy) {
        row = EMU_RACE_VISITORS - 1;
        first = EMU_RACE_COPIES;
    }
    visitor = &race->visitors[row][a->space - race->spaces];
    emu_visitor_begin(visitor, race->blocks);
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
                                       .kind = (uint8_t)a->kind,
                                       .pairs = a->pairs});
    }
    a->stamp =
        number * EMU_VISIT_STAMPS + a->warp->number % EMU_VISIT_WARPS * EMU_LANES;
    return number != 0;
}

/* -- the log ----------------------------------------------------------------------- */

/* An access to words by consecutive lanes from that of the stamp on. */
emu_cell_access
emu_race_words(const emu_race_try *a, uint32_t stamp, bool same)
{
    emu_cell_access cells = {
        .stamp = stamp,
        .own = emu_race_own(a),
        .mask = EMU_RACE_OWN_MASK,
        .oldest = a->space->table.oldest,
        .writes = emu_race_kind_writes(a->kind),
        .keeps_readers = a->space == &a->warp->block->race->spaces[EMU_RACE_SHARED]};

    if (!cells.keeps_readers) {
        cells.block = emu_race_block_stamps(a, &cells.block_size);
    }
    if (same || a->size < WORD) {
        cells.down = 31; /* all cells are of one lane */
    }
    else {
        cells.down = (unsigned)__builtin_ctz(a->size / WORD);
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

    if (!emu_race_begin_access(&a, entry->epoch)) {
        return;
    }
    for (uint32_t left = entry->lanes; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint16_t *start = block->race->log.starts + entry->place + lane;

        for (unsigned k = 0; k < entry->size / WORD; k++) {
            emu_cell_note(&a, &a.space->words, (size_t)*start + k, a.stamp + lane);
        }
    }
    for (unsigned i = 0; i < entry->count; i++) {
        const bool same = entry->same >> i & 1;
        const emu_cell_access cells =
            emu_race_words(&a, a.stamp + i * (EMU_LANES / 2), same);
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
    log->start_count = 0;
}

/* The same if there is no room for one more access. */
emu_race_log *
emu_race_log_with_room(emu_block *block)
{
    if (!emu_race_log_has_room(&block->race->log)) {
        race_move_log(block);
    }
    return &block->race->log;
}

/* Append an access to the log. False: it must be checked by cells. */
bool
emu_race_add_parts(const emu_race_try *a, const emu_parts *parts)
{
    emu_race_entry entry = {.insn = a->insn,
                            .epoch = emu_order_epoch(a->warp, a->kind),
                            .warp = (uint8_t)a->warp->number,
                            .size = (uint8_t)a->size,
                            .kind = (uint8_t)a->kind};

    if (!race_set_parts(&entry, a->space, parts)) {
        return false;
    }
    return emu_race_log_add(emu_race_log_with_room(a->warp->block), &entry);
}

/* The same for single lanes. */
bool
emu_race_add_lanes(const emu_race_try *a, uint32_t mask, const uint64_t at[EMU_LANES])
{
    const emu_race_entry entry = {.insn = a->insn,
                                  .epoch = emu_order_epoch(a->warp, a->kind),
                                  .warp = (uint8_t)a->warp->number,
                                  .size = (uint8_t)a->size,
                                  .kind = (uint8_t)a->kind,
                                  .lanes = mask};
    uint16_t first[EMU_LANES] = {0};

    for (uint32_t left = mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint64_t offset = at[lane] - a->space->base;

        if (offset >= a->space->size || offset % WORD != 0) {
            return false; /* it is in other memory */
        }
        first[lane] = (uint16_t)(offset / WORD);
    }
    return emu_race_log_add_lanes(emu_race_log_with_room(a->warp->block), &entry,
                                  first);
}

/* -- cells --------------------------------------------------------------------------
 */

/* Prepare the cells of words for an access. */
void
emu_race_prepare_words(const emu_race_try *a, uint64_t offset, uint64_t bytes)
{
    emu_block *block = a->warp->block;

    if (a->space == &block->race->spaces[EMU_RACE_GLOBAL]) {
        emu_lines_split(a, offset, bytes);
        return;
    }
    race_move_log(block);
    emu_race_log_note(&block->race->log, offset / WORD,
                      (offset + bytes - 1) / WORD - offset / WORD + 1, a->kind);
}
