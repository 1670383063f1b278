/* The address space of the memory of all software devices: one reserved range, which is
 * divided into places for allocations.
 *
 * Invariant: the tables map every granule and chunk of the range to the record that
 * owns it, or to record 0. The place of a freed allocation is in quarantine first, so
 * that a use after free can be told from a wild pointer; it is used again when the
 * quarantine is full.
 *
 * The functions that end with _locked are called with the mutex of memory.c held.
 * Called by memory.c alone. The tables are read without a lock. */
#ifndef DEVICE_MEMORY_ADDRESS_SPACE_H
#define DEVICE_MEMORY_ADDRESS_SPACE_H

#include "device/memory/allocation.h"

#define EMU_GRANULE_SHIFT                                                            \
    9                      /* small allocations: 512 bytes, as aligned as cuMemAlloc \
                            */
#define EMU_CHUNK_SHIFT 16 /* large allocations: 64 KiB */
#define EMU_GRANULE ((size_t)1 << EMU_GRANULE_SHIFT)
#define EMU_CHUNK ((size_t)1 << EMU_CHUNK_SHIFT)
#define EMU_SMALL_LIMIT \
    ((size_t)32 << 10) /* the largest allocation of the small part */

/* The range and its tables. Written once by emu_space_open.
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

static inline uint64_t
emu_space_round_up(uint64_t value, uint64_t step)
{
    return (value + step - 1) / step * step;
}

/* Reserve the range. */
CUresult emu_space_open(void);

/* Take a place in the small or in the large part, with its record, whose extent is
 * 0. NULL: no place or no record is left. */
emu_allocation *emu_space_take_run_locked(size_t size);
emu_allocation *emu_space_take_large_locked(size_t size);
/* Put the place of a freed record in quarantine. */
void emu_space_keep_freed_locked(emu_allocation *record);

/* Take and return a record without a place, for memory outside the range. */
emu_allocation *emu_space_take_record_locked(void);
void emu_space_return_record_locked(emu_allocation *record);

/* Let the chunks of [base, base + bytes) belong to a record. */
void emu_space_assign_locked(uint64_t base, uint64_t bytes,
                             const emu_allocation *record);

/* Whether a record is in the small part. */
bool emu_space_is_small(const emu_allocation *record);
/* The bytes of addresses left for large allocations, without the guard of one. */
uint64_t emu_space_large_room_locked(void);

#endif
