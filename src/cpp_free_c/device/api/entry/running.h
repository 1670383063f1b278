/* The work that runs now, and waiting for it.
 *
 * Each piece of work gets a ticket when it begins, so that a wait covers the work that
 * runs now and none that begins later. Call all functions with the API lock held. */
#ifndef DEVICE_API_ENTRY_RUNNING_H
#define DEVICE_API_ENTRY_RUNNING_H

#include "device/base/device.h"

typedef struct emu_running {
    const emu_context *context;
    uint64_t ticket;
    struct emu_running *next;
} emu_running;

void emu_running_begin(emu_running *work, const emu_context *context);
void emu_running_end(emu_running *work);

/* Whether work of the context is running that has that ticket or an earlier one. */
bool emu_running_is(const emu_context *context, uint64_t ticket);

/* Wait for the work of the context that other threads are running now. A nested call
 * (wait.h) does not wait. */
void emu_running_settle(const emu_context *context);

/* Whether this is a nested call for which emu_running_settle would have to wait. Stores
 * the last ticket given out. */
bool emu_running_cannot_settle(const emu_context *context, uint64_t *ticket);

/* A signal ended a wait of this thread: from now on the thread does not wait for the
 * work that runs now. Otherwise what it frees while it handles the signal would. */
void emu_running_give_up(void);

#endif
