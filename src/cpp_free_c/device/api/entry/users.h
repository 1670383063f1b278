/* The users of an object: work under way that needs it.
 *
 * Work that runs without the API lock counts itself as a user of each object that it
 * needs. An entry point that destroys an object first takes it out of the registry, so
 * that no new work finds it, and then waits until it has no user. Call all functions
 * with the API lock held. */
#ifndef DEVICE_API_ENTRY_USERS_H
#define DEVICE_API_ENTRY_USERS_H

#include <stdbool.h>
#include <stddef.h>

#include "device/base/object.h"
#include "device/base/device.h"
#include "device/base/export.h"

void emu_users_add(emu_object *object);
void emu_users_remove(emu_object *object);

/* Wait, with the lock released, until the object has no user. A signal that ends the
 * wait cancels the kernels of the object's context, so the wait always ends. */
void emu_users_wait(emu_object *object);

/* Destroy an object whose handle the program gives up: count the release, wait for the
 * users, call the object's `destroy`. NOT_PERMITTED if the call must not wait. */
CUresult emu_users_destroy(emu_object *object);

/* Whether emu_users_wait may be called. It may not in a call that a signal handler
 * makes while its own thread waits or runs a kernel: the thread would wait for itself.
 */
bool emu_users_can_wait(const emu_object *object);

/* -- doubtful releases ------------------------------------------------------------- */

/* What programs left to a context, or freed while another one was current. The
 * functions marked EMU_EXPORT may be called from any thread at any time, before cuInit
 * too; a test reaches them through dlsym or ctypes. */

/* Objects and allocations that contexts still held when they were destroyed. */
EMU_EXPORT unsigned long long emu_abandoned_count(void);
/* Objects and allocations that were released while another context was current. */
EMU_EXPORT unsigned long long emu_foreign_free_count(void);

/* Add to the first count. */
void emu_count_abandoned(size_t count);
/* Add to the second count if `owner`, the context of what is released, is not current.
 */
void emu_count_free(const emu_context *owner);

#endif
