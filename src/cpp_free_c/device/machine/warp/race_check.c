/* The race check. See race_check.h.
 *
 * Elements of four bytes and more have a cell for each word, smaller ones for each
 * byte; an access looks at both. Plain accesses of whole warps are remembered for
 * several words at once: in a log for shared memory, by lines for global memory
 * (race_state.h). */
#include "device/machine/warp/race_check.h"

#include <stdio.h>
#include <string.h>

#include "device/machine/warp/race_state.h"
#include "device/machine/warp/report.h"
#include "device/memory/memory.h"

/* -- one lane ---------------------------------------------------------------------- */

/* Check the cells of `size` bytes at an offset of the space, and remember the access.
 */
static bool
race_check_range(const emu_race_try *a, unsigned lane, uint64_t offset, unsigned size)
{
    const emu_race_space *space = a->space;
    const uint64_t first = offset / EMU_WORD, last = (offset + size - 1) / EMU_WORD;
    const bool is_narrow = size % EMU_WORD != 0 || offset % EMU_WORD != 0;
    uint32_t found;

    emu_race_prepare_words(a, offset, size);
    for (uint64_t cell = first; cell <= last; cell++) {
        found = emu_cell_check(a, &space->words, cell);
        if (found != 0) {
            return emu_race_finding(a, lane, space->base + offset, found);
        }
        if (!is_narrow) {
            emu_cell_note(a, &space->words, cell, a->stamp + lane);
        }
    }
    if (is_narrow) {
        emu_race_set_narrow(a, offset);
        emu_race_set_narrow(a, offset + size - 1);
    }
    else if (!emu_race_is_narrow(a, offset)) {
        return true;
    }
    for (uint64_t cell = offset; cell < offset + size; cell++) {
        found = emu_cell_check(a, &space->bytes, cell);
        if (found != 0) {
            return emu_race_finding(a, lane, space->base + offset, found);
        }
        if (is_narrow) {
            emu_cell_note(a, &space->bytes, cell, a->stamp + lane);
        }
    }
    return true;
}

/* -- lanes at once ----------------------------------------------------------------- */

/* Whether a stamp is of another warp, or of an older visit of this one. */
static inline bool
race_is_foreign(const emu_race_try *a, uint32_t own, uint32_t stamp)
{
    return stamp >= a->space->table.oldest && ((stamp ^ own) & EMU_RACE_OWN_MASK) != 0;
}

/* Remember an access to a word of global memory. False: it must be checked. */
static inline bool
race_take_word(const emu_race_try *a, uint32_t own, bool writes, size_t word,
               uint32_t stamp)
{
    const emu_visits *words = &a->space->words;
    const uint32_t writer = words->writer[word], reader = words->reader[word];
    const bool shared = race_is_foreign(a, own, reader);
    uint32_t block_size;
    const uint32_t block = emu_race_block_stamps(a, &block_size);

    if (race_is_foreign(a, own, writer)) {
        return false;
    }
    if (!writes) {
        if (shared && (reader - block >= block_size ||
                       ((reader ^ stamp) & (7 * EMU_LANES)) != 0)) {
            words->other[word] = reader;
        }
        words->reader[word] = stamp;
        return true;
    }
    /* another lane may have written to the word in this instruction */
    if (shared || race_is_foreign(a, own, words->other[word]) ||
        (writer != stamp && (writer ^ stamp) < EMU_LANES)) {
        return false;
    }
    words->writer[word] = stamp;
    return true;
}

/* Check an access of lanes to words of global memory. False: it must be checked lane by
 * lane. */
static bool
race_take_lanes(const emu_race_try *a, uint32_t mask, const uint64_t at[EMU_LANES])
{
    const uint32_t own = emu_race_own(a), split = a->space->table.split;
    const bool writes = emu_race_kind_writes(a->kind);
    bool right = !a->warp->block->race->keeps_writes;

    for (uint32_t left = mask; left && right; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint64_t offset = at[lane] - a->space->base;

        if (offset >= a->space->size) {
            continue; /* of another space */
        }
        if (a->space->lines.writer[offset >> EMU_LINE_SHIFT] != split) {
            emu_lines_split(a, offset, a->size);
        }
        right = !emu_race_is_narrow(a, offset);
        for (unsigned k = 0; k < a->size / EMU_WORD && right; k++) {
            right =
                race_take_word(a, own, writes, offset / EMU_WORD + k, a->stamp + lane);
        }
    }
    return right;
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
            return emu_race_finding_instruction(a, i, k, at[k]);
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
        a.space = emu_race_space_of(warp->block->race, at[__builtin_ctz(mask)]);
        if (a.space != NULL) {
            break;
        }
        mask &= mask - 1;
    }
    if (mask == 0) {
        return true;
    }
    if (a.space == &warp->block->race->spaces[EMU_RACE_SHARED] &&
        emu_race_has_words(size) && emu_race_add_lanes(&a, mask, at)) {
        return true;
    }
    if (!emu_race_begin_access(&a, emu_order_epoch(warp, kind))) {
        return true;
    }
    if (a.space == &warp->block->race->spaces[EMU_RACE_GLOBAL] &&
        emu_race_has_words(size) && kind != EMU_RACE_ATOMIC &&
        race_take_lanes(&a, mask, at)) {
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
    if (size == 0 || !emu_race_begin_access(&a, epoch)) {
        return true;
    }
    return race_check_range(&a, lane, offset, size);
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
race_place_text(const emu_race_try *a, uint64_t address, char *text, size_t room)
{
    const char *space = "", *name = "";

    if (a->space == &a->warp->block->race->spaces[EMU_RACE_SHARED]) {
        (void)snprintf(text, room, "offset %llu of shared memory",
                       (unsigned long long)(address - a->space->base));
        return;
    }
    const emu_allocation *memory = emu_memory_find(address);
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

bool
emu_race_finding(const emu_race_try *a, unsigned lane, uint64_t address, uint32_t stamp)
{
    const emu_block *block = a->warp->block;
    const emu_visit *visit = emu_visit_of(&a->space->table, stamp);
    const emu_program *program = visit->func->program;
    emu_other_place other = {program, emu_report_place_of(visit->func, visit->insn)};
    const char *order = "no __syncthreads between them";
    unsigned warp = emu_visit_warp(visit, stamp);
    char thread[48], place[112], at[160], of[96], value[EMU_VALUE_LINE];

    block->race->steps.has_race = true;
    atomic_fetch_or(block->grid->kernel->func->tried, EMU_TRIED_RACE);
    if (emu_check_is_told(a->warp, a->insn, EMU_CHECK_RACE)) {
        return true;
    }
    if (warp == EMU_RACE_COPIES) {
        warp = visit->starter;
    }
    emu_report_thread_text(block->grid, warp * EMU_LANES + stamp % EMU_LANES, thread,
                           sizeof thread);
    emu_report_place_text(program, other.place, place, sizeof place);
    race_place_text(a, address, at, sizeof at);
    emu_store_value_line(a->warp, a->insn, lane, a->size,
                         (const void *)(uintptr_t)address, value);
    race_block_text(block->grid, block, visit->block, of, sizeof of);
    if (visit->first == EMU_RACE_COPIES) {
        return emu_check_found(
            a->warp, a->insn, EMU_CHECK_RACE, lane, address, &other,
            "race: %s of %u bytes at %s and the copy that thread %s%s began, with no "
            "wait for its mbarrier between them%s",
            kind_words[a->kind], a->size, at, thread, place, value);
    }
    if (visit->block != (uint32_t)block->number) {
        order = "nothing that orders the two blocks";
    }
    return emu_check_found(a->warp, a->insn, EMU_CHECK_RACE, lane, address, &other,
                           "race: %s of %u bytes at %s and the %s by thread %s%s%s, "
                           "with %s%s",
                           kind_words[a->kind], a->size, at, kind_words[visit->kind],
                           thread, of, place, order, value);
}

bool
emu_race_finding_instruction(const emu_race_try *a, unsigned lane, unsigned other,
                             uint64_t address)
{
    uint8_t one[EMU_MOST_STORED], two[EMU_MOST_STORED];
    char thread[48], place[160], mine[EMU_VALUE_ROOM], others[EMU_VALUE_ROOM];

    if (emu_check_is_told(a->warp, a->insn, EMU_CHECK_RACE)) {
        return true;
    }
    emu_store_value(a->warp, a->insn, lane, a->size, one);
    emu_store_value(a->warp, a->insn, other, a->size, two);
    emu_value_text(one, a->size, others);
    emu_value_text(two, a->size, mine);
    emu_report_thread_text(a->warp->block->grid, a->warp->number * EMU_LANES + lane,
                           thread, sizeof thread);
    race_place_text(a, address, place, sizeof place);
    return emu_check_found(a->warp, a->insn, EMU_CHECK_RACE, other, address, NULL,
                           "race: write of %u bytes at %s; thread %s writes another "
                           "value there in the same instruction\n"
                           "  value: the thread writes %s, the other thread %s",
                           a->size, place, thread, mine, others);
}
