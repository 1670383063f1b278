/* The order of accesses. See race_check.h. */
#include <stdlib.h>
#include <string.h>

#include "device/machine/warp/race_check.h"

enum { LEAST_SLOTS = 64, MOST_TIMES = 256 };

/* At `time`, a block published what it knew of its warps. */
typedef struct {
    uint64_t time;
    uint32_t seen[EMU_MAX_WARPS];
} publication;

typedef struct {
    uint64_t block; /* its number plus one; 0: the slot is free */
    publication *times;
    unsigned count, room;
} published_block;

struct emu_race_grid {
    _Atomic uint64_t clock; /* publications so far */
    pthread_mutex_t lock;   /* guards what follows */
    published_block *slots;
    size_t used, room; /* a power of two */
    emu_visit_table visits;
};

/* -- grids ------------------------------------------------------------------------- */

emu_race_grid *
emu_race_grid_new(void)
{
    emu_race_grid *grid = calloc(1, sizeof *grid);

    if (grid == NULL) {
        return NULL;
    }
    grid->room = LEAST_SLOTS;
    grid->slots = calloc(grid->room, sizeof *grid->slots);
    if (grid->slots == NULL || !emu_visits_begin(&grid->visits)) {
        free(grid->slots);
        free(grid);
        return NULL;
    }
    (void)pthread_mutex_init(&grid->lock, NULL); /* cannot fail on Linux */
    return grid;
}

void
emu_race_grid_free(emu_race_grid *grid)
{
    if (grid == NULL) {
        return;
    }
    emu_visits_end();
    for (size_t i = 0; i < grid->room; i++) {
        free(grid->slots[i].times);
    }
    free(grid->slots);
    (void)pthread_mutex_destroy(&grid->lock);
    free(grid);
}

const emu_visit_table *
emu_race_grid_visits(const emu_race_grid *grid)
{
    return &grid->visits;
}

/* The slot of a block, or the free slot where it belongs. */
static published_block *
order_slot(published_block *slots, size_t room, uint64_t block)
{
    size_t at = (size_t)(block * 0x9e3779b97f4a7c15u >> 32) & (room - 1);

    while (slots[at].block != 0 && slots[at].block != block + 1) {
        at = (at + 1) & (room - 1);
    }
    return &slots[at];
}

/* Make room for one more block. False: out of memory. */
static bool
order_grow_locked(emu_race_grid *grid)
{
    const size_t room = grid->room * 2;
    published_block *slots;

    if (grid->used * 2 < grid->room) {
        return true;
    }
    slots = calloc(room, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < grid->room; i++) {
        if (grid->slots[i].block != 0) {
            *order_slot(slots, room, grid->slots[i].block - 1) = grid->slots[i];
        }
    }
    free(grid->slots);
    grid->slots = slots;
    grid->room = room;
    return true;
}

/* Make two neighbours one: it keeps the earlier time and what was known later. That may
 * miss a race, but never reports one that is none. */
static void
order_merge(published_block *slot)
{
    for (size_t i = 0; i < slot->count / 2; i++) {
        const uint64_t time = slot->times[2 * i].time;

        slot->times[i] = slot->times[2 * i + 1];
        slot->times[i].time = time;
    }
    slot->count /= 2;
}

/* The place for the next publication of a block; NULL: out of memory. */
static publication *
order_next_locked(emu_race_grid *grid, uint64_t block)
{
    if (!order_grow_locked(grid)) {
        return NULL;
    }
    published_block *slot = order_slot(grid->slots, grid->room, block);
    if (slot->block == 0) {
        slot->block = block + 1;
        grid->used++;
    }
    if (slot->count == MOST_TIMES) {
        order_merge(slot);
    }
    if (slot->count == slot->room) {
        const unsigned room = slot->room * 2 + 1;
        publication *larger = realloc(slot->times, room * sizeof *larger);

        if (larger == NULL) {
            return NULL;
        }
        slot->times = larger;
        slot->room = room;
    }
    return &slot->times[slot->count++];
}

/* Publish what the warp knows of its block to the grid. Out of memory counts as a
 * publication of everything: the check must not report what is right. */
static void
order_publish_to_grid(const emu_warp *warp, const emu_epochs *own)
{
    emu_race_grid *grid = warp->block->grid->race;

    if (grid == NULL) { /* of a trial: its block alone is checked */
        return;
    }
    pthread_mutex_lock(&grid->lock);
    publication *next = order_next_locked(grid, (uint32_t)warp->block->number);
    if (next != NULL) {
        next->time = atomic_fetch_add(&grid->clock, 1) + 1;
        memcpy(next->seen, own->seen, sizeof next->seen);
    }
    pthread_mutex_unlock(&grid->lock);
}

/* Whether a block had published more than `epoch` epochs of a warp at a time. */
static bool
order_was_published(emu_race_grid *grid, const emu_visit *visit, unsigned warp,
                    uint64_t time)
{
    bool found = false;

    if (time == 0 || warp >= EMU_MAX_WARPS) {
        return false;
    }
    pthread_mutex_lock(&grid->lock);
    const published_block *slot = order_slot(grid->slots, grid->room, visit->block);
    for (unsigned i = 0; i < slot->count && slot->times[i].time <= time && !found;
         i++) {
        found = slot->times[i].seen[warp] > visit->epoch;
    }
    pthread_mutex_unlock(&grid->lock);
    return found;
}

/* -- blocks ------------------------------------------------------------------------ */

void
emu_order_begin(emu_order *order)
{
    if (order->is_used) {
        memset(order, 0, sizeof *order);
    }
}

/* Add epochs of the block's warps to others. */
static void
order_join(const emu_block *block, emu_epochs *into, const emu_epochs *from)
{
    for (unsigned i = 0; i < block->warp_count; i++) {
        if (from->seen[i] > into->seen[i]) {
            into->seen[i] = from->seen[i];
        }
    }
    if (from->seen[EMU_RACE_COPIES] > into->seen[EMU_RACE_COPIES]) {
        into->seen[EMU_RACE_COPIES] = from->seen[EMU_RACE_COPIES];
    }
    if (from->acquired > into->acquired) {
        into->acquired = from->acquired;
    }
}

/* End the present epoch of the warp and add its epochs to `into`. */
static void
order_publish(emu_warp *warp, emu_epochs *into)
{
    emu_order *order = &warp->block->race->order;
    emu_epochs *own = &order->warps[warp->number];

    order->is_used = true;
    own->seen[warp->number]++;
    order->after_fence[warp->number] = false;
    order_join(warp->block, into, own);
}

void
emu_race_arrive(emu_warp *warp, uint32_t barrier)
{
    order_publish(warp, &warp->block->race->order.barriers[barrier]);
}

void
emu_race_leave(emu_warp *warp, uint32_t barrier)
{
    emu_order *order = &warp->block->race->order;

    order_join(warp->block, &order->warps[warp->number], &order->barriers[barrier]);
    order_join(warp->block, &order->warps[warp->number], &order->exited);
}

void
emu_order_meet(emu_block *block)
{
    emu_order *order = &block->race->order;
    emu_epochs all = order->exited;

    order->is_used = true;
    for (unsigned i = 0; i < block->warp_count; i++) {
        order->warps[i].seen[i]++;
        order->after_fence[i] = false;
        order_join(block, &all, &order->warps[i]);
    }
    for (unsigned i = 0; i < block->warp_count; i++) {
        order->warps[i] = all;
    }
}

void
emu_race_released(emu_block *block, uint32_t barrier)
{
    emu_order *order = &block->race->order;

    memset(&order->barriers[barrier], 0, sizeof order->barriers[barrier]);
}

void
emu_race_signal(emu_warp *warp)
{
    order_publish(warp, &warp->block->race->order.mbarriers);
}

void
emu_race_copied(emu_block *block)
{
    emu_order *order = &block->race->order;

    order->is_used = true;
    order->mbarriers.seen[EMU_RACE_COPIES] = ++order->copies;
}

void
emu_race_observe(emu_warp *warp)
{
    emu_order *order = &warp->block->race->order;

    order_join(warp->block, &order->warps[warp->number], &order->mbarriers);
}

void
emu_race_exit(emu_warp *warp)
{
    order_publish(warp, &warp->block->race->order.exited);
}

void
emu_race_fence(emu_warp *warp, bool in_block)
{
    emu_order *order = &warp->block->race->order;

    order_publish(warp, &order->published);
    order->after_fence[warp->number] = true;
    order->has_published = true;
    if (!in_block) {
        order_publish_to_grid(warp, &order->warps[warp->number]);
    }
}

void
emu_race_acquire(emu_warp *warp)
{
    emu_order *order = &warp->block->race->order;
    emu_epochs *own = &order->warps[warp->number];

    if (order->has_published) {
        order_join(warp->block, own, &order->published);
    }
    order->is_used = true;
    if (warp->block->grid->race != NULL) {
        own->acquired = atomic_load(&warp->block->grid->race->clock);
    }
}

/* -- questions --------------------------------------------------------------------- */

/* A strong access after a fence is what other threads wait for. Who sees it has waited
 * for the fence, so it counts as a part of the epoch that the fence ended. */
uint32_t
emu_order_epoch(const emu_warp *warp, emu_race_kind kind)
{
    const emu_order *order = &warp->block->race->order;
    const uint32_t epoch = order->warps[warp->number].seen[warp->number];

    if (kind >= EMU_RACE_ATOMIC && order->after_fence[warp->number]) {
        return epoch - 1;
    }
    return epoch;
}

bool
emu_order_is_before(const emu_warp *warp, const emu_visit *visit, uint32_t stamp)
{
    const unsigned who = emu_visit_warp(visit, stamp);
    const emu_block *block = warp->block;
    const emu_epochs *own = &block->race->order.warps[warp->number];

    if (visit->launch != (uint32_t)block->grid->number) {
        return true;
    }
    if (visit->block == (uint32_t)block->number) {
        return who == warp->number || own->seen[who] > visit->epoch;
    }
    return order_was_published(block->grid->race, visit, who, own->acquired);
}

/* -- the check of a block ---------------------------------------------------------- */

enum { TAGS = 255 };

/* All accesses to shared memory count no more. False: out of memory. */
static bool
race_begin_shared(emu_race *race)
{
    bool clear;

    if (!emu_visits_begin_block(&race->spaces[EMU_RACE_SHARED].table, &clear)) {
        return false;
    }
    if (clear) { /* numbers of visits begin anew */
        memset(race->cells, 0, race->cell_count * sizeof *race->cells);
        memset(race->visitors, 0, sizeof race->visitors);
        race->narrow = 0;
    }
    return true;
}

/* Set the cells of shared memory. What is in them is old. False: out of memory. */
static bool
race_reserve_shared(emu_block *block, emu_race *race)
{
    emu_race_space *space = &race->spaces[EMU_RACE_SHARED];
    const size_t bytes = block->shared_size + EMU_SHARED_SPARE;
    const size_t words = bytes / EMU_WORD + 1;
    const size_t count = 3 * bytes + 3 * words;

    if (race->cell_count < count) {
        free(race->cells);
        race->cells = calloc(count, sizeof *race->cells);
        race->cell_count = race->cells == NULL ? 0 : count;
        if (race->cells == NULL) {
            return false;
        }
    }
    space->words =
        (emu_visits){race->cells, race->cells + words, race->cells + 2 * words};
    space->bytes =
        (emu_visits){race->cells + 3 * words, race->cells + 3 * words + bytes,
                     race->cells + 3 * words + 2 * bytes};
    space->base = (uint64_t)(uintptr_t)block->shared;
    space->size = block->shared_size;
    space->narrow = &race->narrow;
    space->tag = 1;
    space->narrow_shift = 63;
    return emu_race_log_begin(&race->log, block->shared_size);
}

/* Set what is the same for all blocks of a launch. False: out of memory. */
static bool
race_prepare(emu_block *block, emu_race *race)
{
    emu_race_space *global = &race->spaces[EMU_RACE_GLOBAL];

    *global = (emu_race_space){.size = 0};
    if (block->grid->race != NULL) { /* else of a trial: shared memory alone */
        *global = (emu_race_space){
            .base = emu_memory_tables.base,
            .size = emu_memory_tables.size,
            .lines = emu_memory_shadow.lines,
            .words = emu_memory_shadow.words,
            .bytes = emu_memory_shadow.bytes,
            .narrow = emu_memory_shadow.narrow,
            .tag = (uint8_t)(block->grid->number % TAGS + 1),
            .narrow_shift = EMU_CHUNK_SHIFT,
            .table = *emu_race_grid_visits(block->grid->race),
        };
    }
    memset(race->visitors, 0, sizeof race->visitors);
    race->launch = block->grid->number;
    return race_reserve_shared(block, race);
}

bool
emu_race_begin(emu_block *block)
{
    emu_race *race = block->race;

    if (!(block->checks & EMU_CHECK_RACE)) {
        emu_race_free(block);
        return true;
    }
    if (race == NULL) {
        race = block->race = calloc(1, sizeof *race);
        if (race == NULL) {
            return false;
        }
    }
    if (race->launch != block->grid->number && !race_prepare(block, race)) {
        race->launch = 0;
        return false;
    }
    emu_order_begin(&race->order);
    if (block->grid->race != NULL) {
        emu_visits_enter(&race->spaces[EMU_RACE_GLOBAL].table);
    }
    race->blocks++; /* visitors begin anew when they are used */
    emu_race_log_clear(&race->log);
    if (!emu_step_begin(&race->steps, block->shared_size)) {
        return false;
    }
    race->narrow = 0;
    race->has_copies = false;
    race->keeps_writes = false;
    return race_begin_shared(race);
}

void
emu_race_free(emu_block *block)
{
    if (block->race) {
        emu_visits_free_block(&block->race->spaces[EMU_RACE_SHARED].table);
        emu_race_log_free(&block->race->log);
        emu_step_free(&block->race->steps);
        free(block->race->cells);
        free(block->race);
        block->race = NULL;
    }
}

void
emu_race_forget(emu_block *block)
{
    emu_race *race = block->race;

    emu_step_tell(&race->steps);
    if (race->has_copies) {
        return; /* no barrier orders them */
    }
    emu_race_log_clear(&race->log);
    (void)race_begin_shared(race); /* it has its memory */
}

void
emu_race_meet(emu_block *block)
{
    emu_order_meet(block);
    emu_race_forget(block);
}
