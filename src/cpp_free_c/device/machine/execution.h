/* Running kernels of a loaded program: blocks over threads, reports of what went wrong.
 *
 * emu_exec_run returns when the grid is done. It may be called from several threads at
 * once, also for one context; the worker threads are the process's
 * (PYCUDA_EMULATOR_THREADS, default the number of cores) and help one caller at a time,
 * the others run their blocks themselves. After fork the child has no workers and runs
 * everything in the calling thread. What device printf collected and the blocks of
 * device malloc hang on the context's `exec`.
 *
 * Called by the driver entry points alone. */
#ifndef DEVICE_MACHINE_EXECUTION_H
#define DEVICE_MACHINE_EXECUTION_H

#include "device/compile/program.h"

struct emu_device_work;

/* The functions of the operations for this processor: see emu_program_load. */
const emu_op *emu_ops(void);

/* Writes what device printf collected to the process's standard output: call it at each
 * synchronisation. */
void emu_exec_flush(CUcontext context);

/* Flushes, frees the blocks of device malloc and sets context->exec to NULL. No kernel
 * of the context may be running. */
void emu_exec_context_close(CUcontext context);

/* -- launches ---------------------------------------------------------------------- */

typedef struct {
    const emu_kernel *kernel;
    unsigned grid[3];
    unsigned block[3];
    size_t dynamic_shared;
    const void *params; /* packed as emu_kernel_info.params says; read during the run */
    size_t params_size;
    int cooperative; /* all blocks make progress together; grid.sync works */
} emu_launch;

typedef struct {
    CUresult code;
    unsigned block[3];
    unsigned thread[3];
    uint64_t address; /* of the access, or 0 */
    unsigned line;    /* of the .loc in force, or 0 */
    char kernel[256]; /* cut when longer */
    char file[256];   /* of the .loc in force, or "" */
    char text[1280];  /* whole report, several lines, ready to print; "" on success */
} emu_report;

/* Runs the grid, and all that its threads launch, to the end. A fault ends the launch
 * with the driver's code; the report (may be NULL) says where. Refuses what cannot
 * start at all: INVALID_VALUE for a zero dimension or a block that .reqntid forbids,
 * LAUNCH_OUT_OF_RESOURCES for more threads than max_threads. Does not touch
 * context->sticky. */
CUresult emu_exec_run(CUcontext context, const emu_launch *launch, emu_report *report);
/* The same for the grid alone, which leaves what its threads launch in `work`. */
CUresult emu_exec_grid(CUcontext context, const emu_launch *launch, emu_report *report,
                       struct emu_device_work *work);

#endif
