/* Sharing memory pools between processes.
 *
 * A pool is named by a file in memory that says on which device it is. The pointers of
 * a pool are shared as those of cuIpcGetMemHandle are. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "device/api/entry/entry.h"
#include "device/api/memory/ipc_memory.h"
#include "device/api/memory/pool.h"

#define POOL_MAGIC 0x4c6f6f50u

typedef struct {
    uint32_t magic;
    int32_t device;
} pool_label;

_Static_assert(sizeof(CUipcMemHandle) == sizeof(CUmemPoolPtrExportData),
               "both name memory of another process");

/* Make the file that names the pool. */
static CUresult
pool_write_label(emu_pool *pool, int *file)
{
    pool_label label = {POOL_MAGIC, emu_pool_device(pool)};
    uint64_t inode;
    int made = emu_ipc_file_make(sizeof(label), &inode);

    if (made < 0) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (pwrite(made, &label, sizeof(label), 0) != (ssize_t)sizeof(label)) {
        (void)close(made); /* nothing else refers to it */
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *file = made;
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemPoolExportToShareableHandle(void *handle_out, emu_pool *pool,
                                     CUmemAllocationHandleType handleType,
                                     unsigned long long flags)
{
    int *file = emu_pool_file(pool);

    if (file == NULL || handle_out == NULL ||
        handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (*file < 0) {
        CUresult status = pool_write_label(pool, file);

        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    const int copy = fcntl(*file, F_DUPFD_CLOEXEC, 0);

    if (copy < 0) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    memcpy(handle_out, &copy, sizeof(copy));
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle,
                                       CUmemAllocationHandleType handleType,
                                       unsigned long long flags)
{
    pool_label label = {0, 0};
    int file = (int)(intptr_t)handle;

    if (pool_out == NULL || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        flags != 0 || pread(file, &label, sizeof(label), 0) != (ssize_t)sizeof(label) ||
        label.magic != POOL_MAGIC || emu_device_get(label.device) == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_pool *made = emu_pool_new_imported(emu_device_get(label.device));

    if (made == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *pool_out = made;
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemPoolExportPointer(emu_context *context, CUmemPoolPtrExportData *shareData_out,
                           CUdeviceptr ptr)
{
    CUipcMemHandle handle;

    const emu_allocation *found = emu_memory_holding(ptr, 1);

    if (shareData_out == NULL || found == NULL || found->kind != EMU_MEMORY_POOLED ||
        !emu_pool_is_exported(found->owner)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status =
        emu_ipc_memory_export(context, ptr, 1u << EMU_MEMORY_POOLED, &handle);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    memcpy(shareData_out, &handle, sizeof(handle));
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemPoolImportPointer(emu_context *context, CUdeviceptr *ptr_out,
                           CUmemoryPool pool, CUmemPoolPtrExportData *shareData)
{
    CUipcMemHandle handle;

    const emu_pool *found = emu_object_get(pool, EMU_POOL);

    if (found == NULL || !emu_pool_is_imported(found) || ptr_out == NULL ||
        shareData == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(&handle, shareData, sizeof(handle));
    return emu_ipc_memory_import(context, &handle, ptr_out);
}
