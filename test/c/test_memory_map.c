/* Unit test of driver/memory_map: the table, its growth, the ring of events, and what
 * happens without memory.
 */
#include "driver/memory_map.h"

#include "check.h"

/* What the map reads of other units. */
struct pcu_drv_info pcu_drv_info = {.state = PCU_DRV_READY};

int
pcu_context_record_outlived(const pcu_context_record *rec)
{
    (void)rec;
    return 0;
}

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

static pcu_context_record alive = {.alive = 1};
static pcu_context_record ended;

static void
test_without_memory(void)
{
    calloc_fails = 0; /* no table */
    CHECK(pcu_memory_add(PCU_MEMORY_DEVICE, 0x1000, 1, 1, 1, &alive) == NULL);
    calloc_fails = 1; /* no notes */
    CHECK(pcu_memory_add(PCU_MEMORY_DEVICE, 0x1000, 1, 1, 1, &alive) == NULL);
    CHECK_EQ(pcu_memory_map.missed, 2);
    calloc_fails = 1; /* no ring */
    pcu_memory_note *note = pcu_memory_add(PCU_MEMORY_DEVICE, 0x1000, 1, 1, 1, &alive);
    CHECK(note != NULL && pcu_memory_map.events == NULL);
    CHECK_EQ(pcu_memory_keep_events(16), -1);
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
        CHECK(pcu_memory_add(PCU_MEMORY_DEVICE, i << 9, i, i, 1, &alive) != NULL);
    }
    calloc_fails = 0; /* the table cannot grow, and holds more all the same */
    CHECK_EQ(pcu_memory_map.count, COUNT);
    calloc_fails = -1;
    for (uint64_t i = 1; i <= COUNT; i++) {
        pcu_memory_note *note = pcu_memory_find(i << 9);
        CHECK(note != NULL && note->size == i);
        CHECK(pcu_memory_take_out(i << 9, &ended) == NULL);
        note = pcu_memory_take_out(i << 9, &alive);
        CHECK(pcu_memory_find(i << 9) == NULL);
        pcu_memory_put_back(note);
        pcu_memory_end(pcu_memory_take_out(i << 9, &alive));
    }
    CHECK_EQ(pcu_memory_map.count, 0);
    CHECK(pcu_memory_find(512) == NULL);
    CHECK(pcu_memory_take_out(512, &alive) == NULL);
}

static void
test_full_table(void)
{
    size_t room = pcu_memory_map.bucket_count;
    for (uint64_t i = 1; i <= room; i++) {
        (void)pcu_memory_add(PCU_MEMORY_DEVICE, i << 9, i, i, 1, &alive);
    }
    CHECK(pcu_memory_map.unused != NULL || room % 64 == 0);
    pcu_memory_note spare = {.address = 7};
    spare.next = pcu_memory_map.unused;
    pcu_memory_map.unused = &spare;
    calloc_fails = 0;
    CHECK(pcu_memory_add(PCU_MEMORY_DEVICE, 8, 1, 1, 1, &alive) == &spare);
    calloc_fails = -1;
    CHECK_EQ(pcu_memory_map.bucket_count, room);
    CHECK(pcu_memory_find(8) == &spare);
    CHECK(pcu_memory_take_out(8, &alive) == &spare);
    for (uint64_t i = 1; i <= room; i++) {
        pcu_memory_forget(i << 9, &alive);
    }
}

static void
test_contexts(void)
{
    pcu_memory_note *note = pcu_memory_add(PCU_MEMORY_ARRAY, 0x40, 1, 1, 1, &ended);
    CHECK(pcu_memory_find(0x40) == NULL); /* its context has ended */
    CHECK(pcu_memory_take_out(0x40, &ended) == note);
    pcu_memory_end(note);
}

static void
test_events(void)
{
    CHECK_EQ(pcu_memory_keep_events(3), 0);
    CHECK_EQ(pcu_memory_map.event_room, 4);
    pcu_memory_note *block = pcu_memory_add_block(PCU_MEMORY_POOL, 512, 100, &alive);
    pcu_memory_block_taken(block, 90, 5);
    pcu_memory_block_held(block);
    pcu_memory_block_taken(NULL, 90, 5);
    pcu_memory_block_held(NULL);
    pcu_memory_forget(512, &alive);
    static const pcu_memory_change order[] = {PCU_MEMORY_GROWN, PCU_MEMORY_TAKEN,
                                              PCU_MEMORY_RETURNED, PCU_MEMORY_SHRUNK};
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(pcu_memory_map.events[i].change, order[i]);
    }
    CHECK_EQ(pcu_memory_map.events[1].site, 5);
    CHECK_EQ(pcu_memory_map.event_count, 4);
    (void)pcu_memory_add(PCU_MEMORY_DEVICE, 512, 1, 1, 9, &alive);
    CHECK_EQ(pcu_memory_map.events[0].site, 9); /* in place of the oldest */
    pcu_memory_map.recording = 0;
    CHECK(pcu_memory_add(PCU_MEMORY_DEVICE, 1024, 1, 1, 9, &alive) == NULL);
    pcu_memory_note unwritten = {.ctx = &alive};
    CHECK_EQ(pcu_memory_event_write(&unwritten, PCU_MEMORY_FREED), 0);
    pcu_memory_map.recording = 1;
    pcu_memory_forget(512, &alive);
    CHECK_EQ(pcu_memory_keep_events(0), 0);
    pcu_memory_note note = {.ctx = &alive};
    (void)pcu_memory_event_write(&note, PCU_MEMORY_FREED);
    CHECK_EQ(pcu_memory_map.event_count, 0);
    CHECK_EQ(pcu_memory_keep_events((size_t)-1), -1); /* no such number */
}

int
main(void)
{
    test_without_memory();
    test_many();
    test_full_table();
    test_contexts();
    test_events();
    return check_report();
}
