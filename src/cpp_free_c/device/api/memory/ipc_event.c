/* Sharing events between processes of one machine: they share the mark (stream.h). */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/api/entry/entry.h"
#include "device/api/stream/stream.h"
#include "device/api/memory/ipc_memory.h"

#define EVENT_MAGIC 0x4576656eu

static emu_event_mark *
ipc_map_mark(int file)
{
    void *mark =
        mmap(NULL, sizeof(emu_event_mark), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    if (mark == MAP_FAILED) {
        return NULL;
    }
    return mark;
}

/* Move the mark of an event into a file. */
static CUresult
ipc_share_event(emu_event *event)
{
    uint64_t inode;
    int file = emu_ipc_file_make(sizeof(emu_event_mark), &inode);
    emu_event_mark *mark;

    if (file < 0) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    mark = ipc_map_mark(file);
    if (mark == NULL) {
        (void)close(file); /* empty: nothing is lost */
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    atomic_store(&mark->recorded, atomic_load(&event->own.recorded));
    event->mark = mark;
    event->file = file;
    return CUDA_SUCCESS;
}

CUresult
emu_cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event)
{
    struct stat about;

    emu_event *found = emu_object_get(event, EMU_EVENT);

    if (found == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (pHandle == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if ((found->flags & EMU_EVENT_INTERPROCESS) == 0) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (found->file < 0) {
        CUresult status = ipc_share_event(found);
        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    if (fstat(found->file, &about) != 0) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    emu_ipc_handle data = {.magic = EVENT_MAGIC,
                           .process = (int32_t)getpid(),
                           .file = found->file,
                           .flags = found->flags,
                           .inode = (uint64_t)about.st_ino,
                           .bytes = sizeof(emu_event_mark)};

    memset(pHandle, 0, sizeof(*pHandle));
    memcpy(pHandle, &data, sizeof(data));
    return CUDA_SUCCESS;
}

/* Make an event that shares the mark in a file. The event owns both afterwards. */
static CUresult
ipc_import_event(emu_context *context, const emu_ipc_handle *data, CUevent *out)
{
    int file = emu_ipc_file_open(data);
    emu_event_mark *mark;
    emu_event *event;

    if (file < 0) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    mark = ipc_map_mark(file);
    if (mark == NULL) {
        (void)close(file); /* the other process keeps it */
        return CUDA_ERROR_MAP_FAILED;
    }
    event = emu_event_new(context, data->flags);
    if (event == NULL) {
        (void)munmap(mark, sizeof(*mark)); /* our own mapping: it cannot fail */
        (void)close(file);                 /* the other process keeps it */
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    event->mark = mark;
    event->file = file;
    *out = event;
    return CUDA_SUCCESS;
}

CUresult
emu_cuIpcOpenEventHandle(emu_context *context, CUevent *phEvent,
                         CUipcEventHandle handle)
{
    emu_ipc_handle data;

    memcpy(&data, &handle, sizeof(data));
    if (phEvent == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (data.magic != EVENT_MAGIC || data.bytes != sizeof(emu_event_mark)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return ipc_import_event(context, &data, phEvent);
}
