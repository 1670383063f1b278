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
#ifndef DEVICE_CHECK_USE_TABLE_H
#define DEVICE_CHECK_USE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
