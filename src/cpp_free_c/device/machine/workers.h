/* The threads that run a grid, and which of its blocks are under way.
 *
 * A worker runs one block after the other, which costs least memory. Blocks may wait
 * for each other by reading global memory, as far as they can be resident on the device
 * at once (emu_grid.most). So when the blocks of all workers wait (watch.h), the grid
 * changes over for the rest of the launch: workers begin all blocks that can be
 * resident and run them in turns. Cooperative launches begin like that.
 *
 * When all of these wait, and no further block can begin, the workers only watch. Once
 * each worker has watched all of its blocks through, in a time in which all did nothing
 * but that, it is proven that the grid cannot go on by itself. The launch fails if
 * nothing else can write to the memory that it waits for:
 *
 * - none of it is memory that the host or other processes can write to;
 * - all threads of the program that have used the device wait for it (wait.h), and
 *   there is no thread of Python that may still come;
 * - that has been so for GRACE nanoseconds.
 *
 * Otherwise the launch goes on, looking round from time to time. */
#ifndef DEVICE_MACHINE_WORKERS_H
#define DEVICE_MACHINE_WORKERS_H

#include "device/machine/machine.h"

/* Runs all blocks of the grid; the report says how it ended. */
void emu_workers_run(emu_grid *grid);

#endif
