/* Warps in lockstep. See warp.h. */
#include "device/machine/warp/warp.h"

#include "device/machine/warp/race_check.h"

enum {
    /* The registers of all warps in lockstep should stay in the first-level cache. */
    MOST_BYTES = 32 << 10,
    /* Back-edges until they yield, if other warps of the block wait for them. */
    TURNS = 3,
    TURNS_ALONE = 63,
    /* Back-edges until a warp yields that is to meet the others. */
    TURNS_APART = 15
};

/* -- the warps that can run in lockstep -------------------------------------------- */

void
emu_lockstep_prepare(emu_block *block)
{
    const emu_grid *grid = block->grid;
    const emu_func *func = grid->kernel->func;

    block->full_warps = grid->threads / EMU_LANES;
    block->abreast = MOST_BYTES / func->frame_size;
    if (block->abreast > block->full_warps) {
        block->abreast = block->full_warps;
    }
    if (emu_seed) {
        block->abreast = 1;
    }
}

bool
emu_lockstep_takes_all(const emu_block *block)
{
    return block->abreast > 1 && block->abreast == block->warp_count &&
           block->grid->cluster_size == 1;
}

static bool
lockstep_can_run(const emu_block *block, const emu_warp *warp, const emu_insn *pc)
{
    const emu_group *group = &warp->groups[0];

    return warp->group_count == 1 && group->mask == EMU_FULL && group->pc == pc &&
           group->state == EMU_RUNNABLE && group->frame == &block->roots[warp->number];
}

unsigned
emu_lockstep_count(const emu_block *block, unsigned first)
{
    const emu_insn *pc = block->warps[first].groups[0].pc; /* stale if it is fresh */
    unsigned count = block->abreast;

    if (block->is_fresh) {
        return count;
    }
    if (count < 2 || first >= block->full_warps || block->watch != NULL ||
        block->is_apart) {
        return 1;
    }
    if (count > block->full_warps - first) {
        count = block->full_warps - first;
    }
    for (unsigned i = 0; i < count; i++) {
        if (!lockstep_can_run(block, &block->warps[first + i], pc)) {
            return i > 1 ? i : 1;
        }
    }
    return count;
}

bool
emu_lockstep_waits(const emu_block *block)
{
    return block->abreast > 1 && block->watch == NULL && !block->is_apart &&
           block->race == NULL && block->init == NULL;
}

/* -- running ----------------------------------------------------------------------- */

/* Set the warps of a block that has not run yet: all that block.c would set, without
 * their groups. */
static void
lockstep_set_warps(emu_block *block)
{
    for (unsigned i = 0; i < block->warp_count; i++) {
        emu_warp *const warp = &block->warps[i];

        block->roots[i].lanes = EMU_FULL;
        warp->alive = EMU_FULL;
        warp->spins = 0;
        warp->stays = 0;
        warp->meet_at = NULL;
        warp->stamp = 0;
        warp->cluster_arrived = 0;
        emu_group_enter(warp, &block->roots[i]);
    }
    block->is_fresh = false;
}

/* The instruction at which the warps begin. */
static const emu_insn *
lockstep_enter(emu_block *block, unsigned first)
{
    if (block->is_fresh) {
        lockstep_set_warps(block);
        return block->grid->kernel->func->code;
    }
    return block->warps[first].groups[0].pc;
}

/* Set the groups of the warps: none waits, and all lanes of each run. */
static void
lockstep_set_groups(emu_warp *warp, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        warp[i].mask = EMU_FULL;
        warp[i].merge_at = EMU_NO_MERGE;
        warp[i].meet_at = NULL;
        warp[i].group_count = 0;
        warp[i].rotate = false;
        warp[i].stop = EMU_STOP_YIELD;
        warp[i].stamp++;
    }
}

void
emu_lockstep_run_warps(emu_warp *warp, const emu_insn *insn)
{
    while (insn != NULL) {
        insn = insn->lockstep(warp, insn);
    }
}

emu_warp *
emu_lockstep_run(emu_block *block, unsigned first, unsigned count)
{
    const emu_func *func = block->grid->kernel->func;
    const bool begins = block->is_fresh;
    const emu_insn *insn = func->code;
    emu_warp *warp = &block->warps[first];

    if (begins && block->is_together) {
        block->is_fresh = false;
    }
    else {
        insn = lockstep_enter(block, first);
        lockstep_set_groups(warp, count);
    }
    block->is_together = false;
    warp->abreast = count;
    warp->steps[EMU_TAG_FRAME] = func->frame_size;
    warp->steps[EMU_TAG_CONSTANT] = warp->steps[EMU_TAG_UNIFORM] = 0;
    warp->steps[EMU_TAG_WARP] = func->warp_size;
    warp->turns = TURNS;
    if (count == block->warp_count) {
        warp->turns = TURNS_ALONE;
    }
    block->run_lockstep(warp, insn);
    if (block->is_together) { /* all have ended */
        block->is_together = begins;
        return NULL;
    }
    for (unsigned i = 0; i < count; i++) {
        if (warp[i].stop == EMU_STOP_FAULT) {
            return &warp[i];
        }
        warp[i].turns = warp[i].meet_at != NULL ? TURNS_APART : EMU_TURNS;
    }
    return NULL;
}

/* -- handlers ---------------------------------------------------------------------- */

/* End the lockstep: all warps continue at an instruction. */
static const emu_insn *
lockstep_end(emu_warp *warp, const emu_insn *next)
{
    for (unsigned i = 0; i < warp->abreast; i++) {
        (void)emu_group_save(&warp[i], next, EMU_RUNNABLE);
    }
    return NULL;
}

const emu_insn *
emu_lockstep_give_way(emu_warp *warp, const emu_insn *insn)
{
    if (warp->abreast == warp->block->warp_count) {
        return insn;
    }
    return lockstep_end(warp, insn);
}

void
emu_lockstep_run_giving_way(emu_warp *warp, const emu_insn *insn)
{
    while (insn != NULL) {
        insn = insn->lockstep(warp, insn);
        if (insn != NULL && emu_warp_gives_way_at(insn)) {
            insn = emu_lockstep_give_way(warp, insn);
        }
    }
}

/* Let one of the warps continue by itself. */
static void
lockstep_separate_warp(emu_warp *warp, const emu_insn *next)
{
    (void)emu_group_save(warp, next, EMU_RUNNABLE);
    warp->stop = EMU_STOP_SEPARATE;
}

const emu_insn *
emu_lockstep_separate(emu_warp *warp, const emu_insn *insn)
{
    for (unsigned i = 0; i < warp->abreast; i++) {
        lockstep_separate_warp(&warp[i], insn);
    }
    return NULL;
}

const emu_insn *
emu_lockstep_update(emu_warp *warp, const emu_insn *insn)
{
    const emu_insn *update = insn;

    while (emu_op_effect(update->op) != EMU_EFFECT_UPDATE) {
        update++; /* its guard or its count */
    }
    if (!(update->aux & EMU_AT_RESULT) && update->e >= EMU_ATOM_ADD &&
        update->e <= EMU_ATOM_MAX_S) {
        return emu_lockstep_each(warp, insn);
    }
    return emu_lockstep_separate(warp, insn);
}

const emu_insn *
emu_lockstep_each(emu_warp *warp, const emu_insn *insn)
{
    return emu_lockstep_each_by(warp, insn, insn->run);
}

const emu_insn *
emu_lockstep_each_by(emu_warp *warp, const emu_insn *insn, emu_handler run)
{
    const emu_insn *next[EMU_MAX_WARPS] = {NULL};
    bool together = true;

    for (unsigned i = 0; i < warp->abreast; i++) {
        next[i] = run(&warp[i], insn);
        if (warp[i].stop == EMU_STOP_FAULT) {
            return NULL;
        }
        together &= next[i] == next[0] && warp[i].mask == EMU_FULL &&
                    warp[i].frame->parent == NULL;
    }
    if (together) {
        return next[0];
    }
    for (unsigned i = 0; i < warp->abreast; i++) {
        if (next[i]) {
            (void)emu_group_save(&warp[i], next[i], EMU_RUNNABLE);
        }
    }
    return NULL;
}

/* Whether lanes have arrived at a barrier of the block. */
static bool
lockstep_uses_barriers(const emu_block *block)
{
    bool used = false;

    for (unsigned i = 0; i < EMU_BARRIERS && block->has_barriers; i++) {
        used |= block->barriers[i].is_used;
    }
    return used;
}

const emu_insn *
emu_lockstep_bar_sync(emu_warp *warp, const emu_insn *insn)
{
    emu_block *block = warp->block;

    if (warp->abreast != block->warp_count || insn->imm & 1 ||
        (insn->a & EMU_TAG_MASK) != EMU_TAG_CONSTANT || lockstep_uses_barriers(block)) {
        return emu_lockstep_each(warp, insn);
    }
    if (block->race) { /* all threads of the block arrive */
        emu_race_meet(block);
    }
    return insn + 1;
}

const emu_insn *
emu_lockstep_exit(emu_warp *warp, const emu_insn *insn)
{
    emu_block *block = warp->block;

    if (lockstep_uses_barriers(block)) {
        return emu_lockstep_each(warp, insn);
    }
    block->live -= warp->abreast * EMU_LANES;
    if (warp->abreast == block->warp_count && !block->race && !block->init &&
        block->grid->cluster_size == 1) {
        block->is_together = true;
        return NULL;
    }
    for (unsigned i = 0; i < warp->abreast; i++) {
        if (block->race && warp->abreast != block->warp_count) {
            emu_race_exit(&warp[i]);
        }
        warp[i].frame->lanes = 0;
        warp[i].alive = 0;
        warp[i].mask = 0;
        warp[i].stop = EMU_STOP_DONE;
    }
    return NULL;
}

const emu_insn *
emu_lockstep_label(emu_warp *warp, const emu_insn *insn)
{
    if (insn == warp->meet_at) { /* other warps have separated before */
        for (unsigned i = 0; i < warp->abreast; i++) {
            warp[i].meet_at = NULL;
        }
        return lockstep_end(warp, insn);
    }
    return insn + 1;
}

static inline const emu_insn *
lockstep_jump(emu_warp *warp, const emu_insn *insn, const emu_insn *target)
{
    if (target > insn) {
        return target;
    }
    warp->turns--;
    if (warp->turns < 0) {
        return lockstep_end(warp, target);
    }
    return target;
}

const emu_insn *
emu_lockstep_bra(emu_warp *warp, const emu_insn *insn)
{
    return lockstep_jump(warp, insn, insn + insn->imm);
}

/* How many of the first warps have the same predicate in all lanes. */
static unsigned
lockstep_agreeing(const emu_warp *warp, const emu_insn *insn, uint32_t predicate)
{
    unsigned count = 0;

    if (predicate != emu_lanes_if(predicate != 0)) {
        return 0;
    }
    while (count < warp->abreast &&
           emu_predicate(&warp[count], insn->a, insn->aux != 0) == predicate) {
        count++;
    }
    return count;
}

/* Let all warps wait behind a branch for each other, where its paths meet. */
static void
lockstep_meet(emu_warp *warp, const emu_insn *insn)
{
    if (insn->e != 0 && emu_lockstep_waits(warp->block)) {
        for (unsigned i = 0; i < warp->abreast; i++) {
            warp[i].meet_at = insn + (int32_t)insn->e;
        }
    }
}

/* Warps that branch differently separate until their paths meet. If at least two of the
 * first branch alike, as where the last threads have nothing to do, these stay
 * together. With the check of races they do not, so that a report is about the accesses
 * of warps that run by themselves. */
const emu_insn *
emu_lockstep_bra_if(emu_warp *warp, const emu_insn *insn)
{
    const uint32_t first = emu_predicate(warp, insn->a, insn->aux != 0);
    const unsigned count = lockstep_agreeing(warp, insn, first);

    if (count < warp->abreast) {
        lockstep_meet(warp, insn);
    }
    if (count < 2 || (count < warp->abreast && warp->block->race != NULL)) {
        return emu_lockstep_separate(warp, insn);
    }
    for (unsigned i = count; i < warp->abreast; i++) {
        lockstep_separate_warp(&warp[i], insn);
    }
    warp->abreast = count;
    if (first) {
        return lockstep_jump(warp, insn, insn + insn->imm);
    }
    return insn + 1;
}
