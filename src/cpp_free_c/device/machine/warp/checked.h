/* A checked warp: the checks of uninitialised values and of races look at each
 * instruction before it runs.
 *
 * emu_checked_run is the emu_block.run_warp of a block with checks. Called by block.c,
 * watch.c and checked_lockstep.c. */
#ifndef DEVICE_MACHINE_WARP_CHECKED_H
#define DEVICE_MACHINE_WARP_CHECKED_H

#include "device/machine/warp/machine.h"

/* Run a warp until it stops. */
void emu_checked_run(emu_warp *warp);
/* Run one instruction with its checks. Returns the next one, NULL to stop the warp. */
const emu_insn *emu_checked_step(emu_warp *warp, const emu_insn *insn);
/* Check an access of the whole warp by its parts, and remember it. False: that is not
 * enough, the lanes must be checked. */
bool emu_checked_parts(emu_warp *warp, const emu_insn *insn);

#endif
