/* Function descriptions: the limits and the parameters of a kernel, as the driver
 * reports them.
 *
 * Invariant: the parameters of a kernel never change; its limits change only when an
 * attribute is set. Callers: every file that checks or packs a launch. */
#ifndef PYTHON_DRIVER_LAUNCH_FUNCTION_DESCRIPTION_H
#define PYTHON_DRIVER_LAUNCH_FUNCTION_DESCRIPTION_H

#include "python/support/base.h"

#include "python/driver/launch/function_struct.h"

/* Read the limits and, from CUDA 12.4 on, the parameters of the kernel, unless they are
 * known. */
PCU_HIDDEN PCU_RAISES int pcu_function_describe(pcu_function *self);

/* Make the next pcu_function_describe read the limits again. Call it after an attribute
 * was set. */
PCU_HIDDEN void pcu_function_forget(pcu_function *self);

#endif
