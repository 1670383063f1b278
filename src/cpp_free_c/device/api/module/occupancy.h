/* How many blocks of a function fit on a multiprocessor.
 *
 * Used by the calls on occupancy and by the check of cooperative launches. */
#ifndef DEVICE_API_MODULE_OCCUPANCY_H
#define DEVICE_API_MODULE_OCCUPANCY_H

#include "device/api/module/module.h"
#include "device/machine/warp/occupancy.h"

/* emu_occupancy_blocks on the device of the function. */
int emu_occupancy_of(const emu_function *function, int block_size,
                     size_t dynamic_shared);

/* The most blocks that a cluster of the kernel may have. */
unsigned int emu_occupancy_cluster_most(const emu_function *function);

#endif
