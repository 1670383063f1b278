/* Ranges, and pages of bits in a hash table. See uses.h. */
#include "device/check/uses.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE_SHIFT = 12,
    PAGE_BYTES = 1 << PAGE_SHIFT,
    WORDS = PAGE_BYTES / 64,
    KINDS = 3,
    SHARDS = 32,
    FIRST_SLOTS = 16
};

/* The bytes of one page that have been used in one kind. */
typedef struct {
    uint64_t *bits; /* WORDS; NULL: none, or all */
    bool all;
} page_bytes;

typedef struct {
    uint64_t number; /* address >> PAGE_SHIFT; 0: an empty slot */
    page_bytes kinds[KINDS];
} use_page;

/* A part of the table, with open addressing. */
typedef struct {
    pthread_mutex_t mutex;
    use_page *slots;
    size_t room; /* a power of two, or 0 */
    size_t count;
} use_shard;

struct emu_use_pages {
    use_shard shards[SHARDS];
};

static uint64_t
page_hash(uint64_t number)
{
    return number * UINT64_C(0x9E3779B97F4A7C15) >> 20;
}

/* The kinds that conflict with some kinds. */
static unsigned
use_opposite(unsigned kinds)
{
    unsigned opposite = 0;

    if ((kinds & EMU_USE_READ) != 0) {
        opposite |= EMU_USE_WRITE | EMU_USE_ATOMIC;
    }
    if ((kinds & EMU_USE_WRITE) != 0) {
        opposite |= EMU_USE_READ | EMU_USE_WRITE | EMU_USE_ATOMIC;
    }
    if ((kinds & EMU_USE_ATOMIC) != 0) {
        opposite |= EMU_USE_READ | EMU_USE_WRITE;
    }
    if ((kinds & (EMU_USE_ALLOCATE | EMU_USE_FREE)) != 0) {
        opposite = UINT_MAX;
    }
    else {
        opposite |= EMU_USE_ALLOCATE | EMU_USE_FREE;
    }
    return opposite;
}

/* -- ranges ------------------------------------------------------------------------ */

void
emu_uses_add_range(emu_uses *uses, uint64_t start, uint64_t bytes, unsigned kind,
                   uint64_t value)
{
    emu_use_range *last = NULL;

    if (bytes == 0) {
        return;
    }
    if (uses->count > 0) {
        last = &uses->ranges[uses->count - 1];
    }
    if (last != NULL && last->kind == kind && last->end == start &&
        last->value == value) {
        last->end += bytes; /* the next row of a box */
        return;
    }
    if (uses->count == uses->room) {
        const size_t room = uses->room * 2 + 2;
        emu_use_range *ranges = realloc(uses->ranges, room * sizeof(*ranges));

        if (ranges == NULL) {
            uses->incomplete = true;
            return;
        }
        uses->ranges = ranges;
        uses->room = room;
    }
    uses->ranges[uses->count++] = (emu_use_range){start, start + bytes, kind, value};
}

/* -- pages ------------------------------------------------------------------------- */

bool
emu_uses_open_pages(emu_uses *uses)
{
    if (uses->pages != NULL) {
        return true;
    }
    uses->pages = calloc(1, sizeof(*uses->pages));
    if (uses->pages == NULL) {
        return false;
    }
    for (int i = 0; i < SHARDS; i++) {
        pthread_mutex_init(&uses->pages->shards[i].mutex, NULL);
    }
    return true;
}

/* The slot of a page, or the empty one for it. */
static use_page *
shard_slot(const use_shard *shard, uint64_t number)
{
    size_t at = (size_t)(page_hash(number) / SHARDS) & (shard->room - 1);

    while (shard->slots[at].number != 0 && shard->slots[at].number != number) {
        at = (at + 1) & (shard->room - 1);
    }
    return &shard->slots[at];
}

static bool
shard_grow(use_shard *shard)
{
    use_shard old = *shard;
    size_t room = FIRST_SLOTS;
    use_page *slots;

    if (old.room > 0) {
        room = old.room * 2;
    }
    slots = calloc(room, sizeof(*slots));
    if (slots == NULL) {
        return false;
    }
    shard->slots = slots;
    shard->room = room;
    for (size_t i = 0; i < old.room; i++) {
        if (old.slots[i].number != 0) {
            *shard_slot(shard, old.slots[i].number) = old.slots[i];
        }
    }
    free(old.slots);
    return true;
}

/* The page of a number, made if need be; NULL: out of memory. */
static use_page *
shard_page(use_shard *shard, uint64_t number)
{
    use_page *page;

    if (2 * (shard->count + 1) > shard->room && !shard_grow(shard)) {
        return NULL;
    }
    page = shard_slot(shard, number);
    if (page->number == 0) {
        page->number = number;
        shard->count++;
    }
    return page;
}

static use_shard *
pages_shard(const emu_use_pages *pages, uint64_t number)
{
    emu_use_pages *own = (emu_use_pages *)pages;

    return &own->shards[page_hash(number) % SHARDS];
}

/* The page of an address, or NULL. Nothing adds pages meanwhile. */
static const use_page *
pages_find(const emu_use_pages *pages, uint64_t number)
{
    const use_shard *shard = pages_shard(pages, number);
    const use_page *page;

    if (shard->room == 0) {
        return NULL;
    }
    page = shard_slot(shard, number);
    if (page->number == 0) {
        return NULL;
    }
    return page;
}

static int
kind_index(unsigned kind)
{
    return __builtin_ctz(kind);
}

/* The bits [first, end) of a word. */
static uint64_t
word_bits(unsigned first, unsigned end)
{
    const uint64_t upper = end == 64 ? UINT64_MAX : (UINT64_C(1) << end) - 1;

    return upper & ~((UINT64_C(1) << first) - 1);
}

/* Note the bytes [first, end) of a page. False: out of memory. */
static bool
page_add(page_bytes *bytes, unsigned first, unsigned end)
{
    if (bytes->all) {
        return true;
    }
    if (end - first == PAGE_BYTES) {
        free(bytes->bits);
        *bytes = (page_bytes){.all = true};
        return true;
    }
    if (bytes->bits == NULL) {
        bytes->bits = calloc(WORDS, sizeof(*bytes->bits));
        if (bytes->bits == NULL) {
            return false;
        }
    }
    for (unsigned word = first / 64; word <= (end - 1) / 64; word++) {
        const unsigned base = word * 64;
        const unsigned from = first > base ? first - base : 0;
        const unsigned to = end - base < 64 ? end - base : 64;

        bytes->bits[word] |= word_bits(from, to);
    }
    return true;
}

void
emu_uses_add(emu_uses *uses, uint64_t address, uint64_t bytes, unsigned kind)
{
    const uint64_t end = address + bytes;

    while (address < end) {
        const uint64_t number = address >> PAGE_SHIFT;
        const uint64_t start = number << PAGE_SHIFT;
        uint64_t stop = start + PAGE_BYTES;
        use_shard *shard = pages_shard(uses->pages, number);
        use_page *page;

        if (stop > end) {
            stop = end;
        }
        pthread_mutex_lock(&shard->mutex);
        page = shard_page(shard, number);
        if (page == NULL ||
            !page_add(&page->kinds[kind_index(kind)], (unsigned)(address - start),
                      (unsigned)(stop - start))) {
            uses->incomplete = true;
        }
        pthread_mutex_unlock(&shard->mutex);
        address = stop;
    }
}

void
emu_uses_close(emu_uses *uses)
{
    for (int i = 0; uses->pages != NULL && i < SHARDS; i++) {
        use_shard *shard = &uses->pages->shards[i];

        for (size_t k = 0; k < shard->room; k++) {
            for (int kind = 0; kind < KINDS; kind++) {
                free(shard->slots[k].kinds[kind].bits);
            }
        }
        free(shard->slots);
        pthread_mutex_destroy(&shard->mutex);
    }
    free(uses->pages);
    free(uses->ranges);
    *uses = (emu_uses){.host_only = uses->host_only};
}

bool
emu_uses_is_empty(const emu_uses *uses)
{
    for (int i = 0; uses->pages != NULL && i < SHARDS; i++) {
        if (uses->pages->shards[i].count > 0) {
            return false;
        }
    }
    return uses->count == 0;
}

/* -- searches ---------------------------------------------------------------------- */

/* The bits of a word of a page in any of some kinds. */
static uint64_t
page_word(const use_page *page, unsigned kinds, unsigned word)
{
    uint64_t bits = 0;

    for (int k = 0; k < KINDS; k++) {
        if ((kinds >> k & 1) == 0) {
            continue;
        }
        if (page->kinds[k].all) {
            return UINT64_MAX;
        }
        if (page->kinds[k].bits != NULL) {
            bits |= page->kinds[k].bits[word];
        }
    }
    return bits;
}

static unsigned
page_kinds_of_byte(const use_page *page, unsigned offset)
{
    unsigned kinds = 0;

    for (int k = 0; k < KINDS; k++) {
        if ((page_word(page, 1u << k, offset / 64) >> offset % 64 & 1) != 0) {
            kinds |= 1u << k;
        }
    }
    return kinds;
}

unsigned
emu_uses_of_byte(const emu_uses *uses, uint64_t address)
{
    unsigned kinds = 0;

    for (size_t i = 0; i < uses->count; i++) {
        const emu_use_range *range = &uses->ranges[i];

        if (address >= range->start && address < range->end) {
            kinds |= range->kind;
        }
    }
    if (uses->pages != NULL) {
        const use_page *page = pages_find(uses->pages, address >> PAGE_SHIFT);

        if (page != NULL) {
            kinds |= page_kinds_of_byte(page, (unsigned)(address % PAGE_BYTES));
        }
    }
    return kinds;
}

/* A search for a conflict. `first` has the ranges or the page that is looked at. */
typedef struct {
    const emu_uses *other;
    emu_use_filter filter;
    const void *data;
    emu_use_conflict *out;
} search;

static bool
search_found(const search *s, uint64_t address, unsigned kind, unsigned other)
{
    if (s->filter != NULL && !s->filter(address, s->data)) {
        return false;
    }
    *s->out = (emu_use_conflict){address, kind, other};
    return true;
}

/* Look for a byte of [start, end), used in a kind, in the page of the other uses. */
static bool
search_page(const search *s, const use_page *page, uint64_t start, uint64_t end,
            unsigned kind)
{
    const uint64_t base = page->number << PAGE_SHIFT;
    const unsigned opposite = use_opposite(kind);
    const unsigned first = start > base ? (unsigned)(start - base) : 0;
    const unsigned stop = end - base < PAGE_BYTES ? (unsigned)(end - base) : PAGE_BYTES;

    for (unsigned word = first / 64; word <= (stop - 1) / 64; word++) {
        const unsigned from = first > word * 64 ? first - word * 64 : 0;
        const unsigned to = stop - word * 64 < 64 ? stop - word * 64 : 64;
        const uint64_t bits = page_word(page, opposite, word) & word_bits(from, to);

        if (bits != 0) {
            const unsigned offset = word * 64 + (unsigned)__builtin_ctzll(bits);

            /* the bytes of a word are of one allocation */
            if (search_found(s, base + offset, kind,
                             page_kinds_of_byte(page, offset) & opposite)) {
                return true;
            }
        }
    }
    return false;
}

/* Look for a byte of a range in the other uses. */
static bool
search_range(const search *s, const emu_use_range *range)
{
    for (size_t i = 0; i < s->other->count; i++) {
        const emu_use_range *other = &s->other->ranges[i];
        const uint64_t start =
            range->start > other->start ? range->start : other->start;

        if (start < range->end && start < other->end &&
            (use_opposite(range->kind) & other->kind) != 0 &&
            (range->value == 0 || range->value != other->value) &&
            search_found(s, start, range->kind, other->kind)) {
            return true;
        }
    }
    if (s->other->pages == NULL) {
        return false;
    }
    for (uint64_t number = range->start >> PAGE_SHIFT;
         number <= (range->end - 1) >> PAGE_SHIFT; number++) {
        const use_page *page = pages_find(s->other->pages, number);

        if (page != NULL &&
            search_page(s, page, range->start, range->end, range->kind)) {
            return true;
        }
    }
    return false;
}

/* Look for a byte that two pages of the same number use. */
static bool
search_pages(const search *s, const use_page *page, const use_page *other)
{
    for (int k = 0; k < KINDS; k++) {
        const unsigned kind = 1u << k, opposite = use_opposite(kind);

        if (!page->kinds[k].all && page->kinds[k].bits == NULL) {
            continue;
        }
        for (unsigned word = 0; word < WORDS; word++) {
            const uint64_t bits =
                page_word(page, kind, word) & page_word(other, opposite, word);

            if (bits != 0) {
                const unsigned offset = word * 64 + (unsigned)__builtin_ctzll(bits);

                if (search_found(s, (page->number << PAGE_SHIFT) + offset, kind,
                                 page_kinds_of_byte(other, offset) & opposite)) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* Look for a byte of a page in the ranges and pages of the other uses. */
static bool
search_from_page(const search *s, const use_page *page)
{
    const uint64_t base = page->number << PAGE_SHIFT;

    for (size_t i = 0; i < s->other->count; i++) {
        const emu_use_range *range = &s->other->ranges[i];
        emu_use_conflict found;
        const search back = {s->other, s->filter, s->data, &found};

        if (range->start < base + PAGE_BYTES && range->end > base &&
            search_page(&back, page, range->start, range->end, range->kind)) {
            *s->out = (emu_use_conflict){found.address, found.second, found.first};
            return true;
        }
    }
    if (s->other->pages != NULL) {
        const use_page *other = pages_find(s->other->pages, page->number);

        return other != NULL && search_pages(s, page, other);
    }
    return false;
}

bool
emu_uses_conflict(const emu_uses *first, const emu_uses *second, emu_use_filter filter,
                  const void *data, emu_use_conflict *out)
{
    const search s = {second, filter, data, out};

    for (size_t i = 0; i < first->count; i++) {
        if (search_range(&s, &first->ranges[i])) {
            return true;
        }
    }
    for (int i = 0; first->pages != NULL && i < SHARDS; i++) {
        const use_shard *shard = &first->pages->shards[i];

        for (size_t k = 0; k < shard->room; k++) {
            if (shard->slots[k].number != 0 && search_from_page(&s, &shard->slots[k])) {
                return true;
            }
        }
    }
    return false;
}

bool
emu_uses_touch(const emu_uses *uses, uint64_t start, uint64_t end)
{
    emu_use_conflict found;
    const emu_use_range range = {start, end, EMU_USE_WRITE, 0};
    const search s = {uses, NULL, NULL, &found};

    return search_range(&s, &range);
}

void
emu_uses_each(const emu_uses *uses,
              void (*see)(void *data, uint64_t start, uint64_t end, unsigned kind),
              void *data)
{
    for (size_t i = 0; i < uses->count; i++) {
        see(data, uses->ranges[i].start, uses->ranges[i].end, uses->ranges[i].kind);
    }
    for (int i = 0; uses->pages != NULL && i < SHARDS; i++) {
        const use_shard *shard = &uses->pages->shards[i];

        for (size_t k = 0; k < shard->room; k++) {
            const use_page *page = &shard->slots[k];

            for (int kind = 0; page->number != 0 && kind < KINDS; kind++) {
                if (page->kinds[kind].all || page->kinds[kind].bits != NULL) {
                    see(data, page->number << PAGE_SHIFT,
                        (page->number + 1) << PAGE_SHIFT, 1u << kind);
                }
            }
        }
    }
}
