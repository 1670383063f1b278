/* The reported version of the driver. See driver_version.h. */
#include "device/api/context/driver_version.h"

#include <stdlib.h>

#include "device/base/device.h"

enum { OLDEST_MAJOR = 11, NEWEST_MAJOR = 99 };

bool
emu_driver_version_parse(const char *text, int *version)
{
    int major = 0, minor;

    while (*text >= '0' && *text <= '9' && major <= NEWEST_MAJOR) {
        major = major * 10 + (*text++ - '0');
    }
    if (major < OLDEST_MAJOR || major > NEWEST_MAJOR || *text++ != '.') {
        return false;
    }
    minor = *text++ - '0';
    if (minor < 0 || minor > 9 || *text != '\0') {
        return false;
    }
    *version = major * 1000 + minor * 10;
    return true;
}

int
emu_driver_version(void)
{
    const char *text = getenv("PYCUDA_EMULATOR_DRIVER_VERSION");
    int version;

    if (text != NULL && emu_driver_version_parse(text, &version)) {
        return version;
    }
    return EMU_DRIVER_VERSION;
}
