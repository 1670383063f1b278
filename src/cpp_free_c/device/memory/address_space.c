/* The address space of the memory of all software devices. See memory.h.
 *
 * The range has three parts. Rooms come first in use: each has 2 MiB of addresses for
 * one allocation up to 32 KiB, so that accesses far behind or before it reach nothing
 * else. When all rooms are in use, small allocations get runs of 512-byte granules. A
 * room or a run and its record stay together and are reused together. Spans of chunks
 * of 64 KiB are for the others; a freed span returns to a sorted list. Behind every
 * allocation is a zone that belongs to nothing else. */
#define _GNU_SOURCE
#include "device/memory/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define RANGE_LARGEST ((uint64_t)1 << 40)
#define RANGE_SMALLEST ((uint64_t)1 << 32)
#define RANGE_ALIGNMENT ((uint64_t)1 << 21)
#define CLASSES                                                              \
    (EMU_SMALL_LIMIT / EMU_GRANULE + 2) /* granules of a run, guard included \
                                         */
#define RECORD_SHIFT 18                 /* one record for each 256 KiB of the range */
#define COMMIT_STEP ((uint64_t)64 << 20)
#define QUARANTINE_RECORDS 65536
#define QUARANTINE_SMALL ((uint64_t)64 << 20)
#define ROOMS 8192
#define ROOM_FRONT ((uint64_t)256 << 10) /* bytes before the allocation of a room */

typedef struct {
    uint64_t offset, size;
} free_span;

typedef struct {
    emu_allocation *first, *last;
    size_t count;
    uint64_t bytes, budget;
} quarantine;

/* Guarded by the mutex of memory.c. */
static struct {
    uint64_t small_next, small_committed; /* offsets in the range */
    uint64_t room_next, room_committed;
    uint64_t large_next, large_committed;
    uint32_t next_record;
    emu_allocation *free_records;
    emu_allocation *runs[CLASSES]; /* free runs by granules */
    free_span *spans;              /* sorted by offset, never adjacent */
    size_t span_count, span_room;
    quarantine rooms, small, large;
} space;

emu_memory_range emu_memory_tables;

/* -- the range --------------------------------------------------------------------- */

static void *
space_reserve(uint64_t bytes, int protection)
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
space_open_range(uint64_t size)
{
    uint64_t granules = size / 16 / EMU_GRANULE * sizeof(uint32_t);
    uint64_t chunks = size / EMU_CHUNK * sizeof(uint32_t);
    uint64_t records_size = (size >> RECORD_SHIFT) * sizeof(emu_allocation);
    uint64_t rooms = size / 16 < ROOMS * EMU_ROOM ? size / 16 : ROOMS * EMU_ROOM;
    char *range = space_reserve(size + RANGE_ALIGNMENT, PROT_NONE);
    void *granule_table = space_reserve(granules, PROT_READ | PROT_WRITE);
    void *chunk_table = space_reserve(chunks, PROT_READ | PROT_WRITE);
    void *records = space_reserve(records_size, PROT_READ | PROT_WRITE);

    if (range && granule_table && chunk_table && records) {
        emu_memory_tables.granules = granule_table;
        emu_memory_tables.chunks = chunk_table;
        emu_memory_tables.records = records;
        emu_memory_tables.base = emu_space_round_up((uintptr_t)range, RANGE_ALIGNMENT);
        emu_memory_tables.granules_end = size / 16;
        emu_memory_tables.rooms_end = emu_memory_tables.granules_end + rooms;
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
emu_space_open(void)
{
    uint64_t size = RANGE_LARGEST;

    if (emu_memory_tables.size) {
        return CUDA_SUCCESS;
    }
    while (!space_open_range(size)) {
        size /= 2;
        if (size < RANGE_SMALLEST) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    space.next_record = 1;
    space.small_next = space.small_committed = 0;
    space.room_next = space.room_committed = emu_memory_tables.granules_end;
    space.large_committed = emu_memory_tables.rooms_end;
    space.large_next = emu_memory_tables.rooms_end + EMU_ROOM;
    space.small.budget = QUARANTINE_SMALL;
    space.large.budget = emu_memory_tables.size / 4;
    space.rooms.budget = UINT64_MAX; /* their number is limited */
    return CUDA_SUCCESS;
}

/* -- places ------------------------------------------------------------------------ */

/* Make [*committed, need) accessible, in large steps so that the system has few
 * mappings. */
static bool
space_commit_locked(uint64_t *committed, uint64_t need, uint64_t end)
{
    uint64_t target = emu_space_round_up(need, COMMIT_STEP);
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

emu_allocation *
emu_space_take_record_locked(void)
{
    emu_allocation *record = space.free_records;

    if (record) {
        space.free_records = record->queue;
    }
    else if (space.next_record < emu_memory_tables.size >> RECORD_SHIFT) {
        record = &emu_memory_tables.records[space.next_record++];
    }
    return record;
}

void
emu_space_return_record_locked(emu_allocation *record)
{
    record->queue = space.free_records;
    space.free_records = record;
}

static uint32_t
space_record_number(const emu_allocation *record)
{
    return (uint32_t)(record - emu_memory_tables.records);
}

static void
space_set_chunks_locked(uint64_t base, uint64_t bytes, uint32_t number)
{
    uint64_t first = (base - emu_memory_tables.base) / EMU_CHUNK;
    uint64_t count = bytes / EMU_CHUNK;

    for (uint64_t i = 0; i < count; i++) {
        atomic_store_explicit(&emu_memory_tables.chunks[first + i], number,
                              memory_order_release);
    }
}

static void
quarantine_remove_first_locked(quarantine *queue)
{
    emu_allocation *record = queue->first;

    queue->first = record->queue;
    if (queue->first == NULL) {
        queue->last = NULL;
    }
    queue->count--;
    queue->bytes -= record->span;
}

/* Take a room that no allocation has had, else the one that was freed first. NULL: all
 * are in use. The bases of rooms differ in their low bits, so that they do not compete
 * for the same lines of the processor's cache. */
static emu_allocation *
space_take_room_locked(void)
{
    const uint64_t offset = space.room_next;
    emu_allocation *record = space.rooms.first;

    if (offset == emu_memory_tables.rooms_end ||
        !space_commit_locked(&space.room_committed, offset + EMU_ROOM,
                             emu_memory_tables.rooms_end)) {
        if (record != NULL) {
            quarantine_remove_first_locked(&space.rooms);
        }
        return record;
    }
    record = emu_space_take_record_locked();
    if (record == NULL) {
        return NULL;
    }
    space.room_next = offset + EMU_ROOM;
    record->base = emu_memory_tables.base + offset + ROOM_FRONT +
                   offset / EMU_ROOM % (EMU_SMALL_LIMIT / EMU_GRANULE) * EMU_GRANULE;
    record->span = EMU_ROOM;
    space_set_chunks_locked(emu_memory_tables.base + offset, EMU_ROOM,
                            space_record_number(record));
    return record;
}

static emu_allocation *
space_take_run_locked(size_t size)
{
    size_t granules = (size + EMU_GRANULE - 1) / EMU_GRANULE + 1;
    uint64_t bytes = granules * EMU_GRANULE;
    uint64_t offset = space.small_next;
    emu_allocation *record = space.runs[granules];

    if (record) {
        space.runs[granules] = record->queue;
        return record;
    }
    if (offset / EMU_CHUNK != (offset + bytes - 1) / EMU_CHUNK) {
        offset = emu_space_round_up(
            offset,
            EMU_CHUNK); /* a run is within one chunk, so that IPC can share it */
    }
    if (!space_commit_locked(&space.small_committed, offset + bytes,
                             emu_memory_tables.granules_end)) {
        return NULL;
    }
    record = emu_space_take_record_locked();
    if (record == NULL) {
        return NULL;
    }
    space.small_next = offset + bytes;
    record->base = emu_memory_tables.base + offset;
    record->span = bytes;
    for (size_t i = 0; i < granules; i++) {
        atomic_store_explicit(&emu_memory_tables.granules[offset / EMU_GRANULE + i],
                              space_record_number(record), memory_order_release);
    }
    return record;
}

emu_allocation *
emu_space_take_small_locked(size_t size)
{
    emu_allocation *record = space_take_room_locked();

    if (record == NULL) {
        record = space_take_run_locked(size);
    }
    return record;
}

/* Take a free span, or a new one from the end of the range. UINT64_MAX: neither fits.
 */
static uint64_t
space_take_span_locked(uint64_t bytes)
{
    uint64_t offset;

    for (size_t i = 0; i < space.span_count; i++) {
        free_span *span = &space.spans[i];

        if (span->size >= bytes) {
            offset = span->offset;
            span->offset += bytes;
            span->size -= bytes;
            if (span->size == 0) {
                space.span_count--;
                memmove(span, span + 1, (space.span_count - i) * sizeof(*span));
            }
            return offset;
        }
    }
    offset = space.large_next;
    if (bytes > emu_memory_tables.size - offset ||
        !space_commit_locked(&space.large_committed, offset + bytes,
                             emu_memory_tables.size)) {
        return UINT64_MAX;
    }
    space.large_next = offset + bytes;
    return offset;
}

/* Return a span to the list. If there is no memory for the list, its addresses stay
 * unused. */
static void
space_return_span_locked(uint64_t offset, uint64_t size)
{
    size_t at = 0;

    while (at < space.span_count && space.spans[at].offset < offset) {
        at++;
    }
    if (at > 0 && space.spans[at - 1].offset + space.spans[at - 1].size == offset) {
        free_span *before = &space.spans[at - 1];

        before->size += size;
        if (at < space.span_count &&
            before->offset + before->size == before[1].offset) {
            before->size += before[1].size;
            space.span_count--;
            memmove(before + 1, before + 2, (space.span_count - at) * sizeof(*before));
        }
        return;
    }
    if (at < space.span_count && offset + size == space.spans[at].offset) {
        space.spans[at].offset = offset;
        space.spans[at].size += size;
        return;
    }
    if (space.span_count == space.span_room) {
        size_t room = 64;
        free_span *spans;

        if (space.span_room != 0) {
            room = space.span_room * 2;
        }
        spans = realloc(space.spans, room * sizeof(*spans));

        if (spans == NULL) {
            return;
        }
        space.spans = spans;
        space.span_room = room;
    }
    memmove(&space.spans[at + 1], &space.spans[at],
            (space.span_count - at) * sizeof(*space.spans));
    space.spans[at] = (free_span){offset, size};
    space.span_count++;
}

void
emu_space_assign_locked(uint64_t base, uint64_t bytes, const emu_allocation *record)
{
    space_set_chunks_locked(base, bytes, space_record_number(record));
}

bool
emu_space_is_small(const emu_allocation *record)
{
    return record->base - emu_memory_tables.base < emu_memory_tables.rooms_end;
}

static bool
space_is_room(const emu_allocation *record)
{
    return emu_space_is_small(record) &&
           record->base - emu_memory_tables.base >= emu_memory_tables.granules_end;
}

uint64_t
emu_space_place(const emu_allocation *record)
{
    const uint64_t offset = record->base - emu_memory_tables.base;

    if (space_is_room(record)) {
        return record->base - offset % EMU_ROOM;
    }
    if (emu_space_is_small(record)) {
        return record->base;
    }
    return record->base - offset % EMU_CHUNK; /* of IPC: it may begin in its chunk */
}

/* Release the oldest record of a quarantine, so that its addresses can be used
 * again. */
static void
space_release_oldest_locked(quarantine *queue)
{
    emu_allocation *record = queue->first;

    if (record == NULL) {
        return;
    }
    quarantine_remove_first_locked(queue);
    if (queue == &space.small) {
        emu_allocation **list = &space.runs[record->span / EMU_GRANULE];

        record->queue = *list;
        *list = record;
    }
    else {
        record->base = emu_space_place(record);
        space_set_chunks_locked(record->base, record->span, 0);
        space_return_span_locked(record->base - emu_memory_tables.base, record->span);
        emu_space_return_record_locked(record);
    }
}

void
emu_space_keep_freed_locked(emu_allocation *record)
{
    quarantine *queue = &space.large;

    if (space_is_room(record)) {
        queue = &space.rooms;
    }
    else if (emu_space_is_small(record)) {
        queue = &space.small;
    }
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
        space_release_oldest_locked(queue);
    }
}

emu_allocation *
emu_space_take_large_locked(size_t size)
{
    uint64_t bytes = emu_space_round_up(size + EMU_CHUNK, EMU_ROOM);
    emu_allocation *record = emu_space_take_record_locked();
    uint64_t offset;

    if (record == NULL) {
        return NULL;
    }
    offset = space_take_span_locked(bytes);
    while (offset == UINT64_MAX && space.large.first) {
        /* release the quarantine early before giving up */
        space_release_oldest_locked(&space.large);
        offset = space_take_span_locked(bytes);
    }
    if (offset == UINT64_MAX) {
        emu_space_return_record_locked(record);
        return NULL;
    }
    record->base = emu_memory_tables.base + offset;
    record->span = bytes;
    space_set_chunks_locked(record->base, bytes, space_record_number(record));
    return record;
}

uint64_t
emu_space_large_room_locked(void)
{
    uint64_t room = emu_memory_tables.size - space.large_next + space.large.bytes;

    for (size_t i = 0; i < space.span_count; i++) {
        room += space.spans[i].size;
    }
    if (room <= EMU_CHUNK) {
        return 0;
    }
    return room - EMU_CHUNK;
}
