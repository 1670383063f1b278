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

#include "device/memory/address_space.h"
#include "device/memory/registered.h"

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

/* The record of an address: live, freed, or near (the address is in the guard zone
 * behind the allocation). NULL: the address is unknown. */
static inline const emu_allocation *
emu_memory_find(uint64_t address)
{
    uint64_t offset = address - emu_memory_tables.base;
    uint32_t number;

    if (offset >= emu_memory_tables.size) {
        return emu_registered_overlap(address, 1);
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
    if (number == 0) {
        return NULL;
    }
    return &emu_memory_tables.records[number];
}

/* As emu_memory_find, but also the allocation that begins a little behind the address:
 * for reports of accesses in front of an array. */
const emu_allocation *emu_memory_near(uint64_t address);

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

#endif
