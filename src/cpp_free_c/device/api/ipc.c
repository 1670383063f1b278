/* Sharing memory and events between processes of one machine.
 *
 * Memory becomes shared when its handle is first asked for: its pages move into a file
 * in memory, which replaces them in place. A handle names the process and its
 * descriptor of that file; the other process opens it through /proc. So nothing is left
 * behind, however the processes end. Small allocations share a chunk and thus a file,
 * which stays. Behind the memory the file has the serial number of the allocation that
 * lives at each granule: so a handle of one that was freed does not open. */
#define _GNU_SOURCE
#include "device/api/ipc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/api/entry.h"
#include "device/api/context.h"
#include "device/api/event.h"
#include "device/api/faults.h"
#include "device/api/stream.h"
#include "device/machine/wait.h"

#define MEMORY_MAGIC 0x4d656d50u
#define EVENT_MAGIC 0x4576656eu

/* What the 64 bytes of a handle hold. */
typedef struct {
    uint32_t magic;
    int32_t process;
    int32_t file;
    uint32_t flags;
    uint64_t inode;  /* to tell that the descriptor still is the file meant */
    uint64_t serial; /* of the allocation */
    uint64_t bytes;  /* of the file */
    uint64_t lead;   /* where the allocation begins in it */
    uint64_t size;   /* of the allocation */
} handle_data;

_Static_assert(sizeof(handle_data) <= sizeof(CUipcMemHandle), "a handle has 64 bytes");
_Static_assert(sizeof(handle_data) <= sizeof(CUipcEventHandle),
               "a handle has 64 bytes");

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
    handle_data handle;
    CUcontext context;
    emu_allocation *memory;
    unsigned int count;
    struct opening *next;
} opening;

static segment *segments; /* guarded by the API lock, as the next */
static opening *openings;

static bool
is_small(const emu_allocation *memory)
{
    return memory->base - emu_memory_tables.base < emu_memory_tables.small_size;
}

/* -- exporting memory -------------------------------------------------------------- */

/* A file in memory of that many bytes; -1 when the system refuses. */
static int
make_file(uint64_t bytes, uint64_t *inode)
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

/* A large allocation has a file of its own, and one number. */
static uint64_t
living_size(uint64_t bytes)
{
    return bytes > EMU_CHUNK ? sizeof(uint64_t)
                             : EMU_CHUNK / EMU_GRANULE * sizeof(uint64_t);
}

static uint64_t *
map_living(int file, uint64_t bytes)
{
    void *found = mmap(NULL, living_size(bytes), PROT_READ | PROT_WRITE, MAP_SHARED,
                       file, (off_t)bytes);

    return found == MAP_FAILED ? NULL : found;
}

static bool
write_all(int file, const char *data, uint64_t bytes)
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
find_segment(uint64_t address)
{
    segment *s = segments;

    while (s && address - s->start >= s->bytes) {
        s = s->next;
    }
    return s;
}

/* Moves the pages of an allocation into a file. */
static segment *
share(emu_allocation *memory)
{
    segment *s = calloc(1, sizeof(*s));

    if (!s) {
        return NULL;
    }
    s->start = memory->base - (memory->base - emu_memory_tables.base) % EMU_CHUNK;
    s->bytes = is_small(memory)
                   ? EMU_CHUNK
                   : (memory->size + EMU_CHUNK - 1) / EMU_CHUNK * EMU_CHUNK;
    s->file = make_file(s->bytes + living_size(s->bytes), &s->inode);
    s->living = s->file < 0 ? NULL : map_living(s->file, s->bytes);
    if (s->living && write_all(s->file, (const char *)(uintptr_t)s->start, s->bytes) &&
        emu_memory_map(memory, s->file, 0, s->bytes)) {
        s->next = segments;
        segments = s;
        return s;
    }
    if (s->living) {
        (void)munmap(s->living, living_size(s->bytes)); /* ours: cannot fail */
    }
    if (s->file >= 0) {
        (void)close(s->file); /* a copy: nothing is lost */
    }
    free(s);
    return NULL;
}

CUresult
emu_cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
    emu_context *context;
    const emu_allocation *inside;
    emu_allocation *memory = NULL;
    CUresult status = EMU_ENTER_CONTEXT(IpcGetMemHandle, &context);

    if (status == CUDA_SUCCESS) {
        /* Work of this context must not write while the pages move. */
        int token = emu_stream_begin(context->null_stream);

        if (token < 0) {
            return emu_leave(emu_wait_status());
        }
        emu_resume((emu_call)token);
        inside = emu_memory_check(dptr, 1); /* need not be its start, as on a GPU */
        memory = inside ? emu_memory_starting_at(inside->base) : NULL;
        if (!pHandle || !memory ||
            (memory->kind != EMU_MEMORY_DEVICE && memory->kind != EMU_MEMORY_PITCHED)) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else {
            segment *s = find_segment(memory->base);

            s = s ? s : share(memory);
            if (s) {
                handle_data data = {.magic = MEMORY_MAGIC,
                                    .process = (int32_t)getpid(),
                                    .file = s->file,
                                    .inode = s->inode,
                                    .serial = memory->serial,
                                    .bytes = s->bytes,
                                    .lead = memory->base - s->start,
                                    .size = memory->size};

                s->living[data.lead / EMU_GRANULE] = data.serial;
                memset(pHandle, 0, sizeof(*pHandle));
                memcpy(pHandle, &data, sizeof(data));
            }
            else {
                status = CUDA_ERROR_OUT_OF_MEMORY;
            }
        }
        (void)emu_pause(); /* emu_stream_end takes it again */
        emu_stream_end(context->null_stream, token);
    }
    return emu_leave(status);
}

/* -- opening memory ---------------------------------------------------------------- */

/* The other process's file; -1 when it or the file has gone. */
static int
open_file(const handle_data *data)
{
    char path[64];
    struct stat about;
    int file;

    (void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", data->process, data->file);
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 &&
        (fstat(file, &about) != 0 || (uint64_t)about.st_ino != data->inode ||
         (uint64_t)about.st_size < data->bytes)) {
        (void)close(file); /* another file: nothing of ours is lost */
        file = -1;
    }
    return file;
}

/* Whether the allocation of a handle still is the one that lives in its file. */
static bool
is_living(int file, const handle_data *data)
{
    off_t place =
        (off_t)(data->bytes + data->lead / EMU_GRANULE * sizeof(data->serial));
    uint64_t serial = 0;

    return pread(file, &serial, sizeof(serial), place) == (ssize_t)sizeof(serial) &&
           serial == data->serial;
}

static CUresult
map_opening(emu_context *context, opening *o)
{
    emu_memory_request request = {.kind = EMU_MEMORY_IPC,
                                  .size = (size_t)(o->handle.lead + o->handle.size),
                                  .device = context->device->ordinal,
                                  .context = context};
    int file = open_file(&o->handle);
    CUresult status;

    if (file < 0) {
        return CUDA_ERROR_INVALID_VALUE; /* as on a GPU */
    }
    if (!is_living(file, &o->handle)) {
        (void)close(file); /* another process's: nothing of ours is lost */
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
valid_memory_handle(const handle_data *data)
{
    return data->magic == MEMORY_MAGIC && data->size > 0 &&
           data->bytes % EMU_CHUNK == 0 && data->lead < EMU_CHUNK &&
           data->size <= data->bytes && data->lead <= data->bytes - data->size;
}

static CUresult
open_memory(emu_context *context, const handle_data *data, CUdeviceptr *out)
{
    opening *o = openings;
    CUresult status;

    while (o &&
           (memcmp(&o->handle, data, sizeof(*data)) != 0 || o->context != context)) {
        o = o->next;
    }
    if (o) {
        o->count++;
        *out = o->memory->base;
        return CUDA_SUCCESS;
    }
    o = calloc(1, sizeof(*o));
    if (!o) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    o->handle = *data;
    o->context = context;
    o->count = 1;
    status = map_opening(context, o);
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
emu_cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    emu_context *context;
    handle_data data;
    CUresult status = EMU_ENTER_CONTEXT(IpcOpenMemHandle, &context);

    memcpy(&data, &handle, sizeof(data));
    if (status == CUDA_SUCCESS && (!pdptr || Flags != 1)) {
        status = CUDA_ERROR_INVALID_VALUE; /* LAZY_ENABLE_PEER_ACCESS is the only way */
    }
    if (status == CUDA_SUCCESS && !valid_memory_handle(&data)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS && data.process == (int32_t)getpid()) {
        status = CUDA_ERROR_INVALID_CONTEXT; /* a process has its own memory already */
    }
    if (status == CUDA_SUCCESS) {
        status = open_memory(context, &data, pdptr);
    }
    return emu_leave(status);
}

CUresult
emu_cuIpcCloseMemHandle(CUdeviceptr dptr)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(IpcCloseMemHandle, &context);

    if (status == CUDA_SUCCESS) {
        emu_allocation *memory = emu_memory_starting_at(dptr);

        if (!memory || memory->kind != EMU_MEMORY_IPC) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else if (--((opening *)memory->owner)->count == 0) {
            emu_count_free(memory->context);
            emu_ipc_forget(memory);
            (void)emu_memory_free(memory); /* just found alive, under the lock */
        }
    }
    return emu_leave(status);
}

void
emu_ipc_forget(const emu_allocation *memory)
{
    if (memory->kind == EMU_MEMORY_IPC) {
        opening **link = &openings;
        opening *o = memory->owner;

        while (*link != o) {
            link = &(*link)->next;
        }
        *link = o->next;
        free(o);
    }
    else if (is_small(memory)) {
        segment *s = find_segment(memory->base);

        if (s) {
            s->living[(memory->base - s->start) / EMU_GRANULE] = 0;
        }
    }
    else if (memory->mapped) {
        segment **link = &segments;

        while (*link && (*link)->start != memory->base) {
            link = &(*link)->next;
        }
        if (*link) {
            segment *s = *link;

            *link = s->next;
            s->living[0] = 0;
            (void)munmap(s->living, living_size(s->bytes)); /* ours: cannot fail */
            (void)close(s->file); /* who has it open keeps the memory */
            free(s);
        }
    }
}

/* -- events ------------------------------------------------------------------------ */

static emu_event_mark *
map_mark(int file)
{
    void *mark =
        mmap(NULL, sizeof(emu_event_mark), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    return mark == MAP_FAILED ? NULL : mark;
}

/* Moves what an event knows into a file. */
static CUresult
share_event(emu_event *event)
{
    uint64_t inode;
    int file = make_file(sizeof(emu_event_mark), &inode);
    emu_event_mark *mark = file < 0 ? NULL : map_mark(file);

    if (!mark) {
        if (file >= 0) {
            (void)close(file); /* empty: nothing is lost */
        }
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
    emu_context *context;
    emu_event *found = NULL;
    struct stat about;
    CUresult status = EMU_ENTER_CONTEXT(IpcGetEventHandle, &context);

    if (status == CUDA_SUCCESS) {
        found = emu_object_get(event, EMU_EVENT);
        status = !found                                     ? CUDA_ERROR_INVALID_HANDLE
                 : !pHandle                                 ? CUDA_ERROR_INVALID_VALUE
                 : !(found->flags & EMU_EVENT_INTERPROCESS) ? CUDA_ERROR_INVALID_HANDLE
                                                            : CUDA_SUCCESS;
    }
    if (status == CUDA_SUCCESS && found->file < 0) {
        status = share_event(found);
    }
    if (status == CUDA_SUCCESS && fstat(found->file, &about) != 0) {
        status = CUDA_ERROR_OPERATING_SYSTEM;
    }
    if (status == CUDA_SUCCESS) {
        handle_data data = {.magic = EVENT_MAGIC,
                            .process = (int32_t)getpid(),
                            .file = found->file,
                            .flags = found->flags,
                            .inode = (uint64_t)about.st_ino,
                            .bytes = sizeof(emu_event_mark)};

        memset(pHandle, 0, sizeof(*pHandle));
        memcpy(pHandle, &data, sizeof(data));
    }
    return emu_leave(status);
}

CUresult
emu_cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle)
{
    emu_context *context;
    handle_data data;
    CUresult status = EMU_ENTER_CONTEXT(IpcOpenEventHandle, &context);

    memcpy(&data, &handle, sizeof(data));
    if (status == CUDA_SUCCESS && !phEvent) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS &&
        (data.magic != EVENT_MAGIC || data.bytes != sizeof(emu_event_mark))) {
        status = CUDA_ERROR_INVALID_HANDLE;
    }
    if (status == CUDA_SUCCESS) {
        int file = open_file(&data);
        emu_event_mark *mark = file < 0 ? NULL : map_mark(file);
        emu_event *event = mark ? emu_event_new(context, data.flags) : NULL;

        if (event) {
            event->mark = mark;
            event->file = file;
            *phEvent = event;
        }
        else {
            status = mark        ? CUDA_ERROR_OUT_OF_MEMORY
                     : file >= 0 ? CUDA_ERROR_MAP_FAILED
                                 : CUDA_ERROR_INVALID_HANDLE;
            if (mark) {
                (void)munmap(mark, sizeof(*mark)); /* ours: cannot fail */
            }
            if (file >= 0) {
                (void)close(file); /* the other process keeps it */
            }
        }
    }
    return emu_leave(status);
}
