/* Unit test of device/sync_check: the bytes that operations use, against arrays that
 * have the kinds of each byte; and the same without memory. */
#include "device/sync_check/uses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "failing_memory.h"

enum {
    BASE = 0x40000000,
    BYTES = 3 << 19, /* six regions */
    LOGS = 3,
    ROUNDS = 12
};

/* -- the memory of the uses, and of the program ------------------------------------ */

emu_memory_range emu_memory_tables; /* the range is empty */
static emu_allocation memory = {
    .kind = EMU_MEMORY_DEVICE, .base = BASE, .size = BYTES, .extent = BYTES};

const emu_allocation *
emu_registered_overlap(uint64_t base, size_t size)
{
    if (base + size <= BASE || base >= BASE + (uint64_t)BYTES) {
        return NULL;
    }
    return &memory;
}

/* -- operations and what they should know ------------------------------------------ */

typedef struct {
    emu_uses uses;
    unsigned char kinds[BYTES];
} operation;

static operation one, two;
static unsigned state;

static unsigned
chance(unsigned below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

static unsigned
some_kind(void)
{
    return 1u << chance(3);
}

static void
expect(operation *o, uint64_t start, uint64_t bytes, unsigned kind)
{
    for (uint64_t i = 0; i < bytes; i++) {
        o->kinds[start - BASE + i] |= (unsigned char)kind;
    }
}

/* A copy: a range. */
static void
use_range(operation *o)
{
    const uint64_t bytes = 1 + chance(chance(3) == 0 ? BYTES / 2 : 9000);
    const uint64_t start = BASE + chance(BYTES - (unsigned)bytes);
    const unsigned kind = some_kind();
    emu_uses_add_range(&o->uses, start, bytes, kind, 0);
    expect(o, start, bytes, kind);
}

/* Consecutive elements of a warp, or of many blocks of a worker. */
static void
use_span(operation *o, emu_use_log *log)
{
    const unsigned repeats = 1 + chance(chance(4) == 0 ? 400 : 3);
    const unsigned bytes = 128u << chance(4), kind = some_kind();
    uint64_t start = BASE + 4 * chance((BYTES - repeats * bytes) / 4);
    for (unsigned i = 0; i < repeats; i++, start += bytes) {
        emu_use_log_add(log, start, bytes, kind);
        expect(o, start, bytes, kind);
    }
}

/* The lanes of a warp. */
static void
use_lanes(operation *o, emu_use_log *log)
{
    const unsigned size = 1u << chance(6), kind = some_kind();
    const unsigned step = size * chance(40);
    const uint64_t start = BASE + size * chance((BYTES - 32 * step - size) / size);
    const uint32_t mask = chance(2) == 0 ? UINT32_MAX : 1 + chance(1 << 24);
    uint64_t at[32];
    for (unsigned i = 0; i < 32; i++) {
        at[i] = start + i * step;
        if (chance(7) == 0) {
            at[i] = BASE + size * chance(BYTES / size);
        }
        if ((mask >> i & 1) != 0) {
            expect(o, at[i], size, kind);
        }
    }
    emu_use_log_add_lanes(log, at, mask, size, kind);
}

static void
operation_run(operation *o, unsigned seed)
{
    emu_use_log *logs[LOGS] = {NULL};
    memset(o->kinds, 0, sizeof(o->kinds));
    state = seed;
    for (unsigned i = chance(3); i > 0; i--) {
        use_range(o);
    }
    for (unsigned i = 0; i < LOGS; i++) {
        logs[i] = emu_use_log_new();
        if (logs[i] != NULL) {
            emu_use_log_begin(logs[i], &o->uses);
        }
    }
    for (unsigned i = chance(120); i > 0; i--) {
        emu_use_log *log = logs[chance(LOGS)];
        if (log == NULL) {
            continue;
        }
        if (chance(2) == 0) {
            use_span(o, log);
        }
        else {
            use_lanes(o, log);
        }
    }
    for (unsigned i = 0; i < LOGS; i++) {
        if (logs[i] != NULL) {
            emu_use_log_end(logs[i]);
            emu_use_log_free(logs[i]);
        }
    }
}

/* -- checks ------------------------------------------------------------------------ */

static int
conflict(unsigned first, unsigned second)
{
    return ((first & EMU_USE_WRITE) != 0 && second != 0) ||
           ((second & EMU_USE_WRITE) != 0 && first != 0) ||
           ((first & EMU_USE_READ) != 0 && (second & EMU_USE_ATOMIC) != 0) ||
           ((first & EMU_USE_ATOMIC) != 0 && (second & EMU_USE_READ) != 0);
}

static bool
counts_from(uint64_t address, const void *data)
{
    return address >= *(const uint64_t *)data;
}

/* Compare the search with the arrays; only bytes from `low` on count. */
static void
check_conflict(uint64_t low)
{
    emu_use_conflict found = {0, 0, 0};
    const bool any = emu_uses_conflict(&one.uses, &two.uses, counts_from, &low, &found);
    uint64_t wanted = low - BASE;
    /* a word whose first byte does not count is passed over as a whole */
    CHECK_EQ(low % 64, 0);
    while (wanted < BYTES && !conflict(one.kinds[wanted], two.kinds[wanted])) {
        wanted++;
    }
    CHECK_EQ(any, wanted < BYTES);
    if (any && wanted < BYTES) {
        CHECK_EQ(found.address, BASE + wanted);
        CHECK((one.kinds[wanted] & found.first) != 0);
        CHECK((two.kinds[wanted] & found.second) != 0);
        CHECK(conflict(found.first, found.second));
    }
}

static void
check_bytes(const operation *o)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < BYTES; i++) {
        wrong += emu_uses_of_byte(&o->uses, BASE + i) != o->kinds[i];
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(emu_uses_of_byte(&o->uses, BASE - 1), 0);
    CHECK_EQ(emu_uses_of_byte(&o->uses, BASE + (uint64_t)BYTES), 0);
}

static void
check_touch(const operation *o)
{
    for (int i = 0; i < 50; i++) {
        const unsigned start = chance(BYTES - 5000), bytes = 1 + chance(5000);
        unsigned used = 0;
        for (unsigned k = 0; k < bytes; k++) {
            used |= o->kinds[start + k];
        }
        CHECK_EQ(emu_uses_touch(&o->uses, BASE + start, BASE + start + bytes),
                 used != 0);
    }
}

static unsigned char seen[BYTES];

static void
see(void *data, uint64_t start, uint64_t end, unsigned kind)
{
    (void)data;
    for (uint64_t i = start; i < end; i++) {
        if (i >= BASE && i < BASE + (uint64_t)BYTES) {
            seen[i - BASE] |= (unsigned char)kind;
        }
    }
}

/* Each used byte is seen, and no page without uses. */
static void
check_each(const operation *o)
{
    unsigned missed = 0;
    memset(seen, 0, sizeof(seen));
    emu_uses_each(&o->uses, see, NULL);
    for (unsigned i = 0; i < BYTES; i++) {
        missed += (o->kinds[i] & ~seen[i]) != 0;
    }
    for (unsigned page = 0; page < BYTES / EMU_USE_PAGE; page++) {
        unsigned used = 0, shown = 0;
        for (unsigned i = 0; i < EMU_USE_PAGE; i++) {
            used |= o->kinds[page * EMU_USE_PAGE + i];
            shown |= seen[page * EMU_USE_PAGE + i];
        }
        missed += used != shown;
    }
    CHECK_EQ(missed, 0);
}

static void
test_random_uses(void)
{
    for (unsigned round = 1; round <= ROUNDS; round++) {
        operation_run(&one, 3 * round);
        operation_run(&two, 7 * round + 1);
        CHECK(!one.uses.incomplete && !two.uses.incomplete);
        check_bytes(&one);
        check_each(&two);
        check_touch(&one);
        check_conflict(BASE);
        check_conflict(BASE + 64 * (uint64_t)chance(BYTES / 64));
        emu_uses_close(&one.uses);
        emu_uses_close(&two.uses);
        CHECK(emu_uses_is_empty(&one.uses));
        CHECK_EQ(blocks, 0);
    }
}

static void
test_a_large_array_is_small(void)
{
    emu_use_log *log = emu_use_log_new();
    emu_uses uses = {.count = 0};
    emu_use_log_begin(log, &uses);
    for (uint64_t at = BASE; at < BASE + ((uint64_t)1 << 30); at += 1024) {
        emu_use_log_add(log, at, 1024, EMU_USE_WRITE);
    }
    emu_use_log_end(log);
    emu_use_log_free(log);
    CHECK_EQ(uses.table.count, 4096);
    CHECK(blocks < 10);
    CHECK_EQ(emu_uses_of_byte(&uses, BASE + ((uint64_t)1 << 30) - 1), EMU_USE_WRITE);
    CHECK_EQ(emu_uses_of_byte(&uses, BASE + ((uint64_t)1 << 30)), 0);
    emu_uses_close(&uses);
    CHECK_EQ(blocks, 0);
}

/* Fills with one value do not conflict; frees conflict with all. */
static void
test_ranges(void)
{
    emu_use_conflict found;
    emu_uses first = {.count = 0}, second = {.count = 0};
    emu_uses_add_range(&first, BASE, 64, EMU_USE_WRITE, 5);
    emu_uses_add_range(&second, BASE + 32, 64, EMU_USE_WRITE, 5);
    CHECK(!emu_uses_conflict(&first, &second, NULL, NULL, &found));
    emu_uses_add_range(&second, BASE + 40, 1, EMU_USE_WRITE, 6);
    CHECK(emu_uses_conflict(&first, &second, NULL, NULL, &found));
    CHECK_EQ(found.address, BASE + 40);
    emu_uses_add_range(&second, BASE + 3, 1, EMU_USE_FREE, 0);
    CHECK(emu_uses_conflict(&first, &second, NULL, NULL, &found));
    CHECK_EQ(found.address, BASE + 3);
    CHECK_EQ(found.second, EMU_USE_FREE);
    CHECK(!first.has_host);
    memory.kind = EMU_MEMORY_MANAGED;
    emu_uses_add_range(&first, BASE, 1, EMU_USE_READ, 0);
    CHECK(first.has_host);
    memory.kind = EMU_MEMORY_DEVICE;
    emu_uses_close(&first);
    emu_uses_close(&second);
}

/* Which accesses a launch wants. */
static void
test_what_is_wanted(void)
{
    emu_allocation host = {.kind = EMU_MEMORY_HOST};
    emu_use_log *log = emu_use_log_new();
    emu_uses uses = {.host_only = true};
    CHECK(!emu_use_log_wants(NULL, &host));
    CHECK(!emu_use_log_wants(log, &host));
    emu_use_log_begin(log, &uses);
    CHECK(!emu_use_log_wants(log, &memory));
    CHECK(emu_use_log_wants(log, &host));
    emu_use_log_end(log);
    CHECK(uses.has_host);
    uses = (emu_uses){.host_only = false};
    emu_use_log_begin(log, &uses);
    CHECK(emu_use_log_wants(log, &memory));
    emu_use_log_end(log);
    CHECK(!uses.has_host);
    emu_use_log_free(log);
}

/* Each allocation fails once. Uses are lost then, but none is made up. */
static void
test_without_memory(void)
{
    long most;
    allocations = 0;
    operation_run(&one, 11);
    most = allocations;
    emu_uses_close(&one.uses);
    CHECK(most > 30);
    for (long n = 1; n <= most; n++) {
        unsigned missing = 0, invented = 0;
        allocations = 0;
        fail_at = n;
        operation_run(&one, 11);
        fail_at = 0;
        for (unsigned i = 0; i < BYTES; i += 3) {
            const unsigned kinds = emu_uses_of_byte(&one.uses, BASE + i);
            missing += (one.kinds[i] & ~kinds) != 0;
            invented += (kinds & ~(unsigned)one.kinds[i]) != 0;
        }
        CHECK_EQ(invented, 0);
        CHECK(missing == 0 || one.uses.incomplete);
        emu_uses_close(&one.uses);
        CHECK_EQ(blocks, 0);
    }
}

int
main(void)
{
    test_random_uses();
    test_a_large_array_is_small();
    test_ranges();
    test_what_is_wanted();
    test_without_memory();
    return check_report();
}
