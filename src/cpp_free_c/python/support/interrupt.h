/* Signal handlers that run while the software device computes or waits. */
#ifndef PYTHON_SUPPORT_INTERRUPT_H
#define PYTHON_SUPPORT_INTERRUPT_H

#include "python/support/base.h"

/* Raise what a signal handler raised during the call that returned the status: 1, or 0
 * if no handler did. */
PCU_HIDDEN int pcu_interrupt_raise(CUresult status);

/* Run the handlers of signals that have come. 1 if one raised: end the call with
 * CUDA_ERROR_TIMEOUT, for which pcu_interrupt_raise raises the exception. If none does,
 * the exception is raised as soon as Python code runs. */
PCU_HIDDEN int pcu_interrupt_check(void);

/* Let the software device, if that is the driver, run signal handlers. */
PCU_HIDDEN PCU_RAISES int pcu_interrupt_setup(void);

#endif
