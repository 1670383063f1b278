/* The last launches and changes of allocations, and what waits prove. Invariant and
 * callers: see events.h. */

#include "driver/events.h"

#include <stdlib.h>

struct pcu_events pcu_events = {.room = PCU_CHANGES_KEPT};
unsigned long pcu_doubts;

/* -- launches ---------------------------------------------------------------------- */

/* The first launch of a kernel, graph or function in a context. */
typedef struct pcu_first_launch {
    const void *key; /* the kernel, else the name; NULL: the place is free */
    uint64_t number;
    CUstream stream;
} pcu_first_launch;

enum { FIRST_PLACES = 512, FIRST_TRIES = 8 };

static const void *
first_key(CUfunction kernel, const void *name)
{
    return kernel == NULL ? name : (const void *)kernel;
}

/* The place of a key, or the free place for it; NULL if the table is full there. */
static pcu_first_launch *
first_place(const pcu_context_record *ctx, const void *key)
{
    size_t start = ((uintptr_t)key >> 4) ^ ((uintptr_t)key >> 13);
    for (size_t i = 0; ctx->first != NULL && i < FIRST_TRIES; i++) {
        pcu_first_launch *place = &ctx->first[(start + i) % FIRST_PLACES];
        if (place->key == key || place->key == NULL) {
            return place;
        }
    }
    return NULL;
}

/* A later kernel at the same address counts as the same one. */
static void
first_note(pcu_context_record *ctx, const pcu_launch_event *event)
{
    const void *key = first_key(event->kernel, event->name);
    if (ctx->first == NULL) {
        ctx->first = calloc(FIRST_PLACES, sizeof(*ctx->first));
    }
    pcu_first_launch *place = first_place(ctx, key);
    if (place != NULL && place->key == NULL) {
        *place = (pcu_first_launch){key, event->number, event->shape.stream};
    }
}

void
pcu_event_launch(pcu_context_record *ctx, pcu_launch_kind kind, CUfunction kernel,
                 const void *name, const pcu_launch_shape *shape, uint32_t site)
{
    pcu_events.launches++;
    pcu_doubts += kind != PCU_LAUNCH_ARRAY;
    if (ctx->kept == NULL) {
        ctx->kept = calloc(PCU_LAUNCHES_KEPT, sizeof(*ctx->kept));
    }
    if (ctx->kept == NULL) {
        return;
    }
    pcu_launch_event *event = &ctx->kept[ctx->launches++ % PCU_LAUNCHES_KEPT];
    event->number = pcu_events.launches;
    event->kernel = kernel;
    event->name = name;
    event->shape = *shape;
    event->site = site;
    event->kind = kind;
    first_note(ctx, event);
}

const pcu_launch_event *
pcu_launch_kept(const pcu_context_record *ctx, size_t age)
{
    if (age >= PCU_LAUNCHES_KEPT || age >= ctx->launches) {
        return NULL;
    }
    return &ctx->kept[(ctx->launches - 1 - age) % PCU_LAUNCHES_KEPT];
}

void
pcu_events_forget(pcu_context_record *ctx)
{
    free(ctx->kept);
    free(ctx->first);
    ctx->kept = NULL;
    ctx->first = NULL;
    ctx->launches = 0;
}

/* -- changes of allocations -------------------------------------------------------- */

static bool
changes_ready(void)
{
    struct pcu_events *events = &pcu_events;
    if (events->ring == NULL && events->room != 0) {
        events->ring = calloc(events->room, sizeof(*events->ring));
        events->start = pcu_ticks_now(pcu_ticks_cheapest());
    }
    return events->ring != NULL;
}

uint64_t
pcu_event_memory(pcu_memory_change change, unsigned int kind, uint32_t site,
                 CUdevice device, uint64_t address, uint64_t size)
{
    bool ready = changes_ready();
    uint64_t now = pcu_ticks(pcu_events.start.source);
    if (ready) {
        size_t place = (size_t)pcu_events.changes++ & (pcu_events.room - 1);
        pcu_events.ring[place] = (pcu_memory_event){.ticks = now,
                                                    .address = address,
                                                    .size = size,
                                                    .site = site,
                                                    .kind = (uint8_t)kind,
                                                    .change = (uint8_t)change,
                                                    .device = (uint8_t)device};
    }
    return now;
}

size_t
pcu_changes_count(void)
{
    if (pcu_events.changes < pcu_events.room) {
        return (size_t)pcu_events.changes;
    }
    return pcu_events.room;
}

const pcu_memory_event *
pcu_change_kept(size_t place)
{
    size_t oldest = (size_t)pcu_events.changes - pcu_changes_count();
    return &pcu_events.ring[(oldest + place) & (pcu_events.room - 1)];
}

int
pcu_events_keep(size_t count)
{
    struct pcu_events *events = &pcu_events;
    pcu_memory_event *ring = NULL;
    size_t room = count != 0;
    while (room < count && room < SIZE_MAX / 4 / sizeof(*ring)) {
        room *= 2;
    }
    if (room < count) {
        return -1;
    }
    if (room != 0) {
        ring = calloc(room, sizeof(*ring));
        if (ring == NULL) {
            return -1;
        }
    }
    free(events->ring);
    events->ring = ring;
    events->room = room;
    events->changes = 0;
    events->start = pcu_ticks_now(pcu_ticks_cheapest());
    return 0;
}

void
pcu_events_finish(void)
{
    free(pcu_events.ring);
    pcu_events.ring = NULL;
    pcu_events.changes = 0;
}

/* -- what waits prove -------------------------------------------------------------- */

void
pcu_launches_passed(pcu_context_record *ctx, CUstream stream, uint64_t number)
{
    if (ctx == NULL) {
        return;
    }
    pcu_launch_proof *proof = &ctx->proof;
    for (int i = 0; i < PCU_LAUNCH_WAITS; i++) {
        pcu_launch_wait *wait = &proof->waits[i];
        if (wait->number != 0 && wait->stream == stream) {
            if (wait->number < number) {
                wait->number = number;
            }
            return;
        }
    }
    proof->waits[proof->next++ % PCU_LAUNCH_WAITS] = (pcu_launch_wait){stream, number};
}

void
pcu_launches_passed_all(pcu_context_record *ctx, uint64_t number)
{
    if (ctx != NULL && ctx->proof.all < number) {
        ctx->proof.all = number;
    }
}

static bool
launch_has_passed(const pcu_launch_proof *proof, CUstream stream, uint64_t number)
{
    if (number <= proof->all) {
        return true;
    }
    for (int i = 0; i < PCU_LAUNCH_WAITS; i++) {
        const pcu_launch_wait *wait = &proof->waits[i];
        if (wait->stream == stream && wait->number >= number) {
            return true;
        }
    }
    return false;
}

bool
pcu_launch_has_passed(const pcu_context_record *ctx, const pcu_launch_event *launch)
{
    return launch_has_passed(&ctx->proof, launch->shape.stream, launch->number);
}

bool
pcu_launch_is_of_new_kernel(const pcu_context_record *ctx,
                            const pcu_launch_event *launch)
{
    const void *key = first_key(launch->kernel, launch->name);
    const pcu_first_launch *first = first_place(ctx, key);
    return first != NULL && first->key == key &&
           !launch_has_passed(&ctx->proof, first->stream, first->number);
}
