/* A checked warp. See warp.h. */
#include "device/compile/encoding.h"
#include "device/machine/warp/access_count.h"
#include "device/machine/warp/access_parts.h"
#include "device/machine/warp/address_check.h"
#include "device/machine/warp/bound_check.h"
#include "device/machine/warp/init_check.h"
#include "device/machine/warp/step_check.h"
#include "device/machine/warp/race_check.h"
#include "device/machine/warp/warp.h"

/* -- accesses to memory ------------------------------------------------------------ */

static emu_race_kind
checked_race_kind(const emu_insn *insn)
{
    const emu_effect kind = emu_op_effect(insn->op);
    const uint32_t volatile_shared = EMU_AT_STRONG | EMU_AT_VOLATILE;
    bool strong = insn->aux & EMU_AT_STRONG;

    if (kind == EMU_EFFECT_UPDATE) {
        return EMU_RACE_ATOMIC;
    }
    if ((insn->aux & volatile_shared) == volatile_shared &&
        (insn->aux & EMU_AT_MASK) == EMU_AT_SHARED) {
        strong = false;
    }
    if (kind == EMU_EFFECT_READ) {
        return strong ? EMU_RACE_STRONG_READ : EMU_RACE_READ;
    }
    return strong ? EMU_RACE_STRONG_WRITE : EMU_RACE_WRITE;
}

/* Check an access for races. False after a fault. */
static bool
checked_race(emu_warp *warp, const emu_insn *insn, unsigned size,
             const uint64_t at[EMU_LANES])
{
    if ((insn->aux & EMU_AT_MASK) > EMU_AT_SHARED) {
        return true;
    }
    return emu_race_access(warp, insn, warp->mask, size, checked_race_kind(insn), at);
}

bool
emu_checked_parts(emu_warp *warp, const emu_insn *insn)
{
    const emu_block *block = warp->block;
    const unsigned size = emu_access_bytes(insn);
    emu_parts parts;

    return emu_parts_find(warp, insn, size, &parts) &&
           (!block->race ||
            emu_race_parts(warp, insn, size, checked_race_kind(insn), &parts)) &&
           (!block->init || emu_init_parts(warp, insn, size, &parts));
}

/* Check the access of each lane. False after a fault. */
static bool
checked_lanes(emu_warp *warp, const emu_insn *insn, unsigned size)
{
    const emu_block *block = warp->block;
    uint64_t at[EMU_LANES];

    return emu_address_resolve(warp, insn, at) &&
           (!block->race || checked_race(warp, insn, size, at)) &&
           (!block->init || emu_init_access(warp, insn, size, at));
}

/* Lanes wait for each other, or order their accesses. */
static void
checked_meet(const emu_warp *warp)
{
    if (warp->block->race) {
        emu_step_meet(&warp->block->race->steps, warp);
    }
}

/* An object in memory on which lanes wait: it is written by its initialisation. */
static const emu_insn *
checked_object(emu_warp *warp, const emu_insn *insn)
{
    const emu_block *block = warp->block;
    uint64_t at[EMU_LANES];

    checked_meet(warp);
    if (block->init && emu_op_effect(insn->op) == EMU_EFFECT_NEW_OBJECT) {
        if (!emu_address_resolve(warp, insn, at)) {
            return NULL;
        }
        for (uint32_t left = warp->mask; left; left &= left - 1) {
            emu_init_write(block, at[__builtin_ctz(left)], emu_access_bytes(insn));
        }
    }
    if (warp->unset) {
        emu_init_follow(warp, insn);
    }
    return insn->run(warp, insn);
}

/* Whether nothing but the bounds of accesses is checked. */
static bool
checked_is_bounds_only(const emu_warp *warp)
{
    return warp->block->race == NULL && warp->block->init == NULL;
}

/* Check an access by the bounds of its address. False after a fault. */
static bool
checked_bounds(emu_warp *warp, const emu_insn *insn)
{
    uint32_t lanes = 0;

    if (warp->block->has_bounds) {
        lanes = emu_bound_lanes(warp, insn);
    }
    if (lanes != 0) {
        emu_bound_fault(warp, insn, lanes);
    }
    return lanes == 0;
}

/* Check an access for what lanes of the warp did before. */
static void
checked_steps(const emu_warp *warp, const emu_insn *insn)
{
    emu_step_check *steps = &warp->block->race->steps;

    if (emu_op_effect(insn->op) == EMU_EFFECT_UPDATE) {
        emu_step_meet(steps, warp);
    }
    else if (insn->aux & EMU_AT_EXCHANGES) {
        emu_step_access(steps, warp, insn);
    }
}

static const emu_insn *
checked_access(emu_warp *warp, const emu_insn *insn)
{
    const emu_block *block = warp->block;
    const unsigned size = emu_access_bytes(insn), kind = emu_op_effect(insn->op);

    if (!checked_bounds(warp, insn)) {
        return NULL;
    }
    if (block->has_inputs && emu_access_writes(insn)) {
        emu_inputs_check(warp, insn);
    }
    if (checked_is_bounds_only(warp)) {
        return insn->run(warp, insn);
    }
    if ((insn->aux & EMU_AT_MASK) == EMU_AT_PARAM) {
        if (warp->unset) {
            emu_init_follow(warp, insn);
        }
        return insn->run(warp, insn);
    }
    if (block->race) {
        checked_steps(warp, insn);
    }
    if (block->race && insn->aux & EMU_AT_RELEASE) {
        emu_race_fence(warp, insn->aux & EMU_AT_IN_BLOCK);
    }
    if ((kind == EMU_EFFECT_UPDATE || !emu_checked_parts(warp, insn)) &&
        !checked_lanes(warp, insn, size)) {
        return NULL;
    }
    const emu_insn *next = insn->run(warp, insn);
    if (block->race && next != NULL &&
        (kind == EMU_EFFECT_UPDATE || insn->aux & EMU_AT_STRONG)) {
        emu_race_acquire(warp);
    }
    return next;
}

/* -- other instructions ------------------------------------------------------------ */

/* As emu_op_guard. */
static const emu_insn *
checked_guard(emu_warp *warp, const emu_insn *insn)
{
    const uint32_t mask = warp->mask;
    const uint32_t bits = emu_predicate(warp, insn->a, insn->aux != 0);

    if (warp->unset) {
        emu_init_branch(warp, insn);
    }
    if (!(mask & bits)) {
        return insn + 1 + insn->imm;
    }
    warp->mask = mask & bits;
    const emu_insn *next = emu_checked_step(warp, insn + 1);
    warp->mask = mask;
    return next;
}

const emu_insn *
emu_checked_step(emu_warp *warp, const emu_insn *insn)
{
    switch (emu_op_effect(insn->op)) {
        case EMU_EFFECT_GUARD:
            return checked_guard(warp, insn);
        case EMU_EFFECT_ROUND:
            if (warp->unset) {
                emu_init_follow(warp, insn + 1);
            }
            return insn->run(warp, insn);
        case EMU_EFFECT_COUNT:
            emu_access_count(warp, insn);
            return emu_checked_step(warp, insn + 1);
        case EMU_EFFECT_READ:
        case EMU_EFFECT_WRITE:
        case EMU_EFFECT_UPDATE:
            return checked_access(warp, insn);
        case EMU_EFFECT_NEW_OBJECT:
        case EMU_EFFECT_CHANGE_OBJECT:
        case EMU_EFFECT_TEST_OBJECT:
            return checked_object(warp, insn);
        case EMU_EFFECT_FENCE:
            checked_meet(warp);
            if (warp->block->race && !(insn->aux & EMU_FENCE_ACQUIRE)) {
                emu_race_fence(warp, insn->aux & EMU_FENCE_IN_BLOCK);
            }
            break;
        case EMU_EFFECT_MEET:
            checked_meet(warp);
            break;
        case EMU_EFFECT_PLAIN:
        case EMU_EFFECT_CLOCK:
        case EMU_EFFECT_SPIN:
        case EMU_EFFECT_ACT:
            break;
    }
    if (warp->unset) {
        emu_init_follow(warp, insn);
    }
    return insn->run(warp, insn);
}

/* Yield before an instruction if warps give way there. `next` may be NULL. */
static inline const emu_insn *
checked_give_way(emu_warp *warp, const emu_insn *next)
{
    if (warp->block->grid->gives_way && next != NULL && emu_warp_gives_way_at(next)) {
        return emu_warp_give_way(warp, next);
    }
    return next;
}

void
emu_checked_run(emu_warp *warp)
{
    const emu_insn *insn = emu_group_switch(warp);

    if (!warp->block->grid->gives_way) {
        while (insn != NULL) {
            insn = emu_checked_step(warp, insn);
        }
    }
    while (insn != NULL) {
        insn = checked_give_way(warp, emu_checked_step(warp, insn));
    }
}

/* -- warps in lockstep ------------------------------------------------------------- */

/* Checked warps in lockstep. See warp.h.
 *
 * No warp has unset values here, so only accesses to memory and fences are looked at.
 * An access that is right for sure is remembered for all warps, and then run for all of
 * them. Any other access is checked and run for one warp after the other. */

/* Whether an access may be checked for all warps before it runs: it is a plain load or
 * store. */
static bool
checked_is_plain(const emu_insn *insn)
{
    const emu_effect kind = emu_op_effect(insn->op);

    return (kind == EMU_EFFECT_READ || kind == EMU_EFFECT_WRITE) &&
           !(insn->aux & (EMU_AT_STRONG | EMU_AT_RELEASE));
}

/* Check an access of all warps to consecutive elements of global memory. False: it has
 * another form, or that is not enough. */
static bool
checked_span(emu_warp *warp, const emu_insn *insn)
{
    const emu_block *block = warp->block;
    const unsigned size = emu_access_bytes(insn);
    const bool loads = emu_op_effect(insn->op) == EMU_EFFECT_READ;
    const uint64_t start = emu_parts_of_warps(warp, insn, size);

    return start != 0 &&
           (!block->race ||
            emu_race_warps(warp, insn, size, loads ? EMU_RACE_READ : EMU_RACE_WRITE,
                           start)) &&
           (!block->init ||
            emu_init_range(warp, start, (uint64_t)size * EMU_LANES * warp->abreast,
                           loads));
}

/* Check loads of all warps from shared memory. False as above. */
static bool
checked_plan(emu_warp *warp, const emu_insn *insn)
{
    const emu_block *block = warp->block;
    const unsigned size = emu_access_bytes(insn);
    const emu_shared_plan *plan = emu_shared_plan_of(warp, insn, size);

    return plan != NULL && emu_op_effect(insn->op) == EMU_EFFECT_READ &&
           (!block->race || emu_race_plan(warp, insn, size, plan)) &&
           (!block->init || emu_init_plan(block, plan));
}

static bool
checked_all(emu_warp *warp, const emu_insn *insn)
{
    const emu_warp *const end = warp + warp->abreast;

    if ((insn->aux & EMU_AT_MASK) == EMU_AT_PARAM) {
        return true;
    }
    if (checked_span(warp, insn) || checked_plan(warp, insn)) {
        return true;
    }
    for (; warp < end; warp++) {
        if (!emu_checked_parts(warp, insn)) {
            return false;
        }
    }
    return true;
}

/* Check an access of each warp for what its lanes did before. */
static void
lockstep_checked_steps(emu_warp *warp, const emu_insn *insn)
{
    emu_block *block = warp->block;

    if (block->race == NULL || !(insn->aux & EMU_AT_EXCHANGES)) {
        return;
    }
    for (unsigned i = 0; i < warp->abreast; i++) {
        warp[i].frame = &block->roots[warp[i].number]; /* for a report */
        emu_step_access(&block->race->steps, &warp[i], insn);
    }
}

static const emu_insn *
lockstep_checked_access(emu_warp *warp, const emu_insn *insn)
{
    if (emu_op_rows[insn->op].lockstep == EMU_LOCKSTEP_separate ||
        emu_op_rows[insn->op].lockstep == EMU_LOCKSTEP_update) {
        return emu_lockstep_separate(warp, insn);
    }
    if (checked_is_plain(insn) &&
        !(warp->block->has_inputs && emu_access_writes(insn)) &&
        (!warp->block->has_bounds || emu_bound_all(warp, insn)) &&
        (checked_is_bounds_only(warp) || checked_all(warp, insn))) {
        lockstep_checked_steps(warp, insn);
        return insn->lockstep(warp, insn);
    }
    return emu_lockstep_each_by(warp, insn, emu_checked_step);
}

static const emu_insn *
checked_step_all(emu_warp *warp, const emu_insn *insn)
{
    switch (emu_op_effect(insn->op)) {
        case EMU_EFFECT_GUARD:
        case EMU_EFFECT_ROUND:
        case EMU_EFFECT_FENCE:
            return emu_lockstep_each_by(warp, insn, emu_checked_step);
        case EMU_EFFECT_COUNT:
            emu_access_count_all(warp, insn);
            return checked_step_all(warp, insn + 1);
        case EMU_EFFECT_READ:
        case EMU_EFFECT_WRITE:
        case EMU_EFFECT_UPDATE:
            return lockstep_checked_access(warp, insn);
        case EMU_EFFECT_NEW_OBJECT:
        case EMU_EFFECT_CHANGE_OBJECT:
        case EMU_EFFECT_TEST_OBJECT: /* they separate the warps */
            break;
        case EMU_EFFECT_MEET:
            for (unsigned i = 0; i < warp->abreast; i++) {
                checked_meet(&warp[i]);
            }
            break;
        case EMU_EFFECT_PLAIN:
        case EMU_EFFECT_CLOCK:
        case EMU_EFFECT_SPIN:
        case EMU_EFFECT_ACT:
            break;
    }
    return insn->lockstep(warp, insn);
}

static inline const emu_insn *
lockstep_checked_give_way(emu_warp *warp, const emu_insn *next)
{
    if (warp->block->grid->gives_way && next != NULL && emu_warp_gives_way_at(next)) {
        return emu_lockstep_give_way(warp, next);
    }
    return next;
}

void
emu_checked_run_lockstep(emu_warp *warp, const emu_insn *insn)
{
    const emu_block *block = warp->block;

    if (!block->grid->gives_way) {
        while (insn != NULL && !block->is_apart) {
            insn = checked_step_all(warp, insn);
        }
    }
    while (insn != NULL && !block->is_apart) {
        insn = lockstep_checked_give_way(warp, checked_step_all(warp, insn));
    }
    if (insn != NULL) {
        (void)emu_lockstep_separate(warp, insn);
    }
}

/* -- trials ------------------------------------------------------------------------ */

void
emu_trial_run(emu_warp *warp)
{
    emu_block *block = warp->block;
    const emu_insn *insn = emu_group_switch(warp);

    while (insn != NULL && block->trial_left > 0) {
        block->trial_left--;
        insn = checked_give_way(warp, emu_checked_step(warp, insn));
    }
    if (block->grid->gives_way) {
        emu_warp_continue_giving_way(warp, insn);
        return;
    }
    while (insn != NULL) {
        insn = insn->run(warp, insn);
    }
}

void
emu_trial_run_lockstep(emu_warp *warp, const emu_insn *insn)
{
    emu_block *block = warp->block;

    while (insn != NULL && block->trial_left > 0 && !block->is_apart) {
        block->trial_left -= (int32_t)warp->abreast;
        insn = lockstep_checked_give_way(warp, checked_step_all(warp, insn));
    }
    if (insn != NULL && block->trial_left > 0) {
        (void)emu_lockstep_separate(warp, insn);
    }
    else if (block->grid->gives_way) {
        emu_lockstep_run_giving_way(warp, insn);
    }
    else {
        emu_lockstep_run_warps(warp, insn);
    }
}
