/* Barriers of a block: the operations bar and barrier. See emu_barrier in machine.h.
 *
 * A group that arrives waits as EMU_GROUP_AT_BARRIER until the barrier is complete.
 * Until then its registers keep the operands of a reduction. */
#ifndef DEVICE_MACHINE_WARP_BARRIER_H
#define DEVICE_MACHINE_WARP_BARRIER_H

#include "device/machine/warp/machine.h"

/* Complete the barriers that waited only for lanes of the warp which have exited. */
void emu_barrier_lanes_exited(emu_warp *warp);

#endif
