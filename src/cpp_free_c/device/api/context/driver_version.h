/* The version of the driver that the library reports. */
#ifndef DEVICE_API_CONTEXT_DRIVER_VERSION_H
#define DEVICE_API_CONTEXT_DRIVER_VERSION_H

#include <stdbool.h>

/* Read a version such as 12.4 as 12040. False for anything else. */
bool emu_driver_version_parse(const char *text, int *version);

/* The version that PYCUDA_EMULATOR_DRIVER_VERSION asks for, otherwise
 * EMU_DRIVER_VERSION. A value that cannot be read counts as unset: cuInit reports it.
 */
int emu_driver_version(void);

#endif
