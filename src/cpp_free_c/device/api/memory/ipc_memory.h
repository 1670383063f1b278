/* The bookkeeping of memory that is shared between processes.
 *
 * The calls that share memory are in ipc_memory.c; release.c reports each free. */
#ifndef DEVICE_API_MEMORY_IPC_MEMORY_H
#define DEVICE_API_MEMORY_IPC_MEMORY_H

#include "device/memory/memory.h"

/* An allocation is about to be freed; it need not be shared. Call it with the API lock
 * held. */
void emu_ipc_memory_forget(const emu_allocation *allocation);

#endif
