/* The doors: how a call enters the software device, and how it leaves.
 *
 * exports/ makes the exported function of each row of abi/functions.h: it enters by the
 * door that the row names, calls the body (emu_cuMemAlloc, say) if the door let the
 * call in, and leaves. So a body runs with the API lock held, in a sound context, with
 * an object that exists; it returns a status wherever it has one. What a door finds
 * (the context, the stream) is the body's first parameter or stands in the place of the
 * handle.
 *
 * The doors that find a stream are in stream/stream.c, and emu_enter_function is in
 * module/function.c.
 *
 * Entering takes the API lock (lock.h) even if it fails; leaving releases it. */
#ifndef DEVICE_API_ENTRY_ENTRY_H
#define DEVICE_API_ENTRY_ENTRY_H

#include <stdbool.h>

#include "device/base/device.h"
#include "device/base/export.h"
#include "device/api/entry/call.h"

/* For calls that are allowed before cuInit, and for calls that need no context. */
CUresult emu_enter_early(emu_call call);
CUresult emu_enter(emu_call call);
/* For calls on a device. */
CUresult emu_enter_device(emu_call call, CUdevice ordinal);

/* For calls that need the current context: a sound one, or one that a kernel's fault
 * may have ended. */
CUresult emu_enter_context(emu_call call, emu_context **context);
CUresult emu_enter_context_even_failed(emu_call call, emu_context **context);
/* Only check that there is a sound one. */
CUresult emu_enter_current(emu_call call);
/* For calls on the context given; NULL stands for the current one. It may have failed.
 */
CUresult emu_enter_given_context(emu_call call, CUcontext *context);

/* For calls on an object, or on memory: they need its context, whichever context is
 * current, as on a GPU; a few kinds of objects need the current one, or none. */
CUresult emu_enter_object(emu_call call, emu_kind kind, const void *handle);
CUresult emu_enter_memory(emu_call call, uint64_t address);

/* The last step of a door: the current context, which must be a sound one. */
CUresult emu_entered_current(emu_context **context);

/* A body that stores one value. */
#define EMU_GETTER(body, parameters, out, value) \
    CUresult body parameters                     \
    {                                            \
        if ((out) == NULL) {                     \
            return CUDA_ERROR_INVALID_VALUE;     \
        }                                        \
        *(out) = value;                          \
        return CUDA_SUCCESS;                     \
    }

/* Log the call, release the lock and return the status. */
CUresult emu_leave(CUresult status);

/* Forbid this thread to call the driver while it runs a host function of the program.
 */
void emu_set_in_callback(bool on);

#endif
