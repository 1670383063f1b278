/* Memory that is freed while work runs that may use it.
 *
 * On a GPU freeing waits for such work, and so it does here, before
 * (emu_stream_settle). A signal handler that interrupts a wait, or the very work,
 * cannot wait. What it frees is kept until the work has ended. Call under the API lock.
 */
#ifndef DEVICE_API_DEFERRED_RELEASE_H
#define DEVICE_API_DEFERRED_RELEASE_H

#include "device/memory/memory.h"

/* Frees the memory, at once unless it has to be kept. */
CUresult emu_keep_or_free(emu_allocation *allocation);

/* Frees what was kept for work that has ended. */
void emu_keep_end(void);

#endif
