/* Running a kernel of a loaded program, and all work that its threads enqueue.
 *
 * emu_execution_run returns when the grid is done, or early: then another thread must
 * go on with it. Several threads may call it at once,
 * also for one context. The worker threads belong to the process
 * (PYCUDA_EMULATOR_THREADS, default the number of cores) and help one caller at a time;
 * other callers run their blocks themselves. After a fork the child has no workers and
 * runs everything in the calling thread.
 *
 * Called by the driver entry points alone. */
#ifndef DEVICE_MACHINE_GRID_EXECUTION_H
#define DEVICE_MACHINE_GRID_EXECUTION_H

#include <stdbool.h>

#include "device/base/device.h"
#include "device/machine/warp/launch.h"
#include "device/machine/warp/machine.h"

/* Run the grid, and all that its threads launch, to the end. If `left` is not NULL and
 * the grid runs for more than EMU_LEAVE_NANOSECONDS, return EMU_GOES_ON and set *left.
 * No grid that a thread of another grid has launched leaves its thread. A fault ends
 * the launch with the driver's code; the report (may be NULL) says where. Launches that
 * cannot start at all are refused: INVALID_VALUE for a zero dimension or a block that
 * .reqntid forbids, LAUNCH_OUT_OF_RESOURCES for more threads than max_threads. Does not
 * touch context->sticky. */
CUresult emu_execution_run(CUcontext context, const emu_launch *launch,
                           emu_report *report, emu_flight **left);
/* Run to the end what emu_execution_run has left, in any thread, and free it. */
CUresult emu_execution_go_on(emu_flight *flight, emu_report *report);

/* -- workers ----------------------------------------------------------------------- */

/* Workers: the threads that run the blocks of a grid.
 *
 * A worker runs one block after the other, which needs the least memory. Blocks may
 * wait for each other by reading global memory, as far as they can be resident on the
 * device at once (emu_grid.max_resident). So when the blocks of all workers wait
 * (warp.h), the grid changes its mode for the rest of the launch: workers begin all
 * blocks that can be resident and give them turns. Cooperative launches begin in this
 * mode.
 *
 * When all resident blocks wait and no further block can begin, the workers only watch.
 * If each worker proves that all of its blocks wait, while all workers only watch, then
 * the grid cannot make progress by itself (warp.h). The launch fails if nothing else
 * can write to the memory that it waits for:
 *
 * - none of it is memory that the host or other processes can write to,
 *
 * - all threads of the program that have used the device wait for it, no deferred
 *   stream keeps work (wait.h), and Python has no thread that may still use the device,
 *
 * - this state has lasted for GRACE nanoseconds.
 *
 * Otherwise the launch continues. */

/* Run all blocks of the grid. The report says how the launch ended. False: this thread
 * has left it, and another one must call emu_workers_go_on. The blocks of the first
 * worker rest meanwhile, those of the worker threads run. */
bool emu_workers_run(emu_grid *grid);
bool emu_workers_go_on(emu_grid *grid);

/* -- threads ----------------------------------------------------------------------- */

/* The worker threads of the process.
 *
 * They help one caller at a time; other callers do all of their work themselves. So
 * does a child after a fork, which has no workers. */

/* Read the number of PYCUDA_EMULATOR_THREADS: at least 1. */
bool emu_threads_parse(const char *text, unsigned *count);

/* The most threads that work: PYCUDA_EMULATOR_THREADS, or the number of cores. */
unsigned emu_threads_count(void);

/* Let up to count - 1 workers call `part` with the numbers from 1 on, if they are free
 * and the caller wakes them by emu_threads_wake. True: some may do so until
 * emu_threads_finish has returned true. It is not certain that a worker joins, so the
 * caller, as number 0, must be able to do all of the work. */
bool emu_threads_begin(void (*part)(void *data, unsigned number), void *data,
                       unsigned count);
void emu_threads_wake(void);
/* Wait until all calls have returned, and call `idle` every EMU_POLL_NANOSECONDS
 * meanwhile. False: it has returned false, so the wait ended early. */
bool emu_threads_finish(bool (*idle)(void *data), void *data);

#endif
