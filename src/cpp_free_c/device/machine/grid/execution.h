/* Running a kernel of a loaded program, and all work that its threads enqueue.
 *
 * emu_execution_run returns when the grid is done. Several threads may call it at once,
 * also for one context. The worker threads belong to the process
 * (PYCUDA_EMULATOR_THREADS, default the number of cores) and help one caller at a time;
 * other callers run their blocks themselves. After a fork the child has no workers and
 * runs everything in the calling thread.
 *
 * Called by the driver entry points alone. */
#ifndef DEVICE_MACHINE_GRID_EXECUTION_H
#define DEVICE_MACHINE_GRID_EXECUTION_H

#include "device/base/device.h"
#include "device/machine/warp/launch.h"

/* Read the seconds of PYCUDA_EMULATOR_TIMEOUT: a number from 0 on, where 0 is no limit.
 */
bool emu_execution_parse_timeout(const char *text, double *seconds);

/* Run the grid, and all that its threads launch, to the end. A fault ends the launch
 * with the driver's code; the report (may be NULL) says where. Launches that cannot
 * start at all are refused: INVALID_VALUE for a zero dimension or a block that .reqntid
 * forbids, LAUNCH_OUT_OF_RESOURCES for more threads than max_threads. Does not touch
 * context->sticky. */
CUresult emu_execution_run(CUcontext context, const emu_launch *launch,
                           emu_report *report);

#endif
