/* Occupancy: how many blocks of a kernel are resident on a multiprocessor at once.
 *
 * The result follows from the limits of the device and the needs of the kernel, with
 * the units of allocation of the hardware that has these limits. Called by launches, by
 * kernels that ask for it (dynamic_parallelism.c) and by the driver's queries. */
#ifndef DEVICE_MACHINE_WARP_OCCUPANCY_H
#define DEVICE_MACHINE_WARP_OCCUPANCY_H

#include "device/base/device.h"
#include "device/compile/code.h"

/* The bytes of shared memory that the system takes in each block. */
int emu_occupancy_reserved_shared(const emu_device *device);

/* The blocks that fit on a multiprocessor; 0 if not even one fits. */
int emu_occupancy_blocks(const emu_device *device, const emu_kernel_info *info,
                         int block_size, size_t dynamic_shared);

#endif
