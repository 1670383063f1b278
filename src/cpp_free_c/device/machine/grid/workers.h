/* Workers: the threads that run the blocks of a grid.
 *
 * A worker runs one block after the other, which needs the least memory. Blocks may
 * wait for each other by reading global memory, as far as they can be resident on the
 * device at once (emu_grid.max_resident). So when the blocks of all workers wait
 * (watch.h), the grid changes its mode for the rest of the launch: workers begin all
 * blocks that can be resident and give them turns. Cooperative launches begin in this
 * mode.
 *
 * When all resident blocks wait and no further block can begin, the workers only watch.
 * If each worker proves that all of its blocks wait, while all workers only watch, then
 * the grid cannot make progress by itself (proof.h). The launch fails if nothing else
 * can write to the memory that it waits for:
 *
 * - none of it is memory that the host or other processes can write to,
 *
 * - all threads of the program that have used the device wait for it, no deferred
 *   stream keeps work (wait.h), and Python has no thread that may still use the device,
 *
 * - this state has lasted for GRACE nanoseconds.
 *
 * Otherwise the launch continues. Called by execution.c. */
#ifndef DEVICE_MACHINE_GRID_WORKERS_H
#define DEVICE_MACHINE_GRID_WORKERS_H

#include "device/machine/warp/machine.h"

/* Run all blocks of the grid. The report says how the launch ended. */
void emu_workers_run(emu_grid *grid);

#endif
