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
        free(check->writes);
        check->writes = calloc(2 * words, sizeof *check->writes);
        check->words = check->writes == NULL ? 0 : words;
    }
    if (check->words > 0) {
        check->reads = check->writes + check->words;
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
    free(check->writes);
    *check = (emu_step_check){.writes = NULL};
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

/* Look at one word that a lane reads. A lane that has written it, too, has written the
 * same value. */
static inline const emu_step_use *
step_read(emu_step_check *check, size_t word, uint32_t interval, uint32_t lane,
          const emu_insn *insn)
{
    const emu_step_use *writes = &check->writes[word], *found = NULL;

    if (step_meets(writes, interval, lane, insn) && !(writes->lanes & lane)) {
        found = writes;
    }
    step_note(&check->reads[word], interval, lane, insn);
    return found;
}

static inline const emu_step_use *
step_write(emu_step_check *check, size_t word, uint32_t interval, uint32_t lane,
           const emu_insn *insn)
{
    const emu_step_use *writes = &check->writes[word], *reads = &check->reads[word];
    const emu_step_use *found = NULL;

    if (step_meets(writes, interval, lane, insn)) {
        found = writes;
    }
    else if (step_meets(reads, interval, lane, insn)) {
        found = reads;
    }
    return found;
}

void
emu_step_access(emu_step_check *check, const emu_warp *warp, const emu_insn *insn)
{
    const uint32_t interval = check->interval[warp->number];
    const uint32_t space = insn->aux & EMU_AT_MASK;
    const unsigned size = emu_access_bytes(insn);
    const bool writes = emu_access_writes(insn);
    const uint64_t room = warp->block->shared_size;
    const uint64_t base = space == EMU_AT_GENERIC ? EMU_SHARED_WINDOW : 0;
    uint64_t address[EMU_LANES];

    if (insn->aux & (EMU_AT_STRONG | EMU_AT_VOLATILE)) {
        return;
    }
    if ((space != EMU_AT_SHARED && space != EMU_AT_GENERIC) || size % EMU_WORD != 0 ||
        room < size) {
        return;
    }
    emu_address_of_lanes(warp, insn, address);
    for (uint32_t left = warp->mask; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);
        const uint32_t lane = left & -left;
        const uint64_t offset = address[i] - base;
        const emu_step_use *found = NULL;

        if (offset > room - size || offset % EMU_WORD != 0) {
            continue; /* in other memory, or not legal */
        }
        for (size_t w = offset / EMU_WORD; w < (offset + size) / EMU_WORD; w++) {
            const emu_step_use *one;

            if (writes) {
                one = step_write(check, w, interval, lane, insn);
            }
            else {
                one = step_read(check, w, interval, lane, insn);
            }
            found = one != NULL ? one : found;
        }
        if (found != NULL && (!writes || step_changes(warp, insn, i, offset))) {
            step_keep(check, warp, insn, i, offset, found);
        }
        for (size_t w = offset / EMU_WORD; w < (offset + size) / EMU_WORD && writes;
             w++) {
            step_note(&check->writes[w], interval, lane, insn);
        }
    }
}
