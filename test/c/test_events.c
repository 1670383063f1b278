/* Unit test of driver/events: the last launches of a context, the ring of changes, what
 * waits prove, and what happens without memory. */
#include "driver/events.h"

#include "check.h"
#include "clock.h"

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

/* The number of launches of a context that are kept. */
static size_t
launches_of(const pcu_context_record *ctx)
{
    size_t count = 0;
    while (pcu_launch_kept(ctx, count) != NULL) {
        count++;
    }
    return count;
}

/* A kernel is new until a wait has proved its first launch. */
static void
test_new_kernels(void)
{
    pcu_context_record ctx = {.handle = (CUcontext)0x1};
    CUfunction old = (CUfunction)0x10;
    CUfunction new = (CUfunction)0x20;
    unsigned long doubts = pcu_doubts;
    pcu_event_launch(&ctx, PCU_LAUNCH_KERNEL, old, "a", &shape, 1);
    CHECK(pcu_launch_is_of_new_kernel(&ctx, pcu_launch_kept(&ctx, 0)));
    pcu_launches_passed_all(&ctx, pcu_launch_newest());
    pcu_event_launch(&ctx, PCU_LAUNCH_KERNEL, old, "a", &shape, 1);
    CHECK(!pcu_launch_is_of_new_kernel(&ctx, pcu_launch_kept(&ctx, 0)));
    for (int i = 0; i < 2 * PCU_LAUNCHES_KEPT; i++) {
        pcu_event_launch(&ctx, PCU_LAUNCH_KERNEL, new, "b", &shape, 1);
    }
    CHECK(pcu_launch_is_of_new_kernel(&ctx, pcu_launch_kept(&ctx, 0)));
    pcu_launches_passed(&ctx, shape.stream, pcu_launch_newest());
    CHECK(!pcu_launch_is_of_new_kernel(&ctx, pcu_launch_kept(&ctx, 0)));
    CHECK_EQ(pcu_doubts - doubts, 2 + 2 * PCU_LAUNCHES_KEPT);
    pcu_event_launch(&ctx, PCU_LAUNCH_ARRAY, NULL, NULL, &shape, 1);
    CHECK_EQ(pcu_doubts - doubts, 2 + 2 * PCU_LAUNCHES_KEPT);
    pcu_events_forget(&ctx);
}

static void
test_without_memory(void)
{
    pcu_context_record ctx = {.alive = true};
    CHECK_EQ(launches_of(&ctx), 0);
    pcu_events_forget(&ctx);
    calloc_fails = true;
    launch(&ctx, 1);
    change(0x100);
    CHECK(pcu_events.ring == NULL);
    CHECK_EQ(pcu_changes_count(), 0);
    CHECK_EQ(pcu_launch_newest(), 1); /* counted all the same */
    CHECK_EQ(launches_of(&ctx), 0);
    CHECK_EQ(pcu_events_keep(16), -1);
    calloc_fails = false;
    launch(&ctx, 2);
    CHECK_EQ(launches_of(&ctx), 1);
    const pcu_launch_event *event = pcu_launch_kept(&ctx, 0);
    CHECK(event->number == 2 && event->site == 2);
    CHECK_EQ(pcu_events_keep(16), 0);
    change(0x200);
    calloc_fails = true;
    CHECK_EQ(pcu_events_keep(8), -1); /* the old ring stays */
    calloc_fails = false;
    CHECK_EQ(pcu_changes_count(), 1);
    pcu_events_forget(&ctx);
    CHECK_EQ(launches_of(&ctx), 0);
}

static void
test_changes(void)
{
    CHECK_EQ(pcu_events_keep(3), 0);
    CHECK_EQ(pcu_events.room, 4);
    for (uint64_t i = 1; i <= 6; i++) {
        change(i << 9);
    }
    CHECK_EQ(pcu_changes_count(), 4);
    CHECK_EQ(pcu_events.changes, 6);
    for (size_t i = 0; i < 4; i++) {
        const pcu_memory_event *event = pcu_change_kept(i);
        CHECK_EQ(event->address, (i + 3) << 9); /* in order */
        CHECK_EQ(event->site, 7);
        CHECK_EQ(event->kind, 3);
        CHECK_EQ(event->device, 1);
    }
    CHECK_EQ(pcu_events_keep(0), 0);
    CHECK_EQ(pcu_changes_count(), 0);
    change(512);
    CHECK_EQ(pcu_events.changes, 0);
    CHECK_EQ(pcu_events_keep((size_t)-1), -1); /* no such number */
    CHECK_EQ(pcu_events_keep(1 << 12), 0);
    CHECK_EQ(pcu_events.room, 1 << 12);
}

/* The last launches of a context stay, whatever else is written. */
static void
test_kept_launches(void)
{
    static pcu_context_record one = {.alive = true};
    static pcu_context_record other = {.alive = true};
    CHECK_EQ(pcu_events_keep(8), 0);
    for (uint32_t i = 1; i <= 100; i++) {
        launch(&one, i);
    }
    launch(&other, 1000);
    for (uint64_t i = 1; i <= 100; i++) {
        change(i << 9);
    }
    CHECK_EQ(launches_of(&one), PCU_LAUNCHES_KEPT);
    for (uint32_t age = 0; age < PCU_LAUNCHES_KEPT; age++) {
        CHECK_EQ(pcu_launch_kept(&one, age)->site, 100 - age); /* the newest first */
    }
    CHECK_EQ(launches_of(&other), 1);
    pcu_events_forget(&one);
    CHECK_EQ(launches_of(&one), 0);
    CHECK_EQ(launches_of(&other), 1);
    pcu_events_forget(&other);
    pcu_events_finish();
    CHECK_EQ(pcu_changes_count(), 0);
}

static void
test_proofs(void)
{
    static pcu_context_record ctx = {.alive = true};
    CUstream a = (CUstream)(uintptr_t)0x10;
    pcu_launch_shape in_a = shape;
    in_a.stream = a;
    CHECK_EQ(pcu_events_keep(8), 0);
    pcu_event_launch(&ctx, PCU_LAUNCH_KERNEL, NULL, "name", &in_a, 1);
    launch(&ctx, 2); /* in the default stream */
    const pcu_launch_event *first = pcu_launch_kept(&ctx, 1);
    const pcu_launch_event *second = pcu_launch_kept(&ctx, 0);
    CHECK(!pcu_launch_has_passed(&ctx, first) && !pcu_launch_has_passed(&ctx, second));
    pcu_launches_passed(NULL, a, pcu_launch_newest());
    pcu_launches_passed(&ctx, a, pcu_launch_newest());
    CHECK(pcu_launch_has_passed(&ctx, first) && !pcu_launch_has_passed(&ctx, second));
    pcu_launches_passed(&ctx, a, 1); /* an older proof takes nothing back */
    CHECK(pcu_launch_has_passed(&ctx, first));
    pcu_launches_passed_all(NULL, pcu_launch_newest());
    pcu_launches_passed_all(&ctx, first->number);
    CHECK(!pcu_launch_has_passed(&ctx, second));
    pcu_launches_passed_all(&ctx, second->number);
    pcu_launches_passed_all(&ctx, first->number);
    CHECK(pcu_launch_has_passed(&ctx, second));
    /* A proof for another stream replaces the oldest when there are many. */
    pcu_event_launch(&ctx, PCU_LAUNCH_KERNEL, NULL, "name", &in_a, 3);
    const pcu_launch_event *third = pcu_launch_kept(&ctx, 0);
    CHECK(!pcu_launch_has_passed(&ctx, third));
    for (uintptr_t i = 1; i <= PCU_LAUNCH_WAITS; i++) {
        pcu_launches_passed(&ctx, (CUstream)(0x100 * i), pcu_launch_newest());
    }
    CHECK(!pcu_launch_has_passed(&ctx, third));
    pcu_launches_passed(&ctx, a, pcu_launch_newest());
    CHECK(pcu_launch_has_passed(&ctx, third));
    pcu_events_forget(&ctx);
}

int
main(void)
{
    test_without_memory();
    test_changes();
    test_kept_launches();
    test_new_kernels();
    test_proofs();
    pcu_events_finish();
    CHECK(pcu_events.ring == NULL);
    return check_report();
}
