/* Accesses to global memory in the race check. See race_lines.h. */
#include "device/machine/warp/race_lines.h"

#include "device/machine/warp/effect.h"
#include "device/machine/warp/race_cell.h"
#include "device/machine/warp/race_cells.h"

enum { WORD = 4, WORDS = EMU_LINE / WORD };

/* Whether the range consists of whole lines, each of one warp. */
static bool
lines_are_whole(uint64_t offset, uint64_t bytes)
{
    return ((offset | bytes) & (EMU_LINE - 1)) == 0;
}

static emu_cell_access
lines_access(const emu_race_try *a, uint32_t stamp)
{
    return (emu_cell_access){
        .stamp = stamp,
        .own = emu_race_own(a),
        .oldest = a->space->table.oldest,
        .up = EMU_LINE_SHIFT - (unsigned)__builtin_ctz(a->size),
        .writes = emu_race_kind_writes(a->kind),
    };
}

bool
emu_lines_take_warps(const emu_race_try *a, uint64_t offset, uint64_t bytes)
{
    const emu_cell_access cells = lines_access(a, a->stamp);

    return lines_are_whole(offset, bytes) &&
           emu_cells_take(&a->space->lines, offset >> EMU_LINE_SHIFT,
                          (unsigned)(bytes >> EMU_LINE_SHIFT), &cells);
}

bool
emu_lines_take(const emu_race_try *a, uint64_t offset, uint64_t bytes, uint32_t stamp)
{
    const emu_visits *lines = &a->space->lines;
    const uint64_t first = offset >> EMU_LINE_SHIFT, count = bytes >> EMU_LINE_SHIFT;
    const emu_cell_access cells = lines_access(a, stamp);

    if (!lines_are_whole(offset, bytes)) {
        return false;
    }
    if (emu_cells_take(lines, first, (unsigned)count, &cells)) {
        return true;
    }
    for (uint64_t line = first; line < first + count; line++) {
        if (lines->writer[line] == a->space->table.split ||
            emu_cell_check(a, lines, line) != 0) {
            return false;
        }
    }
    for (uint64_t i = 0; i < count; i++) {
        emu_cell_note(a, lines, first + i, stamp + (uint32_t)(i << cells.up));
    }
    return true;
}

/* Give the words of a line the stamp of the line. */
static void
lines_split_stamp(const emu_race_try *a, uint32_t stamp, uint32_t *words)
{
    const emu_visit *visit;
    unsigned down;

    if (stamp < a->space->table.oldest) {
        return;
    }
    visit = emu_visit_of(&a->space->table, stamp);
    if (visit->launch != (uint32_t)a->warp->block->grid->number) {
        return;
    }
    down = (unsigned)__builtin_ctz(emu_effect_size(visit->insn) / WORD);
    for (unsigned i = 0; i < WORDS; i++) {
        words[i] = stamp + (i >> down);
    }
}

void
emu_lines_split(const emu_race_try *a, uint64_t offset, uint64_t bytes)
{
    const emu_visits *lines = &a->space->lines, *words = &a->space->words;

    for (uint64_t line = offset >> EMU_LINE_SHIFT;
         line <= (offset + bytes - 1) >> EMU_LINE_SHIFT; line++) {
        if (lines->writer[line] == a->space->table.split) {
            continue;
        }
        lines_split_stamp(a, lines->writer[line], words->writer + line * WORDS);
        lines_split_stamp(a, lines->reader[line], words->reader + line * WORDS);
        lines_split_stamp(a, lines->other[line], words->other + line * WORDS);
        lines->writer[line] = a->space->table.split;
    }
}
