/* Lookup of the functions that the software device provides. See service_names.h. */
#include "device/compile/service_names.h"

#include <string.h>

static const struct {
    const char *name;
    unsigned parameters;
} service_rows[EMU_SERVICE_COUNT] = {
#define SERVICE_ROW(member, name, parameters) \
    [EMU_SERVICE_##member] = {name, parameters},
#define RUNTIME_ROW(name, parameters) [EMU_RUNTIME_##name] = {#name, parameters},
    EMU_SERVICES(SERVICE_ROW) EMU_RUNTIME_SERVICES(RUNTIME_ROW)
#undef SERVICE_ROW
#undef RUNTIME_ROW
};

unsigned
emu_service_number(const char *name)
{
    static const char prefix[] = "__cudaCDP2";

    for (unsigned i = EMU_SERVICE_NONE + 1; i < EMU_SERVICE_RUNTIME; i++) {
        if (strcmp(name, service_rows[i].name) == 0) {
            return i;
        }
    }
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) {
        return EMU_SERVICE_NONE;
    }
    name += sizeof prefix - 1;
    for (unsigned i = EMU_SERVICE_RUNTIME; i < EMU_SERVICE_COUNT; i++) {
        const size_t length = strlen(service_rows[i].name);

        if (strncmp(name, service_rows[i].name, length) == 0 &&
            (name[length] == 0 || strcmp(name + length, "_ptsz") == 0)) {
            return i;
        }
    }
    return EMU_SERVICE_NONE;
}

const char *
emu_service_name(unsigned service)
{
    return service_rows[service].name;
}

unsigned
emu_service_parameters(unsigned service)
{
    return service_rows[service].parameters;
}
