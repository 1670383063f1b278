/* Memory whose free has to wait for running work.
 *
 * On a GPU a free waits for the work that may use the memory, and so it does here,
 * before (emu_running_settle). A signal handler that interrupts a wait, or the very
 * work, cannot wait: what it frees stays pending until the work has ended. Call all
 * functions with the API lock held. */
#ifndef DEVICE_API_PENDING_FREE_H
#define DEVICE_API_PENDING_FREE_H

#include "device/memory/memory.h"

/* Free the allocation by calling `release`, now or when the running work has ended.
 * `release` returns false if the allocation was freed before. */
CUresult emu_pending_free(emu_allocation *allocation,
                          bool (*release)(emu_allocation *));

/* Release the allocations whose work has ended. */
void emu_pending_free_flush(void);

#endif
