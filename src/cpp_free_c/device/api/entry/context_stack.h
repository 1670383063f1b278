/* The stack of contexts of each thread, and how a handle becomes a context.
 *
 * Invariant: an entry may outlive its context. It carries the context's id and is
 * looked up in the registry before each use, so a destroyed context is the error
 * CONTEXT_IS_DESTROYED, never a dangling pointer. Call all functions with the API lock
 * held, except emu_context_fail. */
#ifndef DEVICE_API_ENTRY_CONTEXT_STACK_H
#define DEVICE_API_ENTRY_CONTEXT_STACK_H

#include "device/base/device.h"

/* The calling thread's current context. INVALID_CONTEXT if there is none,
 * CONTEXT_IS_DESTROYED if it has been destroyed. */
CUresult emu_context_current(emu_context **context);

/* The top of the stack, alive or destroyed; NULL if the stack is empty. Compare it, but
 * do not use it. */
emu_context *emu_context_top(void);
/* The handle with which the top was pushed; NULL if the stack is empty. */
CUcontext emu_context_top_handle(void);

/* `handle` is that of the context, or of a green context of it. */
CUresult emu_context_push(emu_context *context, CUcontext handle);
/* Remove the top, if there is one. */
void emu_context_pop(void);

/* The live context of a handle, or NULL. For a green context it is the primary one. */
emu_context *emu_context_get(CUcontext handle);

/* Record a kernel's fault: every later call in the context fails with it. */
void emu_context_fail(emu_context *context, CUresult status);
/* That fault, or SUCCESS. */
static inline CUresult
emu_context_status(const emu_context *context)
{
    return (CUresult)atomic_load(&context->sticky);
}

/* The context ends: its fault is what emu_ended_fault returns next in this thread. */
void emu_context_note_end(const emu_context *context);
/* The fault of the context that this thread has destroyed last, once. Any thread may
 * call it, without the API lock. */
CUresult emu_ended_fault(void);

/* -- green contexts ---------------------------------------------------------------- */

/* A green context holds the primary context of its device and shares its memory and
 * modules. Its handle also serves as the context that cuCtxFromGreenCtx gives: where a
 * call takes a context, this handle means the primary one, and the stack of contexts
 * keeps it, so that cuCtxGetCurrent returns what was made current. The number of
 * multiprocessors is kept and reported. It does not limit where kernels run. */

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
