/* The ring of events, and what waits prove. Invariant and callers: see events.h. */

#include "driver/events.h"

#include <stdlib.h>

struct pcu_events pcu_events = {.history = PCU_EVENTS_USUAL};

/* -- the ring ---------------------------------------------------------------------- */

/* The places that a history of so many changes takes. */
static size_t
events_room(size_t history)
{
    if (history < PCU_EVENTS_LEAST) {
        return PCU_EVENTS_LEAST;
    }
    return history;
}

static bool
events_ready(void)
{
    struct pcu_events *ring = &pcu_events;
    if (ring->places == NULL) {
        ring->room = events_room(ring->history);
        ring->places = calloc(ring->room, sizeof(*ring->places));
        ring->start = pcu_ticks_now(pcu_ticks_cheapest());
    }
    return ring->places != NULL;
}

/* Whether the event is one of the last launches of a living context. */
static inline bool
event_is_kept(const pcu_event *event)
{
    return event->type == PCU_EVENT_LAUNCH && event->launch.ctx != NULL &&
           event->launch.ctx->launches - event->launch.place < PCU_LAUNCHES_KEPT;
}

/* The place of the next event. Contexts that keep more launches than the ring has
 * places lose the oldest. */
static pcu_event *
event_new(void)
{
    struct pcu_events *ring = &pcu_events;
    pcu_event *place = &ring->places[ring->next];
    for (size_t passed = 0; event_is_kept(place) && passed < ring->room; passed++) {
        ring->next = (ring->next + 1) & (ring->room - 1);
        place = &ring->places[ring->next];
    }
    ring->next = (ring->next + 1) & (ring->room - 1);
    return place;
}

void
pcu_event_launch(pcu_context_record *ctx, pcu_launch_kind kind, CUfunction kernel,
                 const void *name, const pcu_launch_shape *shape, uint32_t site)
{
    pcu_events.launches++;
    ctx->launches++;
    if (!events_ready()) {
        return;
    }
    pcu_event *event = event_new();
    event->number = pcu_events.launches;
    event->site = site;
    event->type = PCU_EVENT_LAUNCH;
    event->kind = (uint8_t)kind;
    event->launch.ctx = ctx;
    event->launch.place = ctx->launches;
    event->launch.kernel = kernel;
    event->launch.name = name;
    event->launch.shape = *shape;
}

uint64_t
pcu_event_memory(pcu_memory_change change, unsigned int kind, uint32_t site,
                 CUdevice device, uint64_t address, uint64_t size)
{
    bool ready = events_ready();
    uint64_t now = pcu_ticks(pcu_events.start.source);
    if (!ready || pcu_events.history == 0) {
        return now;
    }
    pcu_event *event = event_new();
    event->number = ++pcu_events.changes;
    event->site = site;
    event->type = PCU_EVENT_MEMORY;
    event->kind = (uint8_t)kind;
    event->change = (uint8_t)change;
    event->device = (uint8_t)device;
    event->memory.ticks = now;
    event->memory.address = address;
    event->memory.size = size;
    return now;
}

const pcu_event *
pcu_event_next(const pcu_event *last, pcu_event_type type)
{
    const struct pcu_events *ring = &pcu_events;
    if (ring->places == NULL) {
        return NULL;
    }
    /* The oldest event is at `next`. */
    size_t age = 0;
    if (last != NULL) {
        age = (((size_t)(last - ring->places) - ring->next) & (ring->room - 1)) + 1;
    }
    for (; age < ring->room; age++) {
        const pcu_event *event = &ring->places[(ring->next + age) & (ring->room - 1)];
        bool shown =
            type != PCU_EVENT_MEMORY || event->number + ring->history > ring->changes;
        if (event->type == type && shown) {
            return event;
        }
    }
    return NULL;
}

/* The launches that are kept move to the new ring. */
int
pcu_events_keep(size_t count)
{
    struct pcu_events *ring = &pcu_events;
    size_t history = count != 0;
    while (history < count && history < SIZE_MAX / 4 / sizeof(pcu_event)) {
        history *= 2;
    }
    if (history < count) {
        return -1;
    }
    pcu_event *old = ring->places;
    size_t old_room = ring->room;
    size_t oldest = ring->next;
    ring->places = calloc(events_room(history), sizeof(*ring->places));
    if (ring->places == NULL) {
        ring->places = old;
        return -1;
    }
    ring->room = events_room(history);
    ring->next = 0;
    ring->history = history;
    ring->changes = 0;
    ring->start = pcu_ticks_now(pcu_ticks_cheapest());
    for (size_t i = 0; old != NULL && i < old_room; i++) {
        const pcu_event *event = &old[(oldest + i) & (old_room - 1)];
        if (event_is_kept(event)) {
            *event_new() = *event;
        }
    }
    free(old);
    return 0;
}

void
pcu_events_forget(const pcu_context_record *ctx)
{
    for (size_t i = 0; pcu_events.places != NULL && i < pcu_events.room; i++) {
        pcu_event *event = &pcu_events.places[i];
        if (event->type == PCU_EVENT_LAUNCH && event->launch.ctx == ctx) {
            event->launch.ctx = NULL;
        }
    }
}

void
pcu_events_finish(void)
{
    free(pcu_events.places);
    pcu_events.places = NULL;
    pcu_events.next = 0;
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
pcu_launch_has_passed(const pcu_event *launch)
{
    const pcu_launch_proof *proof = &launch->launch.ctx->proof;
    if (launch->number <= proof->all) {
        return true;
    }
    for (int i = 0; i < PCU_LAUNCH_WAITS; i++) {
        const pcu_launch_wait *wait = &proof->waits[i];
        if (wait->stream == launch->launch.shape.stream &&
            wait->number >= launch->number) {
            return true;
        }
    }
    return false;
}
