/* Groups of lanes: the choice of the group that runs next, and merging. See group.h. */
#include "device/machine/warp/group.h"

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

const emu_insn *
emu_group_switch(emu_warp *warp)
{
    int chosen = group_choose(warp);
    const emu_insn *pc;
    unsigned i;

    if (chosen < 0) {
        warp->mask = 0;
        warp->stop = EMU_STOP_WAIT;
        if (warp->group_count == 0) {
            warp->stop = EMU_STOP_DONE;
        }
        return NULL;
    }
    pc = warp->groups[chosen].pc;
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
        return pc + 1;
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
    return insn + 1;
}
