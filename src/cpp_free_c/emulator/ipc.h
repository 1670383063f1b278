/* Sharing memory between processes, as other files need it. Under the API lock. */
#ifndef EMU_IPC_H
#define EMU_IPC_H

#include "memory.h"

/* A DEVICE, PITCHED or IPC allocation is about to be freed. */
void emu_ipc_forget(const emu_allocation *allocation);

#endif
