/* Lanes of one warp that exchange values without a __syncwarp. See step_check.h. */
#include "device/machine/warp/step_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/base/checks.h"
#include "device/compile/encoding.h"
#include "device/machine/warp/access_parts.h"
#include "device/machine/warp/address_check.h"
#include "device/machine/warp/report.h"

bool
emu_step_begin(emu_step_check *check, size_t shared_size)
{
    const size_t words = shared_size / EMU_WORD;

    if (check->words < words) {
        free(check->cells);
        check->cells = calloc(words, sizeof *check->cells);
        check->words = check->cells == NULL ? 0 : words;
    }
    for (unsigned i = 0; i < EMU_MAX_WARPS; i++) {
        check->interval[i] = ++check->intervals;
    }
    check->finding_count = 0;
    check->has_race = false;
    return check->words >= words;
}

void
emu_step_free(emu_step_check *check)
{
    free(check->cells);
    *check = (emu_step_check){.cells = NULL};
}

/* -- reports ----------------------------------------------------------------------- */

static const char *
step_word(const emu_insn *insn)
{
    if (emu_access_writes(insn)) {
        return "write";
    }
    return "read";
}

static void
step_warn(const emu_step_finding *found)
{
    emu_warp warp = *found->warp;
    emu_frame frame = found->frame;
    const emu_func *func = frame.func;
    emu_other_place other = {func->program, emu_report_place_of(func, found->before)};
    char name[48], place[112];

    warp.frame = &frame;
    if (!emu_warns_first(&warp, found->insn, EMU_CHECK_RACE)) {
        return;
    }
    emu_report_thread_text(warp.block->grid, found->thread, name, sizeof name);
    emu_report_place_text(func->program, other.place, place, sizeof place);
    emu_warn_only(
        &warp, found->insn, found->lane, found->offset, &other,
        "threads of a warp exchange values without __syncwarp()",
        "race: %s of %u bytes at offset %llu of shared memory and the %s by thread %s "
        "of the same warp%s, with no __syncwarp() between them: threads of a warp need "
        "not run in step",
        step_word(found->insn), emu_access_bytes(found->insn),
        (unsigned long long)found->offset, step_word(found->before), name, place);
}

void
emu_step_tell(emu_step_check *check)
{
    for (unsigned i = 0; i < check->finding_count && !check->has_race; i++) {
        step_warn(&check->findings[i]);
    }
    check->finding_count = 0;
    check->has_race = false;
}

static void
step_keep(emu_step_check *check, const emu_warp *warp, const emu_insn *insn,
          unsigned lane, uint64_t offset, const emu_step_use *before)
{
    const uint32_t others = before->lanes & ~((uint32_t)1 << lane);

    if (check->finding_count == EMU_STEP_FINDINGS ||
        emu_check_is_told(warp, insn, EMU_CHECK_RACE)) {
        return;
    }
    for (unsigned i = 0; i < check->finding_count; i++) {
        if (check->findings[i].insn == insn) {
            return;
        }
    }
    check->findings[check->finding_count++] = (emu_step_finding){
        .warp = warp,
        .frame = *warp->frame,
        .insn = insn,
        .lane = lane,
        .offset = offset,
        .before = before->insn,
        .thread = warp->number * EMU_LANES + (unsigned)__builtin_ctz(others)};
}

/* -- accesses ---------------------------------------------------------------------- */

/* Whether a store changes the bytes that it writes. */
static bool
step_changes(const emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t offset)
{
    const unsigned size = emu_access_bytes(insn);
    uint8_t value[EMU_MOST_STORED];

    emu_store_value(warp, insn, lane, size, value);
    return memcmp(value, warp->block->shared + offset, size) != 0;
}

/* Whether other lanes have used the word in this interval, by another instruction: the
 * lanes of one instruction are in step. */
static inline bool
step_meets(const emu_step_use *use, uint32_t interval, uint32_t lane,
           const emu_insn *insn)
{
    return use->interval == interval && (use->lanes & ~lane) != 0 && use->insn != insn;
}

static inline void
step_note(emu_step_use *use, uint32_t interval, uint32_t lane, const emu_insn *insn)
{
    if (use->interval != interval) {
        use->interval = interval;
        use->lanes = 0;
    }
    use->lanes |= lane;
    use->insn = insn;
}

/* Look at one word that a lane reads. Return the access by which another lane has
 * written it, or NULL. A lane that has written it, too, has written the same value. */
static inline const emu_step_use *
step_read(emu_step_word *cell, uint32_t interval, uint32_t lane, const emu_insn *insn)
{
    const emu_step_use *found = NULL;

    if (cell->write.interval == interval && !(cell->write.lanes & lane)) {
        found = &cell->write;
    }
    step_note(&cell->read, interval, lane, insn);
    return found;
}

/* The same for a word that a lane is going to write. */
static inline const emu_step_use *
step_write(const emu_step_word *cell, uint32_t interval, uint32_t lane,
           const emu_insn *insn)
{
    if (step_meets(&cell->write, interval, lane, insn)) {
        return &cell->write;
    }
    if (step_meets(&cell->read, interval, lane, insn)) {
        return &cell->read;
    }
    return NULL;
}

/* Look at the access of one lane at an offset of shared memory. */
static inline void
step_lane(emu_step_check *check, const emu_warp *warp, const emu_insn *insn,
          unsigned lane, uint64_t offset, bool writes)
{
    const uint32_t interval = check->interval[warp->number], bit = (uint32_t)1 << lane;
    const unsigned words = emu_access_bytes(insn) / EMU_WORD;
    emu_step_word *cells = check->cells + offset / EMU_WORD;
    const emu_step_use *found = NULL;

    for (unsigned k = 0; k < words; k++) {
        const emu_step_use *one;

        if (writes) {
            one = step_write(&cells[k], interval, bit, insn);
        }
        else {
            one = step_read(&cells[k], interval, bit, insn);
        }
        found = one != NULL ? one : found;
    }
    if (found != NULL && (!writes || step_changes(warp, insn, lane, offset))) {
        step_keep(check, warp, insn, lane, offset, found);
    }
    for (unsigned k = 0; k < words && writes; k++) {
        step_note(&cells[k].write, interval, bit, insn);
    }
}

void
emu_step_access(emu_step_check *check, const emu_warp *warp, const emu_insn *insn)
{
    const unsigned size = emu_access_bytes(insn);
    const uint64_t room = warp->block->shared_size;
    uint64_t address[EMU_LANES], base = 0;

    if (size % EMU_WORD != 0 || room < size ||
        insn->aux & (EMU_AT_STRONG | EMU_AT_VOLATILE)) {
        return;
    }
    if ((insn->aux & EMU_AT_MASK) == EMU_AT_GENERIC) {
        base = EMU_SHARED_WINDOW;
    }
    emu_address_of_lanes(warp, insn, address);
    for (uint32_t left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint64_t offset = address[lane] - base;

        if (offset > room - size || offset % EMU_WORD != 0) {
            continue; /* in other memory, or not legal */
        }
        if (emu_access_writes(insn)) {
            step_lane(check, warp, insn, lane, offset, true);
        }
        else {
            step_lane(check, warp, insn, lane, offset, false);
        }
    }
}
