/* The files in memory that processes share, and the handles that name them.
 *
 * A handle names a process and its descriptor of a file; another process opens the file
 * through /proc. So nothing is left behind, however the processes end. */
#ifndef DEVICE_API_MEMORY_IPC_FILE_H
#define DEVICE_API_MEMORY_IPC_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/cuda_abi.h"

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
