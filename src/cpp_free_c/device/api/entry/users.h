/* The users of an object: work under way that needs it.
 *
 * Work that runs without the API lock counts itself as a user of each object that it
 * needs. An entry point that destroys an object first takes it out of the registry, so
 * that no new work finds it, and then waits until it has no user. Call all functions
 * with the API lock held. */
#ifndef DEVICE_API_ENTRY_USERS_H
#define DEVICE_API_ENTRY_USERS_H

#include <stdbool.h>

#include "device/base/object.h"

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

#endif
