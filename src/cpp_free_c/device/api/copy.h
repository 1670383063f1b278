/* Copies: what may be read and written, and moving boxes of bytes. */
#ifndef DEVICE_API_COPY_H
#define DEVICE_API_COPY_H

#include "device/base/device.h"

/* Whether kernels and copies of the context may use [address, address + bytes) as
 * device memory: one live allocation holds it. */
bool emu_is_device_range(uint64_t address, size_t bytes);

/* Whether it may be memory of the program: outside the range, or page-locked or
 * managed. */
bool emu_is_host_range(uint64_t address, size_t bytes);

#endif
