/* The lines of the program, for the checks of the software device: device_caller.c.
 *
 * Callers: the function that loads the driver, and the end of the module. */
#ifndef PYTHON_SUPPORT_DEVICE_CALLER_H
#define PYTHON_SUPPORT_DEVICE_CALLER_H

#include "python/support/base.h"

/* Let the software device ask for lines. Does nothing with a real driver. `st` must
 * live until pcu_device_caller_finish. */
PCU_HIDDEN void pcu_device_caller_begin(const pcu_state *st);
PCU_HIDDEN void pcu_device_caller_finish(void);

/* Say that the program itself asks for the next free, or the end of a context (1), and
 * end that (0). Does nothing with a real driver. */
PCU_HIDDEN void pcu_device_caller_asks(int asked);

#endif
