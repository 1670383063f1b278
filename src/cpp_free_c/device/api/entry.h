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
 * Entering takes the API lock even where it fails; leaving gives it back. Long work (a
 * kernel, a copy, a host function) runs between emu_pause and emu_resume; whatever it
 * needs is kept by counting it in `users`. Lock order: a stream's locks, the API lock,
 * the memory's mutex. A stream's locks are never taken with the API lock held. */
#ifndef DEVICE_API_ENTRY_H
#define DEVICE_API_ENTRY_H

#include <stdbool.h>

#include "abi/cuda_abi.h"
#include "abi/symbols.h"
#include "device/base/device.h"

#define EMU_EXPORT __attribute__((visibility("default")))

/* The entry points. One that no file defines is NULL here: the device lacks it. */
#define EMU_DECLARE(name, version, need, blocking, parameters) \
    __attribute__((weak)) CUresult emu_cu##name parameters;
PCU_DRV_SYMBOLS(EMU_DECLARE)
#undef EMU_DECLARE

#define EMU_NUMBER(name, version, need, blocking, parameters) EMU_CALL_##name,
typedef enum { PCU_DRV_SYMBOLS(EMU_NUMBER) EMU_CALLS } emu_call;
#undef EMU_NUMBER

/* For calls that need no context. */
#define EMU_ENTER(name) emu_enter(EMU_CALL_##name)
/* For calls that need a sound current context. */
#define EMU_ENTER_CONTEXT(name, context) emu_enter_context(EMU_CALL_##name, context)
/* For calls that are given an object or memory: they work in its context, whichever is
 * current, as on a GPU. The default streams, the handles up to 2, are those of the
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
/* As emu_enter, before cuInit too. */
CUresult emu_enter_early(emu_call call);
CUresult emu_leave(CUresult status);

/* Gives the API lock back for a while, and takes it again; what pausing returned names
 * the call for the log. */
emu_call emu_pause(void);
void emu_resume(emu_call call);

/* The API lock alone, for what is exported beside the driver's interface. */
void emu_lock(void);
void emu_unlock(void);

/* Waits, letting others in, until no work needs the object. A signal that ends the wait
 * cancels the kernels of the object's context, so the object can go in any case. */
void emu_wait_unused(emu_object *object);
/* False in a call that a signal handler makes during a wait or a kernel of its own
 * thread, while work needs the object: it must not wait for itself. */
bool emu_can_wait_unused(const emu_object *object);
/* Waits, letting others in, until one of them calls emu_wake, or for
 * EMU_POLL_NANOSECONDS at most. True if a signal ends the wait. */
bool emu_wait(void);
void emu_wake(void);
/* Counts work on an object; done wakes who waits for it. */
void emu_use(emu_object *object);
void emu_done(emu_object *object);

/* The present call has polled (wait.h). */
void emu_mark_polled(void);

/* Set by cuInit when it has succeeded, and by the fork handler in a child. */
void emu_mark_initialised(void);
bool emu_is_initialised(void);
bool emu_is_forked(void);

/* True while this thread runs a host function of the program: it may not call us. */
void emu_set_in_callback(bool on);

#endif
