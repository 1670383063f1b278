/* Signal handlers that run while the device computes or waits.
 *
 * Invariant: see interrupt.c. Callers: init.c sets it up, errors.c raises, and code
 * that waits itself checks. */
#ifndef PYTHON_SUPPORT_INTERRUPT_H
#define PYTHON_SUPPORT_INTERRUPT_H

#include "python/support/base.h"

/* Raise the exception of a signal handler that ran during the call with this status.
 * Return true, or false if no handler raised. */
PCU_HIDDEN bool pcu_interrupt_raise(CUresult status);

/* Run the handlers of pending signals. Return true if one raised: the caller then ends
 * its call with CUDA_ERROR_TIMEOUT, and pcu_interrupt_raise raises the exception for
 * that status. If nothing calls pcu_interrupt_raise, the exception is raised as soon as
 * Python code runs. */
PCU_HIDDEN bool pcu_interrupt_check(void);

/* Register the callback by which long calls run signal handlers. */
PCU_HIDDEN PCU_RAISES int pcu_interrupt_setup(void);

/* Write what the device tells of a launch that takes long to stderr, if there is such a
 * notice. It is in device_warnings.c, which reads
 * what errors.c knows. The thread that runs the launch calls it; `released`: its state,
 * if it does not hold the interpreter lock. */
PCU_HIDDEN void pcu_device_notice_write(PyThreadState *released);

#endif
