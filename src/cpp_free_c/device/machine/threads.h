/* The worker threads of the process. They help one caller at a time; another one does
 * all of its work itself, as does a child after fork, which has none of them. */
#ifndef DEVICE_MACHINE_THREADS_H
#define DEVICE_MACHINE_THREADS_H

/* How many threads work at most: PYCUDA_EMULATOR_THREADS, or the number of cores. */
unsigned emu_threads_count(void);

/* Calls `part` in this thread, as part 0, and, where they are free, in up to count - 1
 * workers with other numbers; returns when all calls have. Whether a worker comes is
 * not certain: part 0 must be able to do all of the work. While this thread waits for
 * the workers it calls `idle` every 20 ms. */
void emu_threads_run(void (*part)(void *data, unsigned number),
                     void (*idle)(void *data), void *data, unsigned count);

#endif
