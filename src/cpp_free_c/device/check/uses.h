/* Uses: which bytes of memory an operation has read and written.
 *
 * Copies and fills know their ranges. The accesses of kernels are noted one by one, by
 * each thread that runs the kernel in a log of its own (use_log.h), and are then merged
 * into a table with a bit for each byte (use_table.h). */
#ifndef DEVICE_CHECK_USES_H
#define DEVICE_CHECK_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/check/use_table.h"
#include "device/memory/memory.h"

/* Kinds of use. Two uses of a byte conflict unless both are reads or both atomic. */
enum {
    EMU_USE_READ = 1,
    EMU_USE_WRITE = 2,
    EMU_USE_ATOMIC = 4,
    EMU_USE_ALLOCATE =
        8, /* the rest are kinds of ranges only; they conflict with all */
    EMU_USE_FREE = 16
};

typedef struct {
    uint64_t start, end;
    unsigned kind;
    uint64_t value; /* a write of one value has its number here; 0: any other use */
} emu_use_range;

typedef struct emu_uses {
    emu_use_range *ranges;
    size_t count, room;
    emu_use_table table; /* of kernels */
    uint64_t low, high;  /* no use is outside of [low, high); both 0: there is none */
    bool host_only;      /* note only memory that the host can access, too */
    bool has_host;       /* some uses are of such memory */
    bool incomplete;     /* memory was short: some uses are missing */
} emu_uses;

/* A byte that two operations use. */
typedef struct {
    uint64_t address;
    unsigned first, second; /* the kinds of their uses */
} emu_use_conflict;

/* Whether a byte counts for a search. */
typedef bool (*emu_use_filter)(uint64_t address, const void *data);

/* Note a range. Two writes with the same number do not conflict. One thread at a time.
 */
void emu_uses_add_range(emu_uses *uses, uint64_t start, uint64_t bytes, unsigned kind,
                        uint64_t value);
/* Add what a kernel has used. Any number of threads at a time. */
void emu_uses_merge(emu_uses *uses, const emu_use_table *table, bool has_host,
                    bool incomplete);

void emu_uses_close(emu_uses *uses);

/* The kind of a table (use_table.h) for the first three kinds of use. */
static inline int
emu_use_kind_index(unsigned kind)
{
    return __builtin_ctz(kind);
}

/* Whether the host can access memory of the kind. */
static inline bool
emu_uses_is_host_kind(emu_memory_kind kind)
{
    return kind == EMU_MEMORY_HOST || kind == EMU_MEMORY_MANAGED ||
           kind == EMU_MEMORY_REGISTERED;
}

/* Whether nothing was noted. */
bool emu_uses_is_empty(const emu_uses *uses);

/* The kinds of use of one byte; 0: none. */
unsigned emu_uses_of_byte(const emu_uses *uses, uint64_t address);

/* Find a byte that both use in kinds that conflict. */
bool emu_uses_conflict(const emu_uses *first, const emu_uses *second,
                       emu_use_filter filter, const void *data, emu_use_conflict *out);

/* Whether a byte of [start, end) is used. The operation may be running: what its
 * kernels have used is then not complete. */
bool emu_uses_touch(const emu_uses *uses, uint64_t start, uint64_t end);

/* Call `see` for the ranges, and for the pages that kernels have used: pages count as a
 * whole. */
void emu_uses_each(const emu_uses *uses,
                   void (*see)(void *data, uint64_t start, uint64_t end, unsigned kind),
                   void *data);

#endif
