/* What the library exports: the names of NVIDIA's driver, and what only the extension
 * uses. */
#ifndef DEVICE_API_EXPORTS_EXPORTS_H
#define DEVICE_API_EXPORTS_EXPORTS_H

#include "abi/software_device.h"
#include "device/api/entry/call.h"
#include "device/base/export.h"

/* PCU_SOFTWARE_DEVICE is its name. */
EMU_EXPORT extern const pcu_software_device emu_software_device;

/* clang-format off */
#define EMU_EXPORTED(export, thread, ...)                                          \
    EMU_EXPORT CUresult export(__VA_ARGS__);                                       \
    PCU_IF_THREAD_##thread(                                                        \
        EMU_EXPORT CUresult PCU_THREAD_NAME_##thread(export)(__VA_ARGS__);)
#define EMU_EXPORTS(name, export, version, thread, caller, door, traits, span, ...)     \
    EMU_EXPORTED(PCU_EXPORT(export), thread, PCU_PARAMETERS(__VA_ARGS__))               \
    PCU_IF_OTHER(export)(EMU_EXPORTED(PCU_OTHER_NAME(export), thread,                   \
                                      PCU_PARAMETERS(__VA_ARGS__)))
/* clang-format on */
PCU_FUNCTIONS(EMU_EXPORTS)
#undef EMU_EXPORTED
#undef EMU_EXPORTS

#endif
