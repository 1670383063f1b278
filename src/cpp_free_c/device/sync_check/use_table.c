/* Regions in a hash table, and their blocks. See uses.h. */
#include "device/sync_check/uses.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_SLOTS = 4,
    KEPT_SLOTS = 256,
    FIRST_BLOCKS = 4,
    MOST_BLOCKS = 64,
    KEPT_CHUNKS = 64
};

/* -- blocks ------------------------------------------------------------------------ */

typedef struct arena_chunk {
    struct arena_chunk *next;
    size_t count;
    emu_use_block blocks[];
} arena_chunk;

struct emu_use_arena {
    arena_chunk *first;
    arena_chunk *chunk;   /* the one that gives blocks now; NULL: none */
    size_t used;          /* blocks of it */
    emu_use_block *spare; /* blocks that were given back; pages[0] is the next one */
};

emu_use_arena *
emu_use_arena_new(void)
{
    return calloc(1, sizeof(emu_use_arena));
}

/* Go on to the next chunk, made if need be. False: out of memory. */
static bool
arena_advance(emu_use_arena *arena)
{
    arena_chunk **next = &arena->first;
    size_t count = FIRST_BLOCKS;

    if (arena->chunk != NULL) {
        next = &arena->chunk->next;
        count = 2 * arena->chunk->count;
    }
    if (count > MOST_BLOCKS) {
        count = MOST_BLOCKS;
    }
    if (*next == NULL) {
        *next = malloc(sizeof(**next) + count * sizeof((*next)->blocks[0]));
        if (*next == NULL) {
            return false;
        }
        (*next)->next = NULL;
        (*next)->count = count;
    }
    arena->chunk = *next;
    arena->used = 0;
    return true;
}

/* Take all blocks back. Keep the memory of a usual kernel. */
static void
arena_reset(emu_use_arena *arena, size_t kept)
{
    arena_chunk **end = &arena->first;

    while (*end != NULL && kept > 0) {
        end = &(*end)->next;
        kept--;
    }
    while (*end != NULL) {
        arena_chunk *chunk = *end;

        *end = chunk->next;
        free(chunk);
    }
    arena->chunk = NULL;
    arena->used = 0;
    arena->spare = NULL;
}

void
emu_use_arena_free(emu_use_arena *arena)
{
    if (arena != NULL) {
        arena_reset(arena, 0);
        free(arena);
    }
}

/* A zeroed block. NULL: out of memory. */
static emu_use_block *
block_new(emu_use_table *table)
{
    emu_use_arena *arena = table->arena;
    emu_use_block *block;

    if (arena == NULL) {
        return calloc(1, sizeof(*block));
    }
    if (arena->spare != NULL) {
        block = arena->spare;
        arena->spare = block->pages[0];
    }
    else {
        if ((arena->chunk == NULL || arena->used == arena->chunk->count) &&
            !arena_advance(arena)) {
            return NULL;
        }
        block = &arena->chunk->blocks[arena->used++];
    }
    memset(block, 0, sizeof(*block));
    return block;
}

static void
block_free(const emu_use_table *table, emu_use_block *block)
{
    if (table->arena == NULL) {
        free(block);
    }
    else if (block != NULL) {
        block->pages[0] = table->arena->spare;
        table->arena->spare = block;
    }
}

/* -- sets -------------------------------------------------------------------------- */

/* All bytes of a page are used. */
static void
set_fill_page(const emu_use_table *table, emu_use_set *set, unsigned page)
{
    const uint64_t bit = UINT64_C(1) << page;

    if (set->parts != NULL) {
        block_free(table, set->parts->pages[page]);
        set->parts->pages[page] = NULL;
    }
    set->some &= ~bit;
    set->full |= bit;
}

/* All bytes of some words of a page are used. False: out of memory. */
static inline bool
set_add_wholes(emu_use_table *table, emu_use_set *set, unsigned page, uint64_t words)
{
    if (set->wholes == NULL) {
        set->wholes = block_new(table);
        if (set->wholes == NULL) {
            return false;
        }
    }
    set->some |= UINT64_C(1) << page;
    set->wholes->words[page] |= words;
    if (set->wholes->words[page] == UINT64_MAX) {
        set_fill_page(table, set, page);
    }
    return true;
}

/* The bits of the bytes of a page, made if need be. NULL: out of memory. */
static emu_use_block *
set_part(emu_use_table *table, emu_use_set *set, unsigned page)
{
    if (set->parts == NULL) {
        set->parts = block_new(table);
        if (set->parts == NULL) {
            return NULL;
        }
    }
    if (set->parts->pages[page] == NULL) {
        set->parts->pages[page] = block_new(table);
    }
    return set->parts->pages[page];
}

static bool
set_has_whole(const emu_use_set *set, unsigned page, unsigned word)
{
    return (set->full >> page & 1) != 0 ||
           (set->wholes != NULL && (set->wholes->words[page] >> word & 1) != 0);
}

/* Some bytes of a word are used. False: out of memory. */
static bool
set_add_part(emu_use_table *table, emu_use_set *set, unsigned page, unsigned word,
             uint64_t bits)
{
    if (set_has_whole(set, page, word)) {
        return true;
    }
    emu_use_block *part = set_part(table, set, page);
    if (part == NULL) {
        return false;
    }
    set->some |= UINT64_C(1) << page;
    part->words[word] |= bits;
    if (part->words[word] == UINT64_MAX) {
        return set_add_wholes(table, set, page, UINT64_C(1) << word);
    }
    return true;
}

/* The bits [first, end) of a word. */
static uint64_t
word_bits(unsigned first, unsigned end)
{
    return (UINT64_MAX << first) & (UINT64_MAX >> (64 - end));
}

/* Add the bytes [first, end) of a page, which begin or end inside of a word. False: out
 * of memory. */
static bool
set_add_ragged(emu_use_table *table, emu_use_set *set, unsigned page, unsigned first,
               unsigned end)
{
    const unsigned begin = first / 64, last = (end - 1) / 64;
    bool good = true;

    if (begin == last) {
        return set_add_part(table, set, page, begin,
                            word_bits(first % 64, (end - 1) % 64 + 1));
    }
    if (last > begin + 1) {
        good &= set_add_wholes(table, set, page, word_bits(begin + 1, last));
    }
    good &= set_add_part(table, set, page, begin, word_bits(first % 64, 64));
    return good &
           set_add_part(table, set, page, last, word_bits(0, (end - 1) % 64 + 1));
}

/* Add the bytes [first, end) of a page. False: out of memory. */
static inline bool
set_add(emu_use_table *table, emu_use_set *set, unsigned page, unsigned first,
        unsigned end)
{
    if ((set->full >> page & 1) != 0) {
        return true;
    }
    if ((first | end) % 64 != 0) {
        return set_add_ragged(table, set, page, first, end);
    }
    if (end - first == EMU_USE_PAGE) {
        set_fill_page(table, set, page);
        return true;
    }
    return set_add_wholes(table, set, page, word_bits(first / 64, end / 64));
}

/* Add the bytes of a page that are used in part. False: out of memory. */
static bool
set_merge_part(emu_use_table *table, emu_use_set *set, unsigned page,
               const emu_use_block *part)
{
    bool good = true;

    for (unsigned word = 0; word < EMU_USE_WORDS; word++) {
        if (part->words[word] != 0) {
            good &= set_add_part(table, set, page, word, part->words[word]);
        }
    }
    return good;
}

static bool
set_merge(emu_use_table *table, emu_use_set *set, const emu_use_set *other)
{
    bool good = true;

    for (uint64_t left = other->full & ~set->full; left != 0; left &= left - 1) {
        set_fill_page(table, set, (unsigned)__builtin_ctzll(left));
    }
    for (uint64_t left = other->some & ~set->full; left != 0; left &= left - 1) {
        const unsigned page = (unsigned)__builtin_ctzll(left);

        if (other->wholes != NULL && other->wholes->words[page] != 0) {
            good &= set_add_wholes(table, set, page, other->wholes->words[page]);
        }
        if (other->parts != NULL && other->parts->pages[page] != NULL) {
            good &= set_merge_part(table, set, page, other->parts->pages[page]);
        }
    }
    return good;
}

static void
set_free(const emu_use_table *table, emu_use_set *set)
{
    for (unsigned page = 0; set->parts != NULL && page < EMU_USE_PAGES; page++) {
        block_free(table, set->parts->pages[page]);
    }
    block_free(table, set->parts);
    block_free(table, set->wholes);
}

/* -- regions ----------------------------------------------------------------------- */

/* The slot of a number, or the empty one for it. */
static emu_use_region *
table_slot(const emu_use_table *table, uint64_t number)
{
    size_t at = (size_t)(number * UINT64_C(0x9E3779B97F4A7C15) >> 32);

    for (at &= table->room - 1; table->slots[at].number != 0;
         at++, at &= table->room - 1) {
        if (table->slots[at].number == number) {
            break;
        }
    }
    return &table->slots[at];
}

static bool
table_grow(emu_use_table *table)
{
    const emu_use_table old = *table;
    size_t room = FIRST_SLOTS;
    emu_use_region *slots;

    if (old.room > 0) {
        room = 2 * old.room;
    }
    slots = calloc(room, sizeof(*slots));
    if (slots == NULL) {
        return false;
    }
    table->slots = slots;
    table->room = room;
    for (size_t i = 0; i < old.room; i++) {
        if (old.slots[i].number != 0) {
            *table_slot(table, old.slots[i].number) = old.slots[i];
        }
    }
    free(old.slots);
    return true;
}

/* The region of a number, made if need be. NULL: out of memory. */
static emu_use_region *
table_region(emu_use_table *table, uint64_t number)
{
    emu_use_region *region;

    if (table->room > 0) {
        region = table_slot(table, number);
        if (region->number != 0) {
            return region;
        }
    }
    if (2 * (table->count + 1) > table->room && !table_grow(table)) {
        return NULL;
    }
    region = table_slot(table, number);
    region->number = number;
    table->count++;
    return region;
}

bool
emu_use_table_add(emu_use_table *table, uint64_t start, uint64_t end, int kind)
{
    while (start < end) {
        const uint64_t page = start >> EMU_USE_PAGE_SHIFT;
        const uint64_t base = page << EMU_USE_PAGE_SHIFT;
        uint64_t stop = base + EMU_USE_PAGE;
        emu_use_region *region = table_region(table, start >> EMU_USE_REGION_SHIFT);

        if (stop > end) {
            stop = end;
        }
        if (region == NULL ||
            !set_add(table, &region->kinds[kind], (unsigned)(page % EMU_USE_PAGES),
                     (unsigned)(start - base), (unsigned)(stop - base))) {
            return false;
        }
        start = stop;
    }
    return true;
}

/* The page that a thread adds to. */
typedef struct {
    uint64_t number; /* address >> EMU_USE_PAGE_SHIFT; 0: none yet */
    emu_use_set *set;
} table_place;

/* Go to a page. False: out of memory. */
static bool
place_find(table_place *place, emu_use_table *table, uint64_t number, int kind)
{
    emu_use_region *region =
        table_region(table, number >> (EMU_USE_REGION_SHIFT - EMU_USE_PAGE_SHIFT));

    place->number = 0;
    if (region == NULL) {
        return false;
    }
    *place = (table_place){number, &region->kinds[kind]};
    return true;
}

/* Add the bits of one word, which has the number address / 64. False: out of memory. */
static bool
place_add(table_place *place, emu_use_table *table, uint64_t word, uint64_t bits,
          int kind)
{
    const uint64_t number = word / EMU_USE_WORDS;
    const unsigned page = (unsigned)(number % EMU_USE_PAGES);

    if ((place->set == NULL || number != place->number) &&
        !place_find(place, table, number, kind)) {
        return false;
    }
    return set_add_part(table, place->set, page, (unsigned)(word % EMU_USE_WORDS),
                        bits);
}

bool
emu_use_table_add_lanes(emu_use_table *table, const uint64_t *at, uint32_t mask,
                        unsigned size, int kind)
{
    const uint64_t ones = (UINT64_C(1) << size) - 1;
    table_place place = {0, NULL};
    uint64_t word = at[__builtin_ctz(mask)] / 64, bits = 0;
    bool good = true;

    for (; mask != 0; mask &= mask - 1) {
        const uint64_t address = at[__builtin_ctz(mask)];

        if (address / 64 != word) {
            good &= place_add(&place, table, word, bits, kind);
            word = address / 64;
            bits = 0;
        }
        bits |= ones << address % 64;
    }
    return good & place_add(&place, table, word, bits, kind);
}

bool
emu_use_table_merge(emu_use_table *table, const emu_use_table *other)
{
    bool good = true;

    for (size_t i = 0; i < other->room; i++) {
        const emu_use_region *from = &other->slots[i];

        if (from->number == 0) {
            continue;
        }
        emu_use_region *to = table_region(table, from->number);
        if (to == NULL) {
            return false;
        }
        for (int kind = 0; kind < EMU_USE_KINDS; kind++) {
            good &= set_merge(table, &to->kinds[kind], &from->kinds[kind]);
        }
    }
    return good;
}

static void
table_free_blocks(emu_use_table *table)
{
    if (table->arena != NULL) {
        arena_reset(table->arena, KEPT_CHUNKS);
        return;
    }
    for (size_t i = 0; i < table->room; i++) {
        for (int kind = 0; kind < EMU_USE_KINDS; kind++) {
            set_free(table, &table->slots[i].kinds[kind]);
        }
    }
}

void
emu_use_table_clear(emu_use_table *table)
{
    if (table->arena == NULL || table->room > KEPT_SLOTS) {
        emu_use_table_close(table);
        return;
    }
    if (table->count > 0) {
        table_free_blocks(table);
        memset(table->slots, 0, table->room * sizeof(*table->slots));
        table->count = 0;
    }
}

void
emu_use_table_close(emu_use_table *table)
{
    table_free_blocks(table);
    free(table->slots);
    *table = (emu_use_table){.arena = table->arena};
}

const emu_use_region *
emu_use_table_find(const emu_use_table *table, uint64_t number)
{
    if (table->count == 0) {
        return NULL;
    }
    const emu_use_region *region = table_slot(table, number);
    if (region->number == 0) {
        return NULL;
    }
    return region;
}

/* -- bits -------------------------------------------------------------------------- */

/* The bits of a word of a page that is used in part. */
static uint64_t
set_word(const emu_use_set *set, unsigned page, unsigned word)
{
    if (set_has_whole(set, page, word)) {
        return UINT64_MAX;
    }
    if (set->parts != NULL && set->parts->pages[page] != NULL) {
        return set->parts->pages[page]->words[word];
    }
    return 0;
}

uint64_t
emu_use_region_word(const emu_use_region *region, unsigned kinds, unsigned page,
                    unsigned word)
{
    uint64_t bits = 0;

    for (int kind = 0; kind < EMU_USE_KINDS; kind++) {
        const emu_use_set *set = &region->kinds[kind];

        if ((kinds >> kind & 1) != 0 && ((set->full | set->some) >> page & 1) != 0) {
            bits |= set_word(set, page, word);
        }
    }
    return bits;
}

uint64_t
emu_use_region_pages(const emu_use_region *region, unsigned kinds)
{
    uint64_t pages = 0;

    for (int kind = 0; kind < EMU_USE_KINDS; kind++) {
        if ((kinds >> kind & 1) != 0) {
            pages |= region->kinds[kind].full | region->kinds[kind].some;
        }
    }
    return pages;
}
