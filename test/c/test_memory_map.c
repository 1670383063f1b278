/* Unit test of driver/memory_map: the table, its growth, the events that it writes,
 * what graphs keep, and what happens without memory. */
#include "driver/memory_map.h"

#include "check.h"
#include "clock.h"

/* What the map reads of other units. */
struct pcu_drv_info pcu_drv_info = {.state = PCU_DRV_READY};

bool
pcu_context_record_outlived(const pcu_context_record *rec)
{
    (void)rec;
    return 0;
}

/* -Wl,--wrap=calloc: the allocation that fails, counted down; negative: none. */
static int calloc_fails = -1;
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *
__wrap_calloc(size_t count, size_t size)
{
    if (calloc_fails == 0) {
        return NULL;
    }
    calloc_fails -= calloc_fails > 0;
    return __real_calloc(count, size);
}

static pcu_context_record alive = {.alive = true};
static pcu_context_record ended;

static pcu_memory_note *
allocate(uint64_t address, size_t size)
{
    pcu_memory_note *note = pcu_memory_add(address, &alive);
    pcu_memory_record(PCU_MEMORY_DEVICE, address, size, 1, &alive);
    return note;
}

static void
test_without_memory(void)
{
    calloc_fails = 0; /* no table */
    CHECK(allocate(0x1000, 1) == NULL);
    CHECK_EQ(pcu_memory_map.missed, 1);
    calloc_fails = 1; /* no notes */
    CHECK(allocate(0x1000, 1) == NULL);
    CHECK_EQ(pcu_memory_map.missed, 2);
    calloc_fails = 0;
    CHECK(pcu_memory_add_block(PCU_MEMORY_POOL, 0x1000, 1, &alive) == NULL);
    CHECK_EQ(pcu_memory_map.missed, 3);
    calloc_fails = 1; /* no ring */
    pcu_memory_note *note = allocate(0x1000, 1);
    CHECK(note != NULL && note->recorded && pcu_events.ring == NULL);
    calloc_fails = -1;
    pcu_memory_forget(0x1000, &alive);
    pcu_memory_forget(0x1000, &alive);
    CHECK_EQ(pcu_memory_map.count, 0);
}

static void
test_many(void)
{
    enum { COUNT = 3000 };
    for (uint64_t i = 1; i <= COUNT; i++) {
        CHECK(allocate(i << 9, i) != NULL);
    }
    CHECK_EQ(pcu_memory_map.count, COUNT);
    for (uint64_t i = 1; i <= COUNT; i++) {
        pcu_memory_note *note = pcu_memory_find(i << 9, &alive);
        CHECK(note != NULL && note->size == i && note->asked == i);
        CHECK(pcu_memory_find(i << 9, NULL) == note);
        CHECK(pcu_memory_find(i << 9, &ended) == NULL);
        CHECK(pcu_memory_take_out(i << 9, &ended) == NULL);
        note = pcu_memory_take_out(i << 9, &alive);
        CHECK(pcu_memory_find(i << 9, NULL) == NULL);
        pcu_memory_put_back(note);
        pcu_memory_end(pcu_memory_take_out(i << 9, &alive));
    }
    CHECK_EQ(pcu_memory_map.count, 0);
    CHECK(pcu_memory_find(512, NULL) == NULL);
    CHECK(pcu_memory_take_out(512, &alive) == NULL);
}

static void
test_full_table(void)
{
    size_t room = pcu_memory_map.bucket_count;
    for (uint64_t i = 1; i <= room; i++) {
        (void)pcu_memory_add(i << 9, &alive);
    }
    CHECK(pcu_memory_map.unused != NULL || room % 64 == 0);
    pcu_memory_note spare = {.address = 7};
    spare.next = pcu_memory_map.unused;
    pcu_memory_map.unused = &spare;
    calloc_fails = 0; /* the table cannot grow, and holds more all the same */
    CHECK(pcu_memory_add(8, &alive) == &spare);
    calloc_fails = -1;
    CHECK_EQ(pcu_memory_map.bucket_count, room);
    CHECK(pcu_memory_find(8, &alive) == &spare);
    CHECK(pcu_memory_take_out(8, &alive) == &spare);
    for (uint64_t i = 1; i <= room; i++) {
        pcu_memory_forget(i << 9, &alive);
    }
}

static void
test_contexts(void)
{
    pcu_memory_note *note = pcu_memory_add(0x40, &ended);
    CHECK(pcu_memory_find(0x40, NULL) == NULL); /* its context has ended */
    CHECK(pcu_memory_find(0x40, &ended) == NULL);
    CHECK(pcu_memory_take_out(0x40, &ended) == note);
    pcu_memory_end(note);
}

static void
test_graphs(void)
{
    pcu_memory_note *note = allocate(512, 8);
    CHECK_EQ(pcu_memory_map.kept, 0);
    pcu_memory_keep(note);
    pcu_memory_keep(note);
    CHECK_EQ(pcu_memory_map.kept, 1);
    CHECK(!pcu_memory_let_go(note)); /* another graph uses it */
    CHECK_EQ(pcu_memory_map.kept, 1);
    CHECK(!pcu_memory_let_go(note)); /* the program has not released it */
    CHECK_EQ(pcu_memory_map.kept, 0);
    pcu_memory_keep(note);
    note->owed = true;
    CHECK(pcu_memory_let_go(note)); /* the caller releases it */
    CHECK(!note->owed);
    /* A note that ends stays as long as a graph keeps it. */
    pcu_memory_keep(note);
    pcu_memory_forget(512, &alive);
    CHECK(pcu_memory_find(512, &alive) == NULL);
    CHECK(note->ended && pcu_memory_add(1024, &alive) != note);
    CHECK(!pcu_memory_let_go(note));
    CHECK(pcu_memory_map.unused == note);
    pcu_memory_forget(1024, &alive);
}

static void
test_events(void)
{
    CHECK_EQ(pcu_events_keep(4), 0);
    pcu_memory_note *block = pcu_memory_add_block(PCU_MEMORY_POOL, 512, 100, &alive);
    pcu_memory_block_taken(block, 90, 5);
    pcu_memory_block_held(block);
    pcu_memory_block_taken(NULL, 90, 5);
    pcu_memory_block_held(NULL);
    pcu_memory_forget(512, &alive);
    static const pcu_memory_change order[] = {PCU_MEMORY_GROWN, PCU_MEMORY_TAKEN,
                                              PCU_MEMORY_RETURNED, PCU_MEMORY_SHRUNK};
    static const uint32_t sites[] = {0, 5, 5, 5};
    CHECK_EQ(pcu_changes_count(), 4);
    for (size_t i = 0; i < 4; i++) {
        const pcu_memory_event *event = pcu_change_kept(i);
        CHECK(event->address == 512 && event->size == 100 &&
              event->kind == PCU_MEMORY_POOL);
        CHECK_EQ(event->change, order[i]);
        CHECK_EQ(event->site, sites[i]);
    }
    CHECK_EQ(pcu_events.changes, 4);
    pcu_memory_map.recording = false;
    pcu_memory_note *plain = pcu_memory_add(1024, &alive);
    pcu_memory_note *held = pcu_memory_add_block(PCU_MEMORY_POOL, 2048, 100, &alive);
    CHECK(plain != NULL && !plain->recorded && held != NULL && !held->recorded);
    pcu_memory_block_taken(held, 90, 5);
    CHECK(!held->recorded);
    CHECK_EQ(pcu_events.changes, 4);
    pcu_memory_map.recording = true;
    pcu_memory_block_held(held); /* the program got it while nothing was recorded */
    CHECK_EQ(pcu_events.changes, 4);
    pcu_memory_block_taken(held, 90, 5);
    CHECK(held->recorded);
    CHECK_EQ(pcu_events.changes, 5);
    pcu_memory_forget(1024, &alive);
    CHECK_EQ(pcu_events.changes, 5);
    pcu_memory_forget(2048, &alive);
    CHECK_EQ(pcu_events.changes, 6);
}

int
main(void)
{
    test_without_memory();
    test_many();
    test_full_table();
    test_contexts();
    test_graphs();
    test_events();
    return check_report();
}
