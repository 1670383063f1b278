/* The bookkeeping of memory that is shared between processes.
 *
 * The calls that share memory are in ipc_memory.c; allocation.c reports each free. */
#ifndef DEVICE_API_MEMORY_IPC_MEMORY_H
#define DEVICE_API_MEMORY_IPC_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "device/memory/memory.h"
#include "abi/cuda_abi.h"

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

/* -- files ------------------------------------------------------------------------- */

/* The files in memory that processes share, and the handles that name them. A handle
 * names a process and its descriptor of a file; another process opens the file through
 * /proc. So nothing is left behind, however the processes end. */

/* The content of the 64 bytes of a handle. */
typedef struct {
    uint32_t magic;
    int32_t process;
    int32_t file;
    uint32_t flags;
    uint64_t inode;  /* of the file, since a descriptor may be used again */
    uint64_t serial; /* of the allocation */
    uint64_t bytes;  /* of the file */
    uint64_t lead;   /* offset of the allocation in the file */
    uint64_t size;   /* of the allocation */
} emu_ipc_handle;

_Static_assert(sizeof(emu_ipc_handle) <= sizeof(CUipcMemHandle),
               "a handle has 64 bytes");
_Static_assert(sizeof(emu_ipc_handle) <= sizeof(CUipcEventHandle),
               "a handle has 64 bytes");

/* Make a file of that many bytes and store its inode. -1 if the system refuses. */
int emu_ipc_file_make(uint64_t bytes, uint64_t *inode);

/* Open the file of a handle; -1 if the process or the file has gone. */
int emu_ipc_file_open(const emu_ipc_handle *handle);

#endif
