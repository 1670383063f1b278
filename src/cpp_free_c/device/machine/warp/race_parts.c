/* Several lanes at once in the race check. See race_parts.h. */
#include "device/machine/warp/race_parts.h"

#include "device/machine/warp/race_lines.h"
#include "device/machine/warp/race_order.h"
#include "device/machine/warp/race_words.h"

enum { WORD = 4 };

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
    const uint64_t word = offset / WORD, last = (offset + bytes - 1) / WORD;
    const uint32_t stamp = a->stamp + part->first;
    const emu_cell_access of_one = emu_race_words(a, stamp, true);
    emu_cell_access cells = emu_race_words(a, stamp, part->same);

    if (offset % WORD == 0 && a->size % WORD == 0) {
        return (!race_is_narrow_range(a, offset, bytes) ||
                emu_cells_are_free(&a->space->bytes, offset, (unsigned)bytes,
                                   &of_one)) &&
               emu_cells_take(&a->space->words, word, (unsigned)(bytes / WORD), &cells);
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
    if ((before | after) != 0 && a->size < WORD) {
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
