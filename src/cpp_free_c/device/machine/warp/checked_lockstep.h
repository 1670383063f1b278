/* Checked warps in lockstep (lockstep.h): the checks of uninitialised values and of
 * races look at each access of all warps before it runs.
 *
 * emu_checked_run_lockstep is the emu_block.run_lockstep of a block with checks. Called
 * by block.c. */
#ifndef DEVICE_MACHINE_WARP_CHECKED_LOCKSTEP_H
#define DEVICE_MACHINE_WARP_CHECKED_LOCKSTEP_H

#include "device/machine/warp/machine.h"

/* Run warps in lockstep until they stop or separate. */
void emu_checked_run_lockstep(emu_warp *warp, const emu_insn *insn);

#endif
