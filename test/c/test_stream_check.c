/* Unit test of device/sync_check/stream_check: programs with several streams, right and
 * wrong, and the same while each allocation of the check fails once. */
#include "device/sync_check/stream_check.h"
#include "device/sync_check/uses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "failing_memory.h"

enum { BYTES = 1 << 20, ARRAY = 1 << 16 };

static _Alignas(4096) char array[BYTES];
#define BASE ((uint64_t)(uintptr_t)array)

/* -- the memory of the uses, and of the program ------------------------------------ */

emu_memory_range emu_memory_tables; /* the range is empty */
static emu_allocation memory = {
    .kind = EMU_MEMORY_DEVICE, .size = BYTES, .extent = BYTES};

const emu_allocation *
emu_registered_overlap(uint64_t base, size_t size)
{
    if (base + size <= BASE || base >= BASE + (uint64_t)BYTES) {
        return NULL;
    }
    return &memory;
}

uint64_t
emu_memory_last_serial(void)
{
    return 0;
}

void
emu_memory_keep_host_pages_apart(void)
{
}

const char *
emu_memory_kind_name(emu_memory_kind kind)
{
    (void)kind;
    return "device";
}

/* -- a program --------------------------------------------------------------------- */

enum { STREAMS = 4 }; /* the null stream, two streams, one that is NON_BLOCKING */

static emu_context context;
static emu_lane *lanes[STREAMS];
static emu_clock event;

static void
program_begin(void)
{
    atomic_store(&context.sticky, 0);
    lanes[0] = emu_lane_new(&context, EMU_LANE_NULL);
    lanes[1] = emu_lane_new(&context, EMU_LANE_BLOCKING);
    lanes[2] = emu_lane_new(&context, EMU_LANE_BLOCKING);
    lanes[3] = emu_lane_new(&context, EMU_LANE_FREE);
    event = (emu_clock){0};
}

/* End the program; return whether there was a finding. */
static bool
program_end(void)
{
    const bool found = atomic_load(&context.sticky) != 0;
    emu_event_clock_close(&event);
    for (int i = STREAMS - 1; i >= 0; i--) {
        emu_lane_free(lanes[i]);
    }
    CHECK_EQ(emu_finding_take() != NULL, found);
    emu_finding_is_told();
    return found;
}

static void
copy(int stream, uint64_t from, uint64_t to)
{
    emu_operation *operation = emu_operation_new(lanes[stream], "copy");
    emu_operation_begin(operation);
    emu_operation_use(operation, BASE + from, ARRAY, EMU_USE_READ);
    emu_operation_use(operation, BASE + to, ARRAY, EMU_USE_WRITE);
    emu_operation_end();
}

/* A kernel that writes elements of 4 bytes, `step` elements from each other. */
static void
kernel(int stream, uint64_t at, unsigned step)
{
    emu_operation *operation = emu_operation_new(lanes[stream], "launch");
    emu_use_log *log = emu_use_log_new();
    emu_operation_may_use(operation, &memory);
    emu_operation_begin(operation);
    emu_uses *uses = emu_operation_kernel(operation, "writes");
    if (log != NULL) {
        emu_use_log_begin(log, uses);
        for (uint64_t i = 0; uses != NULL && i < ARRAY; i += 4 * step) {
            emu_use_log_add(log, BASE + at + i, 4, EMU_USE_WRITE);
        }
        emu_use_log_end(log);
        emu_use_log_free(log);
    }
    emu_operation_end();
}

/* -- right programs ---------------------------------------------------------------- */

static void
apart(void)
{
    for (int i = 1; i < STREAMS; i++) {
        kernel(i, (uint64_t)i * ARRAY, 1);
        copy(i, (uint64_t)i * ARRAY, (uint64_t)(4 + i) * ARRAY);
    }
}

static void
interleaved(void)
{
    kernel(1, 0, 2);
    kernel(2, 4, 2);
}

/* What each stream does comes after the event of the one before. */
static void
chain(void)
{
    kernel(1, 0, 1);
    emu_lane_record(lanes[1], &event);
    emu_lane_await(lanes[2], &event);
    copy(2, 0, ARRAY);
    emu_lane_record(lanes[2], &event);
    emu_lane_await(lanes[3], &event);
    kernel(3, 0, 1);
    kernel(3, ARRAY, 1);
}

static void
null_stream(void)
{
    kernel(1, 0, 1);
    copy(0, 0, ARRAY);
    kernel(2, ARRAY, 1);
}

static void
host_waits(void)
{
    kernel(1, 0, 1);
    emu_host_awaits_lane(lanes[1]);
    kernel(3, 0, 1);
    emu_lane_record(lanes[3], &event);
    emu_host_awaits_event(&event);
    kernel(2, 0, 1);
    emu_host_awaits_context(&context);
    kernel(3, 0, 1);
}

static void
stream_that_ends(void)
{
    kernel(1, 0, 1);
    emu_lane_free(lanes[1]);
    lanes[1] = emu_lane_new(&context, EMU_LANE_BLOCKING);
    copy(0, 0, ARRAY);
    emu_host_awaits_context(&context);
    kernel(3, 0, 1);
}

/* -- wrong programs ---------------------------------------------------------------- */

static void
two_kernels(void)
{
    kernel(1, 0, 1);
    kernel(2, 0, 1);
}

static void
one_element(void)
{
    kernel(1, 0, 2);
    kernel(2, 4, 2);
    copy(3, 2 * ARRAY, ARRAY - 4);
}

static void
old_event(void)
{
    emu_lane_record(lanes[1], &event);
    kernel(1, 0, 1);
    emu_lane_await(lanes[2], &event);
    copy(2, 0, ARRAY);
}

static void
no_null_stream(void)
{
    kernel(0, 0, 1);
    kernel(3, 0, 1);
}

static void (*const right[])(void) = {apart,       interleaved, chain,
                                      null_stream, host_waits,  stream_that_ends};
static void (*const wrong[])(void) = {two_kernels, one_element, old_event,
                                      no_null_stream};

enum {
    RIGHT = sizeof(right) / sizeof(right[0]),
    WRONG = sizeof(wrong) / sizeof(wrong[0])
};

static bool
runs(void (*program)(void))
{
    program_begin();
    program();
    return program_end();
}

static void
test_programs(void)
{
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < RIGHT; i++) {
            CHECK(!runs(right[i]));
        }
        for (int i = 0; i < WRONG; i++) {
            CHECK(runs(wrong[i]));
        }
    }
}

/* One allocation fails. The check may then be blind, but it makes nothing up, and
 * nothing is lost. Called in a process of its own, since the check stays blind. The
 * programs behind the right ones are the wrong ones: they show that this test can fail.
 */
static void
test_without_memory(int number, long allocation)
{
    void (*program)(void) = number < RIGHT ? right[number] : wrong[number - RIGHT];
    allocations = 0;
    fail_at = allocation;
    CHECK(!runs(program));
    fail_at = 0;
    CHECK(!runs(program));
    /* the numbers of lanes, and the clock of the host, are kept */
    CHECK(blocks <= 4);
    if (allocation == 0) {
        fprintf(stderr, "%ld\n", allocations);
    }
}

int
main(int argc, char **argv)
{
    memory.base = BASE;
    emu_stream_check_open(true);
    if (argc == 3) {
        test_without_memory(atoi(argv[1]), atol(argv[2]));
    }
    else {
        test_programs();
    }
    return check_report();
}
