/* The launch of a Function: checking the shape and calling cuLaunchKernel.
 *
 * Invariant: each launch of a Function passes through pcu_launch_run or, if it has
 * attributes, pcu_launch_run_attributes. Both store changed texture references first.
 * Generated kernels of arrays have no Function: python/array/ops/kernel_launch.c
 * launches them. Callers: call.c, prepared_call.c and old_calls.c, which pack the
 * parameters. */
#ifndef PYTHON_DRIVER_LAUNCH_LAUNCH_H
#define PYTHON_DRIVER_LAUNCH_LAUNCH_H

#include "python/support/base.h"

#include "driver/events.h"

#include "python/driver/launch/function_struct.h"

/* Check the shape against the limits of the device and the kernel, then launch.
 * `params` holds `size` bytes. */
PCU_HIDDEN PCU_RAISES int pcu_launch_run(pcu_function *self,
                                         const pcu_launch_shape *shape, void *params,
                                         size_t size);

/* Do everything that comes before the driver call of a launch: check the shape and the
 * size of the parameters, store changed texture references, tell an active capture. */
PCU_HIDDEN PCU_RAISES int pcu_launch_ready(pcu_function *self,
                                           const pcu_launch_shape *shape, void *params,
                                           size_t size);

/* A hint for the message of a launch that failed: a handle that the driver calls
 * invalid may belong to another context. */
PCU_HIDDEN const char *pcu_launch_hint(const pcu_function *self, CUresult status);

/* Check the shape without launching. */
PCU_HIDDEN PCU_RAISES int pcu_launch_check(pcu_function *self,
                                           const pcu_launch_shape *shape);

/* Wait for the work of a stream of the current context; for all work of the context if
 * the stream is NULL. pcu_stream_synchronize differs: it accepts streams of other
 * contexts, and for NULL it waits for the work of the default stream only. */
PCU_HIDDEN PCU_RAISES int pcu_launch_synchronize(pcu_state *st, CUstream stream);

#endif
