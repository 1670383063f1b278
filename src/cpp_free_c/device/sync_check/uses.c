/* Ranges, tables, and searches in them. See uses.h. */
#include "device/sync_check/uses.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_KINDS = EMU_USE_READ | EMU_USE_WRITE | EMU_USE_ATOMIC };

/* Workers that end at the same time merge one after the other. */
static pthread_mutex_t merging = PTHREAD_MUTEX_INITIALIZER;

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

/* -- noting ------------------------------------------------------------------------ */

static void
uses_extend(emu_uses *uses, uint64_t start, uint64_t end)
{
    if (uses->high == 0 || start < uses->low) {
        uses->low = start;
    }
    if (end > uses->high) {
        uses->high = end;
    }
}

/* Extend them by the pages of a region. */
static void
uses_extend_by(emu_uses *uses, const emu_use_region *region)
{
    const uint64_t base = region->number << EMU_USE_REGION_SHIFT;
    const uint64_t pages = emu_use_region_pages(region, TABLE_KINDS);

    if (region->number != 0 && pages != 0) {
        const uint64_t first = (uint64_t)__builtin_ctzll(pages);
        const uint64_t last = 63 - (uint64_t)__builtin_clzll(pages);

        uses_extend(uses, base + (first << EMU_USE_PAGE_SHIFT),
                    base + ((last + 1) << EMU_USE_PAGE_SHIFT));
    }
}

void
emu_uses_add_range(emu_uses *uses, uint64_t start, uint64_t bytes, unsigned kind,
                   uint64_t value)
{
    const emu_allocation *memory = emu_memory_find(start);
    emu_use_range *last = NULL;

    if (bytes == 0) {
        return;
    }
    uses_extend(uses, start, start + bytes);
    uses->has_host |= memory != NULL && emu_uses_is_host_kind(memory->kind);
    if (uses->count > 0) {
        last = &uses->ranges[uses->count - 1];
    }
    if (last != NULL && last->kind == kind && last->end == start &&
        last->value == value) {
        last->end += bytes; /* the next row of a box */
        return;
    }
    if (uses->ranges == NULL || uses->count == uses->room) {
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

void
emu_uses_merge(emu_uses *uses, const emu_use_table *table, bool has_host,
               bool incomplete)
{
    pthread_mutex_lock(&merging);
    uses->has_host |= has_host;
    uses->incomplete |= incomplete | !emu_use_table_merge(&uses->table, table);
    for (size_t i = 0; i < table->room; i++) {
        uses_extend_by(uses, &table->slots[i]);
    }
    pthread_mutex_unlock(&merging);
}

void
emu_uses_close(emu_uses *uses)
{
    emu_use_table_close(&uses->table);
    free(uses->ranges);
    *uses = (emu_uses){.host_only = uses->host_only};
}

bool
emu_uses_is_empty(const emu_uses *uses)
{
    return uses->count == 0 && uses->table.count == 0;
}

/* -- searches ---------------------------------------------------------------------- */

/* The kinds in which a region uses a byte. */
static unsigned
region_kinds_of_byte(const emu_use_region *region, uint64_t address)
{
    const unsigned page = (unsigned)(address >> EMU_USE_PAGE_SHIFT) % EMU_USE_PAGES;
    const unsigned offset = (unsigned)(address % EMU_USE_PAGE);
    unsigned kinds = 0;

    for (int k = 0; k < EMU_USE_KINDS; k++) {
        const uint64_t word = emu_use_region_word(region, 1u << k, page, offset / 64);

        if ((word >> offset % 64 & 1) != 0) {
            kinds |= 1u << k;
        }
    }
    return kinds;
}

unsigned
emu_uses_of_byte(const emu_uses *uses, uint64_t address)
{
    unsigned kinds = 0;

    if (address < uses->low || address >= uses->high) {
        return 0;
    }
    for (size_t i = 0; i < uses->count; i++) {
        const emu_use_range *range = &uses->ranges[i];

        if (address >= range->start && address < range->end) {
            kinds |= range->kind;
        }
    }
    const emu_use_region *region =
        emu_use_table_find(&uses->table, address >> EMU_USE_REGION_SHIFT);
    if (region != NULL) {
        kinds |= region_kinds_of_byte(region, address);
    }
    return kinds;
}

/* A search for the lowest byte that counts. */
typedef struct {
    emu_use_filter filter;
    const void *data;
    emu_use_conflict *out;
    bool is_found;
} search;

/* Whether a byte at the address would not be a better result. */
static bool
search_is_below(const search *s, uint64_t address)
{
    return s->is_found && s->out->address <= address;
}

/* Two uses conflict at the address. Return whether that counts. */
static bool
search_found(search *s, uint64_t address, unsigned first, unsigned second)
{
    if (s->filter != NULL && !s->filter(address, s->data)) {
        return false;
    }
    if (!search_is_below(s, address)) {
        *s->out = (emu_use_conflict){address, first, second};
        s->is_found = true;
    }
    return true;
}

/* The bits [first, end) of a page that are in one of its words. */
static uint64_t
page_word_bits(unsigned word, unsigned first, unsigned end)
{
    uint64_t bits = UINT64_MAX;

    if (first > word * 64) {
        bits &= UINT64_MAX << first % 64;
    }
    if (end < word * 64 + 64) {
        bits &= UINT64_MAX >> (64 - end % 64);
    }
    return bits;
}

/* Look for a byte of [start, end), used in a kind, in one page of a region. */
static void
search_page_for_range(search *s, const emu_use_range *range,
                      const emu_use_region *region, unsigned page)
{
    const uint64_t base = (region->number << EMU_USE_REGION_SHIFT) +
                          ((uint64_t)page << EMU_USE_PAGE_SHIFT);
    const unsigned opposite = use_opposite(range->kind);
    unsigned first = 0, end = EMU_USE_PAGE;

    if (range->start > base) {
        first = (unsigned)(range->start - base);
    }
    if (range->end < base + EMU_USE_PAGE) {
        end = (unsigned)(range->end - base);
    }
    for (unsigned word = first / 64; word <= (end - 1) / 64; word++) {
        const uint64_t bits = emu_use_region_word(region, opposite, page, word) &
                              page_word_bits(word, first, end);

        if (bits != 0) {
            const uint64_t address =
                base + (uint64_t)word * 64 + (unsigned)__builtin_ctzll(bits);

            /* the bytes of a word are of one allocation */
            if (search_found(s, address, range->kind,
                             region_kinds_of_byte(region, address) & opposite)) {
                return;
            }
        }
    }
}

/* Look for a byte of a range in a region, which may be NULL. */
static void
search_region_for_range(search *s, const emu_use_range *range,
                        const emu_use_region *region)
{
    if (region == NULL || region->number == 0) {
        return;
    }
    uint64_t base = region->number << EMU_USE_REGION_SHIFT;
    if (search_is_below(s, base)) {
        return;
    }
    uint64_t pages = emu_use_region_pages(region, use_opposite(range->kind));
    for (; pages != 0; pages &= pages - 1) {
        const unsigned page = (unsigned)__builtin_ctzll(pages);
        const uint64_t start = base + ((uint64_t)page << EMU_USE_PAGE_SHIFT);

        if (range->start < start + EMU_USE_PAGE && range->end > start) {
            search_page_for_range(s, range, region, page);
        }
    }
}

/* Look for a byte of a range in the table of a kernel. */
static void
search_table_for_range(search *s, const emu_use_range *range,
                       const emu_use_table *table)
{
    const uint64_t first = range->start >> EMU_USE_REGION_SHIFT;
    const uint64_t last = (range->end - 1) >> EMU_USE_REGION_SHIFT;

    if (last - first < table->room) {
        for (uint64_t number = first; number <= last; number++) {
            search_region_for_range(s, range, emu_use_table_find(table, number));
        }
        return;
    }
    for (size_t i = 0; i < table->room; i++) {
        search_region_for_range(s, range, &table->slots[i]);
    }
}

/* Look for a byte of a range in the other uses. */
static void
search_range(search *s, const emu_use_range *range, const emu_uses *others)
{
    for (size_t i = 0; i < others->count; i++) {
        const emu_use_range *other = &others->ranges[i];
        const uint64_t start =
            range->start > other->start ? range->start : other->start;

        if (start < range->end && start < other->end &&
            (use_opposite(range->kind) & other->kind) != 0 &&
            (range->value == 0 || range->value != other->value)) {
            (void)search_found(s, start, range->kind, other->kind);
        }
    }
    search_table_for_range(s, range, &others->table);
}

/* Look for a byte that two regions use, in a kind of the first one. */
static void
search_regions(search *s, const emu_use_region *first, const emu_use_region *second,
               int kind)
{
    const unsigned opposite = use_opposite(1u << kind);
    uint64_t pages = emu_use_region_pages(first, 1u << kind) &
                     emu_use_region_pages(second, opposite);

    for (; pages != 0; pages &= pages - 1) {
        const unsigned page = (unsigned)__builtin_ctzll(pages);
        const uint64_t base = (first->number << EMU_USE_REGION_SHIFT) +
                              ((uint64_t)page << EMU_USE_PAGE_SHIFT);

        for (unsigned word = 0; word < EMU_USE_WORDS; word++) {
            const uint64_t bits = emu_use_region_word(first, 1u << kind, page, word) &
                                  emu_use_region_word(second, opposite, page, word);

            if (bits != 0) {
                const uint64_t address =
                    base + (uint64_t)word * 64 + (unsigned)__builtin_ctzll(bits);

                if (search_found(s, address, 1u << kind,
                                 region_kinds_of_byte(second, address) & opposite)) {
                    return;
                }
            }
        }
    }
}

/* Look for a byte that two kernels use. */
static void
search_tables(search *s, const emu_use_table *first, const emu_use_table *second)
{
    for (size_t i = 0; i < first->room; i++) {
        const emu_use_region *region = &first->slots[i];

        if (region->number == 0 ||
            search_is_below(s, region->number << EMU_USE_REGION_SHIFT)) {
            continue;
        }
        const emu_use_region *other = emu_use_table_find(second, region->number);
        for (int kind = 0; other != NULL && kind < EMU_USE_KINDS; kind++) {
            search_regions(s, region, other, kind);
        }
    }
}

bool
emu_uses_conflict(const emu_uses *first, const emu_uses *second, emu_use_filter filter,
                  const void *data, emu_use_conflict *out)
{
    search s = {filter, data, out, false};
    emu_use_conflict back;
    search reverse = {filter, data, &back, false};

    if (first->low >= second->high || second->low >= first->high) {
        return false;
    }
    for (size_t i = 0; i < first->count; i++) {
        search_range(&s, &first->ranges[i], second);
    }
    search_tables(&s, &first->table, &second->table);
    for (size_t i = 0; i < second->count; i++) {
        search_table_for_range(&reverse, &second->ranges[i], &first->table);
    }
    if (reverse.is_found && !search_is_below(&s, back.address)) {
        *out = (emu_use_conflict){back.address, back.second, back.first};
        s.is_found = true;
    }
    return s.is_found;
}

bool
emu_uses_touch(const emu_uses *uses, uint64_t start, uint64_t end)
{
    emu_use_conflict found;
    const emu_use_range range = {start, end, EMU_USE_WRITE, 0};
    search s = {NULL, NULL, &found, false};

    pthread_mutex_lock(&merging); /* its kernel may be running */
    if (start < uses->high && end > uses->low) {
        search_range(&s, &range, uses);
    }
    pthread_mutex_unlock(&merging);
    return s.is_found;
}

/* Call `see` for the pages of a region. */
static void
region_each(const emu_use_region *region,
            void (*see)(void *data, uint64_t start, uint64_t end, unsigned kind),
            void *data)
{
    const uint64_t base = region->number << EMU_USE_REGION_SHIFT;

    for (int kind = 0; region->number != 0 && kind < EMU_USE_KINDS; kind++) {
        uint64_t pages = emu_use_region_pages(region, 1u << kind);

        for (; pages != 0; pages &= pages - 1) {
            const uint64_t start =
                base + ((uint64_t)__builtin_ctzll(pages) << EMU_USE_PAGE_SHIFT);

            see(data, start, start + EMU_USE_PAGE, 1u << kind);
        }
    }
}

void
emu_uses_each(const emu_uses *uses,
              void (*see)(void *data, uint64_t start, uint64_t end, unsigned kind),
              void *data)
{
    for (size_t i = 0; i < uses->count; i++) {
        see(data, uses->ranges[i].start, uses->ranges[i].end, uses->ranges[i].kind);
    }
    for (size_t i = 0; i < uses->table.room; i++) {
        region_each(&uses->table.slots[i], see, data);
    }
}
