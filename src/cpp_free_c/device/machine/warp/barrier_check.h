/* The check of barriers: threads of a block that wait for each other at different
 * __syncthreads of the source. Called by barrier.c. */
#ifndef DEVICE_MACHINE_WARP_BARRIER_CHECK_H
#define DEVICE_MACHINE_WARP_BARRIER_CHECK_H

#include "device/machine/warp/machine.h"

/* Called when the barrier is complete and its threads still wait. Fault if they wait
 * at different __syncthreads. The launch ends after the turn of the current warp. */
void emu_barrier_check(emu_block *block, uint32_t barrier);

#endif
