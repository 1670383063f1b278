/* The words that accesses touch. See race_state.h. */
#include "device/machine/warp/race_check.h"
#include "device/machine/warp/race_state.h"

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
        cells.again = a->warp->block->grid->worker_count > 1;
        cells.block = emu_race_block_stamps(a, &cells.block_size);
    }
    if (same || a->size < EMU_WORD) {
        cells.down = 31; /* all cells are of one lane */
    }
    else {
        cells.down = (unsigned)__builtin_ctz(a->size / EMU_WORD);
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

        if (offset >= space->size || offset % EMU_WORD != 0) {
            return false;
        }
        entry->start[i] = (uint16_t)(offset / EMU_WORD);
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

        for (unsigned k = 0; k < entry->size / EMU_WORD; k++) {
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

        if (offset >= a->space->size || offset % EMU_WORD != 0) {
            return false; /* it is in other memory */
        }
        first[lane] = (uint16_t)(offset / EMU_WORD);
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
    emu_race_log_note(&block->race->log, offset / EMU_WORD,
                      (offset + bytes - 1) / EMU_WORD - offset / EMU_WORD + 1, a->kind);
}

/* -- several lanes at once --------------------------------------------------------- */

/* Whether a range has stamps of bytes. */
static bool
race_is_narrow_range(const emu_race_try *a, uint64_t offset, uint64_t bytes)
{
    return emu_race_is_narrow(a, offset) || emu_race_is_narrow(a, offset + bytes - 1);
}

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

/* Check a part by the cells of its words and bytes. False: as below. */
static bool
race_take_cells(const emu_race_try *a, const emu_part *part, uint64_t offset,
                uint64_t bytes)
{
    const uint64_t word = offset / EMU_WORD, last = (offset + bytes - 1) / EMU_WORD;
    const uint32_t stamp = a->stamp + part->first;
    const emu_cell_access of_one = emu_race_words(a, stamp, true);
    emu_cell_access cells = emu_race_words(a, stamp, part->same);

    if (offset % EMU_WORD == 0 && a->size % EMU_WORD == 0) {
        return (!race_is_narrow_range(a, offset, bytes) ||
                emu_cells_are_free(&a->space->bytes, offset, (unsigned)bytes,
                                   &of_one)) &&
               emu_cells_take(&a->space->words, word, (unsigned)(bytes / EMU_WORD),
                              &cells);
    }
    if (!emu_cells_are_free(&a->space->words, word, (unsigned)(last - word + 1),
                            &of_one)) {
        return false;
    }
    emu_race_set_narrow(a, offset);
    emu_race_set_narrow(a, offset + bytes - 1);
    if (!part->same) {
        cells.down = (unsigned)__builtin_ctz(a->size);
    }
    return emu_cells_take(&a->space->bytes, offset, (unsigned)bytes, &cells);
}

/* Check a part as a whole. False: its lanes must be checked one by one. */
static bool
race_take_part(emu_race_try *a, const emu_part *part)
{
    const uint64_t bytes = emu_part_bytes(part, a->size);
    uint64_t offset;

    a->space = emu_race_space_of(a->warp->block->race, part->start);
    if (a->space == NULL) {
        return true; /* it is not checked */
    }
    offset = part->start - a->space->base;
    if (!emu_race_begin_access(a, emu_order_epoch(a->warp, a->kind))) {
        return true;
    }
    if (a->space == &a->warp->block->race->spaces[EMU_RACE_GLOBAL] && !part->same &&
        emu_lines_take(a, offset, bytes, a->stamp + part->first)) {
        return true;
    }
    emu_race_prepare_words(a, offset, bytes);
    return race_take_cells(a, part, offset, bytes);
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

    if ((size & (size - 1)) != 0 || kind == EMU_RACE_ATOMIC ||
        (emu_race_kind_writes(kind) && !race_are_apart(parts, size))) {
        return false;
    }
    if (emu_race_has_words(size) && emu_race_add_parts(&a, parts)) {
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

/* Check the lanes of one warp from lane `first` on, of an access of several warps to
 * consecutive elements, by their words. */
static bool
race_take_rest(const emu_race_try *a, unsigned warp, unsigned first, unsigned lanes,
               uint64_t offset)
{
    const emu_part part = {a->space->base + offset, first, lanes, false};
    emu_race_try b = *a;

    b.warp = a->warp + warp;
    b.pairs = false;
    return lanes == 0 || race_take_part(&b, &part);
}

/* Check an access of `count` warps to consecutive elements. False: the warps must be
 * checked one by one. */
static bool
race_take_warps(emu_race_try *a, unsigned count, uint64_t offset)
{
    const uint64_t end = offset + (uint64_t)a->size * EMU_LANES * count;
    const uint64_t first = (offset + EMU_LINE - 1) & ~(uint64_t)(EMU_LINE - 1);
    const uint64_t last = end & ~(uint64_t)(EMU_LINE - 1);
    const unsigned before = (unsigned)(first - offset) / a->size;
    const unsigned after = (unsigned)(end - last) / a->size;

    a->pairs = first != offset || a->size == 1;
    if ((before | after) != 0 && a->size < EMU_WORD) {
        return false;
    }
    return emu_race_begin_access(a, emu_order_epoch(a->warp, a->kind)) &&
           emu_lines_take_warps(a, first, last - first, a->stamp + before) &&
           race_take_rest(a, 0, 0, before, offset) &&
           race_take_rest(a, count - 1, EMU_LANES - after, after, last);
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
    if ((size & (size - 1)) != 0 || race->keeps_writes) {
        return false;
    }
    for (unsigned done = 0; done < warp->abreast; done += count) {
        a.warp = warp + done;
        count = EMU_VISIT_WARPS - a.warp->number % EMU_VISIT_WARPS;
        if (count > warp->abreast - done) {
            count = warp->abreast - done;
        }
        if (!race_is_one_epoch(a.warp, count) || !race_take_warps(&a, count, offset)) {
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
    const emu_race_entry entry = {.insn = insn,
                                  .epoch = emu_order_epoch(warp, EMU_RACE_READ),
                                  .warp = (uint8_t)warp->number,
                                  .warps = (uint8_t)warp->abreast,
                                  .size = (uint8_t)size,
                                  .kind = EMU_RACE_READ};

    return emu_race_has_words(size) && race_is_one_epoch(warp, warp->abreast) &&
           emu_race_log_add_plan(emu_race_log_with_room(warp->block), &entry, plan);
}
