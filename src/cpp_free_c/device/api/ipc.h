/* The bookkeeping of shared memory. */
#ifndef DEVICE_API_IPC_H
#define DEVICE_API_IPC_H

#include "device/memory/memory.h"

/* An allocation is about to be freed; it need not be shared. Call it with the API lock
 * held. */
void emu_ipc_forget(const emu_allocation *allocation);

#endif
