/* Groups of lanes: saving the current group of a warp, and choosing the next one.
 *
 * Invariant: between two instructions every live lane is in exactly one group, the
 * current one or a waiting one. Called by the operations that branch, call, wait or
 * exit, and by block.c, which makes the first group of each warp. */
#ifndef DEVICE_MACHINE_WARP_GROUP_H
#define DEVICE_MACHINE_WARP_GROUP_H

#include "device/machine/warp/machine.h"

/* The value of merge_at if no waiting group has the depth of the current group. */
#define EMU_NO_MERGE ((const emu_insn *)UINTPTR_MAX)

/* Append the current group to the waiting groups. */
static inline emu_group *
emu_group_save(emu_warp *warp, const emu_insn *pc, emu_state state)
{
    emu_group *group = &warp->groups[warp->group_count++];

    group->pc = pc;
    group->frame = warp->frame;
    group->mask = warp->mask;
    group->state = state;
    group->stamp = warp->stamp;
    return group;
}

/* Continue the current group in another activation. */
static inline void
emu_group_enter(emu_warp *warp, emu_frame *frame)
{
    warp->frame = frame;
    warp->base[0] = frame->regs;
}

/* Make the next group to run current and return its instruction. If no group can run,
 * set `stop` and return NULL. */
const emu_insn *emu_group_switch(emu_warp *warp);

#endif
