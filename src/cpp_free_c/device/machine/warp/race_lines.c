/* Accesses to global memory in the race check. See race_lines.h. */
#include "device/machine/warp/race_lines.h"

#include "device/machine/warp/race_cell.h"
#include "device/machine/warp/race_cells.h"

enum { WORD = 4, WORDS = EMU_LINE / WORD };

static emu_cell_access
lines_access(const emu_race_try *a, uint32_t stamp)
{
    emu_cell_access cells = {
        .stamp = stamp,
        .own = emu_race_own(a),
        .mask = EMU_RACE_OWN_MASK,
        .oldest = a->space->table.oldest,
        .up = EMU_LINE_SHIFT - (unsigned)__builtin_ctz(a->size),
        .writes = emu_race_kind_writes(a->kind),
        .again = a->warp->block->grid->worker_count > 1,
    };

    cells.block = emu_race_block_stamps(a, &cells.block_size);
    return cells;
}

bool
emu_lines_take_warps(const emu_race_try *a, uint64_t offset, uint64_t bytes,
                     uint32_t stamp)
{
    emu_cell_access cells = lines_access(a, stamp);

    if (a->pairs) {
        cells.mask = EMU_RACE_THREAD_MASK;
        cells.own = stamp;
    }
    return emu_cells_take(&a->space->lines, offset >> EMU_LINE_SHIFT,
                          (unsigned)(bytes >> EMU_LINE_SHIFT), &cells);
}

/* Whether a stamp stands for the accesses of two warps. */
static bool
lines_is_of_pair(const emu_race_try *a, uint32_t stamp)
{
    return stamp >= a->space->table.oldest &&
           emu_visit_of(&a->space->table, stamp)->pairs;
}

bool
emu_lines_take(const emu_race_try *a, uint64_t offset, uint64_t bytes, uint32_t stamp)
{
    const emu_visits *lines = &a->space->lines;
    const uint64_t first = offset >> EMU_LINE_SHIFT, count = bytes >> EMU_LINE_SHIFT;
    const emu_cell_access cells = lines_access(a, stamp);

    if (((offset | bytes) & (EMU_LINE - 1)) != 0 || a->size == 1) {
        return false;
    }
    if (emu_cells_take(lines, first, (unsigned)count, &cells)) {
        return true;
    }
    for (uint64_t line = first; line < first + count; line++) {
        if (lines->writer[line] == a->space->table.split ||
            lines_is_of_pair(a, lines->writer[line]) ||
            lines_is_of_pair(a, lines->reader[line]) ||
            lines_is_of_pair(a, lines->other[line]) ||
            emu_cell_check(a, lines, line) != 0) {
            return false;
        }
    }
    for (uint64_t i = 0; i < count; i++) {
        emu_cell_note(a, lines, first + i, stamp + (uint32_t)(i << cells.up));
    }
    return true;
}

/* Give the words of a line, or its bytes, the stamp of the line. */
static void
lines_split_stamp(const emu_race_try *a, uint32_t stamp, uint64_t line, uint32_t *words,
                  uint32_t *bytes)
{
    const emu_visit *visit;
    unsigned size;

    if (stamp < a->space->table.oldest) {
        return;
    }
    visit = emu_visit_of(&a->space->table, stamp);
    if (visit->launch != (uint32_t)a->warp->block->grid->number) {
        return;
    }
    size = emu_access_bytes(visit->insn);
    for (unsigned i = 0; i < WORDS && size >= WORD; i++) {
        words[line * WORDS + i] = stamp + i * WORD / size;
    }
    for (unsigned i = 0; i < EMU_LINE && size < WORD; i++) {
        bytes[(line << EMU_LINE_SHIFT) + i] = stamp + i / size;
    }
    if (size < WORD) {
        a->space->narrow[line << EMU_LINE_SHIFT >> a->space->narrow_shift] =
            a->space->tag;
    }
}

void
emu_lines_split(const emu_race_try *a, uint64_t offset, uint64_t count)
{
    const emu_visits *lines = &a->space->lines, *words = &a->space->words;
    const emu_visits *bytes = &a->space->bytes;

    for (uint64_t line = offset >> EMU_LINE_SHIFT;
         line <= (offset + count - 1) >> EMU_LINE_SHIFT; line++) {
        if (lines->writer[line] == a->space->table.split) {
            continue;
        }
        lines_split_stamp(a, lines->writer[line], line, words->writer, bytes->writer);
        lines_split_stamp(a, lines->reader[line], line, words->reader, bytes->reader);
        lines_split_stamp(a, lines->other[line], line, words->other, bytes->other);
        lines->writer[line] = a->space->table.split;
    }
}
