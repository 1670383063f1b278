/* The shadow of the memory of all software devices: what checks know about its bytes.
 *
 * The check of uninitialised memory has a mark for each byte of the range: 1 if it was
 * written since its allocation began. Another mark says that a whole line of 64 bytes
 * was written; the marks of its bytes then have no meaning.
 *
 * The check of races has cells with three stamps each. Lines have cells, for accesses
 * to whole lines. A line that is accessed in other ways has a cell for each word of
 * four bytes, and, where kernels access smaller elements, for each byte. A stamp of 0
 * means no access (machine/warp/race_visit.h, race_lines.h).
 *
 * The range is reserved and has no memory until it is used. Without the checks nothing
 * is reserved, and every function here returns at once. Memory outside the range
 * (registered memory) has no shadow. Any thread may call these functions; threads that
 * write to the same bytes without an order may lose a mark. */
#ifndef DEVICE_MEMORY_SHADOW_H
#define DEVICE_MEMORY_SHADOW_H

#include "device/memory/address_space.h"

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
/* Give bytes the marks of other bytes. The ranges may overlap. */
void emu_shadow_copy(uint64_t to, uint64_t from, uint64_t bytes);
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

#endif
