/* Unit test of driver/events: the ring, what it passes over, its history, what waits
 * prove, and what happens without memory. */
#include "driver/events.h"

#include "check.h"

uint64_t
pcu_nanoseconds(void)
{
    return 0;
}

uint64_t
pcu_ticks_coarse(void)
{
    return 0;
}

pcu_ticks_source
pcu_ticks_cheapest(void)
{
    return PCU_TICKS_COUNTER;
}

pcu_ticks_pair
pcu_ticks_now(pcu_ticks_source source)
{
    pcu_ticks_pair pair = {source, pcu_ticks(source), 0};
    return pair;
}

/* -Wl,--wrap=calloc: whether all allocations fail. */
static bool calloc_fails;
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *
__wrap_calloc(size_t count, size_t size)
{
    return calloc_fails ? NULL : __real_calloc(count, size);
}

static const pcu_launch_shape shape = {.grid = {2, 1, 1}, .block = {32, 1, 1}};

static void
launch(pcu_context_record *ctx, uint32_t site)
{
    pcu_event_launch(ctx, PCU_LAUNCH_KERNEL, NULL, "name", &shape, site);
}

static void
change(uint64_t address)
{
    (void)pcu_event_memory(PCU_MEMORY_ALLOCATED, 3, 7, 1, address, 100);
}

/* The number of launches of a context that are in the ring. */
static int
launches_of(const pcu_context_record *ctx)
{
    const pcu_event *event = NULL;
    int count = 0;
    while ((event = pcu_event_next(event, PCU_EVENT_LAUNCH)) != NULL) {
        count += event->launch.ctx == ctx;
    }
    return count;
}

static void
test_without_memory(void)
{
    pcu_context_record ctx = {.alive = 1};
    CHECK(pcu_event_next(NULL, PCU_EVENT_LAUNCH) == NULL);
    pcu_events_forget(&ctx);
    calloc_fails = true;
    launch(&ctx, 1);
    change(0x100);
    CHECK(pcu_events.places == NULL);
    CHECK_EQ(pcu_launch_newest(), 1); /* counted all the same */
    CHECK_EQ(pcu_events_keep(16), -1);
    calloc_fails = false;
    launch(&ctx, 2);
    const pcu_event *event = pcu_event_next(NULL, PCU_EVENT_LAUNCH);
    CHECK(event != NULL && event->number == 2 && event->site == 2);
    CHECK(pcu_event_next(event, PCU_EVENT_LAUNCH) == NULL);
    calloc_fails = true;
    CHECK_EQ(pcu_events_keep(16), -1); /* the old ring stays */
    calloc_fails = false;
    CHECK_EQ(launches_of(&ctx), 1);
    pcu_events_forget(&ctx);
    CHECK_EQ(launches_of(&ctx), 0);
}

static void
test_history(void)
{
    CHECK_EQ(pcu_events_keep(3), 0);
    CHECK_EQ(pcu_events.history, 4);
    for (uint64_t i = 1; i <= 6; i++) {
        change(i << 9);
    }
    const pcu_event *event = NULL;
    for (uint64_t i = 3; i <= 6; i++) {
        event = pcu_event_next(event, PCU_EVENT_MEMORY);
        CHECK(event != NULL);
        CHECK_EQ(event->memory.address, i << 9);
        CHECK_EQ(event->number, i);
        CHECK_EQ(event->site, 7);
        CHECK_EQ(event->kind, 3);
        CHECK_EQ(event->device, 1);
    }
    CHECK(pcu_event_next(event, PCU_EVENT_MEMORY) == NULL);
    CHECK_EQ(pcu_events_keep(0), 0);
    CHECK(pcu_event_next(NULL, PCU_EVENT_MEMORY) == NULL);
    change(512);
    CHECK_EQ(pcu_events.changes, 0);
    CHECK_EQ(pcu_events_keep((size_t)-1), -1); /* no such number */
    CHECK_EQ(pcu_events_keep(1 << 12), 0);
    CHECK_EQ(pcu_events.room, 1 << 12);
}

/* The last launches of living contexts stay, whatever else is written. */
static void
test_kept_launches(void)
{
    static pcu_context_record one = {.alive = 1};
    static pcu_context_record other = {.alive = 1};
    CHECK_EQ(pcu_events_keep(8), 0);
    for (uint32_t i = 1; i <= 100; i++) {
        launch(&one, i);
    }
    launch(&other, 1000);
    for (uint64_t i = 1; i <= 3 * PCU_EVENTS_LEAST; i++) {
        change(i << 9);
    }
    CHECK_EQ(launches_of(&one), PCU_LAUNCHES_KEPT);
    CHECK_EQ(launches_of(&other), 1);
    const pcu_event *event = NULL;
    while ((event = pcu_event_next(event, PCU_EVENT_LAUNCH)) != NULL) {
        CHECK(event->site > 100 - PCU_LAUNCHES_KEPT);
    }
    uint64_t address = 3 * PCU_EVENTS_LEAST - 7;
    while ((event = pcu_event_next(event, PCU_EVENT_MEMORY)) != NULL) {
        CHECK_EQ(event->memory.address, address++ << 9); /* in order */
    }
    CHECK_EQ(address, 3 * PCU_EVENTS_LEAST + 1);
    CHECK_EQ(pcu_events_keep(1 << 11), 0); /* the launches move */
    CHECK_EQ(launches_of(&one), PCU_LAUNCHES_KEPT);
    pcu_events_forget(&one);
    CHECK_EQ(launches_of(&one), 0);
    CHECK_EQ(launches_of(&other), 1);
    pcu_events_forget(&other);
}

/* Contexts whose launches take more places than there are lose the oldest. */
static void
test_many_contexts(void)
{
    enum { CONTEXTS = 2 * PCU_EVENTS_LEAST / PCU_LAUNCHES_KEPT };
    static pcu_context_record contexts[CONTEXTS];
    int left = 0;
    CHECK_EQ(pcu_events_keep(8), 0);
    for (uint32_t i = 0; i < CONTEXTS * PCU_LAUNCHES_KEPT; i++) {
        launch(&contexts[i / PCU_LAUNCHES_KEPT], i);
    }
    for (int i = 0; i < CONTEXTS; i++) {
        left += launches_of(&contexts[i]);
        pcu_events_forget(&contexts[i]);
    }
    CHECK_EQ(left, PCU_EVENTS_LEAST);
}

static void
test_proofs(void)
{
    static pcu_context_record ctx = {.alive = 1};
    CUstream a = (CUstream)(uintptr_t)0x10;
    pcu_launch_shape in_a = shape;
    in_a.stream = a;
    CHECK_EQ(pcu_events_keep(8), 0);
    pcu_event_launch(&ctx, PCU_LAUNCH_KERNEL, NULL, "name", &in_a, 1);
    launch(&ctx, 2); /* in the default stream */
    const pcu_event *first = pcu_event_next(NULL, PCU_EVENT_LAUNCH);
    const pcu_event *second = pcu_event_next(first, PCU_EVENT_LAUNCH);
    CHECK(!pcu_launch_has_passed(first) && !pcu_launch_has_passed(second));
    pcu_launches_passed(NULL, a, pcu_launch_newest());
    pcu_launches_passed(&ctx, a, pcu_launch_newest());
    CHECK(pcu_launch_has_passed(first) && !pcu_launch_has_passed(second));
    pcu_launches_passed(&ctx, a, 1); /* an older proof takes nothing back */
    CHECK(pcu_launch_has_passed(first));
    pcu_launches_passed_all(NULL, pcu_launch_newest());
    pcu_launches_passed_all(&ctx, first->number);
    CHECK(!pcu_launch_has_passed(second));
    pcu_launches_passed_all(&ctx, second->number);
    pcu_launches_passed_all(&ctx, first->number);
    CHECK(pcu_launch_has_passed(second));
    /* A proof for another stream replaces the oldest when there are many. */
    pcu_event_launch(&ctx, PCU_LAUNCH_KERNEL, NULL, "name", &in_a, 3);
    const pcu_event *third = pcu_event_next(second, PCU_EVENT_LAUNCH);
    CHECK(!pcu_launch_has_passed(third));
    for (uintptr_t i = 1; i <= PCU_LAUNCH_WAITS; i++) {
        pcu_launches_passed(&ctx, (CUstream)(0x100 * i), pcu_launch_newest());
    }
    CHECK(!pcu_launch_has_passed(third));
    pcu_launches_passed(&ctx, a, pcu_launch_newest());
    CHECK(pcu_launch_has_passed(third));
    pcu_events_forget(&ctx);
}

int
main(void)
{
    test_without_memory();
    test_history();
    test_kept_launches();
    test_many_contexts();
    test_proofs();
    pcu_events_finish();
    CHECK(pcu_events.places == NULL);
    return check_report();
}
