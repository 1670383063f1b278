/* What every exported function has in common, and the exported functions. */
#ifndef DEVICE_API_EXPORTS_EXPORTS_H
#define DEVICE_API_EXPORTS_EXPORTS_H

#include "device/api/entry/call.h"
#include "device/base/export.h"

#define EMU_EXPORTED(export, base, version, stream, name, parameters, arguments) \
    EMU_EXPORT CUresult export parameters;
PCU_DRIVER_EXPORTS(EMU_EXPORTED)
#undef EMU_EXPORTED

#define EMU_EXPORTED(export, base, version, stream, name) \
    EMU_EXPORT CUresult export(void);
PCU_DRIVER_MISSING(EMU_EXPORTED)
#undef EMU_EXPORTED

/* Log a call of a function that is not built. Return NOT_SUPPORTED. */
CUresult emu_not_built(emu_call call);

#endif
