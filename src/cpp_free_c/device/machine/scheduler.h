/* The scheduler: running a warp, its turns and its branches.
 *
 * A warp yields after a few back-edges, so that all warps of a block make progress.
 * Called by block.c (turns) and calls.c (recursive calls). */
#ifndef DEVICE_MACHINE_SCHEDULER_H
#define DEVICE_MACHINE_SCHEDULER_H

#include "device/machine/machine.h"

/* Run a warp until it stops. */
void emu_warp_run(emu_warp *warp);
/* Yield before the instruction `next`, once the turns are used up. Returns `next` if
 * the warp shall run on. */
const emu_insn *emu_warp_yield(emu_warp *warp, const emu_insn *next);

#endif
