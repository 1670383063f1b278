/* The loop over the instructions of a warp. See warp.h. */
#include "device/machine/warp/warp.h"

#include "device/base/checks.h"
#include "device/machine/warp/lanes.h"

void
emu_warp_run(emu_warp *warp)
{
    const emu_insn *insn = emu_group_switch(warp);

    while (insn != NULL) {
        insn = insn->run(warp, insn);
    }
}

const emu_insn *
emu_warp_give_way(emu_warp *warp, const emu_insn *insn)
{
    (void)emu_group_save(warp, insn, EMU_RUNNABLE);
    warp->stop = EMU_STOP_YIELD;
    return NULL;
}

void
emu_warp_continue_giving_way(emu_warp *warp, const emu_insn *insn)
{
    while (insn != NULL) {
        insn = insn->run(warp, insn);
        if (insn != NULL && emu_warp_gives_way_at(insn)) {
            insn = emu_warp_give_way(warp, insn);
        }
    }
}

void
emu_warp_run_giving_way(emu_warp *warp)
{
    emu_warp_continue_giving_way(warp, emu_group_switch(warp));
}

/* -- groups of lanes --------------------------------------------------------------- */

static void
group_remove(emu_warp *warp, unsigned index)
{
    warp->groups[index] = warp->groups[--warp->group_count];
}

/* Whether group a runs before group b. The deepest call runs first, then the lowest
 * instruction. If it is time to rotate, the group that has waited longest runs
 * first. */
static bool
group_precedes(const emu_warp *warp, const emu_group *a, const emu_group *b)
{
    if (warp->rotate) {
        return a->stamp < b->stamp;
    }
    if (a->frame->depth != b->frame->depth) {
        return a->frame->depth > b->frame->depth;
    }
    return a->pc < b->pc;
}

/* The index of the runnable group that runs next; -1: none. */
static int
group_choose(const emu_warp *warp)
{
    const emu_group *best = NULL;
    unsigned i;

    for (i = 0; i < warp->group_count; i++) {
        const emu_group *group = &warp->groups[i];

        if (group->state != EMU_RUNNABLE) {
            continue;
        }
        if (best == NULL || group_precedes(warp, group, best)) {
            best = group;
        }
    }
    if (best == NULL) {
        return -1;
    }
    return (int)(best - warp->groups);
}

/* Go on behind a label, or wait there for the warps that this one has left. */
static const emu_insn *
group_pass(emu_warp *warp, const emu_insn *label)
{
    if (label != warp->meet_at || warp->mask != EMU_FULL) {
        return label + 1;
    }
    warp->meet_at = NULL;
    (void)emu_group_save(warp, label, EMU_RUNNABLE);
    warp->stop = EMU_STOP_YIELD;
    return NULL;
}

const emu_insn *
emu_group_switch(emu_warp *warp)
{
    int chosen = group_choose(warp);
    unsigned i;

    if (chosen < 0) {
        warp->mask = 0;
        warp->stop = EMU_STOP_WAIT;
        if (warp->group_count == 0) {
            warp->stop = EMU_STOP_DONE;
        }
        return NULL;
    }
    const emu_insn *pc = warp->groups[chosen].pc;
    warp->mask = warp->groups[chosen].mask;
    emu_group_enter(warp, warp->groups[chosen].frame);
    warp->stamp++;
    group_remove(warp, (unsigned)chosen);
    warp->merge_at = EMU_NO_MERGE;
    for (i = 0; i < warp->group_count;) {
        const emu_group *group = &warp->groups[i];

        if (group->state == EMU_RUNNABLE && group->pc == pc &&
            group->frame == warp->frame) {
            warp->mask |= group->mask;
            group_remove(warp, i);
            continue;
        }
        if (group->state == EMU_RUNNABLE && !warp->rotate &&
            group->frame->depth == warp->frame->depth && group->pc < warp->merge_at) {
            warp->merge_at = group->pc;
        }
        i++;
    }
    warp->rotate = false;
    if (pc->run == emu_op_label) {
        return group_pass(warp, pc);
    }
    return pc;
}

/* A target of branches: the current group may have reached another group. */
const emu_insn *
emu_op_label(emu_warp *warp, const emu_insn *insn)
{
    if (insn >= warp->merge_at) {
        (void)emu_group_save(warp, insn, EMU_RUNNABLE);
        return emu_group_switch(warp);
    }
    return group_pass(warp, insn);
}

/* -- operations of several lanes --------------------------------------------------- */

/* The lanes that a .sync operation waits for. */
static uint32_t
sync_need(const emu_warp *warp, const emu_insn *insn, uint32_t members)
{
    uint32_t need = 0, left;

    if (members == EMU_WHOLE_WARP) {
        return EMU_FULL;
    }
    if (!insn->imm) {
        return warp->mask;
    }
    if (emu_is_uniform(members)) {
        return *EMU_SOURCE(u32, members);
    }
    for (left = warp->mask; left; left &= left - 1) {
        need |= EMU_SOURCE(u32, members)[__builtin_ctz(left)];
    }
    return need;
}

/* Run phase 1 for each team of the lanes in `mask`. */
static void
sync_teams(emu_warp *warp, const emu_insn *insn, uint32_t mask, uint32_t all,
           uint32_t members, emu_sync_phase phase)
{
    if (members == EMU_WHOLE_WARP || !insn->imm) {
        phase(warp, insn, mask, all, 1);
        return;
    }
    if (emu_is_uniform(members)) {
        phase(warp, insn, mask, (*EMU_SOURCE(u32, members) & all) | mask, 1);
        return;
    }
    while (mask) {
        const u32 *const named = EMU_SOURCE(u32, members);
        const uint32_t mine = named[__builtin_ctz(mask)];
        uint32_t team = 0;

        for (unsigned lane = 0; lane < EMU_LANES; lane++) {
            team |= (uint32_t)(named[lane] == mine) << lane;
        }
        team &= mask;
        mask &= ~team; /* before phase 1, which may overwrite the members */
        phase(warp, insn, team, (mine & all) | team, 1);
    }
}

/* The operation that a waiting group shares with other groups. */
typedef struct {
    emu_handler run;
    uint32_t need;
} sync_point;

static bool
sync_is_at(const emu_group *group, sync_point point)
{
    return group->state == EMU_GROUP_AT_SYNC && group->pc->run == point.run &&
           group->need == point.need;
}

/* Run a phase for all groups at a point. */
static void
sync_run(emu_warp *warp, sync_point point, uint32_t all, int phase)
{
    for (uint32_t i = 0; i < warp->group_count; i++) {
        emu_group *group = &warp->groups[i];

        if (!sync_is_at(group, point)) {
            continue;
        }
        warp->base[0] = group->frame->regs;
        if (phase == 0) {
            group->phase(warp, group->pc, group->mask, all, 0);
        }
        else {
            sync_teams(warp, group->pc, group->mask, all, group->members, group->phase);
        }
    }
}

/* If all lanes that the waiting groups need have arrived at the same kind of operation,
 * run it for all of them and let them continue. */
static void
sync_try(emu_warp *warp, const emu_group *waiting)
{
    const sync_point point = {waiting->pc->run, waiting->need};
    uint8_t *base = warp->base[0];
    uint32_t all = 0, i;

    for (i = 0; i < warp->group_count; i++) {
        if (sync_is_at(&warp->groups[i], point)) {
            all |= warp->groups[i].mask;
        }
    }
    if (!all || (point.need & warp->alive & ~all)) {
        return;
    }
    for (i = 0; warp->block->checks & EMU_CHECK_BARRIER && i < warp->group_count; i++) {
        if (sync_is_at(&warp->groups[i], point)) {
            emu_absence_check(warp, &warp->groups[i], all);
        }
    }
    sync_run(warp, point, all, 0);
    sync_run(warp, point, all, 1);
    for (i = 0; i < warp->group_count; i++) {
        emu_group *group = &warp->groups[i];

        if (sync_is_at(group, point)) {
            group->state = EMU_RUNNABLE;
            group->pc++;
        }
    }
    warp->base[0] = base;
}

const emu_insn *
emu_sync(emu_warp *warp, const emu_insn *insn, uint32_t members, emu_sync_phase phase)
{
    const uint32_t need = sync_need(warp, insn, members);

    if (!(need & warp->alive & ~warp->mask)) {
        phase(warp, insn, warp->mask, warp->mask, 0);
        sync_teams(warp, insn, warp->mask, warp->mask, members, phase);
        return insn + 1;
    }
    emu_group *group = emu_group_save(warp, insn, EMU_GROUP_AT_SYNC);
    group->need = need;
    group->members = members;
    group->phase = phase;
    group->passed = 0;
    if (warp->block->checks & EMU_CHECK_BARRIER) {
        emu_absence_begin(warp, group);
    }
    sync_try(warp, group);
    return emu_group_switch(warp);
}

void
emu_sync_lanes_exited(emu_warp *warp)
{
    for (uint32_t i = 0; i < warp->group_count; i++) {
        const emu_group *group = &warp->groups[i];

        if (group->state == EMU_GROUP_AT_SYNC) {
            sync_try(warp, group);
        }
    }
}
