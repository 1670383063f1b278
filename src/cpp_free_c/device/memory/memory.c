/* Allocating, freeing, registering, and accounts. See memory.h.
 *
 * Invariant: `state.mutex` guards everything here and in address_space.c except the
 * tables and extents, which are read without it. While it is held, only the lock of the
 * list of registered memory is taken. */
#define _GNU_SOURCE
#include "device/memory/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device/base/checks.h"
#include "device/base/site.h"

/* -- registered memory ------------------------------------------------------------- */

/* The sorted list of the program's own memory that it has registered
 * (cuMemHostRegister). It is outside the range. Its records are live and do not
 * overlap. Changed with the mutex held; read by the lookups of memory.h from any
 * thread. */

static struct {
    pthread_rwlock_t lock; /* guards the list; taken after the mutex of memory.c */
    emu_allocation **list; /* sorted by base, never overlapping */
    size_t count, room;
} registered = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* The index of the first registered record that ends after `address`. */
static size_t
registered_after(uint64_t address)
{
    size_t low = 0, high = registered.count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const emu_allocation *record = registered.list[middle];

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
registered_overlap_locked(uint64_t base, uint64_t size)
{
    size_t at = registered_after(base);

    if (at < registered.count && registered.list[at]->base < base + size) {
        return registered.list[at];
    }
    return NULL;
}

const emu_allocation *
emu_registered_overlap(uint64_t base, size_t size)
{
    const emu_allocation *record;

    pthread_rwlock_rdlock(&registered.lock);
    record = registered_overlap_locked(base, size);
    pthread_rwlock_unlock(&registered.lock);
    return record;
}

static bool
registered_grow_locked(void)
{
    size_t room = 16;
    emu_allocation **list;

    if (registered.count < registered.room) {
        return true;
    }
    if (registered.room != 0) {
        room = registered.room * 2;
    }
    list = realloc(registered.list, room * sizeof(*list));
    if (list == NULL) {
        return false;
    }
    registered.list = list;
    registered.room = room;
    return true;
}

/* Make room for one more record. False: out of memory. */
static bool
registered_reserve(void)
{
    bool has_room;

    pthread_rwlock_wrlock(&registered.lock);
    has_room = registered_grow_locked();
    pthread_rwlock_unlock(&registered.lock);
    return has_room;
}

/* Insert a record; registered_reserve has made room for it. */
static void
registered_insert(emu_allocation *record)
{
    size_t at;

    pthread_rwlock_wrlock(&registered.lock);
    at = registered_after(record->base);
    memmove(&registered.list[at + 1], &registered.list[at],
            (registered.count - at) * sizeof(*registered.list));
    registered.list[at] = record;
    registered.count++;
    pthread_rwlock_unlock(&registered.lock);
}

/* Remove the record that begins at `base` and return it, or NULL. */
static emu_allocation *
registered_remove(uint64_t base)
{
    emu_allocation *record = NULL;
    size_t at;

    pthread_rwlock_wrlock(&registered.lock);
    at = registered_after(base);
    if (at < registered.count && registered.list[at]->base == base) {
        record = registered.list[at];
        registered.count--;
        memmove(&registered.list[at], &registered.list[at + 1],
                (registered.count - at) * sizeof(*registered.list));
    }
    pthread_rwlock_unlock(&registered.lock);
    return record;
}

/* -- allocations ------------------------------------------------------------------- */

#define HUGE_PAGE ((uint64_t)2 << 20)

static struct {
    pthread_mutex_t mutex;
    _Atomic uint64_t serial, hold;
    bool host_pages_apart; /* set once by cuInit */
    size_t counts[EMU_MEMORY_KINDS];
    uint64_t used[EMU_MAX_DEVICES], total[EMU_MAX_DEVICES];
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER};

CUresult
emu_memory_open(void)
{
    if (emu_memory_tables.size != 0) {
        return CUDA_SUCCESS;
    }
    if (emu_space_open() != CUDA_SUCCESS) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (emu_checks_wanted() & EMU_CHECK_INIT && !emu_shadow_open_written()) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

/* -- records, under the mutex ------------------------------------------------------ */

static bool
memory_is_charged(emu_memory_kind kind)
{
    return kind == EMU_MEMORY_DEVICE || kind == EMU_MEMORY_PITCHED ||
           kind == EMU_MEMORY_MANAGED || kind == EMU_MEMORY_ARRAY ||
           kind == EMU_MEMORY_GLOBAL || kind == EMU_MEMORY_POOLED ||
           kind == EMU_MEMORY_GRAPHICS || kind == EMU_MEMORY_GRAPH_NODE;
}

/* Memory of another process begins anywhere in a chunk, whose pages are mapped. */
static bool
memory_is_opened(emu_memory_kind kind)
{
    return kind == EMU_MEMORY_IPC || kind == EMU_MEMORY_IMPORTED;
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
    record->unused = 0;
    record->charged = charge;
    record->serial = ++state.serial;
    record->kind = request->kind;
    record->device = request->device;
    record->flags = request->flags;
    record->context = request->context;
    record->name = request->name;
    record->site = emu_site_now();
    record->owner = NULL;
    record->pitch = 0;
    record->mapped = false;
    memset(&record->managed, 0, sizeof(record->managed));
    record->managed.preferred = record->managed.prefetched = -2;
    record->suspended = false;
    record->queue = NULL;
    atomic_store_explicit(&record->held, 0, memory_order_relaxed);
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
    if (!record->suspended) {
        state.used[record->device] -= record->charged;
    }
    record->suspended = false;
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

/* Ask the system for huge pages within an allocation, or for small ones again. With
 * huge pages, large arrays need fewer page faults. Its last page may be huge too, if
 * that at most doubles the memory: nothing else is in the span. If the system refuses,
 * small pages are used. */
static void
memory_advise_huge(const emu_allocation *record, int advice)
{
    uint64_t first = emu_space_round_up(record->base, HUGE_PAGE);
    uint64_t end = record->base + record->size;

    if (record->size >= HUGE_PAGE / 2 && !memory_is_opened(record->kind)) {
        end = emu_space_round_up(end, HUGE_PAGE);
    }
    end &= ~(HUGE_PAGE - 1);
    if (first < end) {
        (void)madvise((void *)(uintptr_t)first, end - first, advice);
    }
}

uint64_t
emu_memory_last_serial(void)
{
    return atomic_load_explicit(&state.serial, memory_order_relaxed);
}

void
emu_memory_keep_host_pages_apart(void)
{
    state.host_pages_apart = true;
}

/* Let a small allocation have zeros, and what is left behind it of an earlier one. */
static void
memory_clear_small(emu_allocation *record)
{
    if (record->stale < record->size) {
        record->stale = record->size;
    }
    memset((void *)(uintptr_t)record->base, 0, record->stale);
    record->stale = record->size;
}

/* Let the place of a small allocation have zeros, if a kernel wrote to its zone. */
static void
memory_clear_zone(emu_allocation *record)
{
    if (!atomic_exchange_explicit(&record->zone_used, false, memory_order_relaxed)) {
        return;
    }
    if (record->span < EMU_ROOM) {
        memset((void *)(uintptr_t)record->base, 0, record->span);
    }
    else {
        (void)madvise((void *)(uintptr_t)emu_space_place(record), EMU_ROOM,
                      MADV_DONTNEED);
    }
}

/* Whether an allocation may have a room or a run. */
static bool
memory_may_be_small(const emu_memory_request *request)
{
    if (state.host_pages_apart &&
        (request->kind == EMU_MEMORY_HOST || request->kind == EMU_MEMORY_MANAGED)) {
        return false;
    }
    return request->size <= EMU_SMALL_LIMIT && !memory_is_opened(request->kind) &&
           request->kind != EMU_MEMORY_RESERVED;
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
        charge = emu_space_round_up(request->size, EMU_GRANULE);
    }
    pthread_mutex_lock(&state.mutex);
    if (charge <= state.total[request->device] - state.used[request->device]) {
        if (memory_may_be_small(request)) {
            record = emu_space_take_small_locked(request->size);
        }
        else {
            record = emu_space_take_large_locked(request->size);
        }
        if (record) {
            memory_start_locked(record, request, charge);
        }
    }
    pthread_mutex_unlock(&state.mutex);
    if (record == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (emu_space_is_small(record)) {
        memory_clear_small(record);
        memory_clear_zone(record);
    }
    else {
        memory_advise_huge(record, MADV_HUGEPAGE);
    }
    emu_shadow_begin(record);
    *out = record;
    return CUDA_SUCCESS;
}

/* Return the pages of a large allocation to the system, so that the next allocation
 * there has zeros. Shared pages are replaced by private ones. */
static void
memory_drop_pages(const emu_allocation *record)
{
    void *start = (void *)(uintptr_t)emu_space_place(record);

    if (emu_space_is_small(record)) {
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
    live = emu_memory_live(record) || record->suspended;
    if (live) {
        memory_drop_pages(record);
        memory_stop_locked(record);
        record->freed = emu_site_now();
        emu_space_keep_freed_locked(record);
    }
    pthread_mutex_unlock(&state.mutex);
    return live;
}

void
emu_memory_suspend(emu_allocation *record)
{
    pthread_mutex_lock(&state.mutex);
    if (emu_memory_live(record)) {
        atomic_store_explicit(&record->extent, 0, memory_order_release);
        memory_drop_pages(record);
        state.used[record->device] -= record->charged;
        record->suspended = true;
    }
    pthread_mutex_unlock(&state.mutex);
}

bool
emu_memory_resume(emu_allocation *record)
{
    bool fits;

    pthread_mutex_lock(&state.mutex);
    fits = record->charged <= state.total[record->device] - state.used[record->device];
    if (fits && record->suspended) {
        if (emu_space_is_small(record)) {
            memset((void *)(uintptr_t)record->base, 0, record->size);
        }
        emu_shadow_begin(record);
        state.used[record->device] += record->charged;
        record->suspended = false;
        atomic_store_explicit(&record->extent, record->size, memory_order_release);
    }
    pthread_mutex_unlock(&state.mutex);
    return fits;
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

const emu_allocation *
emu_memory_near(uint64_t address)
{
    const uint64_t reach = 16 * EMU_GRANULE;
    const emu_allocation *record = emu_memory_find(address);

    for (uint64_t step = EMU_GRANULE; record == NULL && step <= reach;
         step += EMU_GRANULE) {
        record = emu_memory_find(address + step);
    }
    return record;
}

/* -- zones ------------------------------------------------------------------------- */

static bool
zone_has_kind(const emu_allocation *record)
{
    const unsigned kinds = 1u << EMU_MEMORY_DEVICE | 1u << EMU_MEMORY_PITCHED |
                           1u << EMU_MEMORY_MANAGED | 1u << EMU_MEMORY_POOLED |
                           1u << EMU_MEMORY_GRAPH_NODE;

    return emu_memory_live(record) && (kinds >> record->kind & 1u) != 0;
}

/* The bytes from the start of an allocation to the end of its zone. */
static uint64_t
zone_extent(const emu_allocation *record)
{
    const uint64_t blocks = emu_space_round_up(record->size, EMU_ROOM);
    const uint64_t place = record->span - (record->base - emu_space_place(record));

    if (place < blocks) {
        return place;
    }
    return blocks;
}

/* The record of the first place behind that of an address, within 2 MiB; NULL: none. */
static const emu_allocation *
zone_next(uint64_t address, const emu_allocation *own)
{
    for (uint64_t step = EMU_CHUNK; step <= EMU_ROOM; step += EMU_CHUNK) {
        const emu_allocation *next = emu_memory_find(address + step);

        if (next != NULL && next != own) {
            return next;
        }
    }
    return NULL;
}

const emu_allocation *
emu_memory_zone(uint64_t address, uint64_t bytes)
{
    const uint64_t offset = address - emu_memory_tables.base;
    const emu_allocation *own = emu_memory_find(address), *front = NULL;
    uint64_t past = UINT64_MAX;

    if (offset >= emu_memory_tables.size ||
        (own != NULL && !emu_memory_live(own) && address - own->base < own->size)) {
        return NULL; /* not in the range, or freed */
    }
    if (own != NULL && address < own->base) {
        front = own; /* in its room */
    }
    else if (offset >= emu_memory_tables.rooms_end) {
        front = zone_next(address, own);
    }
    if (own != NULL && address >= own->base && zone_has_kind(own) &&
        address - own->base + bytes <= zone_extent(own)) {
        past = address - own->base - own->size;
    }
    if (front != NULL && zone_has_kind(front) && front->base - address <= EMU_ROOM &&
        front->base - address < past) {
        return front;
    }
    if (past != UINT64_MAX) {
        return own;
    }
    return NULL;
}

emu_allocation *
emu_memory_starting_at(uint64_t address)
{
    const emu_allocation *found = emu_memory_holding(address, 1);

    if (found == NULL || found->base != address) {
        return NULL;
    }
    return (emu_allocation *)(uintptr_t)
        found; /* lookups return const records; this caller may change it */
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

void
emu_memory_use_rest(unsigned long long address)
{
    const unsigned int kinds = 1u << EMU_MEMORY_DEVICE | 1u << EMU_MEMORY_PITCHED |
                               1u << EMU_MEMORY_POOLED | 1u << EMU_MEMORY_GRAPH_NODE;
    emu_allocation *found = emu_memory_starting_at(address);

    if (found != NULL && (kinds >> found->kind & 1u) != 0) {
        const uint64_t rest =
            emu_space_round_up(found->size, EMU_GRANULE) + EMU_GRANULE;

        pthread_mutex_lock(&state.mutex);
        atomic_store_explicit(&found->extent, rest, memory_order_release);
        pthread_mutex_unlock(&state.mutex);
    }
}

/* -- holds ------------------------------------------------------------------------- */

_Thread_local uint64_t emu_memory_work_hold;

uint64_t
emu_memory_last_hold(void)
{
    return atomic_load_explicit(&state.hold, memory_order_relaxed);
}

void
emu_memory_hold(emu_allocation *record, const char *site)
{
    const uint64_t number = emu_memory_last_hold() + 1;

    /* two threads may take one number: both come after the work enqueued before */
    atomic_store_explicit(&state.hold, number, memory_order_relaxed);
    record->freed = site;
    atomic_store_explicit(&record->hold_told, false, memory_order_relaxed);
    atomic_store_explicit(&record->held, number, memory_order_release);
}

bool
emu_memory_tells_hold(const emu_allocation *record)
{
    emu_allocation *changed = (emu_allocation *)(uintptr_t)record;

    return !atomic_exchange(&changed->hold_told, true);
}

void
emu_memory_end_hold(emu_allocation *record, const char *site)
{
    if (site != NULL) {
        record->site = site;
    }
    atomic_store_explicit(&record->held, 0, memory_order_relaxed);
}

/* -- virtual memory ---------------------------------------------------------------- */

void
emu_memory_lock(void)
{
    pthread_mutex_lock(&state.mutex);
}

void
emu_memory_unlock(void)
{
    pthread_mutex_unlock(&state.mutex);
}

bool
emu_memory_charge(int device, uint64_t bytes)
{
    bool fits;

    pthread_mutex_lock(&state.mutex);
    fits = bytes <= state.total[device] - state.used[device];
    if (fits) {
        state.used[device] += bytes;
    }
    pthread_mutex_unlock(&state.mutex);
    return fits;
}

void
emu_memory_discharge(int device, uint64_t bytes)
{
    pthread_mutex_lock(&state.mutex);
    state.used[device] -= bytes;
    pthread_mutex_unlock(&state.mutex);
}

/* -- registered memory ------------------------------------------------------------- */

static CUresult
memory_register_locked(uint64_t base, const emu_memory_request *request)
{
    emu_allocation *record;

    if (emu_registered_overlap(base, request->size) != NULL) {
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    }
    if (!registered_reserve()) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    record = emu_space_take_record_locked();
    if (record == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    record->base = base;
    record->span = request->size;
    memory_start_locked(record, request, 0);
    registered_insert(record);
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
    status = memory_register_locked(base, &request);
    pthread_mutex_unlock(&state.mutex);
    return status;
}

CUresult
emu_memory_unregister(uint64_t base)
{
    emu_allocation *record;

    pthread_mutex_lock(&state.mutex);
    record = registered_remove(base);
    if (record != NULL) {
        memory_stop_locked(record);
        emu_space_return_record_locked(record);
    }
    pthread_mutex_unlock(&state.mutex);
    if (record == NULL) {
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    }
    return CUDA_SUCCESS;
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
        if (record == NULL) {
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

uint64_t
emu_memory_free_bytes(int device)
{
    uint64_t left, room;

    pthread_mutex_lock(&state.mutex);
    left = state.total[device] - state.used[device];
    room = emu_space_large_room_locked();
    pthread_mutex_unlock(&state.mutex);
    if (room < left) {
        return room;
    }
    return left;
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
        "no",          "device",          "pitched",  "page-locked",
        "registered",  "managed",         "array's",  "module",
        "kernel heap", "other process's", "pooled",   "OpenGL's",
        "graph's",     "imported",        "reserved", "mapped"};

    if (kind >= EMU_MEMORY_KINDS) {
        kind = EMU_MEMORY_NONE;
    }
    return names[kind];
}
