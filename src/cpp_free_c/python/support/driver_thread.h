/* Python code in threads of the driver: driver_thread.c.
 *
 * Callers: the functions that the driver calls, and that run or release Python
 * objects. */
#ifndef PYTHON_SUPPORT_DRIVER_THREAD_H
#define PYTHON_SUPPORT_DRIVER_THREAD_H

#include "python/support/base.h"

/* What pcu_driver_thread_leave needs. */
typedef struct {
    PyGILState_STATE held;
    pcu_saved_error pending;
} pcu_driver_thread;

/* Take the interpreter lock in a thread that may not hold it, and put its pending
 * exception aside. Return true, or false if the interpreter ends or has ended: the
 * caller then returns at once and touches no Python object. */
PCU_HIDDEN bool pcu_driver_thread_enter(pcu_driver_thread *thread);

/* Undo pcu_driver_thread_enter after it returned 1. */
PCU_HIDDEN void pcu_driver_thread_leave(pcu_driver_thread *thread);

/* Let the exit of the interpreter wait for threads that entered. Called when the driver
 * is initialised; a second call does nothing. */
PCU_HIDDEN PCU_RAISES int pcu_driver_thread_setup(pcu_state *st);

#endif
