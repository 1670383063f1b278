/* The names of a device. See device_name.h. */
#include "device/api/context/device_name.h"

#include <stdio.h>
#include <string.h>

void
emu_device_uuid(int ordinal, CUuuid *uuid)
{
    memcpy(uuid->bytes, "PyCUDA software", sizeof(uuid->bytes));
    uuid->bytes[15] = (char)ordinal;
}

void
emu_device_bus_id(int ordinal, char *text, size_t room)
{
    (void)snprintf(text, room, "0000:%02X:00.0", (unsigned)ordinal + 1);
}
