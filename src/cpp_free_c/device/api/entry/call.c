/* The tables of names and traits of the calls. See call.h. */
#include "device/api/entry/call.h"

#include <string.h>

enum {
    ALLOCATES = EMU_CALL_IS_UNSAFE,
    FREES = EMU_CALL_IS_UNSAFE | EMU_CALL_RUNS_DEFERRED | EMU_CALL_WAITS_RUNNING,
    DESTROYS_OBJECT = EMU_CALL_IS_UNSAFE | EMU_CALL_RUNS_DEFERRED,
    DESTROYS_CONTEXT =
        EMU_CALL_RUNS_DEFERRED | EMU_CALL_WAITS_RUNNING | EMU_CALL_ENDS_CONTEXT
};

const unsigned char emu_call_traits[EMU_CALLS] = {
    [EMU_CALL_CtxSynchronize] = EMU_CALL_STOPS_CAPTURE | EMU_CALL_RUNS_DEFERRED |
                                EMU_CALL_WAITS_RUNNING | EMU_CALL_IS_INTERRUPTIBLE,
    [EMU_CALL_CtxSynchronize_v2] = EMU_CALL_STOPS_CAPTURE | EMU_CALL_RUNS_DEFERRED |
                                   EMU_CALL_WAITS_RUNNING | EMU_CALL_IS_INTERRUPTIBLE,
    [EMU_CALL_CtxRecordEvent] = EMU_CALL_RUNS_DEFERRED | EMU_CALL_WAITS_RUNNING,
    [EMU_CALL_CtxDestroy] = DESTROYS_CONTEXT,
    [EMU_CALL_DevicePrimaryCtxRelease] = DESTROYS_CONTEXT,
    [EMU_CALL_DevicePrimaryCtxReset] = DESTROYS_CONTEXT,
    [EMU_CALL_StreamDestroy] = EMU_CALL_RUNS_DEFERRED,
    [EMU_CALL_MemAlloc] = ALLOCATES,
    [EMU_CALL_MemAllocPitch] = ALLOCATES,
    [EMU_CALL_MemAllocManaged] = ALLOCATES,
    [EMU_CALL_MemHostAlloc] = ALLOCATES,
    [EMU_CALL_MemHostRegister] = ALLOCATES,
    [EMU_CALL_ArrayCreate] = ALLOCATES,
    [EMU_CALL_Array3DCreate] = ALLOCATES,
    [EMU_CALL_MipmappedArrayCreate] = ALLOCATES,
    [EMU_CALL_TexObjectCreate] = ALLOCATES,
    [EMU_CALL_SurfObjectCreate] = ALLOCATES,
    [EMU_CALL_ModuleLoad] = ALLOCATES,
    [EMU_CALL_ModuleLoadData] = ALLOCATES,
    [EMU_CALL_ModuleLoadDataEx] = ALLOCATES,
    [EMU_CALL_ModuleLoadFatBinary] = ALLOCATES,
    [EMU_CALL_LibraryLoadData] = ALLOCATES,
    [EMU_CALL_LibraryLoadFromFile] = ALLOCATES,
    [EMU_CALL_LibraryUnload] = FREES,
    [EMU_CALL_MemAllocHost] = ALLOCATES,
    [EMU_CALL_MemFree] = FREES,
    [EMU_CALL_MemFreeHost] = FREES,
    [EMU_CALL_MemHostUnregister] = FREES,
    [EMU_CALL_ArrayDestroy] = FREES,
    [EMU_CALL_MipmappedArrayDestroy] = FREES,
    [EMU_CALL_ModuleUnload] = FREES,
    [EMU_CALL_TexObjectDestroy] = DESTROYS_OBJECT,
    [EMU_CALL_SurfObjectDestroy] = DESTROYS_OBJECT,
};

#define CALL_NAME(name, version, need, blocking, parameters) "cu" #name,
#define CLIENT_NAME(name, version, parameters) "cu" #name,
#define MISSING_NAME(name) "cu" #name,
static const char *const call_names[EMU_CALLS] = {PCU_DRV_SYMBOLS(
    CALL_NAME) PCU_CLIENT_SYMBOLS(CLIENT_NAME) PCU_DRIVER_MISSING_CALLS(MISSING_NAME)};
#undef CALL_NAME
#undef CLIENT_NAME
#undef MISSING_NAME

/* The exports for the default stream of the process, the newest of a call last. */
#define EXPORT_LEGACY(export, name) {EMU_CALL_##name, #export},
#define EXPORT_PER_THREAD(export, name)
#define EXPORT_ROW(export, base, version, stream, name, parameters, arguments) \
    EXPORT_##stream(export, name)
static const struct {
    emu_call call;
    const char *export;
} call_exports[] = {PCU_DRIVER_EXPORTS(EXPORT_ROW)};
#undef EXPORT_ROW

const char *
emu_call_export(emu_call call)
{
    for (size_t i = sizeof(call_exports) / sizeof(call_exports[0]); i-- > 0;) {
        if (call_exports[i].call == call) {
            return call_exports[i].export;
        }
    }
    return emu_call_name(call);
}

const char *
emu_call_name(emu_call call)
{
    return call_names[call];
}

int
emu_call_find(const char *name)
{
    if (name == NULL || *name == 0 || strcmp(name, "*") == 0) {
        return EMU_CALLS;
    }
    for (int i = 0; i < EMU_CALLS; i++) {
        if (strcmp(name, call_names[i]) == 0 || strcmp(name, call_names[i] + 2) == 0) {
            return i;
        }
    }
    return -1;
}
