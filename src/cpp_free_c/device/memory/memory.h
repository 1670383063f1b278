/* The memory of all software devices: one reserved range of addresses, checked lookups.
 *
 * Every device pointer is a host pointer inside the range (page-locked and managed
 * memory too), so a kernel may read it with plain loads once it has been checked.
 * Memory that a program registered itself is outside the range and is found through a
 * sorted list.
 *
 * Invariant: one load from a table maps an address in the range to the record of the
 * allocation that owns it, or of the allocation whose guard zone it is in, or to record
 * 0, whose extent is 0. A freed record keeps its place (extent 0) until the quarantine
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

#include "abi/cuda_abi.h"
#include "device/base/device.h"

#define EMU_GRANULE_SHIFT                                                            \
    9                      /* small allocations: 512 bytes, as aligned as cuMemAlloc \
                            */
#define EMU_CHUNK_SHIFT 16 /* large allocations: 64 KiB */
#define EMU_GRANULE ((size_t)1 << EMU_GRANULE_SHIFT)
#define EMU_CHUNK ((size_t)1 << EMU_CHUNK_SHIFT)
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
    EMU_MEMORY_KINDS
} emu_memory_kind;

typedef struct emu_allocation {
    uint64_t base;           /* first address */
    _Atomic uint64_t extent; /* bytes that may be accessed: size while live, then 0 */
    uint64_t devices;        /* bit d: a context of device d may access it */
    uint64_t size;           /* bytes requested; kept after the free, for reports */
    uint64_t span;           /* bytes of the range that it occupies, guard included */
    uint64_t charged;        /* bytes charged to the memory of its device */
    uint64_t serial;         /* 1, 2, 3, ... in order of allocation, never reused */
    emu_memory_kind kind;
    int device;         /* ordinal of the device that has the memory */
    unsigned int flags; /* of the call that allocated it */
    CUcontext context;  /* that allocated it; NULL after its destruction */
    const char *name;   /* of a variable of a module; owned by the program */
    void *owner;        /* the array, pool or IPC record that it belongs to */
    bool mapped;        /* its pages are those of a shared file */
    size_t pitch;       /* of a pitched allocation */
    struct emu_allocation *next, *previous; /* the allocations of one context */
    struct emu_allocation *queue;           /* free list or quarantine */
} emu_allocation;

/* The range and its tables. Written once by emu_memory_open, read by the lookups below.
 */
typedef struct {
    uint64_t base;              /* first address of the range */
    uint64_t size;              /* its bytes; 0 before the first cuInit */
    uint64_t small_size;        /* bytes at its start that consist of granules */
    _Atomic uint32_t *granules; /* record number for each granule of the small part */
    _Atomic uint32_t *chunks;   /* record number for each chunk of the whole range */
    emu_allocation *records;    /* record 0 means no allocation */
} emu_memory_range;

extern emu_memory_range emu_memory_tables;

typedef struct {
    emu_memory_kind kind;
    size_t size;       /* bytes; must not be 0 */
    int device;        /* ordinal */
    CUcontext context; /* lists the allocation and frees it; may be NULL */
    unsigned int flags;
    const char *name;
} emu_memory_request;

/* Reserve the range. Called by cuInit. */
CUresult emu_memory_open(void);

/* Allocate zeroed memory, aligned to 512 bytes at least. OUT_OF_MEMORY if the memory of
 * the device (for kinds that are charged to it) or the range is exhausted. */
CUresult emu_memory_allocate(const emu_memory_request *request, emu_allocation **out);

/* Free a live allocation of any kind except REGISTERED. False: it was already freed. */
bool emu_memory_free(emu_allocation *allocation);

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

/* The lookup outside the range. NULL: the address is not in registered memory. */
const emu_allocation *emu_memory_find_registered(uint64_t address);

/* The live registered memory that shares a byte with [base, base + size), or NULL. */
const emu_allocation *emu_memory_overlaps_registered(uint64_t base, size_t size);

/* Free all allocations that a context still holds. Return their number. */
size_t emu_memory_release_context(CUcontext context);

/* The number of live allocations of a kind. */
size_t emu_memory_count(emu_memory_kind kind);

/* The bytes that a device can still allocate: the rest of its memory or, if less, the
 * rest of the address range that all devices share. */
uint64_t emu_memory_free_bytes(int device);

/* Set the total memory of a device. */
void emu_memory_set_total(int device, uint64_t bytes);
uint64_t emu_memory_total(int device);

/* The record of an address: live, freed, or near (the address is in the guard zone
 * behind the allocation). NULL: the address is unknown. */
static inline const emu_allocation *
emu_memory_find(uint64_t address)
{
    uint64_t offset = address - emu_memory_tables.base;
    uint32_t number;

    if (offset >= emu_memory_tables.size) {
        return emu_memory_find_registered(address);
    }
    if (offset < emu_memory_tables.small_size) {
        number = atomic_load_explicit(
            &emu_memory_tables.granules[offset >> EMU_GRANULE_SHIFT],
            memory_order_acquire);
    }
    else {
        number = atomic_load_explicit(
            &emu_memory_tables.chunks[offset >> EMU_CHUNK_SHIFT], memory_order_acquire);
    }
    return number ? &emu_memory_tables.records[number] : NULL;
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
emu_memory_check(uint64_t address, uint64_t bytes)
{
    const emu_allocation *record = emu_memory_find(address);

    return record && emu_memory_within(record, address, bytes) ? record : NULL;
}

/* Whether the record is live. */
static inline bool
emu_memory_live(const emu_allocation *record)
{
    return atomic_load_explicit(&record->extent, memory_order_relaxed) != 0;
}

/* Whether kernels of a context may use an allocation: one test per access. */
static inline bool
emu_memory_may_use(const emu_context *context, const emu_allocation *allocation)
{
    return (atomic_load_explicit(&context->access, memory_order_relaxed) &
            allocation->devices) != 0;
}

/* A word for a kind, for reports: "device", "page-locked", ... */
const char *emu_memory_kind_name(emu_memory_kind kind);

#endif
