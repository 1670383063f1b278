/* The API lock: one mutex that guards every object and list of the driver interface.
 *
 * Every entry point holds it from its begin to its end (entry.h). Long work (a kernel,
 * a copy, a host function) runs between emu_lock_pause and emu_lock_resume; what such
 * work needs is kept alive by counting its users (users.h).
 *
 * Lock order: a stream's locks, the API lock, the memory's mutex. Never take a stream's
 * locks while holding the API lock. */
#ifndef DEVICE_API_ENTRY_LOCK_H
#define DEVICE_API_ENTRY_LOCK_H

#include <stdbool.h>

#include "device/api/entry/call.h"

void emu_lock(void);
void emu_unlock(void);

/* Take the lock for a call. The number names the call in the log until it ends. */
void emu_lock_for(emu_call call);
/* The call that holds the lock in this thread. */
emu_call emu_lock_call(void);

/* Release the lock for a while and take it again. Pass what emu_lock_pause returned to
 * emu_lock_resume: a signal handler may make other calls in between. */
emu_call emu_lock_pause(void);
void emu_lock_resume(emu_call call);

/* Wait with the lock released until another thread calls emu_lock_wake, or for
 * EMU_POLL_NANOSECONDS at most. Return true if a signal ends the wait. */
bool emu_lock_wait(void);
void emu_lock_wake(void);

/* Whether cuInit has succeeded, and whether this process is a child of the process in
 * which it did. A child must not use the parent's handles. */
void emu_mark_initialised(void);
bool emu_is_initialised(void);
bool emu_is_forked(void);

#endif
