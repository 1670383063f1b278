/* The launch of a Function: checking the shape and calling cuLaunchKernel.
 *
 * Invariant: each launch of a Function passes through pcu_launch_run, which stores
 * changed texture references first. Generated kernels of arrays have no Function:
 * python/array/ops/kernel_launch.c launches them. Callers: call.c, prepared_call.c and
 * old_calls.c, which pack the parameters. */
#ifndef PYTHON_DRIVER_LAUNCH_LAUNCH_H
#define PYTHON_DRIVER_LAUNCH_LAUNCH_H

#include "python/support/base.h"

#include "python/driver/launch/function_struct.h"

typedef struct {
    unsigned int grid[3];
    unsigned int block[3];
    unsigned int shared; /* bytes of dynamic shared memory */
    CUstream stream;
} pcu_launch_shape;

/* Check the shape against the limits of the device and the kernel, then launch.
 * `params` holds `size` bytes. */
PCU_HIDDEN PCU_RAISES int pcu_launch_run(pcu_function *self,
                                         const pcu_launch_shape *shape, void *params,
                                         size_t size);

/* Check the shape without launching. */
PCU_HIDDEN PCU_RAISES int pcu_launch_check(pcu_function *self,
                                           const pcu_launch_shape *shape);

/* Wait for the work of a stream of the current context; for all work of the context if
 * the stream is NULL. pcu_stream_synchronize differs: it accepts streams of other
 * contexts, and for NULL it waits for the work of the default stream only. */
PCU_HIDDEN PCU_RAISES int pcu_launch_synchronize(pcu_state *st, CUstream stream);

#endif
