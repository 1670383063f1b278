/* Green contexts: parts of a device's multiprocessors.
 *
 * A green context holds the primary context of its device and shares its memory and
 * modules. Its handle also serves as the context that cuCtxFromGreenCtx gives: where a
 * call takes a context, this handle means the primary one, and the stack of contexts
 * keeps it, so that cuCtxGetCurrent returns what was made current. The number of
 * multiprocessors is kept and reported. It does not limit where kernels run. */
#ifndef DEVICE_API_ENTRY_GREEN_CONTEXT_H
#define DEVICE_API_ENTRY_GREEN_CONTEXT_H

#include "device/base/device.h"

typedef struct CUgreenCtx_st {
    emu_object object; /* of no context */
    emu_device *device;
    CUcontext primary;
    unsigned int multiprocessors;
} emu_green_context;

/* The live green context of a handle, or NULL. */
static inline emu_green_context *
emu_green_context_get(const void *handle)
{
    return emu_object_get((void *)(uintptr_t)handle, EMU_GREEN_CONTEXT);
}

#endif
