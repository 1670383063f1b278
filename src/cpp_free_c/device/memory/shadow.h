/* The shadow of the memory of all software devices: what checks know about its bytes.
 *
 * The check of uninitialised memory has a byte for each byte of the range: 1 if it was
 * written since its allocation began. The check of races has cells with three stamps
 * each: for each word of four bytes, and, where kernels access smaller elements, for
 * each byte. A stamp of 0 means no access (machine/warp/race_visit.h).
 *
 * The range is reserved and has no memory until it is used. Without the checks nothing
 * is reserved, and every function here returns at once. Memory outside the range
 * (registered memory) has no shadow. Any thread may call these functions; threads that
 * write to the same bytes without an order may lose a mark. */
#ifndef DEVICE_MEMORY_SHADOW_H
#define DEVICE_MEMORY_SHADOW_H

#include "device/memory/address_space.h"

/* The stamps of cells: the last write, and the last reads of two different warps. */
typedef struct {
    uint32_t *writer, *reader, *other;
} emu_visits;

typedef struct {
    uint8_t *written;        /* NULL: there is no check of uninitialised memory */
    emu_visits words, bytes; /* NULL: there is no check of races */
    uint8_t *narrow;         /* 1 for each chunk with stamps in `bytes` */
} emu_shadow;

extern emu_shadow emu_memory_shadow;

/* Reserve the shadow of a check, after the range. False: the system has no room. */
bool emu_shadow_open_written(void);
bool emu_shadow_open_visits(void);
/* Forget all visits. No kernel may run. */
void emu_shadow_clear_visits(void);

/* An allocation begins or gets new content: none of its bytes is written. */
void emu_shadow_begin(const emu_allocation *record);
/* The marks of bytes of the range; NULL: they have none. */
static inline uint8_t *
emu_shadow_marks(uint64_t address, uint64_t bytes)
{
    const uint64_t offset = address - emu_memory_tables.base;

    if (emu_memory_shadow.written == NULL || offset >= emu_memory_tables.size ||
        bytes > emu_memory_tables.size - offset) {
        return NULL;
    }
    return emu_memory_shadow.written + offset;
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

#endif
