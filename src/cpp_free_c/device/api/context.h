/* Contexts: the stack of each thread, primary contexts, looking handles up. */
#ifndef DEVICE_API_CONTEXT_H
#define DEVICE_API_CONTEXT_H

#include "device/base/device.h"

/* The calling thread's current context. INVALID_CONTEXT where there is none,
 * CONTEXT_IS_DESTROYED where it has gone. Under the API lock. */
CUresult emu_context_current(emu_context **context);

/* The same without looking whether it is alive; NULL for none. To be compared only. */
const emu_context *emu_context_peek(void);

/* The live context of a handle, or NULL. */
emu_context *emu_context_get(CUcontext handle);

/* Records a kernel's fault: every later call in the context fails with it. */
void emu_context_fail(emu_context *context, CUresult status);

/* Writes what kernels printed. Called without the API lock, the context being in use.
 */
void emu_context_flush(emu_context *context);

#endif
