/* The threads of the driver that run Python code now: a count, and a door.
 *
 * A thread counts itself before it enters the interpreter. When the door is closed, new
 * threads are turned away, and the count only falls.
 *
 * Caller: python/support/driver_thread.c. */
#ifndef DRIVER_HOST_THREADS_H
#define DRIVER_HOST_THREADS_H

#include "driver/table.h"

/* Count this thread. Return false, and do not count it, if the door is closed. */
PCU_HIDDEN bool pcu_host_threads_enter(void);

/* Undo pcu_host_threads_enter after it returned true. */
PCU_HIDDEN void pcu_host_threads_leave(void);

/* Open the door. */
PCU_HIDDEN void pcu_host_threads_open(void);

/* Close the door. */
PCU_HIDDEN void pcu_host_threads_close(void);

/* The number of threads that have entered and not left. In a forked child it is 0: the
 * threads are the parent's. */
PCU_HIDDEN int pcu_host_threads_inside(void);

#endif
