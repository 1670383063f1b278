/* The memory of all software devices: reservation, allocation, quarantine, accounting.
 *
 * The range has two parts. The small part consists of runs of 512-byte granules, one
 * run for each allocation up to 32 KiB; a run keeps its record for ever and is reused
 * with it. The large part consists of spans of 64 KiB chunks; a freed span returns to a
 * sorted list. Every allocation has a guard zone behind it, so that an access beyond
 * its end never reaches the next allocation.
 *
 * Invariant: `state.mutex` guards everything here except the tables and extents, which
 * are read without it. It is the innermost lock: no other function is called while it
 * is held. */
#define _GNU_SOURCE
#include "device/memory/memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RANGE_LARGEST ((uint64_t)1 << 40)
#define RANGE_SMALLEST ((uint64_t)1 << 32)
#define RANGE_ALIGNMENT ((uint64_t)1 << 21)
#define SMALL_LIMIT ((size_t)32 << 10)
#define CLASSES                                                          \
    (SMALL_LIMIT / EMU_GRANULE + 2) /* granules of a run, guard included \
                                     */
#define RECORD_SHIFT 18             /* one record for each 256 KiB of the range */
#define COMMIT_STEP ((uint64_t)64 << 20)
#define HUGE_PAGE ((uint64_t)2 << 20)
#define QUARANTINE_RECORDS 65536
#define QUARANTINE_SMALL ((uint64_t)64 << 20)

typedef struct {
    uint64_t offset, size;
} free_span;

typedef struct {
    emu_allocation *first, *last;
    size_t count;
    uint64_t bytes, budget;
} quarantine;

static struct {
    pthread_mutex_t mutex;
    uint64_t small_next, small_committed; /* offsets in the range */
    uint64_t large_next, large_committed;
    uint32_t next_record;
    emu_allocation *free_records;
    emu_allocation *runs[CLASSES]; /* free runs by granules */
    free_span *spans;              /* sorted by offset, never touching */
    size_t span_count, span_room;
    quarantine small, large;
    uint64_t serial;
    size_t counts[EMU_MEMORY_KINDS];
    uint64_t used[EMU_MAX_DEVICES], total[EMU_MAX_DEVICES];
    pthread_rwlock_t registered_lock; /* guards the three below; taken after mutex */
    emu_allocation **registered;      /* sorted by base, never overlapping */
    size_t registered_count, registered_room;
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER,
           .registered_lock = PTHREAD_RWLOCK_INITIALIZER};

emu_memory_range emu_memory_tables;

static uint64_t
memory_round_up(uint64_t value, uint64_t step)
{
    return (value + step - 1) / step * step;
}

static void *
memory_reserve(uint64_t bytes, int protection)
{
    void *memory = mmap(NULL, bytes, protection,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED) {
        return NULL;
    }
    return memory;
}

/* Reserve a range of `size` bytes and its tables. False: reserve nothing. */
static bool
memory_open_range(uint64_t size)
{
    uint64_t granules = size / 16 / EMU_GRANULE * sizeof(uint32_t);
    uint64_t chunks = size / EMU_CHUNK * sizeof(uint32_t);
    uint64_t records_size = (size >> RECORD_SHIFT) * sizeof(emu_allocation);
    char *range = memory_reserve(size + RANGE_ALIGNMENT, PROT_NONE);
    void *granule_table = memory_reserve(granules, PROT_READ | PROT_WRITE);
    void *chunk_table = memory_reserve(chunks, PROT_READ | PROT_WRITE);
    void *records = memory_reserve(records_size, PROT_READ | PROT_WRITE);

    if (range && granule_table && chunk_table && records) {
        emu_memory_tables.granules = granule_table;
        emu_memory_tables.chunks = chunk_table;
        emu_memory_tables.records = records;
        emu_memory_tables.base = memory_round_up((uintptr_t)range, RANGE_ALIGNMENT);
        emu_memory_tables.small_size = size / 16;
        emu_memory_tables.size = size;
        return true;
    }
    if (range) {
        munmap(range, size + RANGE_ALIGNMENT);
    }
    if (granule_table) {
        munmap(granule_table, granules);
    }
    if (chunk_table) {
        munmap(chunk_table, chunks);
    }
    if (records) {
        munmap(records, records_size);
    }
    return false;
}

CUresult
emu_memory_open(void)
{
    uint64_t size = RANGE_LARGEST;

    if (emu_memory_tables.size) {
        return CUDA_SUCCESS;
    }
    while (!memory_open_range(size)) {
        size /= 2;
        if (size < RANGE_SMALLEST) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    state.next_record = 1;
    state.small_next = state.small_committed = 0;
    state.large_next = state.large_committed = emu_memory_tables.small_size;
    state.small.budget = QUARANTINE_SMALL;
    state.large.budget = emu_memory_tables.size / 4;
    return CUDA_SUCCESS;
}

/* -- parts, all under the mutex ---------------------------------------------------- */

/* Make [*committed, need) accessible, in large steps so that the system has few
 * mappings. */
static bool
memory_commit_locked(uint64_t *committed, uint64_t need, uint64_t end)
{
    uint64_t target = memory_round_up(need, COMMIT_STEP);
    char *start = (char *)(uintptr_t)(emu_memory_tables.base + *committed);

    if (need <= *committed) {
        return true;
    }
    if (need > end) {
        return false;
    }
    if (target > end) {
        target = end;
    }
    if (mprotect(start, target - *committed, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    /* With a huge page over several allocations, the first access to one of them would
     * also allocate the pages of those that are freed. */
    (void)madvise(start, target - *committed, MADV_NOHUGEPAGE);
    *committed = target;
    return true;
}

static emu_allocation *
memory_take_record_locked(void)
{
    emu_allocation *record = state.free_records;

    if (record) {
        state.free_records = record->queue;
    }
    else if (state.next_record < emu_memory_tables.size >> RECORD_SHIFT) {
        record = &emu_memory_tables.records[state.next_record++];
    }
    return record;
}

static void
memory_return_record_locked(emu_allocation *record)
{
    record->queue = state.free_records;
    state.free_records = record;
}

static uint32_t
memory_record_number(const emu_allocation *record)
{
    return (uint32_t)(record - emu_memory_tables.records);
}

static emu_allocation *
memory_take_run_locked(size_t size)
{
    size_t granules = (size + EMU_GRANULE - 1) / EMU_GRANULE + 1;
    uint64_t bytes = granules * EMU_GRANULE;
    uint64_t offset = state.small_next;
    emu_allocation *record = state.runs[granules];

    if (record) {
        state.runs[granules] = record->queue;
        return record;
    }
    if (offset / EMU_CHUNK != (offset + bytes - 1) / EMU_CHUNK) {
        offset = memory_round_up(
            offset,
            EMU_CHUNK); /* a run is within one chunk, so that IPC can share it */
    }
    if (!memory_commit_locked(&state.small_committed, offset + bytes,
                              emu_memory_tables.small_size)) {
        return NULL;
    }
    record = memory_take_record_locked();
    if (!record) {
        return NULL;
    }
    state.small_next = offset + bytes;
    record->base = emu_memory_tables.base + offset;
    record->span = bytes;
    for (size_t i = 0; i < granules; i++) {
        atomic_store_explicit(&emu_memory_tables.granules[offset / EMU_GRANULE + i],
                              memory_record_number(record), memory_order_release);
    }
    return record;
}

/* Take a free span, or a new one from the end of the range. UINT64_MAX: neither fits.
 */
static uint64_t
memory_take_span_locked(uint64_t bytes)
{
    uint64_t offset;

    for (size_t i = 0; i < state.span_count; i++) {
        free_span *span = &state.spans[i];

        if (span->size >= bytes) {
            offset = span->offset;
            span->offset += bytes;
            span->size -= bytes;
            if (span->size == 0) {
                state.span_count--;
                memmove(span, span + 1, (state.span_count - i) * sizeof(*span));
            }
            return offset;
        }
    }
    offset = state.large_next;
    if (bytes > emu_memory_tables.size - offset ||
        !memory_commit_locked(&state.large_committed, offset + bytes,
                              emu_memory_tables.size)) {
        return UINT64_MAX;
    }
    state.large_next = offset + bytes;
    return offset;
}

/* Return a span to the list. If there is no memory for the list, its addresses stay
 * unused. */
static void
memory_return_span_locked(uint64_t offset, uint64_t size)
{
    size_t at = 0;

    while (at < state.span_count && state.spans[at].offset < offset) {
        at++;
    }
    if (at > 0 && state.spans[at - 1].offset + state.spans[at - 1].size == offset) {
        free_span *before = &state.spans[at - 1];

        before->size += size;
        if (at < state.span_count &&
            before->offset + before->size == before[1].offset) {
            before->size += before[1].size;
            state.span_count--;
            memmove(before + 1, before + 2, (state.span_count - at) * sizeof(*before));
        }
        return;
    }
    if (at < state.span_count && offset + size == state.spans[at].offset) {
        state.spans[at].offset = offset;
        state.spans[at].size += size;
        return;
    }
    if (state.span_count == state.span_room) {
        size_t room = state.span_room ? state.span_room * 2 : 64;
        free_span *spans = realloc(state.spans, room * sizeof(*spans));

        if (!spans) {
            return;
        }
        state.spans = spans;
        state.span_room = room;
    }
    memmove(&state.spans[at + 1], &state.spans[at],
            (state.span_count - at) * sizeof(*state.spans));
    state.spans[at] = (free_span){offset, size};
    state.span_count++;
}

static void
memory_set_chunks_locked(const emu_allocation *record, uint32_t number)
{
    uint64_t first = (record->base - emu_memory_tables.base) / EMU_CHUNK;
    uint64_t count = record->span / EMU_CHUNK;

    for (uint64_t i = 0; i < count; i++) {
        atomic_store_explicit(&emu_memory_tables.chunks[first + i], number,
                              memory_order_release);
    }
}

static bool
memory_is_small(const emu_allocation *record)
{
    return record->base - emu_memory_tables.base < emu_memory_tables.small_size;
}

/* Release the oldest record of a quarantine: its addresses may be used again. */
static void
memory_release_oldest_locked(quarantine *queue)
{
    emu_allocation *record = queue->first;

    if (!record) {
        return;
    }
    queue->first = record->queue;
    if (!queue->first) {
        queue->last = NULL;
    }
    queue->count--;
    queue->bytes -= record->span;
    if (queue == &state.small) {
        emu_allocation **list = &state.runs[record->span / EMU_GRANULE];

        record->queue = *list;
        *list = record;
    }
    else {
        /* An IPC record may begin within its first chunk. */
        record->base -= (record->base - emu_memory_tables.base) % EMU_CHUNK;
        memory_set_chunks_locked(record, 0);
        memory_return_span_locked(record->base - emu_memory_tables.base, record->span);
        memory_return_record_locked(record);
    }
}

static void
memory_keep_freed_locked(emu_allocation *record)
{
    quarantine *queue = memory_is_small(record) ? &state.small : &state.large;

    record->queue = NULL;
    if (queue->last) {
        queue->last->queue = record;
    }
    else {
        queue->first = record;
    }
    queue->last = record;
    queue->count++;
    queue->bytes += record->span;
    while (queue->count > QUARANTINE_RECORDS || queue->bytes > queue->budget) {
        memory_release_oldest_locked(queue);
    }
}

static emu_allocation *
memory_take_large_locked(size_t size)
{
    uint64_t bytes = memory_round_up(size, EMU_CHUNK) + EMU_CHUNK;
    emu_allocation *record = memory_take_record_locked();
    uint64_t offset;

    if (!record) {
        return NULL;
    }
    offset = memory_take_span_locked(bytes);
    while (offset == UINT64_MAX && state.large.first) {
        /* rather reuse addresses of freed memory than fail */
        memory_release_oldest_locked(&state.large);
        offset = memory_take_span_locked(bytes);
    }
    if (offset == UINT64_MAX) {
        memory_return_record_locked(record);
        return NULL;
    }
    record->base = emu_memory_tables.base + offset;
    record->span = bytes;
    memory_set_chunks_locked(record, memory_record_number(record));
    return record;
}

static bool
memory_is_charged(emu_memory_kind kind)
{
    return kind == EMU_MEMORY_DEVICE || kind == EMU_MEMORY_PITCHED ||
           kind == EMU_MEMORY_MANAGED || kind == EMU_MEMORY_ARRAY ||
           kind == EMU_MEMORY_GLOBAL || kind == EMU_MEMORY_POOLED ||
           kind == EMU_MEMORY_GRAPHICS;
}

/* Fill a record whose place in the range is set, and make it live. */
static void
memory_start_locked(emu_allocation *record, const emu_memory_request *request,
                    uint64_t charge)
{
    bool everywhere = request->kind == EMU_MEMORY_HOST ||
                      request->kind == EMU_MEMORY_MANAGED ||
                      request->kind == EMU_MEMORY_REGISTERED;

    record->devices = (uint64_t)1 << request->device;
    if (everywhere) {
        record->devices = EMU_ALL_DEVICES;
    }
    record->size = request->size;
    record->charged = charge;
    record->serial = ++state.serial;
    record->kind = request->kind;
    record->device = request->device;
    record->flags = request->flags;
    record->context = request->context;
    record->name = request->name;
    record->owner = NULL;
    record->pitch = 0;
    record->mapped = false;
    record->queue = NULL;
    record->previous = NULL;
    record->next = NULL;
    if (request->context) {
        record->next = request->context->allocations;
        if (record->next) {
            record->next->previous = record;
        }
        request->context->allocations = record;
    }
    state.used[request->device] += charge;
    state.counts[request->kind]++;
    atomic_store_explicit(&record->extent, request->size, memory_order_release);
}

static void
memory_stop_locked(emu_allocation *record)
{
    atomic_store_explicit(&record->extent, 0, memory_order_release);
    state.counts[record->kind]--;
    state.used[record->device] -= record->charged;
    if (record->previous) {
        record->previous->next = record->next;
    }
    else if (record->context) {
        record->context->allocations = record->next;
    }
    if (record->next) {
        record->next->previous = record->previous;
    }
    record->next = record->previous = NULL;
    record->context = NULL;
    record->owner = NULL;
    record->name = NULL;
}

/* -- allocating and freeing -------------------------------------------------------- */

/* Ask for huge pages, or for none, wholly within an allocation: large arrays then need
 * fewer page faults. If the system refuses, small pages are used. */
static void
memory_advise_huge(const emu_allocation *record, int advice)
{
    uint64_t first = memory_round_up(record->base, HUGE_PAGE);
    uint64_t end = (record->base + record->size) & ~(HUGE_PAGE - 1);

    if (first < end) {
        (void)madvise((void *)(uintptr_t)first, end - first, advice);
    }
}

CUresult
emu_memory_allocate(const emu_memory_request *request, emu_allocation **out)
{
    emu_allocation *record = NULL;
    uint64_t charge = 0;

    *out = NULL;
    if (request->size == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (request->size > emu_memory_tables.size) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (memory_is_charged(request->kind)) {
        charge = memory_round_up(request->size, EMU_GRANULE);
    }
    pthread_mutex_lock(&state.mutex);
    if (charge <= state.total[request->device] - state.used[request->device]) {
        if (request->size <= SMALL_LIMIT && request->kind != EMU_MEMORY_IPC) {
            record = memory_take_run_locked(request->size);
        }
        else {
            record = memory_take_large_locked(request->size);
        }
        if (record) {
            memory_start_locked(record, request, charge);
        }
    }
    pthread_mutex_unlock(&state.mutex);
    if (!record) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (memory_is_small(record)) {
        /* the run may have been used before */
        memset((void *)(uintptr_t)record->base, 0, record->size);
    }
    else {
        memory_advise_huge(record, MADV_HUGEPAGE);
    }
    *out = record;
    return CUDA_SUCCESS;
}

/* Return the pages of a large allocation to the system, so that the next allocation
 * there has zeros. Shared pages are replaced by private ones. */
static void
memory_drop_pages(const emu_allocation *record)
{
    uint64_t first = record->base - (record->base - emu_memory_tables.base) % EMU_CHUNK;
    void *start = (void *)(uintptr_t)first;

    if (memory_is_small(record)) {
        return;
    }
    if (record->mapped) {
        (void)mmap(start, record->span, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    }
    else {
        (void)madvise(start, record->span, MADV_DONTNEED);
    }
    memory_advise_huge(record, MADV_NOHUGEPAGE);
}

bool
emu_memory_free(emu_allocation *record)
{
    bool live;

    pthread_mutex_lock(&state.mutex);
    live = emu_memory_live(record);
    if (live) {
        memory_drop_pages(record);
        memory_stop_locked(record);
        memory_keep_freed_locked(record);
    }
    pthread_mutex_unlock(&state.mutex);
    return live;
}

bool
emu_memory_map(emu_allocation *record, int file, uint64_t offset, uint64_t bytes)
{
    uint64_t first = record->base - (record->base - emu_memory_tables.base) % EMU_CHUNK;

    if (mmap((void *)(uintptr_t)first, bytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED, file, (off_t)offset) == MAP_FAILED) {
        return false;
    }
    record->mapped = true;
    return true;
}

emu_allocation *
emu_memory_starting_at(uint64_t address)
{
    const emu_allocation *found = emu_memory_check(address, 1);

    if (!found || found->base != address) {
        return NULL;
    }
    return (emu_allocation *)(uintptr_t)found; /* lookups return const records */
}

void
emu_memory_trim_front(emu_allocation *record, uint64_t lead)
{
    pthread_mutex_lock(&state.mutex);
    record->base += lead;
    record->size -= lead;
    atomic_store_explicit(&record->extent, record->size, memory_order_release);
    pthread_mutex_unlock(&state.mutex);
}

/* -- registered memory ------------------------------------------------------------- */

/* The index of the first registered record that ends after `address`. */
static size_t
registered_after(uint64_t address)
{
    size_t low = 0, high = state.registered_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const emu_allocation *record = state.registered[middle];

        if (record->base + record->size <= address) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    return low;
}

static const emu_allocation *
memory_overlap_locked(uint64_t base, uint64_t size)
{
    size_t at = registered_after(base);

    if (at < state.registered_count && state.registered[at]->base < base + size) {
        return state.registered[at];
    }
    return NULL;
}

const emu_allocation *
emu_memory_overlaps_registered(uint64_t base, size_t size)
{
    const emu_allocation *record;

    pthread_rwlock_rdlock(&state.registered_lock);
    record = memory_overlap_locked(base, size);
    pthread_rwlock_unlock(&state.registered_lock);
    return record;
}

const emu_allocation *
emu_memory_find_registered(uint64_t address)
{
    return emu_memory_overlaps_registered(address, 1);
}

static CUresult
memory_register_locked(uint64_t base, const emu_memory_request *request)
{
    emu_allocation *record;
    size_t at;

    if (memory_overlap_locked(base, request->size)) {
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    }
    if (state.registered_count == state.registered_room) {
        size_t room = state.registered_room ? state.registered_room * 2 : 16;
        emu_allocation **list = realloc(state.registered, room * sizeof(*list));

        if (!list) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        state.registered = list;
        state.registered_room = room;
    }
    record = memory_take_record_locked();
    if (!record) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    record->base = base;
    record->span = request->size;
    memory_start_locked(record, request, 0);
    at = registered_after(base);
    memmove(&state.registered[at + 1], &state.registered[at],
            (state.registered_count - at) * sizeof(*state.registered));
    state.registered[at] = record;
    state.registered_count++;
    return CUDA_SUCCESS;
}

CUresult
emu_memory_register(uint64_t base, size_t size, int device, CUcontext context,
                    unsigned int flags)
{
    emu_memory_request request = {.kind = EMU_MEMORY_REGISTERED,
                                  .size = size,
                                  .device = device,
                                  .context = context,
                                  .flags = flags};
    CUresult status;

    pthread_mutex_lock(&state.mutex);
    pthread_rwlock_wrlock(&state.registered_lock);
    status = memory_register_locked(base, &request);
    pthread_rwlock_unlock(&state.registered_lock);
    pthread_mutex_unlock(&state.mutex);
    return status;
}

static CUresult
memory_unregister_locked(uint64_t base)
{
    size_t at = registered_after(base);
    emu_allocation *record;

    if (at == state.registered_count || state.registered[at]->base != base) {
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    }
    record = state.registered[at];
    state.registered_count--;
    memmove(&state.registered[at], &state.registered[at + 1],
            (state.registered_count - at) * sizeof(*state.registered));
    memory_stop_locked(record);
    memory_return_record_locked(record);
    return CUDA_SUCCESS;
}

CUresult
emu_memory_unregister(uint64_t base)
{
    CUresult status;

    pthread_mutex_lock(&state.mutex);
    pthread_rwlock_wrlock(&state.registered_lock);
    status = memory_unregister_locked(base);
    pthread_rwlock_unlock(&state.registered_lock);
    pthread_mutex_unlock(&state.mutex);
    return status;
}

/* -- accounts ---------------------------------------------------------------------- */

size_t
emu_memory_release_context(CUcontext context)
{
    size_t count = 0;

    for (;;) {
        emu_allocation *record;

        pthread_mutex_lock(&state.mutex);
        record = context->allocations;
        pthread_mutex_unlock(&state.mutex);
        if (!record) {
            return count;
        }
        if (record->kind == EMU_MEMORY_REGISTERED) {
            (void)emu_memory_unregister(record->base); /* it is listed, so registered */
        }
        else {
            (void)emu_memory_free(record); /* it is listed, so live */
        }
        count++;
    }
}

size_t
emu_memory_count(emu_memory_kind kind)
{
    size_t count;

    pthread_mutex_lock(&state.mutex);
    count = state.counts[kind];
    pthread_mutex_unlock(&state.mutex);
    return count;
}

/* The bytes of addresses left for large allocations, without the guard of one. */
static uint64_t
memory_large_room_locked(void)
{
    uint64_t room = emu_memory_tables.size - state.large_next + state.large.bytes;

    for (size_t i = 0; i < state.span_count; i++) {
        room += state.spans[i].size;
    }
    if (room <= EMU_CHUNK) {
        return 0;
    }
    return room - EMU_CHUNK;
}

uint64_t
emu_memory_free_bytes(int device)
{
    uint64_t left, room;

    pthread_mutex_lock(&state.mutex);
    left = state.total[device] - state.used[device];
    room = memory_large_room_locked();
    pthread_mutex_unlock(&state.mutex);
    return left < room ? left : room;
}

void
emu_memory_set_total(int device, uint64_t bytes)
{
    pthread_mutex_lock(&state.mutex);
    state.total[device] = bytes;
    pthread_mutex_unlock(&state.mutex);
}

uint64_t
emu_memory_total(int device)
{
    uint64_t total;

    pthread_mutex_lock(&state.mutex);
    total = state.total[device];
    pthread_mutex_unlock(&state.mutex);
    return total;
}

const char *
emu_memory_kind_name(emu_memory_kind kind)
{
    static const char *const names[EMU_MEMORY_KINDS] = {
        "no",          "device",          "pitched", "page-locked",
        "registered",  "managed",         "array's", "module",
        "kernel heap", "other process's", "pooled",  "OpenGL's"};

    if (kind >= EMU_MEMORY_KINDS) {
        kind = EMU_MEMORY_NONE;
    }
    return names[kind];
}
