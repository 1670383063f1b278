/* The tables of names and traits of the calls. See call.h. */
#include "device/api/entry/call.h"

#include <string.h>

enum {
    TRAITS_PLAIN = 0,
    TRAITS_ALLOCATES = EMU_CALL_IS_UNSAFE,
    TRAITS_FREES = EMU_CALL_IS_UNSAFE | EMU_CALL_RUNS_DEFERRED | EMU_CALL_WAITS_RUNNING,
    TRAITS_FREES_MEMORY = EMU_CALL_IS_UNSAFE, /* emu_cuMemFree waits, if it has to */
    TRAITS_DESTROYS = EMU_CALL_IS_UNSAFE | EMU_CALL_RUNS_DEFERRED,
    TRAITS_ENDS_CONTEXT =
        EMU_CALL_RUNS_DEFERRED | EMU_CALL_WAITS_RUNNING | EMU_CALL_ENDS_CONTEXT,
    TRAITS_RUNS_KEPT = EMU_CALL_RUNS_DEFERRED,
    TRAITS_REACHES = EMU_CALL_RUNS_DEFERRED | EMU_CALL_WAITS_RUNNING,
    TRAITS_WAITS = EMU_CALL_STOPS_CAPTURE | EMU_CALL_RUNS_DEFERRED |
                   EMU_CALL_WAITS_RUNNING | EMU_CALL_IS_INTERRUPTIBLE
};

#define CALL_TRAITS(name, export, version, thread, caller, door, traits, ...) \
    [EMU_CALL_##name] = TRAITS_##traits,
const unsigned char emu_call_traits[EMU_CALLS] = {PCU_FUNCTIONS(CALL_TRAITS)};
#undef CALL_TRAITS

/* The newest export comes first. */
#define NEWEST_EXPORT(export, version) \
    PCU_JOIN(NEWEST_EXPORT_, PCU_IN_PARENTHESES(export))(export, version)
#define NEWEST_EXPORT_0(export, version) PCU_TEXT(export)
#define NEWEST_EXPORT_1(names, version)                                \
    (version) > PCU_OTHER_VERSION(names) ? PCU_TEXT(PCU_EXPORT(names)) \
                                         : PCU_TEXT(PCU_OTHER_NAME(names))
#define CALL_NAMES(name, export, version, ...) \
    {"cu" #name, NEWEST_EXPORT(export, version)},
static const struct {
    const char *name, *export;
} calls[EMU_CALLS] = {PCU_FUNCTIONS(CALL_NAMES)};
#undef CALL_NAMES

const char *
emu_call_export(emu_call call)
{
    return calls[call].export;
}

const char *
emu_call_name(emu_call call)
{
    return calls[call].name;
}

int
emu_call_find(const char *name)
{
    if (name == NULL || *name == 0 || strcmp(name, "*") == 0) {
        return EMU_CALLS;
    }
    for (int i = 0; i < EMU_CALLS; i++) {
        if (strcmp(name, calls[i].name) == 0 || strcmp(name, calls[i].name + 2) == 0) {
            return i;
        }
    }
    return -1;
}
