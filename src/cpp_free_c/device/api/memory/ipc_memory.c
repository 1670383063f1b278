/* Sharing memory between processes of one machine. See ipc_memory.h.
 *
 * Memory becomes shared when a program first asks for its handle: its pages move into a
 * file in memory, which is mapped in their place. Small allocations share
 * a chunk and thus a file, which is never closed. Behind the memory, the file holds the
 * serial number of the allocation that lives at each granule, so that the handle of a
 * freed allocation does not open. */
#define _GNU_SOURCE
#include "device/api/memory/ipc_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/machine/warp/wait.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/lock.h"
#include "device/api/entry/users.h"
#include "device/api/stream/stream.h"

/* -- files ------------------------------------------------------------------------- */

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

#define MEMORY_MAGIC 0x4d656d50u

/* A part of the range whose pages are a file's. */
typedef struct segment {
    uint64_t start, bytes;
    int file;
    uint64_t inode;
    uint64_t *living; /* mapped: serial numbers by granule, 0 where none was shared */
    struct segment *next;
} segment;

/* Another process's memory, opened here. */
typedef struct opening {
    emu_ipc_handle handle;
    CUcontext context;
    emu_allocation *memory;
    unsigned int count;
    struct opening *next;
} opening;

static segment *segments; /* guarded by the API lock, as the next */
static opening *openings;

/* -- exporting memory -------------------------------------------------------------- */

/* The bytes for serial numbers. A large allocation has its own file, and one number. */
static uint64_t
segment_living_size(uint64_t bytes)
{
    if (bytes > EMU_CHUNK) {
        return sizeof(uint64_t);
    }
    return EMU_CHUNK / EMU_GRANULE * sizeof(uint64_t);
}

static uint64_t *
segment_map_living(int file, uint64_t bytes)
{
    void *found = mmap(NULL, segment_living_size(bytes), PROT_READ | PROT_WRITE,
                       MAP_SHARED, file, (off_t)bytes);

    if (found == MAP_FAILED) {
        return NULL;
    }
    return found;
}

static bool
ipc_write_all(int file, const char *data, uint64_t bytes)
{
    uint64_t done = 0;

    while (done < bytes) {
        ssize_t wrote = pwrite(file, data + done, bytes - done, (off_t)done);

        if (wrote <= 0) {
            return false;
        }
        done += (uint64_t)wrote;
    }
    return true;
}

static segment *
segment_find(uint64_t address)
{
    segment *s = segments;

    while (s != NULL && address - s->start >= s->bytes) {
        s = s->next;
    }
    return s;
}

static void
segment_free(segment *s)
{
    if (s->living != NULL) {
        /* our own mapping: it cannot fail */
        (void)munmap(s->living, segment_living_size(s->bytes));
    }
    if (s->file >= 0) {
        (void)close(s->file); /* memory only: no data is lost */
    }
    free(s);
}

/* Move the pages of an allocation into a file. */
static segment *
segment_share(emu_allocation *memory)
{
    segment *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        return NULL;
    }
    s->start = memory->base - (memory->base - emu_memory_tables.base) % EMU_CHUNK;
    s->bytes = EMU_CHUNK;
    if (!emu_space_is_small(memory)) {
        s->bytes = (memory->size + EMU_CHUNK - 1) / EMU_CHUNK * EMU_CHUNK;
    }
    s->file = emu_ipc_file_make(s->bytes + segment_living_size(s->bytes), &s->inode);
    if (s->file >= 0) {
        s->living = segment_map_living(s->file, s->bytes);
    }
    if (s->living == NULL ||
        !ipc_write_all(s->file, (const char *)(uintptr_t)s->start, s->bytes) ||
        !emu_memory_map(memory, s->file, 0, s->bytes)) {
        segment_free(s);
        return NULL;
    }
    s->next = segments;
    segments = s;
    return s;
}

/* Fill a handle of shared memory. The memory must be of one of the kinds. */
static CUresult
ipc_export_memory(CUdeviceptr address, unsigned int kinds, CUipcMemHandle *handle)
{
    const emu_allocation *inside = emu_memory_holding(address, 1);
    emu_allocation *memory = NULL;
    emu_ipc_handle data = {.magic = MEMORY_MAGIC, .process = (int32_t)getpid()};
    segment *s;

    if (inside != NULL) { /* as on a GPU, the address need not be the first */
        memory = emu_memory_starting_at(inside->base);
    }
    if (handle == NULL || memory == NULL || (1u << memory->kind & kinds) == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    s = segment_find(memory->base);
    if (s == NULL) {
        s = segment_share(memory);
    }
    if (s == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    data.file = s->file;
    data.inode = s->inode;
    data.serial = memory->serial;
    data.bytes = s->bytes;
    data.lead = memory->base - s->start;
    data.size = memory->size;
    s->living[data.lead / EMU_GRANULE] = data.serial;
    memset(handle, 0, sizeof(*handle));
    memcpy(handle, &data, sizeof(data));
    return CUDA_SUCCESS;
}

CUresult
emu_ipc_memory_export(emu_context *context, CUdeviceptr address, unsigned int kinds,
                      CUipcMemHandle *handle)
{
    /* Work of this context must not write while the pages move. */
    int token = emu_queue_begin_turn(context->null_stream);
    CUresult status;

    if (token < 0) {
        return emu_wait_status();
    }
    emu_lock();
    status = ipc_export_memory(address, kinds, handle);
    emu_unlock(); /* emu_turn_end takes it again */
    emu_turn_end(context->null_stream, token);
    return status;
}

CUresult
emu_cuIpcGetMemHandle(emu_context *context, CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
    return emu_ipc_memory_export(
        context, dptr, 1u << EMU_MEMORY_DEVICE | 1u << EMU_MEMORY_PITCHED, pHandle);
}

/* -- opening memory ---------------------------------------------------------------- */

/* Whether the allocation of a handle is alive. */
static bool
ipc_is_living(int file, const emu_ipc_handle *data)
{
    off_t place =
        (off_t)(data->bytes + data->lead / EMU_GRANULE * sizeof(data->serial));
    uint64_t serial = 0;

    return pread(file, &serial, sizeof(serial), place) == (ssize_t)sizeof(serial) &&
           serial == data->serial;
}

static CUresult
opening_map(emu_context *context, emu_memory_kind kind, opening *o)
{
    emu_memory_request request = {.kind = kind,
                                  .size = (size_t)(o->handle.lead + o->handle.size),
                                  .device = context->device->ordinal,
                                  .context = context};
    int file = emu_ipc_file_open(&o->handle);
    CUresult status;

    if (file < 0) {
        return CUDA_ERROR_INVALID_VALUE; /* as on a GPU */
    }
    if (!ipc_is_living(file, &o->handle)) {
        (void)close(file); /* opened for reading a number: no data is lost */
        return CUDA_ERROR_INVALID_VALUE;
    }
    status = emu_memory_allocate(&request, &o->memory);
    if (status == CUDA_SUCCESS &&
        !emu_memory_map(o->memory, file, 0, o->handle.bytes)) {
        (void)emu_memory_free(o->memory); /* just made: it is alive */
        status = CUDA_ERROR_MAP_FAILED;
    }
    if (status == CUDA_SUCCESS) {
        emu_memory_trim_front(o->memory, o->handle.lead);
        o->memory->owner = o;
    }
    (void)close(file); /* the mapping holds the file */
    return status;
}

static bool
ipc_memory_handle_is_valid(const emu_ipc_handle *data)
{
    return data->magic == MEMORY_MAGIC && data->size > 0 &&
           data->bytes % EMU_CHUNK == 0 && data->lead < EMU_CHUNK &&
           data->size <= data->bytes && data->lead <= data->bytes - data->size;
}

static CUresult
opening_get(emu_context *context, emu_memory_kind kind, const emu_ipc_handle *data,
            CUdeviceptr *out)
{
    opening *o = openings;
    CUresult status;

    while (o != NULL &&
           (memcmp(&o->handle, data, sizeof(*data)) != 0 || o->context != context)) {
        o = o->next;
    }
    if (o != NULL) {
        o->count++;
        *out = o->memory->base;
        return CUDA_SUCCESS;
    }
    o = calloc(1, sizeof(*o));
    if (o == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    o->handle = *data;
    o->context = context;
    o->count = 1;
    status = opening_map(context, kind, o);
    if (status != CUDA_SUCCESS) {
        free(o);
        return status;
    }
    o->next = openings;
    openings = o;
    *out = o->memory->base;
    return CUDA_SUCCESS;
}

CUresult
emu_ipc_memory_import(emu_context *context, const CUipcMemHandle *handle,
                      CUdeviceptr *out)
{
    emu_ipc_handle data;

    memcpy(&data, handle, sizeof(data));
    if (!ipc_memory_handle_is_valid(&data)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return opening_get(context, EMU_MEMORY_IMPORTED, &data, out);
}

CUresult
emu_cuIpcOpenMemHandle(emu_context *context, CUdeviceptr *pdptr, CUipcMemHandle handle,
                       unsigned int Flags)
{
    emu_ipc_handle data;

    memcpy(&data, &handle, sizeof(data));
    if (pdptr == NULL || Flags != 1) {
        return CUDA_ERROR_INVALID_VALUE; /* LAZY_ENABLE_PEER_ACCESS is the only flag */
    }
    if (!ipc_memory_handle_is_valid(&data)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (data.process == (int32_t)getpid()) {
        return CUDA_ERROR_INVALID_CONTEXT; /* a process cannot open its own memory */
    }
    return opening_get(context, EMU_MEMORY_IPC, &data, pdptr);
}

void
emu_ipc_memory_close(emu_allocation *memory)
{
    if (--((opening *)memory->owner)->count == 0) {
        emu_count_free(memory->context);
        emu_ipc_memory_forget(memory);
        (void)emu_memory_free(memory); /* just found alive, under the lock */
    }
}

CUresult
emu_cuIpcCloseMemHandle(CUdeviceptr dptr)
{
    emu_allocation *memory = emu_memory_starting_at(dptr);

    if (memory == NULL || memory->kind != EMU_MEMORY_IPC) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_ipc_memory_close(memory);
    return CUDA_SUCCESS;
}

static void
opening_forget(opening *o)
{
    opening **link = &openings;

    while (*link != o) {
        link = &(*link)->next;
    }
    *link = o->next;
    free(o);
}

/* Close the file of a large allocation. A process that has it open keeps the memory. */
static void
segment_forget(uint64_t start)
{
    segment **link = &segments;
    segment *s;

    while (*link != NULL && (*link)->start != start) {
        link = &(*link)->next;
    }
    s = *link;
    if (s != NULL) {
        *link = s->next;
        s->living[0] = 0;
        segment_free(s);
    }
}

void
emu_ipc_memory_forget(const emu_allocation *memory)
{
    if (memory->kind == EMU_MEMORY_IPC || memory->kind == EMU_MEMORY_IMPORTED) {
        opening_forget(memory->owner);
    }
    else if (emu_space_is_small(memory)) {
        segment *s = segment_find(memory->base);

        if (s != NULL) {
            s->living[(memory->base - s->start) / EMU_GRANULE] = 0;
        }
    }
    else if (memory->mapped) {
        segment_forget(memory->base);
    }
}
