/* The map of what this package has allocated. Invariant and callers: see memory_map.h.
 */

#include "driver/memory_map.h"

#include <stdlib.h>

struct pcu_memory_map pcu_memory_map = {.recording = true};

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

/* -- notes ------------------------------------------------------------------------- */

uint64_t
pcu_memory_event_write(const pcu_memory_note *note, pcu_memory_change change)
{
    if (!pcu_memory_map.recording || !note->recorded) {
        return 0;
    }
    return pcu_event_memory(change, note->kind, note->site, note->ctx->device,
                            note->address, note->size);
}

static pcu_memory_note *
map_add(const pcu_memory_note *values)
{
    pcu_memory_note *note = NULL;
    if (map_grow() == 0) {
        note = map_new_note();
    }
    if (note != NULL) {
        *note = *values;
        map_link(note);
        pcu_memory_map.count++;
    }
    return note;
}

pcu_memory_note *
pcu_memory_add(uint64_t address, const pcu_context_record *ctx)
{
    pcu_memory_note values = {.address = address, .ctx = ctx};
    return map_add(&values);
}

/* The link to the note of an address in a context; it links to NULL if there is none.
 */
static pcu_memory_note **
map_find(uint64_t address, const pcu_context_record *ctx)
{
    pcu_memory_note **link = map_bucket(address);
    while (*link != NULL && ((*link)->address != address || (*link)->ctx != ctx)) {
        link = &(*link)->next;
    }
    return link;
}

void
pcu_memory_record(pcu_memory_kind kind, uint64_t address, size_t size, uint32_t site,
                  const pcu_context_record *ctx)
{
    pcu_memory_note *note = NULL;
    if (pcu_memory_map.count != 0) {
        note = *map_find(address, ctx);
    }
    if (note == NULL) {
        pcu_memory_map.missed++;
        return;
    }
    note->size = size;
    note->asked = size;
    note->site = site;
    note->kind = (uint8_t)kind;
    note->recorded = true;
    note->ticks = pcu_memory_event_write(note, PCU_MEMORY_ALLOCATED);
}

pcu_memory_note *
pcu_memory_add_block(pcu_memory_kind kind, uint64_t address, size_t size,
                     const pcu_context_record *ctx)
{
    pcu_memory_note values = {.address = address,
                              .size = size,
                              .ctx = ctx,
                              .kind = (uint8_t)kind,
                              .held = true,
                              .recorded = pcu_memory_map.recording};
    pcu_memory_note *note = map_add(&values);
    if (note != NULL) {
        note->ticks = pcu_memory_event_write(note, PCU_MEMORY_GROWN);
    }
    else if (values.recorded) {
        pcu_memory_map.missed++;
    }
    return note;
}

pcu_memory_note *
pcu_memory_find(uint64_t address, const pcu_context_record *ctx)
{
    if (pcu_memory_map.count == 0) {
        return NULL;
    }
    pcu_memory_note *note = *map_bucket(address);
    while (note != NULL &&
           (note->address != address || (ctx != NULL && note->ctx != ctx) ||
            !pcu_context_record_usable(note->ctx))) {
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
    pcu_memory_note **link = map_find(address, ctx);
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

static void
map_recycle(pcu_memory_note *note)
{
    note->next = pcu_memory_map.unused;
    pcu_memory_map.unused = note;
}

void
pcu_memory_end(pcu_memory_note *note)
{
    pcu_memory_change change = PCU_MEMORY_FREED;
    if (note->held) {
        change = PCU_MEMORY_SHRUNK;
    }
    (void)pcu_memory_event_write(note, change);
    note->ended = true;
    if (note->graphs == 0) {
        map_recycle(note);
    }
}

/* -- graphs ------------------------------------------------------------------------ */

void
pcu_memory_keep(pcu_memory_note *note)
{
    pcu_memory_map.kept += note->graphs == 0;
    note->graphs++;
}

bool
pcu_memory_let_go(pcu_memory_note *note)
{
    if (--note->graphs != 0) {
        return false;
    }
    pcu_memory_map.kept--;
    if (note->ended) {
        map_recycle(note);
        return false;
    }
    bool owed = note->owed;
    note->owed = false;
    return owed;
}
