/* The worker threads of the process.
 *
 * They help one caller at a time; other callers do all of their work themselves. So
 * does a child after a fork, which has no workers. Called by workers.c. */
#ifndef DEVICE_MACHINE_GRID_THREADS_H
#define DEVICE_MACHINE_GRID_THREADS_H

#include <stdbool.h>

/* Read the number of PYCUDA_EMULATOR_THREADS: at least 1. */
bool emu_threads_parse(const char *text, unsigned *count);

/* The most threads that work: PYCUDA_EMULATOR_THREADS, or the number of cores. */
unsigned emu_threads_count(void);

/* Call `part` with number 0 in this thread, and with other numbers in up to count - 1
 * workers if they are free. Return when all calls have returned. It is not certain that
 * a worker joins, so part 0 must be able to do all of the work. While this thread waits
 * for the workers it calls `idle` every EMU_POLL_NANOSECONDS. */
void emu_threads_run(void (*part)(void *data, unsigned number),
                     void (*idle)(void *data), void *data, unsigned count);

#endif
