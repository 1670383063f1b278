/* How many blocks of a kernel fit on a multiprocessor. */
#ifndef DEVICE_API_OCCUPANCY_H
#define DEVICE_API_OCCUPANCY_H

#include "device/api/module.h"

/* 0 when not even one fits. */
int emu_occupancy_blocks(const emu_device *device, const emu_kernel_info *info,
                         int block_size, size_t dynamic_shared);
/* The same on the device of the function. */
int emu_occupancy_of(const emu_function *function, int block_size,
                     size_t dynamic_shared);

#endif
