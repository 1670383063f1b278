/* Idle workers: they keep their block and their frames for the next launch.
 *
 * Called by workers.c, from any thread. */
#ifndef DEVICE_MACHINE_GRID_IDLE_WORKERS_H
#define DEVICE_MACHINE_GRID_IDLE_WORKERS_H

#include "device/machine/warp/machine.h"

/* Take an idle worker, or make one. NULL: out of memory. */
emu_worker *emu_idle_worker_take(void);
/* Keep the worker for the next launch, unless it has much memory. */
void emu_idle_worker_give(emu_worker *worker);

#endif
