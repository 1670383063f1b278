/* Shared files in memory. See ipc_file.h. */
#define _GNU_SOURCE
#include "device/api/memory/ipc_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int
emu_ipc_file_make(uint64_t bytes, uint64_t *inode)
{
    int file = memfd_create("pycuda-software-device", MFD_CLOEXEC);
    struct stat about;

    if (file >= 0 && (ftruncate(file, (off_t)bytes) != 0 || fstat(file, &about) != 0)) {
        (void)close(file); /* empty: nothing is lost */
        file = -1;
    }
    if (file >= 0) {
        *inode = (uint64_t)about.st_ino;
    }
    return file;
}

int
emu_ipc_file_open(const emu_ipc_handle *handle)
{
    char path[64];
    struct stat about;
    int file;

    (void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", handle->process, handle->file);
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 &&
        (fstat(file, &about) != 0 || (uint64_t)about.st_ino != handle->inode ||
         (uint64_t)about.st_size < handle->bytes)) {
        (void)close(file); /* not the file meant: no data is lost */
        file = -1;
    }
    return file;
}
