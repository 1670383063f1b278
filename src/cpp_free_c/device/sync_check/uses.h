/* Uses: which bytes of memory an operation has read and written. */
#ifndef DEVICE_SYNC_CHECK_USES_H
#define DEVICE_SYNC_CHECK_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/memory/memory.h"

/* -- tables of uses ---------------------------------------------------------------- */

/* A table of uses: which bytes of the address space are used, and in which kinds.
 *
 * The address space is cut into words of 64 bytes; 64 words are a page, and 64 pages
 * are a region. A region has a bit for each page that is used as a whole. Each other
 * page has a bit for each word that is used as a whole, and only for words that are
 * used in part a bit for each byte. So a large array that is used from its beginning to
 * its end needs 104 bytes for 256 KiB. Blocks of threads that access arrays in pieces
 * need one bit for 64 bytes, and any other pattern one bit for each byte.
 *
 * A table has one owner at a time. Its bits are in blocks: of an arena, which gives
 * them back all at once, or, without one, of their own. */

enum {
    EMU_USE_PAGE_SHIFT = 12,
    EMU_USE_PAGE = 1 << EMU_USE_PAGE_SHIFT, /* bytes */
    EMU_USE_WORDS = EMU_USE_PAGE / 64,
    EMU_USE_REGION_SHIFT = 18,
    EMU_USE_PAGES = 1 << (EMU_USE_REGION_SHIFT - EMU_USE_PAGE_SHIFT), /* of a region */
    EMU_USE_KINDS = 3
};

/* The bits of one page, the words of a region, or the pages of a region: all have the
 * same size. */
typedef union emu_use_block {
    uint64_t words[EMU_USE_WORDS];
    union emu_use_block *pages[EMU_USE_PAGES];
} emu_use_block;

/* The bytes of a region that are used in one kind. */
typedef struct {
    uint64_t full; /* a bit for each page of which all bytes are used */
    uint64_t some; /* and of which some are; no page is in both */
    /* For each page of `some`, a bit for each word that is used as a whole, and the
     * bits of the bytes of the others. NULL: there have been none. */
    emu_use_block *wholes, *parts;
} emu_use_set;

typedef struct {
    uint64_t number; /* address >> EMU_USE_REGION_SHIFT; 0: an empty slot */
    emu_use_set kinds[EMU_USE_KINDS];
} emu_use_region;

typedef struct emu_use_arena emu_use_arena;

/* A zeroed table is empty. */
typedef struct {
    emu_use_region *slots; /* open addressing */
    size_t room;           /* a power of two, or 0 */
    size_t count;
    emu_use_arena *arena; /* NULL: none */
} emu_use_table;

emu_use_arena *emu_use_arena_new(void);
void emu_use_arena_free(emu_use_arena *arena);

/* Add the bytes [start, end). False: out of memory. */
bool emu_use_table_add(emu_use_table *table, uint64_t start, uint64_t end, int kind);
/* Add the elements of `size` bytes, a power of two up to 32, at the addresses of the
 * lanes of a mask. The addresses are multiples of the size. False: out of memory. */
bool emu_use_table_add_lanes(emu_use_table *table, const uint64_t *at, uint32_t mask,
                             unsigned size, int kind);
/* Add all that the other table has. False: out of memory. */
bool emu_use_table_merge(emu_use_table *table, const emu_use_table *other);
/* Make it empty. One with an arena keeps its memory for the next use, if that is not
 * very much. */
void emu_use_table_clear(emu_use_table *table);
/* Make it empty, and free its memory but for the arena. */
void emu_use_table_close(emu_use_table *table);

/* The region of a number, or NULL. */
const emu_use_region *emu_use_table_find(const emu_use_table *table, uint64_t number);

/* The bits of a word of a page, in any of some kinds (a bit for each). */
uint64_t emu_use_region_word(const emu_use_region *region, unsigned kinds,
                             unsigned page, unsigned word);
/* The pages that are used at all, in any of some kinds. */
uint64_t emu_use_region_pages(const emu_use_region *region, unsigned kinds);

/* -- uses of an operation ---------------------------------------------------------- */

/* Copies and fills know their ranges. The accesses of kernels are noted one by one, by
 * each thread that runs the kernel in a log of its own, and are then merged into a
 * table with a bit for each byte. */

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

/* The kind of a table for the first three kinds of use. */
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

/* -- logs of uses ------------------------------------------------------------------ */

/* A log of uses: the accesses that one worker makes while it runs a kernel.
 *
 * Each worker has a log of its own, so that accesses are noted without a lock. At its
 * end, the log is added to the uses of the operation. */

typedef struct emu_use_log emu_use_log;

/* NULL: out of memory. */
emu_use_log *emu_use_log_new(void);
void emu_use_log_free(emu_use_log *log);

/* From now on, the accesses are those of an operation. NULL: of none. */
void emu_use_log_begin(emu_use_log *log, emu_uses *uses);
/* Add the accesses to the uses of the operation. Any number of threads at a time. */
void emu_use_log_end(emu_use_log *log);

/* Whether accesses to an allocation are to be noted. `log` may be NULL. */
bool emu_use_log_wants(emu_use_log *log, const emu_allocation *allocation);
/* Note an access to such an allocation. */
void emu_use_log_add(emu_use_log *log, uint64_t address, uint64_t bytes, unsigned kind);
/* Note the accesses of the lanes of a mask, which is not 0, to elements of `size`
 * bytes: a power of two up to 32, of which the addresses are multiples. */
void emu_use_log_add_lanes(emu_use_log *log, const uint64_t *at, uint32_t mask,
                           unsigned size, unsigned kind);

#endif
