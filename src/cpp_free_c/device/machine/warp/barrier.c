/* Barriers of a block. See warp.h. */
#include <stdio.h>
#include <string.h>

#include "device/base/checks.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/race_check.h"
#include "device/machine/warp/report.h"
#include "device/machine/warp/warp.h"

enum {
    COUNT_BITS = 0xfff
}; /* bits of the operand that count; a GPU ignores the others */

static bool
barrier_complete(const emu_block *block, const emu_barrier *barrier)
{
    if (barrier->expected) {
        return barrier->total >= barrier->expected;
    }
    return barrier->total >= block->live;
}

static bool
barrier_group_is_at(const emu_group *group, uint32_t number)
{
    return group->state == EMU_GROUP_AT_BARRIER && group->barrier == number;
}

/* Count the lanes of the warp that have arrived at the barrier. */
static void
barrier_count(emu_warp *warp, uint32_t number, uint32_t threads)
{
    emu_barrier *barrier = &warp->block->barriers[number];
    uint32_t k;

    barrier->total += threads;
    barrier->warps |= 1u << warp->number;
    barrier->arrived[warp->number] = 0;
    for (k = 0; k < warp->group_count; k++) {
        if (barrier_group_is_at(&warp->groups[k], number)) {
            warp->groups[k].is_counted = true;
        }
    }
}

/* For a barrier with a count: count the warp if all of its lanes have arrived. */
static void
barrier_count_warp(emu_warp *warp, uint32_t number)
{
    const uint32_t arrived = warp->block->barriers[number].arrived[warp->number];

    if (arrived && !(warp->alive & ~arrived)) {
        barrier_count(warp, number, EMU_LANES);
    }
}

/* The predicate that a waiting group gave to bar.red. */
static uint32_t
barrier_group_vote(const emu_warp *warp, const emu_group *group)
{
    const emu_insn *insn = group->pc - 1;
    const uint8_t *base = group->frame->regs;

    if ((insn->c & EMU_TAG_MASK) != EMU_TAG_FRAME) {
        base = warp->base[insn->c & EMU_TAG_MASK];
    }
    uint32_t bits = *(const u32 *)(const void *)(base + insn->c);
    return (bits ^ emu_lanes_if(insn->e != 0)) & group->mask;
}

/* Give every waiting lane the result of bar.red. */
static void
barrier_result(const emu_group *group, uint32_t trues, uint32_t votes)
{
    const emu_insn *insn = group->pc - 1;
    uint8_t *d = group->frame->regs + insn->d;
    uint32_t left;

    if (insn->run != emu_op_bar_red) {
        return;
    }
    if (insn->aux == 2) {
        for (left = group->mask; left; left &= left - 1) {
            memcpy(d + (size_t)4 * (unsigned)__builtin_ctz(left), &trues, 4);
        }
    }
    else {
        u32 *bits = (u32 *)(void *)d;
        bool value = trues != 0;

        if (insn->aux == 0) {
            value = trues == votes;
        }
        *bits = (*bits & ~group->mask) | (emu_lanes_if(value) & group->mask);
    }
}

/* Called for each group that waits at a complete barrier. */
typedef void (*visitor)(emu_warp *warp, emu_group *group, uint32_t *sums);

static void
barrier_visit(emu_block *block, uint32_t number, visitor visit, uint32_t *sums)
{
    uint32_t left = block->barriers[number].warps, k;

    for (; left; left &= left - 1) {
        emu_warp *warp = &block->warps[__builtin_ctz(left)];

        for (k = 0; k < warp->group_count; k++) {
            emu_group *group = &warp->groups[k];

            if (barrier_group_is_at(group, number) && group->is_counted) {
                visit(warp, group, sums);
            }
        }
    }
}

static void
barrier_sum_votes(emu_warp *warp, emu_group *group, uint32_t *sums)
{
    if (group->pc[-1].run == emu_op_bar_red) {
        sums[0] += (uint32_t)__builtin_popcount(barrier_group_vote(warp, group));
        sums[1] += (uint32_t)__builtin_popcount(group->mask);
    }
}

static void
barrier_release_group(emu_warp *warp, emu_group *group, uint32_t *sums)
{
    group->state = EMU_RUNNABLE;
    barrier_result(group, sums[0], sums[1]);
    if (warp->block->race) {
        emu_race_leave(warp, group->barrier);
    }
}

static void
barrier_release(emu_block *block, uint32_t number)
{
    emu_barrier *barrier = &block->barriers[number];
    uint32_t sums[2] = {0, 0}, i;

    if (block->checks & EMU_CHECK_BARRIER) {
        emu_barrier_check(block, number);
    }
    if (barrier->kind) {
        barrier_visit(block, number, barrier_sum_votes, sums);
    }
    barrier_visit(block, number, barrier_release_group, sums);
    if (block->race) {
        emu_race_released(block, number);
        if (!barrier->expected) {
            emu_race_forget(block);
        }
    }
    barrier->warps = barrier->total = 0;
    barrier->is_used = false;
    for (i = 0; i < block->warp_count; i++) {
        barrier->is_used |= barrier->arrived[i] != 0; /* for its next use */
    }
}

/* Whether all lanes have the same number in this operand. */
static bool
barrier_operand_is_uniform(const emu_warp *warp, uint32_t operand)
{
    const u32 *values = EMU_SOURCE(u32, operand);
    const u32 first = values[__builtin_ctz(warp->mask)];
    uint32_t left = warp->mask;

    if ((operand & EMU_TAG_MASK) == EMU_TAG_CONSTANT) {
        return true;
    }
    for (; left; left &= left - 1) {
        if (values[__builtin_ctz(left)] != first) {
            return false;
        }
    }
    return true;
}

/* The other barrier at which lanes of this warp wait for its other lanes, or `number`.
 */
static uint32_t
barrier_other_of_warp(const emu_warp *warp, uint32_t number)
{
    uint32_t k;

    for (k = 0; k < warp->group_count; k++) {
        const emu_group *group = &warp->groups[k];

        if (group->state == EMU_GROUP_AT_BARRIER && !group->is_counted &&
            group->barrier != number) {
            return group->barrier;
        }
    }
    return number;
}

/* 1 plus the operation of a reduction, or 0. */
static uint32_t
barrier_kind(const emu_insn *insn)
{
    if (insn->run != emu_op_bar_red) {
        return 0;
    }
    return 1 + insn->aux;
}

/* Check an arrival at a barrier. Return the text of the fault, or NULL. A GPU
 * reports such a fault as an illegal instruction. */
static const char *
barrier_fault(const emu_warp *warp, const emu_insn *insn, uint32_t number,
              uint32_t expected, char *text, size_t size)
{
    const emu_barrier *barrier = &warp->block->barriers[number];

    if (!barrier_operand_is_uniform(warp, insn->a) ||
        ((insn->imm & 1) && !barrier_operand_is_uniform(warp, insn->b))) {
        return "the threads of a warp give a barrier's number or count differently";
    }
    if (!expected && insn->run == emu_op_bar_arrive) {
        return "an arrival at a barrier without a count of threads";
    }
    if (expected % EMU_LANES) {
        (void)snprintf(text, size,
                       "barrier %u with a count of %u threads, which is no multiple "
                       "of 32",
                       number, expected);
        return text;
    }
    if (barrier->is_used && barrier->expected != expected) {
        (void)snprintf(text, size,
                       "barrier %u with a count of %u threads, while others wait "
                       "there with %u (0: the whole block)",
                       number, expected, barrier->expected);
        return text;
    }
    if (barrier->is_used && barrier->kind != barrier_kind(insn)) {
        (void)snprintf(text, size,
                       "barrier %u is used for a reduction by some threads, and for "
                       "another or none by others",
                       number);
        return text;
    }
    return NULL;
}

/* The count of threads of a barrier, or 0. */
static uint32_t
barrier_expected(const emu_warp *warp, const emu_insn *insn, unsigned lane)
{
    if (!(insn->imm & 1)) {
        return 0;
    }
    return EMU_SOURCE(u32, insn->b)[lane] & COUNT_BITS;
}

/* The current group arrives at a barrier. a: number; b: count of threads, if imm & 1.
 */
static const emu_insn *
barrier_arrive(emu_warp *warp, const emu_insn *insn, bool wait)
{
    emu_block *block = warp->block;
    const unsigned lane = (unsigned)__builtin_ctz(warp->mask);
    const uint32_t number = EMU_SOURCE(u32, insn->a)[lane] % EMU_BARRIERS;
    const uint32_t expected = barrier_expected(warp, insn, lane);
    emu_barrier *barrier = &block->barriers[number];
    const uint32_t lanes = warp->mask;
    bool together = false;
    char text[160];
    const char *wrong = barrier_fault(warp, insn, number, expected, text, sizeof text);

    if (wrong == NULL && wait && !(insn->imm & 2) &&
        barrier_other_of_warp(warp, number) != number) {
        (void)snprintf(text, sizeof text,
                       "threads of one warp wait at barrier %u and at barrier %u",
                       barrier_other_of_warp(warp, number), number);
        wrong = text;
    }
    if (wrong) {
        return emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_INSTRUCTION, lane, 0, "%s",
                         wrong);
    }
    if (block->race) {
        emu_race_arrive(warp, number);
    }
    block->has_barriers = true;
    barrier->is_used = true;
    barrier->expected = expected;
    barrier->kind = barrier_kind(insn);
    if (wait) {
        emu_group *group = emu_group_save(warp, insn + 1, EMU_GROUP_AT_BARRIER);

        group->barrier = number;
        group->is_counted = false;
    }
    if (expected) {
        barrier->arrived[warp->number] |= lanes;
        barrier_count_warp(warp, number);
    }
    else {
        barrier_count(warp, number, (uint32_t)__builtin_popcount(lanes));
    }
    if (barrier_complete(block, barrier)) {
        barrier_release(block, number);
        together = emu_lockstep_waits(block);
    }
    warp->spins = 0;
    if (wait && together) {
        warp->stop = EMU_STOP_YIELD;
        return NULL;
    }
    if (wait) {
        return emu_group_switch(warp);
    }
    return insn + 1;
}

const emu_insn *
emu_op_bar_sync(emu_warp *warp, const emu_insn *insn)
{
    return barrier_arrive(warp, insn, true);
}

/* aux: 0 and, 1 or, 2 popc; e: the predicate c is negated. */
const emu_insn *
emu_op_bar_red(emu_warp *warp, const emu_insn *insn)
{
    return barrier_arrive(warp, insn, true);
}

const emu_insn *
emu_op_bar_arrive(emu_warp *warp, const emu_insn *insn)
{
    return barrier_arrive(warp, insn, false);
}

void
emu_barrier_lanes_exited(emu_warp *warp)
{
    emu_block *block = warp->block;
    uint32_t i;

    for (i = 0; i < EMU_BARRIERS && block->has_barriers; i++) {
        if (block->barriers[i].is_used) {
            barrier_count_warp(warp, i);
            if (block->barriers[i].total &&
                barrier_complete(block, &block->barriers[i])) {
                barrier_release(block, i);
            }
        }
    }
}

/* -- the check of barriers --------------------------------------------------------- */

/* Threads of a block that wait for each other at different __syncthreads. */

static bool
check_is_syncthreads(const emu_group *group, uint32_t barrier)
{
    return group->state == EMU_GROUP_AT_BARRIER && group->barrier == barrier &&
           group->pc[-1].run == emu_op_bar_sync && group->pc[-1].aux;
}

static void
check_fault_divergence(emu_warp *warp, const emu_group *group, const emu_group *first,
                       unsigned first_thread)
{
    const emu_func *func = first->frame->func;
    const emu_place first_place = emu_report_place_of(func, first->pc - 1);
    emu_frame *frame = warp->frame;
    const emu_other_place other = {func->program, first_place};
    char thread[48], place[112];

    emu_report_thread_text(warp->block->grid, first_thread, thread, sizeof thread);
    emu_report_place_text(func->program, first_place, place, sizeof place);
    warp->frame = group->frame;
    (void)emu_check_found(
        warp, group->pc - 1, EMU_CHECK_BARRIER, (unsigned)__builtin_ctz(group->mask), 0,
        &other,
        "barrier divergence: this thread waits at one __syncthreads and thread %s at "
        "another%s",
        thread, place);
    warp->frame = frame;
}

void
emu_barrier_check(emu_block *block, uint32_t barrier)
{
    const emu_group *first = NULL;
    emu_warp *first_warp = NULL;
    unsigned first_thread = 0, i, k;

    if (block->barriers[barrier].expected) {
        return;
    }
    for (i = 0; i < block->warp_count; i++) {
        emu_warp *warp = &block->warps[i];

        for (k = 0; k < warp->group_count; k++) {
            const emu_group *group = &warp->groups[k];
            const unsigned lane = (unsigned)__builtin_ctz(group->mask);

            if (!check_is_syncthreads(group, barrier)) {
                continue;
            }
            if (first == NULL) {
                first = group;
                first_warp = warp;
                first_thread = i * EMU_LANES + lane;
            }
            else if (group->pc != first->pc) {
                check_fault_divergence(warp, group, first, first_thread);
                return;
            }
        }
    }
    if (first != NULL && !block->is_trial && block->live < block->grid->threads) {
        emu_ended_warn(first_warp, first);
    }
}
