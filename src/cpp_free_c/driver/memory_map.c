/* The map of what this package has allocated. Invariant and callers: see memory_map.h.
 */

#include "driver/memory_map.h"

#include <stdlib.h>

struct pcu_memory_map pcu_memory_map = {.recording = 1,
                                        .event_room = PCU_MEMORY_EVENTS};

/* Notes are allocated in chunks, which are kept: programs allocate and free in turns.
 */
enum { MAP_CHUNK = 64, MAP_BUCKETS_FIRST = 256 };

/* -- the table --------------------------------------------------------------------- */

static pcu_memory_note **
map_bucket(uint64_t address)
{
    /* Allocations begin at multiples of 256 bytes or more, handles of arrays at those
     * of 8; the multiplication spreads both. */
    uint64_t hash = (address >> 3) * UINT64_C(0x9E3779B97F4A7C15);
    return &pcu_memory_map.buckets[hash >> 32 & (pcu_memory_map.bucket_count - 1)];
}

static void
map_link(pcu_memory_note *note)
{
    pcu_memory_note **bucket = map_bucket(note->address);
    note->next = *bucket;
    *bucket = note;
}

/* Make room for one more note. Without memory for a larger table, the old one fills. */
static int
map_grow(void)
{
    struct pcu_memory_map *map = &pcu_memory_map;
    if (map->count < map->bucket_count) {
        return 0;
    }
    size_t room = map->bucket_count * 2;
    if (room == 0) {
        room = MAP_BUCKETS_FIRST;
    }
    pcu_memory_note **old = map->buckets;
    size_t old_count = map->bucket_count;
    pcu_memory_note **fresh = calloc(room, sizeof(pcu_memory_note *));
    if (fresh == NULL) {
        return old == NULL ? -1 : 0;
    }
    map->buckets = fresh;
    map->bucket_count = room;
    for (size_t i = 0; i < old_count; i++) {
        pcu_memory_note *note = old[i];
        while (note != NULL) {
            pcu_memory_note *next = note->next;
            map_link(note);
            note = next;
        }
    }
    free(old);
    return 0;
}

static pcu_memory_note *
map_new_note(void)
{
    struct pcu_memory_map *map = &pcu_memory_map;
    if (map->unused == NULL) {
        pcu_memory_note *chunk = calloc(MAP_CHUNK, sizeof(*chunk));
        for (int i = 0; chunk != NULL && i < MAP_CHUNK; i++) {
            chunk[i].next = map->unused;
            map->unused = &chunk[i];
        }
    }
    pcu_memory_note *note = map->unused;
    if (note != NULL) {
        map->unused = note->next;
    }
    return note;
}

/* -- events ------------------------------------------------------------------------ */

static int
events_ready(void)
{
    struct pcu_memory_map *map = &pcu_memory_map;
    if (map->events != NULL) {
        return 1;
    }
    if (map->event_room != 0) {
        map->events = calloc(map->event_room, sizeof(*map->events));
        map->start = pcu_ticks_now(pcu_ticks_cheapest());
    }
    return map->events != NULL;
}

uint64_t
pcu_memory_event_write(const pcu_memory_note *note, pcu_memory_change change)
{
    struct pcu_memory_map *map = &pcu_memory_map;
    if (!map->recording) {
        return 0;
    }
    int ready = events_ready();
    uint64_t now = pcu_ticks(map->start.source);
    if (!ready) {
        return now;
    }
    map->events[map->event_count++ & (map->event_room - 1)] =
        (pcu_memory_event){.ticks = now,
                           .address = note->address,
                           .size = note->size,
                           .site = note->site,
                           .kind = note->kind,
                           .change = (uint8_t)change,
                           .device = (uint8_t)note->ctx->device};
    return now;
}

int
pcu_memory_keep_events(size_t count)
{
    struct pcu_memory_map *map = &pcu_memory_map;
    size_t room = count != 0;
    while (room < count && room < SIZE_MAX / 4 / sizeof(*map->events)) {
        room *= 2;
    }
    if (room < count) {
        return -1;
    }
    pcu_memory_event *fresh = NULL;
    if (room != 0) {
        fresh = calloc(room, sizeof(*fresh));
        if (fresh == NULL) {
            return -1;
        }
    }
    free(map->events);
    map->events = fresh;
    map->event_room = room;
    map->event_count = 0;
    map->start = pcu_ticks_now(pcu_ticks_cheapest());
    return 0;
}

/* -- notes ------------------------------------------------------------------------- */

static pcu_memory_note *
map_add(const pcu_memory_note *values, pcu_memory_change change)
{
    struct pcu_memory_map *map = &pcu_memory_map;
    if (!map->recording) {
        return NULL;
    }
    pcu_memory_note *note = NULL;
    if (map_grow() == 0) {
        note = map_new_note();
    }
    if (note == NULL) {
        map->missed++;
        return NULL;
    }
    *note = *values;
    map_link(note);
    map->count++;
    note->ticks = pcu_memory_event_write(note, change);
    return note;
}

pcu_memory_note *
pcu_memory_add(pcu_memory_kind kind, uint64_t address, size_t size, size_t asked,
               uint32_t site, const pcu_context_record *ctx)
{
    pcu_memory_note values = {.address = address,
                              .size = size,
                              .asked = asked,
                              .ctx = ctx,
                              .site = site,
                              .kind = (uint8_t)kind};
    return map_add(&values, PCU_MEMORY_ALLOCATED);
}

pcu_memory_note *
pcu_memory_add_block(pcu_memory_kind kind, uint64_t address, size_t size,
                     const pcu_context_record *ctx)
{
    pcu_memory_note values = {
        .address = address, .size = size, .ctx = ctx, .kind = (uint8_t)kind, .held = 1};
    return map_add(&values, PCU_MEMORY_GROWN);
}

pcu_memory_note *
pcu_memory_find(uint64_t address)
{
    if (pcu_memory_map.count == 0) {
        return NULL;
    }
    pcu_memory_note *note = *map_bucket(address);
    while (note != NULL &&
           (note->address != address || !pcu_context_record_usable(note->ctx))) {
        note = note->next;
    }
    return note;
}

pcu_memory_note *
pcu_memory_take_out(uint64_t address, const pcu_context_record *ctx)
{
    if (pcu_memory_map.count == 0) {
        return NULL;
    }
    pcu_memory_note **link = map_bucket(address);
    while (*link != NULL && ((*link)->address != address || (*link)->ctx != ctx)) {
        link = &(*link)->next;
    }
    pcu_memory_note *note = *link;
    if (note != NULL) {
        *link = note->next;
        pcu_memory_map.count--;
    }
    return note;
}

void
pcu_memory_put_back(pcu_memory_note *note)
{
    map_link(note);
    pcu_memory_map.count++;
}

void
pcu_memory_forget(uint64_t address, const pcu_context_record *ctx)
{
    pcu_memory_note *note = pcu_memory_take_out(address, ctx);
    if (note != NULL) {
        pcu_memory_end(note);
    }
}

void
pcu_memory_end(pcu_memory_note *note)
{
    pcu_memory_change change = PCU_MEMORY_FREED;
    if (note->held) {
        change = PCU_MEMORY_SHRUNK;
    }
    (void)pcu_memory_event_write(note, change);
    note->next = pcu_memory_map.unused;
    pcu_memory_map.unused = note;
}
