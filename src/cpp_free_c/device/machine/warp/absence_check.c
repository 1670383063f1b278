/* Lanes that a .sync operation names and that pass it by, and threads that have ended
 * before a barrier. See warp.h. */
#include <stdio.h>
#include <stdlib.h>

#include "device/base/checks.h"
#include "device/machine/warp/handlers.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/report.h"
#include "device/machine/warp/warp.h"

/* -- where instructions lead ------------------------------------------------------- */

enum { LEAVING_STEPS = 64 };

/* Whether lanes at an instruction do nothing but end. */
static bool
absence_is_leaving(const emu_frame *frame, const emu_insn *insn)
{
    for (int i = 0; i < LEAVING_STEPS; i++) {
        if (insn->run == emu_op_exit ||
            (insn->run == emu_op_ret && frame->parent == NULL)) {
            return true;
        }
        if (insn->run == emu_op_ret) {
            insn = frame->ret;
            frame = frame->parent;
        }
        else if (insn->run == emu_op_bra && insn->imm > 0) {
            insn += insn->imm;
        }
        else if (insn->run == emu_op_label ||
                 emu_op_effect(insn->op) == EMU_EFFECT_COUNT) {
            insn++;
        }
        else {
            return false;
        }
    }
    return false;
}

/* Note that an instruction behind `at` leads to another one. */
static void
absence_note(const emu_func *func, const emu_insn *at, int64_t distance, bool *reached)
{
    const int64_t number = at - func->code + distance;

    if (distance > 0 && number < (int64_t)func->count) {
        reached[number] = true;
    }
}

/* Whether a function leads from one instruction to another without going back. */
static bool
absence_leads_to(const emu_func *func, const emu_insn *from, const emu_insn *to)
{
    bool *reached, found;

    if (to < from) {
        return false;
    }
    reached = calloc(func->count, sizeof *reached);
    if (reached == NULL) {
        return false;
    }
    reached[from - func->code] = true;
    for (const emu_insn *i = from; i < to; i++) {
        const unsigned fields = emu_op_rows[i->op].fields;

        if (!reached[i - func->code]) {
            continue;
        }
        if (!(fields & EMU_LEAVES)) {
            absence_note(func, i, 1, reached);
        }
        if (fields & EMU_TARGET) {
            absence_note(func, i, i->imm, reached);
        }
        if (fields & EMU_TARGETS) {
            for (uint32_t k = 0; k < i->aux; k++) {
                absence_note(func, i, (int32_t)i->x[k], reached);
            }
        }
        if (emu_op_effect(i->op) == EMU_EFFECT_GUARD) {
            absence_note(func, i, 1 + i->imm, reached);
        }
    }
    found = reached[to - func->code];
    free(reached);
    return found;
}

/* Whether the work behind an operation at which a group waits leads to an instruction
 * of the same function, or of a caller. */
static bool
absence_is_behind(const emu_group *waiting, const emu_insn *insn)
{
    const emu_insn *from = waiting->pc + 1;

    for (const emu_frame *f = waiting->frame; f != NULL; f = f->parent) {
        if (insn >= f->func->code && insn < f->func->code + f->func->count) {
            return absence_leads_to(f->func, from, insn);
        }
        from = f->ret;
    }
    return false;
}

/* -- reports ----------------------------------------------------------------------- */

/* What the operation is called in CUDA. */
static const char *
absence_name(const emu_insn *insn)
{
    static const char *const votes[] = {"__all_sync", "__any_sync", "__uni_sync",
                                        "__ballot_sync"};
    static const char *const shuffles[] = {"__shfl_up_sync", "__shfl_down_sync",
                                           "__shfl_xor_sync", "__shfl_sync"};

    if (insn->run == emu_op_vote) {
        return votes[insn->aux & 3];
    }
    if (insn->run == emu_op_shfl) {
        return shuffles[insn->aux & 3];
    }
    if (insn->run == emu_op_match) {
        return insn->aux & 1 ? "__match_all_sync" : "__match_any_sync";
    }
    if (insn->run == emu_op_redux) {
        return "reduction of a warp";
    }
    if (insn->run == emu_op_bar_warp) {
        return "__syncwarp";
    }
    return "operation of a warp";
}

static void
absence_report(emu_warp *warp, const emu_group *waiting, uint32_t lanes)
{
    const unsigned first = (unsigned)__builtin_ctz(lanes);
    const unsigned more = (unsigned)__builtin_popcount(lanes) - 1;
    emu_frame *const frame = warp->frame;
    const emu_func *func = waiting->frame->func;
    emu_other_place other = {func->program, {0}};
    char thread[48], others[32] = "";

    if (waiting->passed_at >= func->code &&
        waiting->passed_at < func->code + func->count) {
        other.place = emu_report_place_of(func, waiting->passed_at);
    }
    if (other.place.line == emu_report_place_of(func, waiting->pc).line) {
        other.place.line = 0; /* a line of its own says no more */
    }
    if (more > 0) {
        (void)snprintf(others, sizeof others, " and %u more", more);
    }
    emu_report_thread_text(warp->block->grid, warp->number * EMU_LANES + first, thread,
                           sizeof thread);
    warp->frame = waiting->frame;
    (void)emu_check_found(
        warp, waiting->pc, EMU_CHECK_BARRIER, (unsigned)__builtin_ctz(waiting->mask), 0,
        other.place.line != 0 ? &other : NULL,
        "barrier divergence: thread %s%s went past this %s and ended, "
        "but the mask 0x%08x names them",
        thread, others, absence_name(waiting->pc), waiting->need);
    warp->frame = frame;
}

void
emu_absence_begin(const emu_warp *warp, emu_group *waiting)
{
    for (uint32_t i = 0; i < warp->group_count; i++) {
        const emu_group *group = &warp->groups[i];

        if (group->state == EMU_RUNNABLE && (group->mask & waiting->need) != 0 &&
            !absence_is_leaving(group->frame, group->pc)) {
            waiting->passed = group->mask & waiting->need;
            waiting->passed_at = group->pc;
            return;
        }
    }
}

void
emu_absence_check(emu_warp *warp, const emu_group *waiting, uint32_t all)
{
    const uint32_t lanes = waiting->passed & ~all;

    if (lanes != 0 && absence_is_behind(waiting, waiting->passed_at)) {
        absence_report(warp, waiting, lanes);
    }
}

/* -- threads that have ended before a barrier -------------------------------------- */

enum { MOST_LINES = 3 };

/* Write " (kernel.cu:6)", or several of them with "or": the lines before a barrier at
 * which threads leave for the end. "": they are many, or unknown. */
static void
ended_lines(const emu_group *waiting, char *text, size_t room)
{
    const emu_func *func = waiting->frame->func;
    unsigned lines[MOST_LINES], count = 0, k;
    size_t used = 0;

    text[0] = 0;
    for (const emu_insn *i = func->code; i < waiting->pc; i++) {
        const unsigned line = emu_report_place_of(func, i).line;
        const bool branches = emu_op_rows[i->op].fields & EMU_TARGET && i->imm > 0 &&
                              absence_is_leaving(waiting->frame, i + i->imm);

        if ((!branches && i->run != emu_op_exit) || line == 0) {
            continue;
        }
        for (k = 0; k < count && lines[k] != line;) {
            k++;
        }
        if (k == MOST_LINES) {
            text[0] = 0;
            return;
        }
        if (k == count) {
            char place[112];

            lines[count++] = line;
            emu_report_place_text(func->program, emu_report_place_of(func, i), place,
                                  sizeof place);
            used += (size_t)snprintf(text + used, room - used, "%s%s",
                                     used == 0 ? "" : " or", place);
        }
    }
}

/* The first thread of the block that has ended. */
static unsigned
ended_first(const emu_block *block)
{
    for (unsigned i = 0; i < block->warp_count; i++) {
        const unsigned left = block->grid->threads - i * EMU_LANES;
        const uint32_t lanes = left < EMU_LANES ? (1u << left) - 1 : EMU_FULL;
        const uint32_t ended = lanes & ~block->warps[i].alive;

        if (ended != 0) {
            return i * EMU_LANES + (unsigned)__builtin_ctz(ended);
        }
    }
    return 0;
}

void
emu_ended_warn(emu_warp *warp, const emu_group *waiting)
{
    const emu_block *block = warp->block;
    const emu_insn *insn = waiting->pc - 1;
    emu_frame *const frame = warp->frame;
    char thread[48], lines[400];

    warp->frame = waiting->frame;
    if (emu_warns_first(warp, insn, EMU_CHECK_BARRIER)) {
        const emu_func *func = waiting->frame->func;

        for (uint32_t i = 0; i < func->count; i++) { /* not for its other barriers */
            atomic_fetch_or(&func->warned[i], (uint8_t)EMU_CHECK_BARRIER);
        }
        emu_report_thread_text(block->grid, ended_first(block), thread, sizeof thread);
        ended_lines(waiting, lines, sizeof lines);
        emu_warn_only(warp, insn, (unsigned)__builtin_ctz(waiting->mask), 0, NULL,
                      "threads have ended before a barrier of their block; GPUs since "
                      "compute capability 7.0 let it pass",
                      "barrier: %u threads, from thread %s on, have ended%s and never "
                      "came to this __syncthreads",
                      block->grid->threads - block->live, thread, lines);
    }
    warp->frame = frame;
}
