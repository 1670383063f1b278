/* Memory that a program has freed and that running work may still use.
 *
 * A free first waits for the running work, as on a GPU (emu_running_settle). A nested
 * call, made by a signal handler during a wait or a kernel of its own thread, cannot
 * wait. What it frees stays pending until the work has ended. Call all functions with
 * the API lock held. */
#ifndef DEVICE_API_ENTRY_PENDING_FREE_H
#define DEVICE_API_ENTRY_PENDING_FREE_H

#include "device/memory/memory.h"

/* Free the allocation by calling `release`, now or when the running work has ended.
 * `release` returns false if the allocation was freed before. */
CUresult emu_pending_free(emu_allocation *allocation,
                          bool (*release)(emu_allocation *));

/* Release the allocations whose work has ended. */
void emu_pending_free_flush(void);

#endif
