/* The memory of all software devices: one reserved range of addresses, checked lookups,
 * and what checks know about its bytes.
 *
 * Every device pointer is a host pointer inside the range (page-locked and managed
 * memory too), so a kernel may read it with plain loads once it has been checked.
 * Memory that a program registered itself is outside the range and is found through a
 * sorted list.
 *
 * Invariant: one load from a table maps an address in the range to the record of the
 * allocation that owns it, or of the allocation whose place it is in, or to record 0,
 * whose extent is 0. A freed record keeps its place (extent 0) until the quarantine
 * releases its addresses, so a use after free can be told from a wild pointer. Records
 * never move, and their memory stays readable and writable even after they are freed,
 * so a kernel that races with a free never crashes.
 *
 * Lookups take no lock inside the range. Allocating and freeing take the memory's own
 * mutex and may be called from any thread, with or without the API lock held. */
#ifndef DEVICE_MEMORY_MEMORY_H
#define DEVICE_MEMORY_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/base/device.h"

/* -- allocations: the record of one piece of device memory ------------------------- */

/* Records never move. A freed record keeps its place, with extent 0, until its
 * addresses are used again. */

#define EMU_ALL_DEVICES UINT64_MAX

typedef enum {
    EMU_MEMORY_NONE,
    EMU_MEMORY_DEVICE,     /* cuMemAlloc */
    EMU_MEMORY_PITCHED,    /* cuMemAllocPitch */
    EMU_MEMORY_HOST,       /* cuMemHostAlloc: page-locked */
    EMU_MEMORY_REGISTERED, /* cuMemHostRegister: outside the range */
    EMU_MEMORY_MANAGED,    /* cuMemAllocManaged */
    EMU_MEMORY_ARRAY,      /* the elements of a CUarray */
    EMU_MEMORY_GLOBAL,     /* a .global or .const variable of a module */
    EMU_MEMORY_HEAP,       /* malloc() in a kernel */
    EMU_MEMORY_IPC,        /* another process's allocation, opened here */
    EMU_MEMORY_POOLED,     /* cuMemAllocAsync */
    EMU_MEMORY_GRAPHICS,   /* an OpenGL buffer */
    EMU_MEMORY_GRAPH_NODE, /* of an allocation node of a graph */
    EMU_MEMORY_IMPORTED,   /* memory of another process's pool, opened here */
    EMU_MEMORY_RESERVED,   /* addresses of cuMemAddressReserve, without memory */
    EMU_MEMORY_MAPPED,     /* cuMemMap: a part of such addresses that has memory */
    EMU_MEMORY_KINDS
} emu_memory_kind;

typedef struct emu_allocation {
    uint64_t base;           /* first address */
    _Atomic uint64_t extent; /* bytes that may be accessed: size while live, then 0 */
    uint64_t devices;        /* bit d: a context of device d may access it */
    uint64_t size;           /* bytes requested; kept after the free, for reports */
    uint64_t unused;         /* bytes behind them that a pool of the program keeps */
    uint64_t span;           /* bytes of the range that its place has */
    uint64_t charged;        /* bytes charged to the memory of its device */
    uint64_t serial;         /* 1, 2, 3, ... in order of allocation, never reused */
    emu_memory_kind kind;
    int device;         /* ordinal of the device that has the memory */
    unsigned int flags; /* flags of the call that allocated it */
    CUcontext context;  /* the context that allocated it; NULL after its destruction */
    const char *name;   /* name of the variable of a module; owned by the program */
    const char *site;   /* of the call that allocated it (site.h); NULL: unknown */
    const char *freed;  /* of its free or hold; NULL: none, or unknown */
    void *owner;        /* the array, pool or IPC record that it belongs to */
    bool mapped;        /* its pages are mapped from a shared file */
    bool suspended;     /* it keeps its addresses, but is neither live nor charged */
    uint64_t stale; /* of a room or run: bytes that earlier allocations had, at most */
    _Atomic bool zone_used; /* kernels have written to its zone */
    _Atomic uint64_t held;  /* number of the hold by a pool of the program; 0: none */
    _Atomic bool hold_told; /* a use during this hold has been told */
    size_t pitch;           /* row pitch of a pitched allocation */
    /* Advice on managed memory; it always counts for a whole allocation. Places are
     * ordinals of devices, -1 for the host, -2 for none. */
    struct {
        bool read_mostly;
        int preferred, prefetched;
        uint64_t accessed_by; /* bit d: device d */
        bool accessed_by_host;
    } managed;
    struct emu_allocation *next, *previous; /* the allocations of one context */
    struct emu_allocation *queue;           /* free list or quarantine */
} emu_allocation;

/* Let kernels use the guard zone of the allocation that begins at the address. */
void emu_memory_use_rest(unsigned long long address);

/* -- holds: blocks that a pool of the program keeps -------------------------------- */

/* A pool of the program takes a block back while work that uses it may still be
 * enqueued, and gives the block out again only behind that work. So the block is held
 * for work that is enqueued after the hold, and for no other. Its memory stays live. */

/* Take a block back, and lend it again. Any thread may call these. */
void emu_memory_hold(emu_allocation *record, const char *site);
void emu_memory_end_hold(emu_allocation *record, const char *site);

/* Whether a use during this hold is the first to be told. */
bool emu_memory_tells_hold(const emu_allocation *record);

/* The number of the last hold: what is enqueued now comes after it. */
uint64_t emu_memory_last_hold(void);

/* The same for the work that this thread runs, at the time when it was enqueued. */
extern _Thread_local uint64_t emu_memory_work_hold;

/* Whether a block was held before work was enqueued whose last hold is given. */
static inline bool
emu_memory_is_held(const emu_allocation *record, uint64_t last_hold)
{
    const uint64_t held = atomic_load_explicit(&record->held, memory_order_relaxed);

    return held != 0 && held <= last_hold;
}

/* -- the range: for memory.c, address_space.c and shadow.c ------------------------- */

/* The range is divided into places for allocations.
 *
 * Invariant: the tables map every granule and chunk of the range to the record that
 * owns it, or to record 0. The place of a freed allocation is in quarantine first; it
 * is used again when the quarantine is full.
 *
 * The functions that end with _locked are called with the mutex of memory.c held. The
 * tables are read without a lock. */

#define EMU_GRANULE_SHIFT                                                            \
    9                      /* small allocations: 512 bytes, as aligned as cuMemAlloc \
                            */
#define EMU_CHUNK_SHIFT 16 /* large allocations: 64 KiB */
#define EMU_GRANULE ((size_t)1 << EMU_GRANULE_SHIFT)
#define EMU_CHUNK ((size_t)1 << EMU_CHUNK_SHIFT)
#define EMU_SMALL_LIMIT                                                       \
    ((size_t)32 << 10)             /* the largest allocation of a room or run \
                                    */
#define EMU_ROOM ((size_t)2 << 20) /* what a GPU maps at once: see zones */

/* The range and its tables. Written once by emu_space_open.
 */
typedef struct {
    uint64_t base;              /* first address of the range */
    uint64_t size;              /* its bytes; 0 before the first cuInit */
    uint64_t granules_end;      /* bytes at its start that consist of granules */
    uint64_t rooms_end;         /* offset behind the rooms, which come next */
    _Atomic uint32_t *granules; /* record number for each of these granules */
    _Atomic uint32_t *chunks;   /* record number for each chunk of the whole range */
    emu_allocation *records;    /* record 0 means no allocation */
} emu_memory_range;

extern emu_memory_range emu_memory_tables;

static inline uint64_t
emu_space_round_up(uint64_t value, uint64_t step)
{
    return (value + step - 1) / step * step;
}

/* Reserve the range. */
CUresult emu_space_open(void);

/* Take a room or a run, or a span, with its record, whose extent is 0. NULL: no place
 * or no record is left. */
emu_allocation *emu_space_take_small_locked(size_t size);
emu_allocation *emu_space_take_large_locked(size_t size);
/* Put the place of a freed record in quarantine. */
void emu_space_keep_freed_locked(emu_allocation *record);

/* Take and return a record without a place, for memory outside the range. */
emu_allocation *emu_space_take_record_locked(void);
void emu_space_return_record_locked(emu_allocation *record);

/* Let the chunks of [base, base + bytes) belong to a record. */
void emu_space_assign_locked(uint64_t base, uint64_t bytes,
                             const emu_allocation *record);

/* The first address of the place of a record. */
uint64_t emu_space_place(const emu_allocation *record);
/* Whether a record has a room or a run. */
bool emu_space_is_small(const emu_allocation *record);
/* The bytes of addresses left for large allocations, without the zone of one. */
uint64_t emu_space_large_room_locked(void);

/* -- allocating, freeing, lookups -------------------------------------------------- */

typedef struct {
    emu_memory_kind kind;
    size_t size; /* bytes; must not be 0 */
    int device;  /* ordinal */
    CUcontext
        context; /* the context that owns the allocation and frees it; may be NULL */
    unsigned int flags;
    const char *name;
} emu_memory_request;

/* Reserve the range. Called by cuInit. */
CUresult emu_memory_open(void);

/* Allocate zeroed memory, aligned to 512 bytes at least. OUT_OF_MEMORY if the memory of
 * the device (for kinds that are charged to it) or the range is exhausted. */
CUresult emu_memory_allocate(const emu_memory_request *request, emu_allocation **out);

/* Free a live or suspended allocation of any kind except REGISTERED. False: it was
 * already freed. */
bool emu_memory_free(emu_allocation *allocation);

/* Make a live allocation keep only its addresses: its bytes are lost, and it is no
 * longer charged to the device. */
void emu_memory_suspend(emu_allocation *allocation);
/* Make it live again, with zeros. False: the memory of the device is exhausted. */
bool emu_memory_resume(emu_allocation *allocation);

/* The live allocation that begins at an address, or NULL; for callers that may change
 * it. */
emu_allocation *emu_memory_starting_at(uint64_t address);

/* Map `bytes` of a shared file over the pages of an allocation, from the start of its
 * first chunk. */
bool emu_memory_map(emu_allocation *record, int file, uint64_t offset, uint64_t bytes);

/* Make an IPC allocation begin `lead` bytes later: the memory of the other process may
 * begin anywhere in its first chunk. */
void emu_memory_trim_front(emu_allocation *record, uint64_t lead);

/* Register and unregister memory of the program itself, for cuMemHostRegister. */
CUresult emu_memory_register(uint64_t base, size_t size, int device, CUcontext context,
                             unsigned int flags);
CUresult emu_memory_unregister(uint64_t base);

/* Charge memory that is no allocation to a device, or no longer. False: it has not that
 * much left. */
bool emu_memory_charge(int device, uint64_t bytes);
void emu_memory_discharge(int device, uint64_t bytes);

/* The mutex of memory.c, for virtual.c. */
void emu_memory_lock(void);
void emu_memory_unlock(void);

/* Free all allocations that a context still holds. Return their number. */
size_t emu_memory_release_context(CUcontext context);

/* The serial number of the newest allocation. */
uint64_t emu_memory_last_serial(void);

/* From now on, page-locked and managed memory shares no page with other allocations. */
void emu_memory_keep_host_pages_apart(void);

/* The number of live allocations of a kind. */
size_t emu_memory_count(emu_memory_kind kind);

/* The bytes that a device can still allocate: the rest of its memory or, if less, the
 * rest of the address range that all devices share. */
uint64_t emu_memory_free_bytes(int device);

/* Set the total memory of a device. */
void emu_memory_set_total(int device, uint64_t bytes);
uint64_t emu_memory_total(int device);

/* The live registered memory that shares a byte with [base, base + size), or NULL. */
const emu_allocation *emu_registered_overlap(uint64_t base, size_t size);

/* The record of an address: live, freed, or near (the address is in the place of the
 * allocation, behind or before it). NULL: the address is unknown. */
static inline const emu_allocation *
emu_memory_find(uint64_t address)
{
    uint64_t offset = address - emu_memory_tables.base;
    uint32_t number;

    if (offset >= emu_memory_tables.size) {
        return emu_registered_overlap(address, 1);
    }
    if (offset < emu_memory_tables.granules_end) {
        number = atomic_load_explicit(
            &emu_memory_tables.granules[offset >> EMU_GRANULE_SHIFT],
            memory_order_acquire);
    }
    else {
        number = atomic_load_explicit(
            &emu_memory_tables.chunks[offset >> EMU_CHUNK_SHIFT], memory_order_acquire);
    }
    if (number == 0) {
        return NULL;
    }
    return &emu_memory_tables.records[number];
}

/* As emu_memory_find, but also the allocation that begins a little behind the address:
 * for reports of accesses in front of an array. */
const emu_allocation *emu_memory_near(uint64_t address);

/* -- zones ------------------------------------------------------------------------- */

/* A GPU maps memory in blocks of 2 MiB. An access near an allocation reaches mapped
 * memory, which may belong to nothing, and the program goes on. Here, each allocation
 * has a zone around it that belongs to nothing else. An H200 was asked which accesses
 * fault (test/data/mapped_blocks.tsv): behind an allocation those from the end of its
 * last block on, before it almost none. So a zone ends with the last block, counted
 * from the start of the allocation, and begins up to 2 MiB before it, where the zone of
 * the allocation before it ends. Only memory that the driver allocates by itself has
 * zones.
 *
 * Return the allocation in whose zone the bytes are, in part or all, or NULL. */
const emu_allocation *emu_memory_zone(uint64_t address, uint64_t bytes);

/* A kernel writes to the zone. */
static inline void
emu_memory_use_zone(const emu_allocation *record)
{
    emu_allocation *changed = (emu_allocation *)(uintptr_t)record;

    atomic_store_explicit(&changed->zone_used, true, memory_order_relaxed);
}

/* Whether [address, address + bytes) is within a live record. The fast check for a
 * record remembered from an earlier access. */
static inline bool
emu_memory_within(const emu_allocation *record, uint64_t address, uint64_t bytes)
{
    uint64_t extent = atomic_load_explicit(&record->extent, memory_order_relaxed);

    return bytes <= extent && address - record->base <= extent - bytes;
}

/* The live allocation that holds all of [address, address + bytes), or NULL. */
static inline const emu_allocation *
emu_memory_holding(uint64_t address, uint64_t bytes)
{
    const emu_allocation *record = emu_memory_find(address);

    if (record == NULL || !emu_memory_within(record, address, bytes)) {
        return NULL;
    }
    return record;
}

/* Whether the record is live. */
static inline bool
emu_memory_live(const emu_allocation *record)
{
    return atomic_load_explicit(&record->extent, memory_order_relaxed) != 0;
}

/* Whether kernels of a context may access an allocation. */
static inline bool
emu_memory_may_use(const emu_context *context, const emu_allocation *allocation)
{
    return (atomic_load_explicit(&context->access, memory_order_relaxed) &
            allocation->devices) != 0;
}

/* A word for a kind in reports: "device", "page-locked", ... */
const char *emu_memory_kind_name(emu_memory_kind kind);

/* -- the shadow of memory: what checks know about its bytes ------------------------ */

/* The check of uninitialised memory has a mark for each byte of the range: 1 if it was
 * written since its allocation began. Another mark says that a whole line of 64 bytes
 * was written; the marks of its bytes then have no meaning.
 *
 * The check of races has cells with three stamps each. Lines have cells, for accesses
 * to whole lines. A line that is accessed in other ways has a cell for each word of
 * four bytes, and, where kernels access smaller elements, for each byte. A stamp of 0
 * means no access (machine/warp/race_state.h).
 *
 * The range is reserved and has no memory until it is used. Without the checks nothing
 * is reserved, and every function here returns at once. Memory outside the range
 * (registered memory) has no shadow. Any thread may call these functions; threads that
 * write to the same bytes without an order may lose a mark. */

#define EMU_LINE_SHIFT 6
#define EMU_LINE ((size_t)1 << EMU_LINE_SHIFT)

/* The stamps of cells: the last write, and the last reads of two different warps. */
typedef struct {
    uint32_t *writer, *reader, *other;
} emu_visits;

typedef struct {
    uint8_t *written; /* NULL: there is no check of uninitialised memory */
    uint8_t *whole;   /* 1 for each line that was written as a whole */
    emu_visits lines, words, bytes; /* NULL: there is no check of races */
    uint8_t *narrow;                /* 1 for each chunk with stamps in `bytes` */
} emu_shadow;

extern emu_shadow emu_memory_shadow;

/* Reserve the shadow of a check, after the range. False: the system has no room. */
bool emu_shadow_open_written(void);
bool emu_shadow_open_visits(void);
/* Forget all visits. No kernel may run. */
void emu_shadow_clear_visits(void);

/* An allocation begins or gets new content: none of its bytes is written. */
void emu_shadow_begin(const emu_allocation *record);

/* Whether bytes have marks: there is the check, and they are in the range. */
static inline bool
emu_shadow_has_marks(uint64_t address, uint64_t bytes)
{
    const uint64_t offset = address - emu_memory_tables.base;

    return emu_memory_shadow.written != NULL && offset < emu_memory_tables.size &&
           bytes <= emu_memory_tables.size - offset;
}

/* -- the functions below are for bytes that have marks ----------------------------- */

/* Mark bytes as written, or as not written. */
void emu_shadow_mark(uint64_t address, uint64_t bytes);
void emu_shadow_unmark(uint64_t address, uint64_t bytes);
/* Whether not one of these bytes was written. */
bool emu_shadow_is_unset(uint64_t address, unsigned bytes);
/* Whether each byte was written; of lines that are not marked as a whole. */
bool emu_shadow_is_set_in_parts(uint64_t address, uint64_t bytes);

/* Whether each of these bytes was written. */
static inline bool
emu_shadow_is_set(uint64_t address, uint64_t bytes)
{
    const uint64_t offset = address - emu_memory_tables.base;
    const uint64_t first = offset >> EMU_LINE_SHIFT;
    const uint64_t last = (offset + bytes - 1) >> EMU_LINE_SHIFT;
    uint8_t all = 1;

    for (uint64_t i = first; i <= last; i++) {
        all &= emu_memory_shadow.whole[i];
    }
    return all || emu_shadow_is_set_in_parts(address, bytes);
}

/* Whether the bytes of an allocation are without a value until they are written. */
static inline bool
emu_shadow_tracks(const emu_allocation *record)
{
    return !record->mapped &&
           (record->kind == EMU_MEMORY_DEVICE || record->kind == EMU_MEMORY_PITCHED ||
            record->kind == EMU_MEMORY_POOLED || record->kind == EMU_MEMORY_HEAP ||
            record->kind == EMU_MEMORY_GRAPH_NODE);
}

/* -- what is written other than by a store of a kernel ----------------------------- */

/* Without the check of uninitialised memory, nothing happens. Called by the copies and
 * fills of the driver and of kernels. */

/* Bytes have been written: by the host, by a fill, or by a kernel. */
void emu_shadow_note_write(uint64_t address, uint64_t bytes);
/* Bytes have been copied. The ranges may overlap. */
void emu_shadow_note_copy(uint64_t to, uint64_t from, uint64_t bytes);

/* -- virtual memory ---------------------------------------------------------------- */

/* Virtual memory: address ranges that a program reserves, and the memory that it maps
 * there.
 *
 * A reservation has a record of kind RESERVED, whose extent is 0, for its addresses.
 * Memory is mapped in granules. Adjoining granules with the same rights have one record
 * of kind MAPPED, also if they are mapped from several pieces of memory, so an access
 * or a copy may cross the border.
 *
 * Call all functions with the API lock held. */

#define EMU_VIRTUAL_GRANULE ((uint64_t)2 << 20)

/* Memory without addresses. */
typedef struct {
    emu_object object;
    int device; /* ordinal */
    uint64_t size;
    int file;         /* has its pages */
    size_t maps;      /* granules that are mapped */
    bool shareable;   /* other processes may open it */
    bool charged;     /* to its device; the process that made it pays */
    unsigned handles; /* 0: the last unmap frees it */
} emu_physical;

/* Free the memory if neither its handle nor a mapping needs it. */
void emu_physical_release_if_unused(emu_physical *physical);

CUresult emu_virtual_reserve(emu_context *context, uint64_t size, uint64_t alignment,
                             uint64_t *base);
CUresult emu_virtual_free(uint64_t base, uint64_t size);
CUresult emu_virtual_map(uint64_t address, uint64_t size, emu_physical *physical,
                         uint64_t offset);
CUresult emu_virtual_unmap(uint64_t address, uint64_t size);
/* Set the rights (0, 1: read, 3: read and write) of a device. */
CUresult emu_virtual_set_access(uint64_t address, uint64_t size, int device,
                                unsigned int rights);
/* The memory that is mapped at an address, or NULL. */
emu_physical *emu_virtual_memory_at(uint64_t address);
CUresult emu_virtual_get_access(uint64_t address, int device, unsigned int *rights);

#endif
