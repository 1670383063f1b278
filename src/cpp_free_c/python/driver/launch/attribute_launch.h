/* Launches with attributes: cooperative launches, clusters and others.
 *
 * Invariant: as in launch.h. Callers: call.c and prepared_call.c. */
#ifndef PYTHON_DRIVER_LAUNCH_ATTRIBUTE_LAUNCH_H
#define PYTHON_DRIVER_LAUNCH_ATTRIBUTE_LAUNCH_H

#include "python/support/base.h"

#include "python/driver/launch/launch.h"
#include "python/driver/launch/launch_attributes.h"

/* Do the same as pcu_launch_run, with the attributes, by cuLaunchKernelEx. */
PCU_HIDDEN PCU_RAISES int pcu_launch_run_attributes(pcu_function *self,
                                                    const pcu_launch_shape *shape,
                                                    pcu_launch_attributes *attributes,
                                                    void *params, size_t size);

#endif
