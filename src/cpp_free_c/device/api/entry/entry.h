/* How an entry point begins and ends: the lock, the fault injection, the call log.
 *
 *   CUresult
 *   emu_cuCtxGetFlags(unsigned int *flags)
 *   {
 *       emu_context *context;
 *       CUresult status = EMU_ENTER_CONTEXT(CtxGetFlags, &context);
 *
 *       if (status == CUDA_SUCCESS) { ... }
 *       return emu_leave(status);
 *   }
 *
 * Entering takes the API lock (lock.h) even if it fails; leaving releases it. */
#ifndef DEVICE_API_ENTRY_ENTRY_H
#define DEVICE_API_ENTRY_ENTRY_H

#include <stdbool.h>

#include "device/base/device.h"
#include "device/base/export.h"
#include "device/api/entry/call.h"

/* For calls that need no context. */
#define EMU_ENTER(name) emu_enter(EMU_CALL_##name)
/* For calls that need a sound current context. */
#define EMU_ENTER_CONTEXT(name, context) emu_enter_context(EMU_CALL_##name, context)
/* For calls on an object or on memory: they work in its context, whichever context is
 * current, as on a GPU. The default streams (the handles up to 2) are those of the
 * current context. */
#define EMU_ENTER_MODULE(name, module, context) \
    emu_enter_object(EMU_CALL_##name, module, EMU_MODULE, context)
#define EMU_ENTER_STREAM(name, stream, context) \
    emu_enter_object(EMU_CALL_##name, stream, EMU_STREAM, context)
#define EMU_ENTER_EVENT(name, event, context) \
    emu_enter_object(EMU_CALL_##name, event, EMU_EVENT, context)
#define EMU_ENTER_MEMORY(name, address, context) \
    emu_enter_memory(EMU_CALL_##name, address, context)

CUresult emu_enter(emu_call call);
CUresult emu_enter_context(emu_call call, emu_context **context);
CUresult emu_enter_object(emu_call call, const void *handle, emu_kind kind,
                          emu_context **context);
CUresult emu_enter_memory(emu_call call, uint64_t address, emu_context **context);
/* As emu_enter, but allowed before cuInit. */
CUresult emu_enter_early(emu_call call);
/* Log the call, release the lock and return the status. */
CUresult emu_leave(CUresult status);

/* Forbid this thread to call the driver while it runs a host function of the program.
 */
void emu_set_in_callback(bool on);

#endif
