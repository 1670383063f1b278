/* Ending a launch before its blocks end: the deadline, a signal, no memory.
 *
 * Called by block.c, every few turns, and by workers.c. */
#ifndef DEVICE_MACHINE_WARP_CANCEL_H
#define DEVICE_MACHINE_WARP_CANCEL_H

#include "device/machine/warp/machine.h"

/* End the launch with a code, unless it has failed already. The text may be NULL. */
void emu_cancel(emu_grid *grid, CUresult code, const char *text);
/* End the launch because the host has no memory to run it. */
void emu_cancel_no_memory(emu_grid *grid);

/* Called every few turns of a block: let the program handle signals, and end the launch
 * at its deadline or when it is cancelled. */
void emu_cancel_look(emu_worker *worker, emu_grid *grid);

#endif
