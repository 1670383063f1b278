/* The last launches and changes of allocations, and what waits prove. Invariant and
 * callers: see events.h. */

#include "driver/events.h"

#include <stdlib.h>

struct pcu_events pcu_events = {.room = PCU_CHANGES_KEPT};

/* -- launches ---------------------------------------------------------------------- */

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
    ctx->kept = NULL;
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

bool
pcu_launch_has_passed(const pcu_context_record *ctx, const pcu_launch_event *launch)
{
    const pcu_launch_proof *proof = &ctx->proof;
    if (launch->number <= proof->all) {
        return true;
    }
    for (int i = 0; i < PCU_LAUNCH_WAITS; i++) {
        const pcu_launch_wait *wait = &proof->waits[i];
        if (wait->stream == launch->shape.stream && wait->number >= launch->number) {
            return true;
        }
    }
    return false;
}
