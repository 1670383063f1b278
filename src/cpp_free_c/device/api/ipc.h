/* Sharing memory between processes, as other files need it. Under the API lock. */
#ifndef DEVICE_API_IPC_H
#define DEVICE_API_IPC_H

#include "device/memory/memory.h"

/* A DEVICE, PITCHED or IPC allocation is about to be freed. */
void emu_ipc_forget(const emu_allocation *allocation);

#endif
