/* The bookkeeping of memory that is shared between processes.
 *
 * The calls that share memory are in ipc_memory.c; release.c reports each free. */
#ifndef DEVICE_API_MEMORY_IPC_MEMORY_H
#define DEVICE_API_MEMORY_IPC_MEMORY_H

#include "device/memory/memory.h"

/* Fill a handle for memory of one of the kinds (bits), and open such a handle as memory
 * of another process's pool. */
CUresult emu_ipc_memory_export(emu_context *context, CUdeviceptr address,
                               unsigned int kinds, CUipcMemHandle *handle);
CUresult emu_ipc_memory_import(emu_context *context, const CUipcMemHandle *handle,
                               CUdeviceptr *out);
/* Close opened memory once. */
void emu_ipc_memory_close(emu_allocation *memory);

/* An allocation is about to be freed; it need not be shared. Call it with the API lock
 * held. */
void emu_ipc_memory_forget(const emu_allocation *allocation);

#endif
